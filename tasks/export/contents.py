"""What is exported: the tables of an edition, of all graphs or of one, as Arrow batches."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO

import duckdb
import numpy as np
import pyarrow as pa

import schemas
from schemas.errors import UsageError
from schemas.knowledge import CORPUS
from schemas.row import Row
from warehouse.editions import DUCKDB_FILE, Edition
from warehouse.quoting import quoted_name
from warehouse.sql_session import duckdb_type

TABLES: tuple[type[Row], ...] = (
    schemas.Document,
    schemas.Passage,
    schemas.Entity,
    schemas.Alias,
    schemas.Relation,
    schemas.Triple,
    schemas.Statement,
    schemas.Mention,
    schemas.Description,
    schemas.Aspect,
    schemas.Theme,
    schemas.TrainingText,
)
ROWS_AT_ONCE = 16_384
LIMITS = {"memory_limit": "512MB", "threads": "2"}
_OF_GRAPH = "graph = getvariable('graph')"
_OF_ENTITY = f"entity_id in (select entity_id from almanac.main.entities where {_OF_GRAPH})"
_OF_CORPUS = f"getvariable('graph') = '{CORPUS}'"


@dataclass(frozen=True)
class Contents:
    """An edition's tables, to be read in a stream.

    `batches` takes any query; the tables hold the rows of `graph` alone if there is one.
    """

    edition: Edition
    graph: str | None
    connection: duckdb.DuckDBPyConnection

    def batches(self, query: str, rows: int = ROWS_AT_ONCE) -> pa.RecordBatchReader:
        """Return a query's result in batches of at most this number of rows."""
        return self.connection.sql(query).to_arrow_reader(rows)

    def write_texts(self, query: str, file: BinaryIO) -> None:
        """Write the texts in a query's only column, one right after the other, as UTF-8."""
        for batch in self.batches(query):
            texts = batch.column(0)
            _, ends, letters = texts.buffers()
            width = np.int32 if pa.types.is_string(texts.type) else np.int64
            places = np.frombuffer(ends, width)[texts.offset : texts.offset + len(texts) + 1]
            if letters is not None:
                file.write(memoryview(letters)[places[0] : places[-1]])


@contextmanager
def open_contents(edition: Edition, graph: str | None, spill: Path) -> Iterator[Contents]:
    """Open a pinned edition; what exceeds the memory allowed goes to the folder `spill`.

    Raises UsageError if no graph has this name.
    """
    edition.check(DUCKDB_FILE)
    with edition.connect() as con:
        for name, value in (LIMITS | {"temp_directory": str(spill)}).items():
            con.execute(f"set {quoted_name(name)} = $1", [value])  # names take no parameters
        if graph is not None:
            check_graph(con, graph)
            con.execute("set variable graph = $1", [graph])
        for row in TABLES:
            con.execute(_view(con, row, graph is not None))
        con.execute(_macros())
        yield Contents(edition, graph, con)


def check_graph(con: duckdb.DuckDBPyConnection, graph: str) -> None:
    """Raise UsageError, with the names of all graphs, if the edition has none with this name."""
    known = [name for (name,) in con.execute("select distinct graph from entities").fetchall()]
    if graph not in known:
        raise UsageError(f"There is no graph {graph!r} in this edition; {', '.join(known)} are.")


def _view(con: duckdb.DuckDBPyConnection, row: type[Row], filtered: bool) -> str:
    """Return the statement that makes a table's view, with columns that the edition lacks null."""
    # Views take no parameters; all names come from the classes in `schemas`.
    table = f"almanac.main.{quoted_name(row.table)}"
    known = con.table(table).columns
    columns = ", ".join(
        quoted_name(field.name)
        if field.name in known
        else f"null::{duckdb_type(field.type)} as {quoted_name(field.name)}"
        for field in row.arrow_schema()
    )
    where = f" where {_filter(row)}" if filtered else ""
    return f"create temp view {quoted_name(row.table)} as select {columns} from {table}{where}"


def _filter(row: type[Row]) -> str:
    """Return the condition on which a row belongs to the graph."""
    if "graph" in row.model_fields:
        return _OF_GRAPH
    return _OF_ENTITY if row is schemas.Alias else _OF_CORPUS


@cache
def _macros() -> str:
    return files(__package__).joinpath("macros.sql").read_text(encoding="utf-8")
