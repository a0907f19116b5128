"""The texts that search returns, stored beside the edition's tables for random access."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.dataset import dataset

import schemas
from schemas.knowledge import CORPUS
from schemas.row import Row
from tasks.ingest.front_matter import front_matter_end
from tasks.ingest.prose import words_of
from tasks.text.word_index import keys_of_ids, made_of, open_table, part_ranges
from tasks.version import code_version
from warehouse.scratch import Scratch

if TYPE_CHECKING:
    from warehouse.editions import Building

ROWS_AT_ONCE = 4096
OPENING = 16_000  # characters of a document in which front matter ends
OPENINGS_READ = 256  # documents of which they are in memory at a time
OF_CORPUS = pc.field("graph") == CORPUS  # imported graphs have arrays of their own


def _columns(names: str) -> pa.Schema:
    """Return columns of strings, except for the offsets of spans."""
    offsets = ("span_start", "span_end")
    return pa.schema(
        [(name, pa.int64() if name in offsets else pa.string()) for name in names.split()]
    )


PASSAGE_TEXTS = _columns("document_id passage_id span_start span_end uri title headings text")
NOTE_TEXTS = _columns(
    "kind fact_id entity_id entity aspect question text document_id passage_id span_start span_end "
    "graph"
)
# The statements of each passage together, which are spread over the edition's table.
_STATEMENTS = """
select p.file_row_number as passage, s.* exclude (engine_confidence, sensitivity)
from read_parquet($passages, file_row_number = true) p
join read_parquet($clauses) s using (document_id, passage_id)
where s.span_start >= p.span_start and s.span_start < p.span_end
order by passage, s.span_start, s.statement_id
"""


def write_passage_texts(edition: Path, path: Path) -> pa.Table:
    """Write the passages with their document's title and uri; return the opened table.

    Their texts begin after the front matter, which is metadata. One without words that readers see,
    such as pictures alone, is empty.
    """
    stored = edition / f"{schemas.Document.table}.parquet"
    columns = ["document_id", "uri", "title"]
    documents = pq.read_table(stored, columns=columns)
    places = {id_: place for place, id_ in enumerate(documents["document_id"].to_pylist())}
    bodies = _bodies(stored)
    own = [name for name in PASSAGE_TEXTS.names if name in schemas.Passage.model_fields]
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, PASSAGE_TEXTS) as writer:
        for batch in row_batches(edition, schemas.Passage, own):
            ids = batch["document_id"].to_pylist()
            rows = pa.array([places[id_] for id_ in ids], pa.int64())
            table = pa.Table.from_batches([batch])
            for name in ("uri", "title"):
                table = table.append_column(name, documents[name].take(rows))
            table = _from_bodies(table, [bodies.get(id_, 0) for id_ in ids])
            writer.write_table(table.select(PASSAGE_TEXTS.names).cast(PASSAGE_TEXTS))
    return open_table(path)


def _bodies(documents: Path) -> dict[str, int]:
    """Return where the body of each document begins that has front matter, by document_id."""
    opening = pc.utf8_slice_codeunits(pc.field("text"), 0, OPENING)
    scanner = dataset(documents).scanner(
        {"document_id": pc.field("document_id"), "opening": opening}, batch_size=OPENINGS_READ
    )
    bodies = {}
    for batch in scanner.to_batches():
        for id_, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if end := front_matter_end(text):
                bodies[id_] = end
    return bodies


def _from_bodies(table: pa.Table, bodies: Sequence[int]) -> pa.Table:
    """Return passages whose texts and spans begin no sooner than their document's body."""
    texts, starts = table["text"].to_pylist(), table["span_start"].to_pylist()
    kept, places = [], []
    for text, start, body in zip(texts, starts, bodies, strict=True):
        after = text[body - start :].lstrip() if start < body else text
        kept.append(after if _has_words(after) else "")
        places.append(start + len(text) - len(after))
    table = table.set_column(table.column_names.index("text"), "text", pa.array(kept))
    column = pa.array(places, pa.int64())
    return table.set_column(table.column_names.index("span_start"), "span_start", column)


def _has_words(text: str) -> bool:
    """Return whether readers see words or numbers; what begins with one need not be parsed."""
    return text[:1].isalnum() or any(map(str.isalnum, words_of(text).text))


def write_note_texts(edition: Path, path: Path) -> pa.Table:
    """Write the descriptions, then the aspects, in common columns; return the opened table."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, NOTE_TEXTS) as writer:
        for row, kind in ((schemas.Description, "description"), (schemas.Aspect, "aspect")):
            own = [name for name in NOTE_TEXTS.names if name in row.model_fields]
            for batch in corpus_batches(edition, row, [row.key[0], *own]):
                given = {"kind": pa.array([kind] * len(batch)), "fact_id": batch[row.key[0]]}
                empty = pa.array([""] * len(batch), pa.string())
                columns = [
                    given.get(name, batch[name] if name in own else empty)
                    for name in NOTE_TEXTS.names
                ]
                writer.write_table(pa.table(columns, NOTE_TEXTS.names).cast(NOTE_TEXTS))
    return open_table(path)


def write_statements(
    edition: Path,
    passages: pa.Table,
    folder: Path,
    scratch: Scratch,
    building: "Building | None" = None,
) -> list[tuple[int, str]]:
    """Write the statements in parts, in the order of the passages, each with its passage's row.

    Returns the first passage of each part, from which its rows count, and the name of its file.
    """
    tables = (schemas.Passage, schemas.Clause)
    files = {row.table: str(edition / f"{row.table}.parquet") for row in tables}
    folder.mkdir()
    listed = []
    with scratch.database() as con:
        reader = con.sql(_STATEMENTS, params=files).to_arrow_reader(ROWS_AT_ONCE)
        held, batches = reader.schema.empty_table(), iter(reader)
        for first, end in part_ranges(keys_of_ids(passages["document_id"])):
            while not len(held) or held["passage"][-1].as_py() < end:
                if (batch := next(batches, None)) is None:
                    break
                held = pa.concat_tables([held, pa.Table.from_batches([batch])])
            own = held.slice(0, np.searchsorted(held["passage"].to_numpy(), end))
            held = held.slice(len(own))
            own = own.set_column(0, "passage", pc.subtract(own["passage"], first))
            stating = passages.select(["document_id", "passage_id"]).slice(first, end - first)
            path = folder / f"{made_of(code_version(), own, stating)}.arrow"
            if not (building and building.take({path: building.earlier(path)})):
                with (
                    pa.OSFile(str(path), "wb") as sink,
                    pa.ipc.new_file(sink, own.schema) as writer,
                ):
                    writer.write_table(own)
            listed.append((first, path.name))
    return listed


def row_batches(edition: Path, row: type[Row], columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield some columns of an edition's table in batches, in order."""
    with pq.ParquetFile(edition / f"{row.table}.parquet") as file:
        yield from file.iter_batches(ROWS_AT_ONCE, columns=columns)


def corpus_batches(
    edition: Path, row: type[Row], columns: list[str], size: int = ROWS_AT_ONCE
) -> Iterator[pa.RecordBatch]:
    """Yield only the rows of the corpus, from a table with a column `graph`."""
    table = dataset(edition / f"{row.table}.parquet")
    scanner = table.scanner(columns, filter=OF_CORPUS, batch_size=size, use_threads=False)
    yield from scanner.to_batches()


def corpus_aliases(
    edition: Path, entities: Collection[str], columns: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the aliases of the corpus' entities, which come first; the table has no `graph`."""
    for batch in row_batches(edition, schemas.Alias, ["entity_id", *columns]):
        own = [entity_id in entities for entity_id in batch["entity_id"].to_pylist()]
        yield batch.filter(pa.array(own, pa.bool_()))
        if not all(own):
            return


def rows_of(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield a table's rows as dicts, holding one batch at a time."""
    for batch in table.to_batches(ROWS_AT_ONCE):
        yield from batch.to_pylist()
