"""The output of readers: triples, entities and aliases as Arrow tables, and refused lines.

The tables are the journal's without `import_id`, which the import adds.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.imports import ImportedAlias, ImportedEntity, ImportedTriple
from schemas.row import Row

LONG_TAIL = 200  # characters; a longer tail is a text, not an entity
MAX_NAME = 2_000  # characters of a head, relation, entity or alias
MAX_VALUE = 100_000  # characters of a tail or description
_MOST = {  # characters
    **dict.fromkeys(("head", "relation", "entity", "name", "alias"), MAX_NAME),
    **dict.fromkeys(("tail", "description"), MAX_VALUE),
}
KEPT = 200  # characters of a refused line that are kept
LISTED = 100  # refused lines per batch that are listed; further ones are only counted


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused line or record, and why it was refused."""

    line: int
    reason: str
    text: str


@dataclass
class GraphBatch:
    """Some rows of a graph, and the lines refused while reading them."""

    tables: dict[type[Row], pa.Table] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    refused_more: int = 0
    left_out: int = 0
    left_out_in: Counter[str] = field(default_factory=Counter)  # by language, where that is why

    @property
    def refusals(self) -> int:
        """The number of refused lines, listed or not."""
        return len(self.refused) + self.refused_more

    def rows(self, row: type[Row]) -> int:
        """Return the number of rows for a table."""
        return len(self.tables[row]) if row in self.tables else 0

    def refuse(self, line: int, reason: str, text: str) -> None:
        """Note a refused line; beyond LISTED lines are only counted."""
        if len(self.refused) < LISTED:
            self.refused.append(Refused(line, reason, text[:KEPT]))
        else:
            self.refused_more += 1

    def refuse_all(self, lines: np.ndarray, reason: str, texts: pa.Array) -> None:
        """Note refused lines, given a column of their texts."""
        room = max(LISTED - len(self.refused), 0)
        for line, text in zip(lines[:room], texts[:room].to_pylist(), strict=True):
            self.refuse(int(line), reason, text or "")
        self.refused_more += max(len(lines) - room, 0)

    def absorb(self, other: "GraphBatch") -> None:
        """Take over the refusals and omissions of another batch."""
        for refused in other.refused:
            self.refuse(refused.line, refused.reason, refused.text)
        self.refused_more += other.refused_more
        self.left_out += other.left_out
        self.left_out_in += other.left_out_in

    def drained(self) -> "GraphBatch":
        """Return the contents and leave the batch empty."""
        drained = replace(self)
        self.tables, self.refused, self.refused_more = {}, [], 0
        self.left_out, self.left_out_in = 0, Counter()
        return drained


def columns_of(row: type[Row]) -> pa.Schema:
    """Return the columns of a table that a reader fills."""
    return pa.schema([column for column in row.arrow_schema() if column.name != "import_id"])


TRIPLES = columns_of(ImportedTriple)
ENTITIES = columns_of(ImportedEntity)
ALIASES = columns_of(ImportedAlias)


def add_triples(
    batch: GraphBatch,
    lines: np.ndarray,
    head: pa.Array,
    relation: pa.Array,
    tail: pa.Array,
    is_value: pa.Array | None = None,
    weight: pa.Array | None = None,
    value_type: pa.Array | None = None,
) -> None:
    """Add the triples whose parts are neither empty nor too long; refuse the other lines.

    Without `is_value`, tails longer than LONG_TAIL characters are values.
    """
    if not len(lines):
        return
    if is_value is None:
        is_value = pa.array(_lengths(tail) > LONG_TAIL)
    if weight is None:
        weight = pa.nulls(len(lines), pa.float64())
    if value_type is None:
        value_type = pa.nulls(len(lines), pa.string())
    table = pa.table([head, relation, tail, is_value, weight, value_type], names=TRIPLES.names)
    _keep(batch, ImportedTriple, table, lines)


def add_entities(
    batch: GraphBatch, rows: Sequence[Mapping[str, Any]], lines: Sequence[int]
) -> None:
    """Add rows of entities: entity, name, kind, description."""
    if not rows:
        return
    table = pa.Table.from_pylist(list(rows), schema=ENTITIES)
    _keep(batch, ImportedEntity, table, np.asarray(lines))


def add_aliases(batch: GraphBatch, lines: np.ndarray, entity: pa.Array, alias: pa.Array) -> None:
    """Add aliases of entities."""
    if not len(lines):
        return
    table = pa.table([entity, alias], schema=ALIASES)
    _keep(batch, ImportedAlias, table, lines)


def strings(texts: Iterable[str | None]) -> pa.Array:
    """Return texts as a column."""
    return pa.array(list(texts), pa.string())


def renamed(relation: pa.Array, names: Mapping[str, str]) -> pa.Array:
    """Return the relations, replaced by their other names where they have one."""
    if not names:
        return relation
    places = pc.index_in(relation, strings(names))
    return pc.coalesce(strings(names.values()).take(places), relation)


def as_weight(column: pa.Array, most: float = 1.0) -> pa.Array:
    """Return the source's confidence, from 0 to `most`; null where the column has no number."""
    if pa.types.is_string(column.type):
        number = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"
        column = pc.if_else(pc.match_substring_regex(column, number), column, None)
    weight = pc.max_element_wise(column.cast(pa.float64()), 0.0, skip_nulls=False)
    return pc.min_element_wise(weight, most, skip_nulls=False)


@dataclass
class RowBuffer:
    """Rows that a reader collects one by one until they become a batch.

    Each row begins with its line. A triple has head, relation, tail, whether the tail is a value,
    the weight, and the type of value that the source states; an alias has entity and alias.
    """

    triples: list[tuple[int, str, str, str, bool, float | None, str | None]] = field(
        default_factory=list
    )
    entities: list[tuple[int, dict[str, str | None]]] = field(default_factory=list)
    aliases: list[tuple[int, str, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.triples) + len(self.entities) + len(self.aliases)

    def into(self, batch: GraphBatch, relations: Mapping[str, str] | None = None) -> None:
        """Move the rows to a batch; `relations` gives other names of relations."""
        if self.triples:
            lines, heads, names, tails, are_values, weights, types = zip(*self.triples, strict=True)
            columns = (strings(heads), renamed(strings(names), relations or {}), strings(tails))
            weight = as_weight(pa.array(weights, pa.float64()))
            values = pa.array(are_values)
            add_triples(batch, np.array(lines), *columns, values, weight, strings(types))
        add_entities(batch, [row for _, row in self.entities], [line for line, _ in self.entities])
        if self.aliases:
            lines, keys, aliases = zip(*self.aliases, strict=True)
            add_aliases(batch, np.array(lines), strings(keys), strings(aliases))
        self.triples, self.entities, self.aliases = [], [], []


def _lengths(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return lengths in characters, 0 for null."""
    return pc.fill_null(pc.utf8_length(column), 0).to_numpy(zero_copy_only=False)


def _keep(batch: GraphBatch, row: type[Row], table: pa.Table, lines: np.ndarray) -> None:
    """Add the rows that have all but a description, none of it too long; refuse the others."""
    lengths = {name: _lengths(table[name]) for name in table.column_names if name in _MOST}
    empty = np.logical_or.reduce([n == 0 for name, n in lengths.items() if name != "description"])
    long = np.logical_or.reduce([n > _MOST[name] for name, n in lengths.items()])
    bad = empty | long
    if bad.any():
        first = table.columns[0].combine_chunks()
        for where, reason in ((empty, "empty-field"), (long & ~empty, "too-long")):
            if where.any():
                batch.refuse_all(lines[where], reason, first.filter(pa.array(where)))
        table = table.filter(pa.array(~bad))
    if row in batch.tables:
        table = pa.concat_tables([batch.tables[row], table])
    batch.tables[row] = table
