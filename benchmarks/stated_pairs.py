"""Pairs of Re-DocRED's dev documents that facts state: python -m benchmarks.stated_pairs.

A pair of entities that annotators related counts as stated if the ends of one triple are names of
the two, in either direction; names are compared in lower case and without accents. Relations are
not compared, as the rules write a text's own. Each document is read as a refresh reads it. No
document was used to write rules.
"""

import gzip
import json
import re
from collections.abc import Iterable
from itertools import product
from typing import Any

from benchmarks.command import DATA, parser_of, report, run_command
from schemas.settings import PublishSettings
from tasks.extract.extracted import Mention
from tasks.extract.rules import RulesEngine
from tasks.ingest.split import split
from tasks.text.names import normalise_name

BUDGET = 160
_BEFORE = re.compile(r" (?=[.,;:!?)\]%’]|'s\b|n't\b)")
_BEHIND = re.compile(r"(?<=[(\[$]) ")
_QUOTED = re.compile(r'" ([^"]*) "')


def text_of(sentences: Iterable[list[str]]) -> str:
    """Return tokens as running text."""
    text = " ".join(" ".join(words) for words in sentences)
    return _QUOTED.sub(r'"\1"', _BEHIND.sub("", _BEFORE.sub("", text)))


def pairs_of(document: dict[str, Any]) -> set[frozenset[int]]:
    """Return the pairs of entities that annotators related, without directions."""
    return {frozenset((label["h"], label["t"])) for label in document["labels"]}


def stated(document: dict[str, Any], triples: Iterable[Mention]) -> set[frozenset[int]]:
    """Return the pairs of a document's entities that are the ends of a triple."""
    entities: dict[str, set[int]] = {}
    for number, mentions in enumerate(document["vertexSet"]):
        for mention in mentions:
            name = normalise_name(text_of([mention["name"].split()]))
            entities.setdefault(name, set()).add(number)
    found = set()
    for triple in triples:
        ends = (entities.get(normalise_name(triple[end]), set()) for end in ("head", "tail"))
        found |= {frozenset(pair) for pair in product(*ends)}
    return found


def main() -> None:
    """Count the stated pairs, and write the result."""
    limit = parser_of(__doc__, documents=500).parse_args().documents
    path = DATA / "relations" / "redocred" / "dev_revised.json.gz"
    documents = json.loads(gzip.decompress(path.read_bytes()))[:limit]
    least = PublishSettings().min_confidence
    engine = RulesEngine()
    gold = all_found = published = triples = 0
    for document in documents:
        pieces = split("measured", document["title"], text_of(document["sents"]), "en", BUDGET)
        rows = [triple for found in engine.extract(pieces) for triple in found.triples]
        pairs = pairs_of(document)
        likely = [row for row in rows if row["confidence"] >= least]
        gold, triples = gold + len(pairs), triples + len(likely)
        all_found += len(pairs & stated(document, rows))
        published += len(pairs & stated(document, likely))
    figures = {
        "documents": len(documents),
        "pairs": gold,
        "triples published": triples,
        "stated by published triples": round(published / gold, 3),
        "stated by all triples": round(all_found / gold, 3),
    }
    report("stated-pairs", figures)


if __name__ == "__main__":
    run_command(main)
