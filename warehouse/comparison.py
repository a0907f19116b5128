"""Compare two editions by SQL over their Parquet files.

A fact that only changed its value is one line, `old value -> new value`: a document with a new text
under the same uri, or the same text under a new one, an entity with a new kind or name, a head and
relation with a new tail. Facts without a counterpart are added or gone. Facts about a renamed
entity are told of its new name.
"""

import os
from dataclasses import dataclass
from typing import Any

import duckdb

import schemas
from schemas.row import Row
from warehouse.editions import Edition

# Facts in words, because their ids come from words: the subject, and the value that may change.
SAID: dict[type[Row], str] = {
    schemas.Document: "select uri as about, text as value from facts",
    schemas.Entity: """
        select coalesce(old || ', renamed', name) as about,
               concat_ws(', ', if(old is null, null, name), coalesce(kind, '')) as value
        from facts left join renamed using (entity_id)""",
    schemas.Triple: """
        select newest(head_id, head) || ' | ' || relation as about, newest(tail_id, tail) as value
        from facts""",
    schemas.Description: "select newest(entity_id, entity) as about, text as value from facts",
    schemas.Aspect: """
        select newest(entity_id, entity) || ', ' || aspect as about, text as value from facts""",
}
RENAMED = """
create table renamed as
select entity_id, b.name as old, a.name as new
from entities_before b join entities_after a using (entity_id) where b.name <> a.name;
create macro newest(id, name) as coalesce((select new from renamed where entity_id = id), name);
"""
# Characters shown of a long text, from a little before the first difference.
SHOWN_CHARS = 80
# A document with the same text under another uri: its uri is what changed.
MOVES = """
create table moves as
select any_value(b.about) as old, any_value(a.about) as new
from (from before anti join after using (about)) b
join (from after anti join before using (about)) a using (value)
group by value having count(*) = 1;
update before set value = about where about in (select old from moves);
update after set value = about, about = old from moves where about = new;
"""
# Facts in the same words, as of two graphs or of two things with one name, have places.
PLACED = "about, value, row_number() over (partition by about, value) as place"
DIFFERENCES = """
create view added as from after anti join before using (about, value, place);
create view gone as from before anti join after using (about, value, place);
create view alone as
select about from added group by about having count(*) = 1
intersect
select about from gone group by about having count(*) = 1;
create view changed as
select about, gone.value as old, added.value as new
from gone join added using (about) semi join alone using (about);
"""


@dataclass(frozen=True)
class Difference:
    """The changes in one table between two editions; the lists hold only examples."""

    table: str
    before: int
    after: int
    added: list[str]
    gone: list[str]
    changed: list[str]
    added_in_all: int
    gone_in_all: int
    changed_in_all: int

    def as_dict(self) -> dict[str, Any]:
        """Return the difference for `--json`; a changed fact also counts as added and as gone."""
        return {
            "table": self.table,
            "before": self.before,
            "after": self.after,
            "added": self.added_in_all,
            "gone": self.gone_in_all,
            "changed": self.changed_in_all,
            "examples_added": self.added,
            "examples_gone": self.gone,
            "examples_changed": self.changed,
        }


def compare(before: Edition, after: Edition, examples: int = 5) -> list[Difference]:
    """Return the changes from the first edition to the second, for each table in `SAID`."""
    return [_compare_table(row, before, after, examples) for row in SAID]


def _compare_table(row: type[Row], before: Edition, after: Edition, examples: int) -> Difference:
    with duckdb.connect(":memory:", config={"threads": "2", "memory_limit": "1GB"}) as con:
        sides = (("before", before), ("after", after))
        for name, edition in sides:
            con.register(f"entities_{name}", edition.table(schemas.Entity))
        con.execute(RENAMED)
        for name, edition in sides:
            con.register("facts", edition.table(row))
            con.sql(SAID[row]).select(PLACED).create(name)
        if row is schemas.Document:
            con.execute(MOVES)
        con.execute(DIFFERENCES)
        added, gone = con.table("added"), con.table("gone")
        changed = con.table("changed").order("about").limit(examples).fetchall()
        return Difference(
            table=row.table,
            before=before.rows(row),
            after=after.rows(row),
            added=_examples(con, "added", examples),
            gone=_examples(con, "gone", examples),
            changed=[f"{about}: {_values(old, new)}" for about, old, new in changed],
            added_in_all=len(added),
            gone_in_all=len(gone),
            changed_in_all=len(con.table("changed")),
        )


def _examples(con: duckdb.DuckDBPyConnection, table: str, count: int) -> list[str]:
    """Return some facts without a counterpart, in words."""
    rows = con.table(table).join(con.table("changed"), "about", how="anti").order("about, value")
    return [f"{about} | {value}" for about, value, _ in rows.limit(count).fetchall()]


def _values(old: str | None, new: str | None) -> str:
    """Return `old value -> new value`; of long texts the part around the first difference."""
    old, new = old or "nothing", new or "nothing"
    start = 0
    if max(len(old), len(new)) > SHOWN_CHARS:
        start = max(len(os.path.commonprefix([old, new])) - SHOWN_CHARS // 4, 0)
    return " -> ".join(_part(text, start) for text in (old, new))


def _part(text: str, start: int) -> str:
    end = start + SHOWN_CHARS
    shown = " ".join(text[start:end].split())
    return f"“{'…' * (start > 0)}{shown}{'…' * (len(text) > end)}”"
