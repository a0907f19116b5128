"""Identify the columns of a table, from a mapping, a header, or their content; read its rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.errors import UsageError
from tasks.graphs.formats.batch import (
    LONG_TAIL,
    GraphBatch,
    add_aliases,
    add_triples,
    as_weight,
    renamed,
)
from tasks.graphs.formats.mapping import FileMapping

_NAMES = {
    "head": {"head", "subject", "subj", "h", "s", "head_entity", "source", "from", "start"},
    "relation": {"relation", "predicate", "pred", "r", "p", "rel", "relationship", "property"},
    "tail": {"tail", "object", "obj", "t", "o", "tail_entity", "target", "to", "end", "value"},
    "weight": {"weight", "confidence", "score"},
}
TRIPLE = ("head", "relation", "tail")
# Relations of encyclopaedias whose tails are other names of their heads.
ALIAS_RELATIONS = ("别名", "又名", "简称", "中文名", "中文名称", "外文名", "英文名", "本名")
_LEAST_ROWS = 100  # rows needed to identify the relation's column from its content
_FEW = 5  # how many times fewer distinct values the relation's column must have


@dataclass(frozen=True)
class Columns:
    """The columns of a triple's parts, or of an entity and its alias, counted from 0."""

    places: Mapping[str, int]
    width: int
    header: bool


def named_places(header: Sequence[str]) -> dict[str, int] | None:
    """Return the places that a header names; None if it does not name all parts of a triple."""
    places: dict[str, int] = {}
    for place, word in enumerate(header):
        for part, names in _NAMES.items():
            if word.strip().casefold() in names:
                places.setdefault(part, place)
    return places if all(part in places for part in TRIPLE) else None


def mapped_places(
    header: Sequence[str], wanted: Mapping[str, int | str]
) -> tuple[dict[str, int], bool]:
    """Return the places of a mapping's columns, and whether it names any by the header's words.

    Columns are words of the header or numbers from 1. Raises UsageError for a missing column.
    """
    by_name = any(isinstance(column, str) for column in wanted.values())
    places = {}
    for part, column in wanted.items():
        if isinstance(column, int) and 1 <= column <= len(header):
            places[part] = column - 1
        elif isinstance(column, str) and column in header:
            places[part] = list(header).index(column)
        else:
            raise UsageError(
                f"The mapping's column {column!r} is not in the file, whose first line has "
                f"{len(header)} columns: {', '.join(header)[:200]}."
            )
    return places, by_name


def find_columns(rows: list[list[str]], mapping: FileMapping) -> Columns:
    """Return the columns' meanings, from the mapping or else from the rows."""
    if mapping.columns:
        places, header = mapped_places(rows[0], mapping.columns)
        return Columns(places, len(rows[0]), header)
    return detect_columns(rows)


def detect_columns(rows: Sequence[Sequence[str]]) -> Columns:
    """Identify the columns of a table of triples from its first rows.

    Without a header the relation is the column with far fewer distinct values than the others,
    else the second; a fourth column of numbers is the weight. Raises UsageError if the columns
    cannot be identified.
    """
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    if len(rows[0]) == width and (places := named_places(rows[0])):
        return Columns(places, width, header=True)
    regular = [row for row in rows if len(row) == width]
    weighted = width == 4 and all(_is_number(row[3]) for row in regular)
    if width != 3 and not weighted:
        raise UsageError(
            f"The file has {width} columns and no header that names head, relation and tail. "
            "Say which is which in a mapping file: `columns: {head: 1, relation: 2, tail: 3}`."
        )
    relation = _relation_column(regular)
    head, tail = (place for place in range(3) if place != relation)
    places = {"head": head, "relation": relation, "tail": tail}
    return Columns({**places, "weight": 3} if weighted else places, width, header=False)


def _relation_column(rows: Sequence[Sequence[str]]) -> int:
    different = [len({row[place] for row in rows}) for place in range(3)]
    fewest = different.index(min(different))
    if len(rows) < _LEAST_ROWS or different[fewest] < 2:
        return 1
    return fewest if _FEW * different[fewest] < different[1] else 1


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def add_fields(
    batch: GraphBatch,
    numbers: np.ndarray,
    fields: list[pa.Array],
    columns: Columns,
    mapping: FileMapping,
) -> None:
    """Add the rows of a table, given by column, to the batch."""
    at = {part: fields[place] for part, place in columns.places.items()}
    if "alias" in at:
        add_aliases(batch, numbers, at["entity"], at["alias"])
        return
    relation = renamed(at["relation"], mapping.relations)
    naming = pa.array([*ALIAS_RELATIONS, *mapping.alias_relations])
    named = pc.and_(pc.is_in(relation, value_set=naming), pc.not_equal(at["head"], at["tail"]))
    for name in (at["head"], at["tail"]):
        length = pc.utf8_length(name)
        fits = pc.and_(pc.greater(length, 0), pc.less_equal(length, LONG_TAIL))
        named = pc.and_(named, fits)
    places = np.flatnonzero(pc.fill_null(named, False).to_numpy(zero_copy_only=False))
    add_aliases(batch, numbers[places], at["head"].take(places), at["tail"].take(places))
    weight = as_weight(at["weight"]) if "weight" in at else None
    add_triples(batch, numbers, at["head"], relation, at["tail"], weight=weight)
