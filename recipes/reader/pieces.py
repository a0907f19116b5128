"""Choose the pieces that the multilingual reader knows: `python -m recipes.reader.pieces FILE ...
[--more FOLDER ...]`.

Known are the pieces of the sets of questions, those that occur twice in the files, and all single
characters. Files are texts of any form, compressed or not.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from recipes.command import DATA, parser_of, run_command
from recipes.reader.examples import all_questions, part_of
from tasks.models.encoders.e5 import e5_folder, e5_tokenizer
from tasks.models.span_reader.known_pieces import KNOWN

LEAST = 2  # times that a piece occurs in the files
PART = 20_000  # characters that are cut into pieces together
AT_ONCE = 200  # such parts
SPECIAL = 4  # pieces at the beginning that are no text
WORD = "▁"  # what a piece begins with at the beginning of a word


def counts(texts: Iterable[str]) -> Counter[int]:
    """Return how often each piece occurs in texts."""
    pieces: Counter[int] = Counter()
    left = iter(texts)
    while part := list(islice(left, AT_ONCE)):
        for encoding in e5_tokenizer().encode_batch(part, add_special_tokens=False):
            pieces.update(encoding.ids)
    return pieces


def parts_of(files: list[Path]) -> Iterator[str]:
    """Yield the texts of files in parts."""
    for file in files:
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        text = data.decode("utf-8", "ignore")
        yield from (text[begin : begin + PART] for begin in range(0, len(text), PART))


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="folders of questions")
    options = parser.parse_args()
    rows = [row for row in all_questions(DATA, options.more) if part_of(row.title) != "report"]
    of_questions = counts(text for row in rows for text in (row.question, row.context))
    found = counts(parts_of(options.files))
    whole = json.loads((e5_folder() / "tokenizer.json").read_bytes())["model"]["vocab"]
    known = np.zeros(len(whole), bool)
    known[:SPECIAL] = True
    known[list(of_questions)] = True
    known[[piece for piece, times in found.items() if times >= LEAST]] = True
    known[[row for row, (piece, _) in enumerate(whole) if len(piece.lstrip(WORD)) <= 1]] = True
    np.save(KNOWN, np.packbits(known), allow_pickle=False)
    print(f"{known.sum():,} of {len(known):,} pieces are known.")


if __name__ == "__main__":
    run_command(main)
