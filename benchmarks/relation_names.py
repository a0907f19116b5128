"""How steady and how fast relations are named: python -m benchmarks.relation_names TEXTS.jsonl.

TEXTS.jsonl has one document per line (id, title, text), more than `--documents`. A home is built of
the first ones; in every round a part of them is replaced by texts not read so far, and the home is
refreshed. What is stated at an unchanged place of an unchanged document should keep its relation;
the share that does not is printed per round. The second part names the relations of a million
triples with many wordings, which are made up from those of the home.
"""

import argparse
import json
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from schemas.observations import Override, RelationName
from schemas.ontology import Ontology
from tasks.publish.relation_names import name_relations
from tests.relation_rounds import rounds
from warehouse.derivation import read_sql

TRIPLES = 1_000_000
ENTITIES = 300_000


def million(wordings: list[str]) -> dict[str, float]:
    """Return how many seconds it takes to name the relations of a million made-up triples."""
    draw = np.random.default_rng(0)
    # A wording in five is used once: with a year or a nationality before it, as texts have it.
    adorned = [
        f"{1000 + n % 1000} {w}" for n, w in enumerate(wordings * (150_000 // len(wordings)))
    ]
    ranks = np.minimum(draw.zipf(1.3, TRIPLES) - 1, len(wordings) - 1)
    relations = pa.array(wordings).take(pa.array(ranks)).to_pylist()
    for place, wording in zip(range(0, TRIPLES, 5), adorned, strict=False):
        relations[place] = wording
    ends = [[f"e{n}" for n in draw.integers(0, ENTITIES, TRIPLES)] for _ in range(2)]
    statements = pa.table(
        {
            "document_id": ["d"] * TRIPLES,
            "head": ends[0],
            "relation": relations,
            "tail": ends[1],
            "value_type": ["entity"] * TRIPLES,
        }
    )
    names = [f"e{n}" for n in range(ENTITIES)]
    kinds = [("person", "place", "work", "unknown")[n % 4] for n in range(ENTITIES)]
    seconds: dict[str, float] = {"wordings": len(set(relations))}
    with duckdb.connect(config={"threads": "2", "memory_limit": "1GB"}) as con:
        con.register("triple_statements", statements)
        known = {"document_id": ["d"] * ENTITIES, "name": names, "entity_id": names}
        con.register("assignment", pa.table(known))
        con.register("resolved_entities", pa.table({"entity_id": names, "kind": kinds}))
        start = time.perf_counter()
        con.execute(read_sql("relations"))
        seconds["collect"] = time.perf_counter() - start
        stated = con.table("stated_relations").to_arrow_table()
    start = time.perf_counter()
    name_relations(stated, RelationName.to_table([]), Override.to_table([]), Ontology())
    seconds["name"] = time.perf_counter() - start
    return seconds


def main() -> None:
    """Measure both and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.01)
    options = parser.parse_args()
    lines = options.texts.read_text(encoding="utf-8").splitlines()
    texts = [{key: json.loads(line)[key] for key in ("title", "text")} for line in lines]
    shares = []
    wordings: list[str] = []
    for share, used in rounds(texts, options.documents, options.share, options.rounds):
        shares.append(share)
        wordings = used
        print(f"round {len(shares)}: {share:.3%} of the unchanged facts have another relation")
    print(f"worst round {max(shares):.3%}, mean {sum(shares) / len(shares):.3%}")
    print(json.dumps({key: round(value, 1) for key, value in million(wordings).items()}))


if __name__ == "__main__":
    main()
