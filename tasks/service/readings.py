"""What the service reads from an open edition: rows a page at a time, one row, a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

import schemas
from schemas.documents import REMEMBERED
from schemas.errors import NotFoundError, UsageError
from schemas.row import Row
from tasks.report.document import document_rows
from tasks.service.shelf import FullError, OpenEdition, ServedHome
from warehouse.sql_session import run_sql

MOST_ROWS = 200  # of a page

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Listed:
    """A table whose rows are listed: ordered by its key, filtered by columns, without others."""

    row: type[Row]
    key: str
    filters: tuple[str, ...]
    hidden: tuple[str, ...] = ()


LISTED = {
    "entities": Listed(schemas.Entity, "entity_id", ("kind", "graph", "language", "name")),
    "facts": Listed(
        schemas.Triple,
        "triple_id",
        ("head_id", "relation", "tail_id", "document_id", "graph", "modality"),
    ),
    "statements": Listed(
        schemas.Statement, "statement_id", ("subject_id", "document_id", "modality")
    ),
    "documents": Listed(
        schemas.Document, "document_id", ("source", "language", "uri"), hidden=("text",)
    ),
    "changes": Listed(schemas.Change, "fact_id", ("fact_kind", "kind", "document_id")),
}


def page_of(
    opened: OpenEdition,
    listed: Listed,
    filters: Mapping[str, Value],
    after: str | None,
    limit: int,
) -> tuple[list[dict[str, Any]], str | None]:
    """Return the rows after a key, at most `limit`, and the key to go on after, if there are more.

    A cursor is the last row's key, so it holds in every edition.
    """
    given = {name: value for name, value in filters.items() if value is not None}
    conditions = [f"{name} = ${name}" for name in listed.filters if name in given]
    values: dict[str, Value] = {name: clean(value) for name, value in given.items()}
    if after is not None:
        conditions.append(f"{listed.key} > $after")
        values["after"] = clean(after)
    where = f"where {' and '.join(conditions)}" if conditions else ""
    hidden = f"exclude ({', '.join(listed.hidden)})" if listed.hidden else ""
    # Names of tables and columns are constants of this module; values are parameters.
    query = (
        f"select * {hidden} from {listed.row.table} {where} order by {listed.key} limit {limit + 1}"
    )
    rows = _rows(opened, query, values)
    more = rows[limit - 1][listed.key] if len(rows) > limit else None
    return rows[:limit], more


def row_of(opened: OpenEdition, listed: Listed, key: str) -> dict[str, Any]:
    """Return the row with this key; raise NotFoundError if there is none."""
    # The table and its key are constants of this module.
    query = f"select * from {listed.row.table} where {listed.key} = $key"
    rows = _rows(opened, query, {"key": clean(key)})
    if not rows:
        raise NotFoundError(f"There is no {listed.key} {key!r} in the edition.")
    return rows[0]


def places_of(opened: OpenEdition, fact_id: str) -> list[dict[str, Any]]:
    """Return all places where a fact is stated, with the sentence of each."""
    query = """
        select document_id, uri, title, m.span_start, m.span_end, m.confidence,
               d.text[m.span_start + 1:m.span_end] as text
        from mentions m join documents d using (document_id)
        where fact_id = $fact order by document_id, m.span_start limit $limit
    """
    return _rows(opened, query, {"fact": clean(fact_id), "limit": MOST_ROWS})


def cited_documents(
    opened: OpenEdition, document_ids: Sequence[str | None]
) -> dict[str, dict[str, Any]]:
    """Return by which location, title and day (if remembered) documents are cited, by their ids."""
    query = f"""
        select document_id, uri, title, {REMEMBERED} from documents
        where document_id in (select unnest($ids))
    """
    rows = _rows(opened, query, {"ids": [one for one in document_ids if one]})
    return {row.pop("document_id"): row for row in rows}


def document_of(opened: OpenEdition, document_id: str, start: int, length: int) -> dict[str, Any]:
    """Return a document's row with a part of its text, and what was understood in that part."""
    with opened.cursor() as con:
        rows = document_rows(con, clean(document_id))
    end = start + length
    text = rows.document["text"]
    within = [r for r in rows.findings if r["span_start"] < end and r["span_end"] > start]
    return {
        **rows.document,
        "text": text[start:end],
        "start": start,
        "characters": len(text),
        "spans": within,
    }


class SqlRows(BaseModel):
    """The result of a query."""

    columns: list[str] = Field(description="Names.")
    types: list[str] = Field(description="DuckDB's types of the columns.")
    rows: list[list[Any]] = Field(description="Rows of JSON values.")
    row_count: int = Field(description="Of the whole result.")
    left_out: int = Field(0, description="Rows beyond those that fit.")


def sql_rows(home: ServedHome, opened: OpenEdition, query: str, most: int) -> SqlRows:
    """Run a read-only query with the limits of `almanac sql`; return at most `most` rows.

    The live tables are empty here: they hold what others asked, which has no labels. Raises
    FullError if as many queries run as may.
    """
    if not home.queries.acquire(blocking=False):
        raise FullError("Many queries are running. Send this one again in a few seconds.")
    try:
        result = run_sql(opened.edition.database, {}, query, home.settings.sql)
    finally:
        home.queries.release()
    rows = [row for row, _ in zip(result.rows(), range(most), strict=False)]
    return SqlRows(
        columns=list(result.columns),
        types=list(result.types),
        rows=rows,
        row_count=result.row_count,
        left_out=result.row_count - len(rows),
    )


def clean(value: Any) -> Any:
    """Return a value that DuckDB takes, which refuses lone surrogates; raise UsageError for NUL."""
    if not isinstance(value, str):
        return value
    if "\0" in value:
        raise UsageError("A value holds a NUL character.")
    return value.encode("utf-8", "replace").decode()


def _rows(opened: OpenEdition, query: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    with opened.cursor() as con:
        table = con.sql(query, params=dict(values)).to_arrow_table()
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
