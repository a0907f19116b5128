"""Does what an answer needs lie within the first 2,500 tokens that search returns?

    python -m benchmarks.context_recall [--homes FOLDER] [--sets NAME ...] [--limit N]

A question counts if every gold document has a passage there and, where a passage of one states an
accepted answer, such a passage is there. The sets are three of questions over several hops, the
sample corpus with its questions, and six corpora of the kinds that users have. `union` is what
search returns. `vectors` are the passages nearest by the same encoder, which reads Chinese poorly,
but which a plain vector search would use as well. Questions are halved by a hash: search was
`chosen` on one half, and `fresh` is the other.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import retrieval
from benchmarks.command import DATA, ROOT, parser_of, report, run_command
from schemas.settings import Settings
from tasks.models.encoders.load import Encoder, load_encoder
from tasks.models.tokens import estimate_tokens
from tasks.refresh import refresh
from tasks.retrieval.index import passage_meaning
from tasks.retrieval.search import Searcher, open_vectors
from tasks.text.question import analyse
from tasks.text.word_index import open_table
from warehouse.editions import Edition
from warehouse.home import Home

BUDGET = 2500  # tokens
MOST = 80  # passages; so many have more than 2,500 tokens
EXAMPLES = ROOT / "examples"
MORE = (
    "blog_18f", "docs_prometheus", "faq_medquad", "handbook_18f", "zh_echarts_docs", "zh_howtocook",
)  # fmt: skip
SETS = (*retrieval.SETS, "sample", *MORE)
Fields = dict[str, Any]  # of a passage


@dataclass(frozen=True)
class Needed:
    """A question, a test for each gold document, and the answers that they may state."""

    question: str
    documents: tuple[Callable[[Fields], bool], ...]
    stated: tuple[Sequence[str], ...] = ()

    @property
    def is_fresh(self) -> bool:
        """Whether it is in the half on which nothing was chosen."""
        return bool(hashlib.sha256(self.question.encode()).digest()[0] % 2)

    def groups(self, passages: Sequence[Fields]) -> list[set[int]]:
        """Return groups of rows of passages, of each of which one must be found."""
        worded = [(row, fields) for row, fields in enumerate(passages) if fields["text"]]
        gold = [{row for row, fields in worded if test(fields)} for test in self.documents]
        stating = (
            {row for row in set().union(*gold) if states(passages[row]["text"], accepted)}
            for accepted in self.stated
        )
        return [*gold, *filter(None, stating)]


def questions(name: str) -> Iterator[Needed]:
    """Yield the answerable questions of a set."""
    if name in retrieval.SETS:
        for question in retrieval.questions(name):
            tests = (partial(_is_paragraph, *gold) for gold in sorted(question.gold))
            yield Needed(question.text, tuple(tests))
    elif name == "sample":
        for item in _lines(EXAMPLES / "questions.jsonl"):
            tests = (partial(_is_paragraph, title, "") for title in item.get("gold", ()))
            if item.get("gold"):
                yield Needed(item["question"], tuple(tests), (item["answers"],))
    else:
        for item in _lines(DATA / "more" / "questions" / f"{name}.jsonl"):
            if item["answerable"]:
                answers = item["answers"]
                stated = [[one] for one in answers] if item["kind"] == "list" else [answers]
                yield Needed(item["question"], (partial(_is_from, item["file"]),), tuple(stated))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _is_from(file: str, fields: Fields) -> bool:
    return bool(fields["uri"].endswith(file))


def _is_paragraph(title: str, text: str, fields: Fields) -> bool:
    """Tell whether a passage is of a document; one without a text is known by its title."""
    return bool(fields["title"] == title) and (not text or fields["text"] in text)


def states(text: str, answers: Sequence[str]) -> bool:
    """Tell whether a text has one of the answers, in whole words where it has letters or digits."""
    edged = (rf"(?<![^\W一-鿿]){re.escape(_plain(answer))}(?![^\W一-鿿])" for answer in answers)
    return any(re.search(pattern, _plain(text)) for pattern in edged)


def _plain(text: str) -> str:
    """Return a text in lower case without spaces around Chinese and commas in numbers."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.lower())
    return re.sub(r"(?<=[一-鿿])\s+|\s+(?=[一-鿿])", "", " ".join(text.split()))


def edition_of(name: str, homes: Path, most: int | None) -> Edition:
    """Return the edition of a set's corpus, refreshing it the first time."""
    if name in retrieval.SETS:
        return retrieval.edition_of(name, homes, most)
    home = Home(homes / name)
    if not home.exists or home.editions.current() is None:
        source = EXAMPLES / "corpus" if name == "sample" else DATA / "more" / "corpora" / name
        refresh(home, [str(source)], Settings())
    edition = home.editions.current()
    assert edition is not None
    return edition


def measure(edition: Edition, asked: Sequence[Needed], encoder: Encoder) -> dict[str, Any]:
    """Return the shares of questions for which enough is found, by half and by ranking."""
    passages = open_table(edition.path / "search" / "passages.arrow").to_pylist()
    texts = [passage_meaning(fields) for fields in passages]
    tokens = list(map(estimate_tokens, texts))
    vectors = _vectors(edition.path / "search", texts, encoder)
    searcher = Searcher(edition.path, encoder)
    found: dict[str, dict[str, list[bool]]] = {}
    for item in asked:
        nearest = np.argsort(-(vectors @ encoder.encode([item.question])[0]))[:MOST]
        union = [hit.row for hit in searcher.union(analyse(item.question), MOST)]
        half = found.setdefault("fresh" if item.is_fresh else "chosen", {})
        groups = item.groups(passages)
        for name, rows in (("union", union), ("vectors", nearest.tolist())):
            read = _first(rows, tokens)
            half.setdefault(name, []).append(all(group & read for group in groups))
    return {
        half: {
            **{name: round(sum(oks) / len(oks), 4) for name, oks in rankings.items()},
            "questions": len(rankings["union"]),
        }
        for half, rankings in found.items()
    }


def _vectors(folder: Path, texts: Sequence[str], encoder: Encoder) -> np.ndarray:
    """Return the vectors of passages, float (passages, dimensions).

    Those that the index lacks, as of Chinese texts, are computed.
    """
    parts, indexed = open_vectors(folder, "vectors")
    own = indexed < len(texts)  # the notes' vectors follow
    vectors = np.zeros((len(texts), encoder.dimensions), np.float32)
    vectors[indexed[own]] = np.concatenate(parts)[own]
    missing = [row for row in np.flatnonzero(~vectors.any(1)).tolist() if texts[row]]
    if missing:
        vectors[missing] = encoder.encode([texts[row] for row in missing])
    return vectors


def _first(rows: Sequence[int], tokens: Sequence[int]) -> set[int]:
    """Return the first rows whose texts together keep to the budget."""
    spent = np.cumsum([tokens[row] for row in rows])
    return set(rows[: int(np.searchsorted(spent, BUDGET, side="right"))])


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--homes", type=Path, default=Path(tempfile.gettempdir()) / "retrieval")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--limit", type=int, metavar="N", help="questions; fewer texts, too")
    arguments = parser.parse_args()
    encoder = load_encoder("minilm")
    assert encoder is not None
    figures: dict[str, Any] = {}
    for name in arguments.sets:
        edition = edition_of(name, arguments.homes, arguments.limit)
        first = list(questions(name))[: arguments.limit]
        figures[name] = measure(edition, first, encoder)
    if figures.keys() >= set(MORE):
        figures["more"] = _together([figures[name] for name in MORE])
    report("context-recall", figures)


def _together(sets: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the shares over the questions of several sets."""
    together = {}
    for half in ("chosen", "fresh"):
        counts = [one[half]["questions"] for one in sets]
        together[half] = {
            name: round(float(np.average([one[half][name] for one in sets], weights=counts)), 4)
            for name in ("union", "vectors")
        } | {"questions": sum(counts)}
    return together


if __name__ == "__main__":
    run_command(main)
