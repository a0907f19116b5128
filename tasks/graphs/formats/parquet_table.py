"""Parquet with one triple per row."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import AlmanacError, UsageError
from tasks.graphs.formats.batch import GraphBatch
from tasks.graphs.formats.columns import (
    TRIPLE,
    Columns,
    add_fields,
    mapped_places,
    named_places,
)
from tasks.graphs.formats.mapping import FileMapping

BATCH_ROWS = 200_000


def read_parquet(path: Path, mapping: FileMapping) -> Iterator[GraphBatch]:
    """Yield the triples, or entities and aliases, of a Parquet file; rows count from 1.

    Raises UsageError if its columns cannot be identified, AlmanacError if it is damaged.
    """
    try:
        with pq.ParquetFile(path) as file:
            columns = _columns(file.schema_arrow, mapping)
            wanted = [file.schema_arrow.names[place] for place in columns.places.values()]
            places = {part: place for place, part in enumerate(columns.places)}
            chosen = Columns(places, len(wanted), header=True)
            first = 1
            for rows in file.iter_batches(BATCH_ROWS, columns=wanted):
                batch = GraphBatch()
                fields = [
                    _as_text(rows[name], part) for name, part in zip(wanted, places, strict=True)
                ]
                numbers = first + np.arange(len(rows))
                add_fields(batch, numbers, fields, chosen, mapping)
                first += len(rows)
                yield batch
    except (pa.ArrowException, OSError) as error:
        raise AlmanacError(f"{path} cannot be read as Parquet: {str(error)[:200]}.") from error


def _columns(schema: pa.Schema, mapping: FileMapping) -> Columns:
    if mapping.columns:
        places, _ = mapped_places(schema.names, mapping.columns)
        return Columns(places, len(schema.names), header=True)
    detected = named_places(schema.names)
    if detected is None and len(schema.names) == len(TRIPLE):
        detected = dict(zip(TRIPLE, range(3), strict=True))
    if detected is None:
        raise UsageError(
            f"Its columns are {', '.join(schema.names)[:200]}. Say in a mapping file which are "
            "head, relation and tail: `columns: {head: subject, relation: ..., tail: ...}`."
        )
    return Columns(detected, len(schema.names), header=True)


def _as_text(column: pa.Array, part: str) -> pa.Array:
    """Return a column as text, weights as numbers."""
    if part == "weight" and not pa.types.is_string(column.type):
        return column.cast(pa.float64())
    return column.cast(pa.string())
