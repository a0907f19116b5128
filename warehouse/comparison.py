"""What differs between two editions, by SQL over their Parquet files."""

from dataclasses import dataclass
from typing import Any

import duckdb

import schemas
from schemas.row import Row
from warehouse.editions import Edition

# What a fact says, for people: the same words in both editions mean the same fact.
SAID: dict[type[Row], str] = {
    schemas.Document: "select distinct uri || ' ' || sha256 as said from facts",
    schemas.Entity: "select distinct name || ' (' || kind || ')' as said from facts",
    schemas.Triple: "select distinct head || ' | ' || relation || ' | ' || tail as said from facts",
    schemas.Description: "select distinct entity || ': ' || text as said from facts",
    schemas.Aspect: "select distinct entity || ', ' || aspect || ': ' || text as said from facts",
}
ADDED = "select said from after anti join before using (said)"
GONE = "select said from before anti join after using (said)"


@dataclass(frozen=True)
class Difference:
    """What one table gained and lost between two editions."""

    table: str
    before: int
    after: int
    added: list[str]
    gone: list[str]
    added_in_all: int
    gone_in_all: int

    def as_dict(self) -> dict[str, Any]:
        """Return it for `--json`."""
        return {
            "table": self.table,
            "before": self.before,
            "after": self.after,
            "added": self.added_in_all,
            "gone": self.gone_in_all,
            "examples_added": self.added,
            "examples_gone": self.gone,
        }


def compare(before: Edition, after: Edition, examples: int = 5) -> list[Difference]:
    """Return, for documents, entities and each kind of fact, what the second edition changed."""
    return [_compare_table(row, before, after, examples) for row in SAID]


def _compare_table(row: type[Row], before: Edition, after: Edition, examples: int) -> Difference:
    with duckdb.connect(":memory:", config={"threads": "2", "memory_limit": "1GB"}) as con:
        for name, edition in (("before", before), ("after", after)):
            con.register("facts", edition.table(row))
            con.sql(SAID[row]).create(name)
        added, gone = con.sql(ADDED), con.sql(GONE)
        return Difference(
            table=row.table,
            before=before.rows(row),
            after=after.rows(row),
            added=[said for (said,) in added.order("said").limit(examples).fetchall()],
            gone=[said for (said,) in gone.order("said").limit(examples).fetchall()],
            added_in_all=con.sql(ADDED).aggregate("count(*)").fetchall()[0][0],
            gone_in_all=con.sql(GONE).aggregate("count(*)").fetchall()[0][0],
        )
