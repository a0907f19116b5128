"""Statements on WiRe57's 57 sentences, beside other systems: python -m benchmarks.wire57.

The measure of Léchelle, Gotti and Langlais (WiRe57, LAW 2019): an extraction may match a reference
tuple if they share a word in each of subject, relation and first object; words count by part;
pairs are taken greedily by F1; precision is averaged over the extractions, recall over the
reference. Words that annotators inferred are not expected. Each sentence is read as a refresh
reads a document. No sentence of it was used to write rules. Writes benchmarks/results/wire57.json.
"""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.command import DATA, parser_of, report, run_command
from recipes.statement_confidence import as_tuple, passages
from tasks.extract.rules import RulesEngine
from tests.stated_facts import Parts, score, words

FOLDER = DATA / "openie" / "wire57" / "data"
REFERENCE = "WiRe57_343-manual-oie.json.gz"
OTHERS = "WiRe57_extractions_by_ollie_clausie_openie_stanford_minie_reverb_props-export.json"


def reference(path: Path) -> dict[str, tuple[str, list[Parts]]]:
    """Return each sentence with its tuples, without the words that were inferred, by its id."""
    documents = json.loads(gzip.decompress(path.read_bytes()))
    return {
        sentence["id"]: (sentence["sent"], [_gold(t) for t in sentence["tuples"]])
        for document in documents.values()
        for sentence in document
    }


def _gold(row: dict[str, Any]) -> Parts:
    def said(part: dict[str, Any]) -> Counter[str]:
        pairs = zip(part["words"], part["words_indexes"], strict=True)
        return Counter(word.lower() for word, place in pairs if place != "inf" and word != ",")

    further: Counter[str] = Counter()
    for part in row["arg3+"]:
        further += said(part)
    return said(row["arg1"]), said(row["rel"]), said(row["arg2"]), further


def others(path: Path) -> dict[str, dict[str, list[Parts]]]:
    """Return the extractions of other systems by system and sentence."""
    systems: dict[str, dict[str, list[Parts]]] = {}
    for sentence, rows in json.loads(path.read_bytes()).items():
        for row in rows:
            further = row.get("arg3+") or []
            parts = (row["arg1"], row["rel"], row["arg2"], " ".join(further))
            found = systems.setdefault(row["extractor"], {}).setdefault(sentence, [])
            found.append((words(parts[0]), words(parts[1]), words(parts[2]), words(parts[3])))
    return systems


def written(gold: dict[str, tuple[str, list[Parts]]]) -> dict[str, list[Parts]]:
    """Return the statements that the engine writes for each sentence."""
    engine = RulesEngine()
    found: dict[str, list[Parts]] = {}
    for name, (sentence, _) in gold.items():
        rows = [row for e in engine.extract(passages(sentence)) for row in e.statements]
        for row in rows:
            extraction = as_tuple(row, row["confidence"])
            subject, first, *further = extraction.arguments
            parts = words(subject), words(extraction.relation), words(first)
            found.setdefault(name, []).append((*parts, words(" ".join(further))))
    return found


def main() -> None:
    """Score all systems and write the result."""
    parser_of(__doc__).parse_args()
    gold = reference(FOLDER / REFERENCE)
    tuples = {name: parts for name, (_, parts) in gold.items()}
    mine = written(gold)
    figures = {
        "sentences": len(gold),
        "tuples": sum(map(len, tuples.values())),
        "extractions": sum(map(len, mine.values())),
        "almanac": score(tuples, mine),
        **{name: score(tuples, found) for name, found in others(FOLDER / OTHERS).items()},
    }
    report("wire57", figures)


if __name__ == "__main__":
    run_command(main)
