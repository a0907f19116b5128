"""Run one query of an analyst on one pinned edition, in a separate process.

The query runs in `warehouse.sql_worker`, which sees neither this process' memory nor its
environment. The whole result is written to a file before any of it is shown, so a query that fails
half-way shows an error and nothing else.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from schemas import LIVE, LIVE_VIEWS
from schemas.errors import AlmanacError, UsageError
from schemas.row import Row
from schemas.settings import SqlSettings
from warehouse.journal import Journal
from warehouse.sql_process import SqlProcess

MAX_QUERY_CHARS = 200_000
_PLAIN_IN_JSON = ("VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN")
_DUCKDB_TYPES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.binary(): "BLOB",
    pa.timestamp("us", tz="UTC"): "TIMESTAMPTZ",
    pa.date32(): "DATE",
}
_ARROW_TYPES = {name: kind for kind, name in _DUCKDB_TYPES.items() if name in _PLAIN_IN_JSON}
_ARROW_TYPES |= {
    sign + size: pa.int64()
    for sign in ("", "U")
    for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
}
_ARROW_TYPES |= dict.fromkeys(("FLOAT", "DECIMAL", "INTERVAL"), pa.float64())
_ARROW_TYPES |= dict.fromkeys(("JSON", "UUID", "BLOB", "BIT", "TIME", "ENUM"), pa.string())
_ARROW_FROM_TEXT = {
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", tz="UTC"),
}
# For queries about the tables themselves, all live tables are filled.
_CATALOG_WORDS = ("summarize", "information_schema", "duckdb_", "query")


@dataclass(frozen=True)
class SqlResult:
    """The rows of a query, kept in a temporary file until they are read."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    row_count: int
    _lines: IO[bytes]

    def rows(self) -> Iterator[list[Any]]:
        """Yield the rows from the first: each a list of plain JSON values."""
        self._lines.seek(0)
        for line in self._lines:
            yield json.loads(line)

    def to_arrow(self) -> pa.Table:
        """Return the result as an Arrow table; what Arrow cannot take from JSON is text."""
        columns = list(zip(*self.rows(), strict=True)) or [()] * len(self.columns)
        arrays = [_column(kind, values) for kind, values in zip(self.types, columns, strict=True)]
        return pa.table(arrays, names=list(self.columns))


def run_sql(
    database: Path,
    live: Mapping[str, Sequence[Path]],
    query: str,
    settings: SqlSettings | None = None,
    process: SqlProcess | None = None,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
) -> SqlResult:
    """Run the query on an edition's DuckDB file and the live tables' Parquet parts.

    `process` is a worker that was started early; without one it starts here. The parts, as
    `live_parts` returns them, must be in the order in which they were written: of live rows with
    the same key the last counts. Raises UsageError for a query that is wrong or does more than
    read, AlmanacError for one that takes more time or memory than the settings allow.
    """
    settings = settings or SqlSettings()
    if len(query) > MAX_QUERY_CHARS:
        raise UsageError(f"The query is longer than {MAX_QUERY_CHARS} characters.")
    if not query.isascii() and query != query.encode(errors="replace").decode():
        raise UsageError("The query holds bytes that are not UTF-8 text.")
    process = process or SqlProcess()
    request = {
        "database": str(database.resolve()),
        "live": live_tables(live, query),
        "query": query,
        "parameters": _sent(parameters),
        **settings.model_dump(),
    }
    try:
        exit_code, stderr = process.run(json.dumps(request).encode(), settings.seconds)
    except TimeoutError:
        raise AlmanacError(
            f"The query was ended after {settings.seconds:g} seconds. Narrow it down, or raise "
            "sql.seconds in the home's settings.toml."
        ) from None
    report = _report(stderr)
    if exit_code or "error" in report:
        raise _error(report, settings)
    columns, types = tuple(report["columns"]), tuple(report["types"])
    return SqlResult(columns, types, report["rows"], process.output)


def _sent(parameters: Any) -> Any:
    """Return a query's parameters as JSON can express them; raises UsageError for other types."""
    if parameters is None or isinstance(parameters, bool | int | float | str):
        return parameters
    if isinstance(parameters, date):
        return {type(parameters).__name__: parameters.isoformat()}
    if isinstance(parameters, Mapping):
        return {"named": {str(name): _sent(value) for name, value in parameters.items()}}
    if isinstance(parameters, Sequence) and not isinstance(parameters, bytes):
        return [_sent(value) for value in parameters]
    raise UsageError(
        f"A parameter of a query cannot be a {type(parameters).__name__}: it is a text, a number, "
        "a truth value, a day or a time."
    )


def _column(kind: str, values: Sequence[Any]) -> pa.Array:
    """Return a column's values as the Arrow type that stands for DuckDB's type."""
    try:
        if kind in _ARROW_FROM_TEXT:
            return pa.array(values, pa.string()).cast(_ARROW_FROM_TEXT[kind])
        return pa.array(values, _arrow_type(kind))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        texts = (v if v is None or isinstance(v, str) else json.dumps(v) for v in values)
        return pa.array(texts, pa.string())


def _arrow_type(kind: str) -> pa.DataType | None:
    """Return the Arrow type of JSON values of a DuckDB type; None if the values decide."""
    if kind.endswith("[]"):
        item = _arrow_type(kind.removesuffix("[]"))
        return None if item is None else pa.list_(item)
    return _ARROW_TYPES.get(kind.partition("(")[0])


def live_parts(live: Journal, query: str) -> dict[str, list[Path]]:
    """Return the files, compared with their commits, of the live tables that a query mentions.

    Keep the records `pinned` while the query runs.
    """
    return {
        row.table: list(dict.fromkeys(live.path(part) for part in live.parts(row)))
        for row in LIVE
        if _mentions(query, row)
    }


def live_tables(live: Mapping[str, Sequence[Path]], query: str) -> dict[str, Any]:
    """Return each live table's columns, and its parts if the query mentions it."""
    tables = {}
    for row in LIVE:
        wanted = _mentions(query, row)
        tables[row.table] = {
            "columns": {field.name: duckdb_type(field.type) for field in row.arrow_schema()},
            "key": row.key,
            "paths": [str(path.resolve()) for path in live.get(row.table, ())] if wanted else [],
        }
    return tables


def _mentions(query: str, row: type[Row]) -> bool:
    text = query.casefold()
    views = (view.table for view, rows in LIVE_VIEWS.items() if row in rows)
    return any(word in text for word in (row.table, *views, *_CATALOG_WORDS))


def duckdb_type(kind: pa.DataType) -> str:
    """Return DuckDB's name for one of the Arrow types that rows are made of."""
    if pa.types.is_list(kind):
        return duckdb_type(kind.value_type) + "[]"
    return _DUCKDB_TYPES[kind]


def _report(stderr: bytes) -> dict[str, Any]:
    """Return the worker's last line as an object; a worker without one was killed by the system."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    try:
        report = json.loads(lines[-1])
    except (IndexError, ValueError):
        return {"error": "ended", "message": ""}
    return report if isinstance(report, dict) else {"error": "ended", "message": ""}


def _error(report: Mapping[str, Any], settings: SqlSettings) -> AlmanacError:
    """Return the worker's failure as an error for the person who wrote the query."""
    kind, message = report.get("error", "ended"), report.get("message", "")
    if kind == "memory":
        return AlmanacError(
            f"The query needs more than {settings.memory_mb} MB of memory. Narrow it down, or "
            "raise sql.memory_mb in the home's settings.toml."
        )
    if kind == "ended":
        return AlmanacError(
            "The query was ended by the system, most likely for taking too much memory or time. "
            "Narrow it down, or raise the limits under sql in the home's settings.toml."
        )
    if kind == "result":
        return AlmanacError(
            f"The result could not be kept ({message}). Select fewer rows, or read the edition's "
            "Parquet files directly."
        )
    if kind == "refused":
        return UsageError(f"Refused: {message}. Use select, describe, show, summarize or explain.")
    if kind == "PermissionException":
        return UsageError(
            "Refused: queries reach the almanac's tables and nothing else, neither files nor "
            "network."
        )
    return UsageError(_plain_duckdb_message(message))


def _plain_duckdb_message(message: str) -> str:
    """Return DuckDB's message in one or two sentences, without the echo of the query."""
    lines = []
    for line in message.splitlines():
        if line.startswith("LINE "):
            break
        if line.strip():
            lines.append(line.strip())
    text = " ".join(lines)
    return f"The query does not work: {text}" + ("" if text.endswith((".", "!", "?")) else ".")
