"""How steady and how fast relations are named: python -m benchmarks.relation_names TEXTS.jsonl.

TEXTS.jsonl has one document per line (id, title, text), more than `--documents`. A home is built of
the first ones; in every round a part of them is replaced by texts not read so far, and the home is
refreshed. What is stated at an unchanged place of an unchanged document should keep its relation;
the share that does not is printed per round. The second part names the relations of a million
triples with many wordings, which are made up from those of the home.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import schemas
from schemas.observations import Override, RelationName
from schemas.ontology import Ontology
from schemas.settings import load_settings
from tasks.publish.relation_names import name_relations
from tasks.refresh import refresh
from warehouse.derivation import read_sql
from warehouse.editions import Edition
from warehouse.home import Home

TRIPLES = 1_000_000
ENTITIES = 300_000
STATED = """
select m.document_id, m.span_start, m.span_end, m.stated, d.sha256,
       list(t.relation order by t.relation)
from mentions m
join triples t on t.triple_id = m.fact_id
join documents d on d.document_id = m.document_id
where m.fact_kind = 'triple' group by all
"""


def stated_relations(edition: Edition) -> dict[tuple[Any, ...], list[str]]:
    """Return the relations stated at every place of every text."""
    with duckdb.connect() as con:
        for row in (schemas.Mention, schemas.Triple, schemas.Document):
            con.read_parquet(str(edition.parquet(row))).create_view(row.table)
        return {tuple(place): names for *place, names in con.execute(STATED).fetchall()}


def rounds(
    texts: list[dict[str, str]], documents: int, share: float, days: int
) -> Iterator[tuple[float, list[str]]]:
    """Yield for each day the share of unchanged statements whose relation has another name.

    Beside it are the wordings stated on that day, the commonest first.
    """
    order = random.Random(0)
    present, fresh = texts[:documents], iter(texts[documents:])
    with TemporaryDirectory() as folder:
        source, home = Path(folder) / "texts.jsonl", Home(Path(folder) / "home")
        home.path.mkdir()
        before: dict[tuple[Any, ...], list[str]] = {}
        for day in range(days + 1):
            lines = (json.dumps({"id": n, **text}) for n, text in enumerate(present))
            source.write_text("\n".join(lines), encoding="utf-8")
            refresh(home, [str(source)], load_settings(home.path))
            edition = home.editions.current()
            assert edition
            now = stated_relations(edition)
            same = before.keys() & now.keys()
            if day:
                renamed = sum(before[place] != now[place] for place in same) / max(len(same), 1)
                yield renamed, [w for w, _ in Counter(place[3] for place in now).most_common()]
            before = now
            replaced = max(1, round(share * documents)) if day < days else 0
            for place in order.sample(range(documents), replaced):
                present[place] = next(fresh)


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
