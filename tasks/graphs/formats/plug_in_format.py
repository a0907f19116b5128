"""Graphs in formats that other packages read: rows one by one, collected into batches."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from schemas.plug_ins import PlugIn
from tasks.graphs.formats.batch import GraphBatch, RowBuffer

GROUP = "almanac.graph_formats"
_ROWS = 10_000  # in a batch


class GraphTriple(NamedTuple):
    """A fact of a graph; `is_value` says that the tail is no entity, `weight` is 0 to 1."""

    head: str
    relation: str
    tail: str
    is_value: bool = False
    weight: float | None = None


class GraphEntity(NamedTuple):
    """What triples call by its key."""

    key: str
    name: str
    kind: str | None = None
    description: str | None = None
    aliases: tuple[str, ...] = ()


def read_plug_in(found: PlugIn, file: BinaryIO) -> Iterator[GraphBatch]:
    """Yield batches of the triples and entities that a plug-in reads from an open file.

    The plug-in is called with the file. Rows that are empty or too long are refused by their
    number; raises AlmanacError if the plug-in fails.
    """
    rows = RowBuffer()
    with found.at_work():
        for number, row in enumerate(found.load()(file), 1):
            _take(rows, number, row)
            if len(rows) >= _ROWS:
                yield _batch(rows)
    yield _batch(rows)


def _take(rows: RowBuffer, number: int, row: GraphTriple | GraphEntity) -> None:
    match row:
        case GraphTriple():
            rows.triples.append((number, *row, None))
        case GraphEntity(key, name, kind, description, aliases):
            entity = {"entity": key, "name": name, "kind": kind, "description": description}
            rows.entities.append((number, entity))
            rows.aliases.extend((number, key, alias) for alias in aliases)
        case _:
            raise TypeError(f"it yields {type(row).__name__}, not GraphTriple or GraphEntity")


def _batch(rows: RowBuffer) -> GraphBatch:
    batch = GraphBatch()
    rows.into(batch)
    return batch
