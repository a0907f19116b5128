"""Word-recall coverage of HotpotQA paragraphs by extracted facts: python -m benchmarks.coverage.

One hundred paragraphs of the corpus, chosen by a seeded shuffle, each a document. It reports the
macro mean for triples alone, with descriptions, and with notes (KnowledGPT reports 0.53, 0.62, 0.86
for GPT-4), whether any text is not in its passage, and how long the notes are. Writes
benchmarks/results/coverage.json.
"""

import gzip
import json
import random
from itertools import islice
from statistics import mean

from benchmarks.command import DATA, parser_of, report, run_command
from tasks.evaluate.own_texts import content_lemmas, coverage
from tasks.extract.english_pipeline.load import load_english
from tasks.extract.rules import Extracted, RulesEngine
from tasks.ingest.split import split
from tasks.text.sentences import sentences
from tests.stated_facts import ungrounded

DOCUMENTS = 100
BUDGET = 160


def documents() -> list[tuple[str, str]]:
    """Return titles and texts of the paragraphs."""
    packed = (DATA / "multihop" / "hotpotqa_corpus.json.gz").read_bytes()
    corpus: dict[str, list[str]] = json.loads(gzip.decompress(packed))
    titles = sorted(corpus)
    random.Random(7).shuffle(titles)
    return [(title, "".join(corpus[title]).strip()) for title in titles[:DOCUMENTS]]


def texts_of(found: list[Extracted]) -> dict[str, list[str]]:
    """Return the words of each form of knowledge."""
    return {
        "triples": [
            f"{t['head']} {t['relation']} {t['tail']}" for one in found for t in one.triples
        ],
        "statements": [
            " ".join([s["subject"], s["predicate"], s["object"], *s["arguments"]])
            for one in found
            for s in one.statements
        ],
        "descriptions": [d["text"] for one in found for d in one.descriptions],
        "aspects": [a["text"] for one in found for a in one.aspects],
    }


def measure(engine: RulesEngine, title: str, text: str) -> dict[str, float]:
    """Return the figures of one document."""
    nlp = load_english()
    passages = split("measured", title, text, "en", BUDGET)
    found = list(engine.extract(passages))
    texts = texts_of(found)
    words = content_lemmas(nlp(text))
    notes = [(p, a) for p, one in zip(passages, found, strict=True) for a in one.aspects]
    exact = all(p["text"][a["span_start"] : a["span_end"]] == a["text"] for p, a in notes)
    stated = texts["triples"]
    statements = stated + texts["statements"]
    strange = ungrounded(words, f"{title}\n{text}", texts["descriptions"] + texts["aspects"])
    return {
        "triples": coverage(words, stated),
        "statements": coverage(words, statements),
        "descriptions": coverage(words, statements + texts["descriptions"]),
        "aspects": coverage(words, [*statements, *texts["descriptions"], *texts["aspects"]]),
        "note_share": sum(len(a["text"].split()) for _, a in notes) / max(1, len(text.split())),
        "longest_note": max((len(sentences(a["text"], "en")) for _, a in notes), default=0),
        "ungrounded": len(strange) + (not exact),
        "facts": len(stated),
    }


def main() -> None:
    """Measure all documents and write the result."""
    parser = parser_of(__doc__)
    parser.add_argument("--limit", type=int, metavar="N", help="documents (all)")
    limit = parser.parse_args().limit
    engine = RulesEngine()
    rows = [measure(engine, title, text) for title, text in islice(documents(), limit)]
    figures = {
        "documents": len(rows),
        "triples": round(mean(r["triples"] for r in rows), 3),
        "with statements": round(mean(r["statements"] for r in rows), 3),
        "with descriptions": round(mean(r["descriptions"] for r in rows), 3),
        "with aspects": round(mean(r["aspects"] for r in rows), 3),
        "notes' share of the words, mean": round(mean(r["note_share"] for r in rows), 3),
        "notes' share of the words, most": round(max(r["note_share"] for r in rows), 3),
        "sentences in the longest note": max(r["longest_note"] for r in rows),
        "ungrounded words": sum(r["ungrounded"] for r in rows),
        "triples a document": round(mean(r["facts"] for r in rows), 1),
    }
    report("coverage", figures)


if __name__ == "__main__":
    run_command(main)
