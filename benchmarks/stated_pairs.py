"""Pairs of Re-DocRED's dev documents that facts state: python -m benchmarks.stated_pairs.

A pair of entities that annotators related counts as stated if the ends of one triple are names of
the two, in either direction; names are compared in lower case and without accents. Relations are
not compared, as the rules write a text's own. Each document is read as a refresh reads it. No
document was used to write rules.
"""

import gzip
import json

from benchmarks.command import DATA, parser_of, report, run_command
from schemas.settings import PublishSettings
from tasks.extract.rules import RulesEngine
from tasks.ingest.split import split
from tests.stated_facts import pairs_of, stated, text_of

BUDGET = 160


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
