"""Write the mean vectors of multilingual-e5-small, which the encoder takes off:
`python -m recipes.encoder_means`.

They are those of questions and passages in English and Chinese, from the written questions about
documents that train the reader.
"""

import random

import numpy as np
from safetensors.numpy import save_file

from recipes.command import ROOT, parser_of, run_command
from recipes.reader.examples import Question, part_of, questions
from tasks.models.encoders.e5 import E5, KINDS, LANGUAGES, MEANS, Kind
from tasks.text.languages import is_chinese

DRAWN = 400  # texts of a kind and a language


def texts(rows: list[Question], kind: Kind, language: str) -> list[str]:
    """Return texts of a kind in a language, drawn at random."""
    spoken = [row for row in rows if is_chinese(row.question) == (language == "zh")]
    found = sorted({row.question if kind == "query" else row.context for row in spoken})
    return random.Random(3).sample(found, min(DRAWN, len(found)))


def main() -> None:
    """Run it."""
    parser_of(__doc__).parse_args()
    files = sorted((ROOT / "recipes" / "written").glob("*.jsonl.gz"))
    rows = [row for file in files for row in questions(file) if part_of(row.title) == "train"]
    means = {
        f"{kind}.{language}": E5(kind).uncentred(texts(rows, kind, language)).mean(axis=0)
        for kind in KINDS
        for language in LANGUAGES
    }
    save_file({name: mean.astype(np.float32) for name, mean in means.items()}, str(MEANS))


if __name__ == "__main__":
    run_command(main)
