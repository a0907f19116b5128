"""How steady the names of relations are while documents are replaced."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

import schemas
from schemas.settings import load_settings
from tasks.refresh import refresh
from warehouse.editions import Edition
from warehouse.home import Home

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
            edition = home.require_edition()
            now = stated_relations(edition)
            same = before.keys() & now.keys()
            if day:
                renamed = sum(before[place] != now[place] for place in same) / max(len(same), 1)
                yield renamed, [w for w, _ in Counter(place[3] for place in now).most_common()]
            before = now
            replaced = max(1, round(share * documents)) if day < days else 0
            for place in order.sample(range(documents), replaced):
                present[place] = next(fresh)
