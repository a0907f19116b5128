"""Derive an edition from the journal with SQL: each step is one file under `sql/`.

Between steps Python decides what SQL cannot (near duplicates, entity resolution) and hands over
tables. The result is a pure function of the journal up to a position.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, reduce
from importlib.resources import files
from itertools import chain
from operator import and_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import schemas
from schemas import observations
from schemas.imports import IMPORTED, GraphImport
from schemas.knowledge import CORPUS
from schemas.row import Row
from warehouse import durable
from warehouse.asserted import ASSERTED, create_asserted_view
from warehouse.editions import DUCKDB_FILE, VIEWS_FOLDER, Edition
from warehouse.journal import Journal
from warehouse.journal_views import FEW_ROWS, register
from warehouse.quoting import quoted_name, quoted_text
from warehouse.scratch import LIMITS, Scratch
from warehouse.sql_session import duckdb_type

ROW_GROUP = 122_880  # rows, as many as DuckDB reads at a time
BLOCK, SMALL_BLOCK = 262_144, 16_384  # bytes; of small ones a tiny edition takes a tenth
COMPARED = (
    schemas.Document,
    schemas.Entity,
    schemas.Relation,
    schemas.Triple,
    schemas.Description,
    schemas.Aspect,
    schemas.EntityRedirect,
)
WRITTEN: dict[type[Row], tuple[str, str]] = {
    # table: its source, and the look-up order in which it is written
    schemas.Document: ("documents", "document_id"),
    schemas.Passage: ("passages", "document_id, span_start"),
    schemas.Entity: ("entity_facts", "entity_id"),
    schemas.EntityRedirect: ("redirect_facts", "old_entity_id"),
    schemas.Alias: ("entity_aliases", "alias, entity_id"),
    schemas.Relation: ("relation_facts", "relation, graph"),
    schemas.Triple: ("triple_facts", "head_id, relation, triple_id"),
    schemas.Statement: ("statement_facts", "subject_name, document_id, span_start, statement_id"),
    schemas.Clause: ("clause_facts", "subject_name, document_id, span_start, statement_id"),
    schemas.Mention: ("mention_facts", "fact_kind, fact_id, document_id, span_start, span_end"),
    schemas.Misfit: ("misfit_facts", "triple_id"),
    schemas.Description: ("description_facts", "entity_id, description_id"),
    schemas.Aspect: ("aspect_facts", "entity_id, aspect_id"),
    schemas.SourceYield: ("yield_facts", "source, language"),
    schemas.EntityPassage: ("entity_passage_facts", "entity_id, document_id, passage_id"),
    schemas.Theme: ("theme_facts", "len(documents) desc, theme_id"),
    schemas.Change: ("change_facts", "fact_kind, kind, fact_id"),
    schemas.TrainingText: ("training_text_facts", "expert, text_id"),
    schemas.Expert: ("expert_facts", "expert"),
    schemas.TaskGate: ("current_gates", "task"),
    schemas.GateSeed: ("gate_seed_facts", "task, seed"),
    schemas.Centroid: ("centroid_facts", "task, label, cluster"),
    schemas.Threshold: ("threshold_facts", "task, budget"),
    schemas.PathPolicy: ("path_policy_facts", "graph"),
    schemas.Verdict: ("verdict_facts", "fact_kind, fact_id"),
}
# Optimizers of DuckDB, which take longer than the work itself on a small journal.
FOR_MANY_ROWS = "join_order,statistics_propagation,projection_pullup,common_subplan"
_PARSED: dict[str, list[Any]] = {}  # files of SQL; parsing takes a tenth of a small build
_READER = pa.schema([(name, pa.list_(pa.string())) for name in ("labels", "graphs")])
# SQL needs only the import times of imported graphs.
DERIVED = tuple(r for r in observations.JOURNAL if r not in IMPORTED or r is GraphImport)


@dataclass(frozen=True)
class Reader:
    """Who an edition is for: it has what needs no other label than `labels`; None: everything.

    `graphs` are the imported graphs that he may read. Labels of sources are those of now, whatever
    the position of the journal is.
    """

    labels: frozenset[str] | None = None
    graphs: frozenset[str] = frozenset()

    @property
    def reads_everything(self) -> bool:
        """Whether nothing is hidden from him."""
        return self.labels is None

    def may_read(self, graph: str) -> bool:
        """Return whether he may read an imported graph."""
        return self.reads_everything or graph in self.graphs


EVERYBODY = Reader()


class Derivation:
    """One derivation in progress: a DuckDB in memory over the journal's parts."""

    def __init__(
        self,
        journal: Journal,
        position: int,
        scratch: Scratch,
        rows: Iterable[type[Row]] = DERIVED,
        reader: Reader = EVERYBODY,
    ) -> None:
        """Open tables of the journal up to a position, in a new scratch database."""
        self.position, self.reader = position, reader
        self._opened = ExitStack()
        self.con = self._opened.enter_context(scratch.database())
        self._opened.enter_context(journal.pinned())
        if register(journal, rows, self.con, position) <= FEW_ROWS:
            # SET takes no parameters; these are constants of the program.
            self.con.execute(f"set threads = 1; set disabled_optimizers = '{FOR_MANY_ROWS}'")
            usual = f"set threads = {LIMITS['threads']}; set disabled_optimizers = ''"
            self._opened.callback(self.con.execute, usual)
        if not reader.reads_everything:
            register(journal, [observations.Scan], self.con, journal.position)
        held = None if reader.labels is None else sorted(reader.labels)
        columns = {"labels": [held], "graphs": [sorted(reader.graphs)]}
        self.hand_over("reader", pa.table(columns, schema=_READER))

    def settings(self, **values: Any) -> None:
        """Hand over the settings of the build as the only row of `build_settings`."""
        self.hand_over("build_settings", pa.table({name: [v] for name, v in values.items()}))

    def hand_over(self, name: str, table: pa.Table) -> None:
        """Make a table from Python available to the SQL."""
        self.con.register(name, table)

    def step(self, name: str) -> None:
        """Run one file of SQL."""
        if name not in _PARSED:
            _PARSED[name] = self.con.extract_statements(read_sql(name))
        for statement in _PARSED[name]:
            self.con.execute(statement)

    def table(self, name: str) -> pa.Table:
        """Return a table made by the SQL."""
        return self.con.table(name).to_arrow_table()

    def compare_with(self, parent: Edition | None) -> None:
        """Make the parent edition's tables available to the SQL, empty ones if there is none."""
        for row in COMPARED:
            no_rows, name = row.arrow_schema().empty_table(), f"parent_{row.table}"
            path = parent.parquet(row) if parent else None
            if path is None or pq.read_metadata(path).num_rows <= FEW_ROWS:
                self.hand_over(name, _corpus_rows(row, path) if path else no_rows)
                continue
            self.hand_over("no_rows", no_rows)
            own = self.con.read_parquet(str(path))
            # Imported graphs are not compared: each import replaces a graph as a whole.
            own = own.filter("graph = 'corpus'") if "graph" in row.model_fields else own
            own.create_view("parent_rows")
            # Tables written by an older version may lack columns.
            self.con.sql("from no_rows union all by name from parent_rows").create(name)

    def query(self, sql: str) -> pa.Table:
        """Return the result of a query, which must be a constant of the program."""
        return self.con.sql(sql).to_arrow_table()

    def write(self, folder: Path, imported: Iterable[tuple[type[Row], pa.Table]]) -> None:
        """Write all tables of the edition as Parquet: the corpus' rows, then the imported ones.

        The corpus' rows are sorted by their look-up key; each graph's rows should be, too.
        """
        with ExitStack() as open_files:
            writers = {
                row: open_files.enter_context(_writer(folder, row)) for row in schemas.EDITION
            }
            for row in self._filled():
                for batch in self._corpus(row):
                    writers[row].write_batch(batch)
            with ThreadPoolExecutor(1) as beside:  # rows are made while others are written
                rows = iter(imported)
                following = beside.submit(next, rows, None)
                while made := following.result():
                    following = beside.submit(next, rows, None)
                    row, table = made
                    columns = table.select(writers[row].schema.names).cast(writers[row].schema)
                    writers[row].write_table(columns, row_group_size=ROW_GROUP)

    def _filled(self) -> list[type[Row]]:
        """Return the tables in which the corpus has rows; the others need no query of their own."""
        # Names take no parameters; these are constants of the program.
        counts = (f"(select count(*) from {made_of})" for made_of, _ in WRITTEN.values())
        [rows] = self.con.execute(f"select {', '.join(counts)}").fetchall()
        return [row for row, count in zip(WRITTEN, rows, strict=True) if count]

    def _corpus(self, row: type[Row]) -> Iterator[pa.RecordBatch]:
        """Yield the corpus' rows of a table, sorted by its look-up key."""
        made_of, order = WRITTEN[row]
        columns = ", ".join(map(quoted_name, row.model_fields))
        # Names take no parameters; these are constants of the program. Three steps of a relation
        # would be bound three times.
        rows = self.con.sql(f"select {columns} from {made_of} order by {order}")
        for batch in rows.to_arrow_reader(ROW_GROUP):
            yield batch.cast(_described(row))

    def close(self) -> None:
        """Free the memory."""
        self._opened.close()


def _corpus_rows(row: type[Row], path: Path) -> pa.Table:
    """Return the corpus' rows of a table, in which columns that an older version lacks are null."""
    with pq.ParquetFile(path) as file:
        known = [name for name in file.schema_arrow.names if name in row.model_fields]
        table = row.cast(file.read(known))
    return table.filter(pc.field("graph") == CORPUS) if "graph" in row.model_fields else table


def _writer(folder: Path, row: type[Row]) -> pq.ParquetWriter:
    path = str(folder / f"{row.table}.parquet")
    return pq.ParquetWriter(path, _described(row), compression="zstd")


def _described(row: type[Row]) -> pa.Schema:
    """Return the schema with which a table is written, every column nullable.

    The dictionary's descriptions are the fields' metadata in Arrow, and those of the file, as
    `comment` and `comment.COLUMN`, which every reader of Parquet shows.
    """
    comments = {"comment": " ".join((row.__doc__ or "").split())}
    fields = []
    for field in row.arrow_schema():
        comments[f"comment.{field.name}"] = row.model_fields[field.name].description or ""
        fields.append(pa.field(field.name, field.type, metadata=field.metadata))
    return pa.schema(fields, metadata=comments)


def read_sql(name: str) -> str:
    """Return one file of SQL."""
    return files(__package__).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")


def build_database(folder: Path) -> None:
    """Build the DuckDB file with indexes and views from the Parquet files beside it.

    The rows of the views are written as Parquet, too, into the folder `views`.
    """
    paths = {row.table: folder / f"{row.table}.parquet" for row in schemas.EDITION}
    counts = {table: pq.read_metadata(path).num_rows for table, path in paths.items()}
    is_small = sum(counts.values()) <= FEW_ROWS
    (folder / DUCKDB_FILE).write_bytes(_empty_database(SMALL_BLOCK if is_small else BLOCK))
    with duckdb.connect(str(folder / DUCKDB_FILE)) as con:
        if is_small:  # trying each compression takes longest, for nothing
            con.execute("set threads = 1; set force_compression = 'uncompressed'")
        con.execute("begin")
        for table in filter(counts.get, paths):
            sql = f"insert into {quoted_name(table)} from read_parquet(?)"
            con.execute(sql, [str(paths[table])])
        con.execute("commit")
        con.execute(read_sql("indexes"))  # after the commit, which halves the time
        con.execute("checkpoint")
        (folder / VIEWS_FOLDER).mkdir(exist_ok=True)
        for view in schemas.VIEWS:
            _write_view(con, folder, view)


def _write_view(con: duckdb.DuckDBPyConnection, folder: Path, view: type[Row]) -> None:
    """Write a view's rows; a view that leaves nothing out of its table shares the table's file."""
    table = view.__base__
    if table in schemas.EDITION and issubclass(table, Row):
        name = f"{table.table}.parquet"
        [(count,)] = con.table(view.table).aggregate("count(*)").fetchall()
        if count == pq.read_metadata(folder / name).num_rows:
            durable.link_or_copy(folder / name, folder / VIEWS_FOLDER / f"{view.table}.parquet")
            return
        _write_asserted(folder / name, folder / VIEWS_FOLDER, view)
        return
    rows = con.table(view.table).order(", ".join(map(quoted_name, view.key)))
    with _writer(folder / VIEWS_FOLDER, view) as writer:
        for batch in rows.to_arrow_reader(ROW_GROUP):
            writer.write_batch(batch.select(view.model_fields).cast(_described(view)))


def _write_asserted(path: Path, folder: Path, view: type[Row]) -> None:
    """Write a table's asserted rows in their order, which takes half as long as asking the view."""
    plain = reduce(and_, (pc.field(name) == value for name, value in ASSERTED.items()))
    with pq.ParquetFile(path) as file, _writer(folder, view) as writer:
        for batch in file.iter_batches(ROW_GROUP):
            asserted = pa.Table.from_batches([batch]).filter(plain)
            writer.write_table(asserted.cast(_described(view)), row_group_size=ROW_GROUP)


@cache
def _empty_database(block_size: int) -> bytes:
    """Return a DuckDB file with the tables and views of an edition and what they mean."""
    with TemporaryDirectory() as folder, Scratch().database() as con:
        con.execute("".join(map(_create_table, schemas.EDITION)))
        create_asserted_view(con, schemas.Triple.table)
        create_asserted_view(con, schemas.Statement.table)
        con.execute(read_sql("views"))
        tables = chain.from_iterable(_comments("table", row) for row in schemas.EDITION)
        views = chain.from_iterable(_comments("view", row) for row in schemas.VIEWS)
        con.execute("".join([*tables, *views]))  # a third of the time that it takes in a file
        path = Path(folder) / DUCKDB_FILE
        # Neither statement takes parameters. DuckDB from 1.2 on reads this version.
        options = f"storage_version 'v1.2.0', block_size {block_size}"
        con.execute(f"attach {quoted_text(str(path))} as written ({options})")
        [(own,)] = con.execute("select current_database()").fetchall()
        con.execute(f"copy from database {quoted_name(own)} to written; detach written")
        return path.read_bytes()


def _create_table(row: type[Row]) -> str:
    # Tables take no parameters; names and types come from the classes in `schemas`.
    columns = (f"{quoted_name(f.name)} {duckdb_type(f.type)}" for f in row.arrow_schema())
    return f"create table {quoted_name(row.table)} ({', '.join(columns)});"


def _comments(kind: str, row: type[Row]) -> Iterator[str]:
    """Yield the data dictionary's descriptions of a table and its columns as statements."""
    # COMMENT takes no parameters; names and words come from the classes in `schemas`.
    table, words = quoted_name(row.table), quoted_text(" ".join((row.__doc__ or "").split()))
    yield f"comment on {kind} {table} is {words};"
    for name, info in row.model_fields.items():
        column, words = quoted_name(name), quoted_text(info.description or "")
        yield f"comment on column {table}.{column} is {words};"
