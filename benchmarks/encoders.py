"""Does the passage that answers come first? multilingual-e5-small beside the packaged encoders.

    python -m benchmarks.encoders [--homes FOLDER] [--sets NAME ...] [--encoders NAME ...]

The corpora and questions are those of `benchmarks.context_recall`; a question counts if a passage
that it needs (for several hops, all of them) is among the first 1, 3 or 8 by words, by vectors, or
in the union that `ask` reads. Sets in two languages follow: questions about documents that report
(`recipes.reader.examples`), with the passages of all their documents, and the same questions asked
in the other language, among passages in both. `cpu` is seconds per 1,000 passages on one core.
"""

import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import context_recall, retrieval
from benchmarks.command import DATA, ROOT, parser_of, report, run_command
from recipes.reader.examples import Question, all_questions, part_of
from schemas.settings import BESIDE
from tasks.models.encoders.load import Encoder, load_encoder
from tasks.models.encoders.minilm import MiniLM
from tasks.retrieval.index import build_index
from tasks.retrieval.search import Searcher
from tasks.text.languages import is_chinese
from tasks.text.question import analyse
from tasks.text.word_index import open_table

FIRST = (1, 3, 8)
ENCODERS = ("minilm", "e5-small")
SETS = ("hotpotqa", "musique", "sample", *context_recall.MORE)
WRITTEN = {
    "written, English": ("written_en", "written_later_en"),
    "written, Chinese": ("written_zh", "written_later_zh"),
}
TIMED = 200  # passages in each language whose encoding is timed


def shares(ranks: Iterable[int]) -> list[float]:
    """Return the shares of ranks, from 0, among the first 1, 3 and 8."""
    known = np.array(list(ranks))
    return [round(float((known < first).mean()), 3) for first in FIRST]


def rank(rows: Sequence[int], groups: Sequence[set[int]]) -> int:
    """Return how many rows come before each group has one; many if one has none."""
    places = {row: place for place, row in enumerate(rows)}
    return max(min((places.get(row, 10**6) for row in group), default=10**6) for group in groups)


def of_corpus(name: str, homes: Path, encoder: str) -> dict[str, Any]:
    """Return the shares of a set's questions by half and by ranking."""
    edition = context_recall.edition_of(name, homes, None)
    loaded = load_encoder(encoder), load_encoder(BESIDE[encoder])
    with tempfile.TemporaryDirectory() as folder:
        made = retrieval.without_notes(edition, Path(folder))
        build_index(made, *loaded)
        searcher = Searcher(made, *loaded)
        passages = open_table(made / "search" / "passages.arrow").to_pylist()
        ranks: dict[str, dict[str, list[int]]] = {}
        for item in context_recall.questions(name):
            half = ranks.setdefault("fresh" if item.is_fresh else "chosen", {})
            question, groups = analyse(item.question), item.groups(passages)
            scores = searcher.scores("passages", question)
            rankings = {
                "words": np.argsort(-scores.by_words, kind="stable")[:100].tolist(),
                "vectors": np.argsort(-scores.cosines, kind="stable")[:100].tolist(),
                "union": [hit.row for hit in searcher.union(question, 16)],
            }
            for by, rows in rankings.items():
                half.setdefault(by, []).append(rank(rows, groups))
    return {half: {by: shares(found) for by, found in one.items()} for half, one in ranks.items()}


def asked_of(encoder: Encoder, texts: list[str]) -> np.ndarray:
    """Return the vectors of questions."""
    vectors: np.ndarray = getattr(encoder, "questions", encoder).encode(texts)
    return vectors


def encoder_of(encoder: str, text: str) -> Encoder:
    """Return the encoder for a text's language."""
    loaded = load_encoder(BESIDE[encoder] if is_chinese(text) else encoder)
    assert loaded is not None
    return loaded


def of_documents(rows: list[Question], encoder: str) -> list[float]:
    """Return the shares of questions whose passage comes first among all their passages."""
    passages = sorted({row.context for row in rows})
    chosen = encoder_of(encoder, rows[0].question)
    likeness = asked_of(chosen, [row.question for row in rows]) @ chosen.encode(passages).T
    right = [passages.index(row.context) for row in rows]
    return shares((likeness > likeness[np.arange(len(rows)), right][:, None]).sum(1))


def of_languages(english: list[Question], chinese: list[Question]) -> dict[str, list[float]]:
    """Return the shares for questions that are answered in the other language's passage.

    The same questions stand at the same places. The other language's passages alone are ranked, or
    those of both, in which the same passage in the question's own language comes first.
    """
    encoder, found = load_encoder("e5-small"), {}
    assert encoder is not None
    for name, asked, read in (
        ("Chinese asked in English", english, chinese),
        ("English asked in Chinese", chinese, english),
    ):
        passages = sorted({row.context for row in read})
        both = [*passages, *sorted({row.context for row in asked})]
        likeness = asked_of(encoder, [row.question for row in asked]) @ encoder.encode(both).T
        right = likeness[np.arange(len(asked)), [passages.index(row.context) for row in read]]
        before = likeness > right[:, None]
        found[name] = shares(before[:, : len(passages)].sum(1))
        found[f"{name}, among both"] = shares(before.sum(1))
    return found


def cpu(rows: list[Question], encoder: str) -> float:
    """Return seconds of one core per 1,000 of the first passages in each language."""
    MiniLM.threads, spent, texts = 1, 0.0, 0
    for name in WRITTEN.values():
        passages = sorted({row.context for row in rows if row.dataset in name})[:TIMED]
        loaded = encoder_of(encoder, passages[0])
        loaded.encode(passages[:2])
        began = time.process_time()
        loaded.encode(passages)
        spent, texts = spent + time.process_time() - began, texts + len(passages)
    return round(1000 * spent / texts, 1)


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--homes", type=Path, default=Path(tempfile.gettempdir()) / "retrieval")
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    parser.add_argument("--encoders", nargs="*", choices=ENCODERS, default=list(ENCODERS))
    arguments = parser.parse_args()
    known = all_questions(DATA, [ROOT / "recipes" / "written"])
    rows = [row for row in known if part_of(row.title) == "report" and row.answers]
    figures: dict[str, Any] = {}
    for encoder in arguments.encoders:
        figures[encoder] = {"cpu": cpu(rows, encoder)} | {
            name: of_documents([row for row in rows if row.dataset in sets], encoder)
            for name, sets in WRITTEN.items()
        }
        for name in arguments.sets:
            figures[encoder][name] = of_corpus(name, arguments.homes, encoder)
    english, chinese = (
        [row for row in known if row.dataset == name and part_of(row.title) == "report"]
        for name in ("xquad-en", "xquad-zh")
    )
    if "e5-small" in figures:
        figures["e5-small"] |= of_languages(english, chinese)
    report("encoders", figures)


if __name__ == "__main__":
    run_command(main)
