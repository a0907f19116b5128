"""Make the rows of an edition's tables from imported graphs."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import schemas
from schemas.row import Row
from tasks.graphs.imported import RELATION, VALUE, ImportedGraph
from tasks.graphs.name_keys import as_ids, digests, joined

BATCH = 491_520  # triples in memory as text at a time: four row groups of an edition's files
VALUE_TYPES = pa.array(["entity", "text", "number", "date", "year"])
ENTITY, TEXT, NUMBER, DATE, YEAR = range(5)
_NUMBER = r"\A[+-]?\d{1,15}(\.\d{1,15})?\z"
_DATE = r"\A[12]\d{3}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?\z"  # 2019-20 is a season
_DAY = r"\A\d{4}-\d\d-\d\d\z"
_YEAR = r"\A[12]\d{3}\z"
_OF_YEARS = "(?i)year|年"

Rows = tuple[type[Row], pa.Table]


def edition_rows(graph: ImportedGraph, single_valued: pa.Array) -> Iterator[Rows]:
    """Yield a graph's rows for each table, in the table's order, at most BATCH triples at a time.

    `single_valued` are the relations with one tail per head at a time.
    """
    yield schemas.Entity, _entities(graph)
    yield schemas.Alias, _aliases(graph)
    yield schemas.Relation, _relations(graph, single_valued)
    yield schemas.Description, _descriptions(graph)
    yield from ((schemas.Triple, table) for table in _triples(graph))


def _rows(row: type[Row], length: int, **columns: pa.Array | str | float) -> pa.Table:
    """Return rows of a table; plain values are repeated, missing columns are null."""
    arrays = []
    for field in row.arrow_schema():
        column = columns.get(field.name)
        if not isinstance(column, pa.Array):
            column = pa.repeat(pa.scalar(column, field.type), length)
        arrays.append(column.cast(field.type))
    return pa.table(arrays, schema=row.arrow_schema())


def _entities(graph: ImportedGraph) -> pa.Table:
    return _rows(
        schemas.Entity,
        len(graph.ids),
        entity_id=graph.ids,
        name=graph.names,
        kind=pc.fill_null(graph.kinds, "unknown"),
        language=graph.language,
        graph=graph.name,
        mentions=pa.array(graph.degrees),
        documents=0,
        description=graph.descriptions,
    )


def _aliases(graph: ImportedGraph) -> pa.Table:
    return _rows(
        schemas.Alias,
        len(graph.aliases),
        alias=graph.aliases,
        entity_id=graph.ids.take(graph.alias_nodes),
        weight=pa.array(graph.alias_shares),
    )


def _relations(graph: ImportedGraph, single_valued: pa.Array) -> pa.Table:
    used, first = np.unique(graph.joins, return_index=True)
    example = pc.binary_join_element_wise(
        graph.names.take(graph.heads[first]),
        graph.relations.take(used),
        _labels(graph).take(graph.tails[first]),
        pa.scalar(" | ", pa.large_string()),
    )
    offsets = np.arange(len(used) + 1, dtype=np.int32)
    return _rows(
        schemas.Relation,
        len(used),
        relation=graph.relations,
        graph=graph.name,
        wordings=pa.ListArray.from_arrays(offsets, graph.relations.cast(pa.string())),
        inverse_wordings=pa.ListArray.from_arrays(
            np.zeros_like(offsets), pa.array([], pa.string())
        ),
        triples=pa.array(np.bincount(graph.joins, minlength=len(used))),
        single_valued=pc.is_in(graph.relations, single_valued.cast(graph.relations.type)),
        example=example,
    )


def _descriptions(graph: ImportedGraph) -> pa.Table:
    described = graph.descriptions.is_valid()
    ids, texts = graph.ids.filter(described), graph.descriptions.filter(described)
    return _rows(
        schemas.Description,
        len(ids),
        description_id=as_ids(digests(ids, texts)),
        entity_id=ids,
        entity=graph.names.filter(described),
        text=texts,
        confidence=1.0,
        graph=graph.name,
    )


def _labels(graph: ImportedGraph) -> pa.Array:
    return pa.chunked_array([graph.names, graph.values]).combine_chunks()


def _triples(graph: ImportedGraph) -> Iterator[pa.Table]:
    nodes, labels = len(graph.ids), _labels(graph)
    written = pa.chunked_array([graph.keys, graph.values]).combine_chunks()
    types, numbers = _types_of(written, nodes), _numbers_of(written)
    of_years = pc.match_substring_regex(graph.relations, _OF_YEARS).to_numpy(zero_copy_only=False)
    years = pc.match_substring_regex(written, _YEAR).to_numpy(zero_copy_only=False)
    ends = np.concatenate([graph.digests, digests(graph.name + VALUE, graph.values)])
    kinds = digests(graph.name + RELATION, graph.relations)
    for start in range(0, len(graph.heads), BATCH):
        part = slice(start, start + BATCH)
        heads, joins, tails = graph.heads[part], graph.joins[part], graph.tails[part]
        type_ = np.where(years[tails] & of_years[joins], YEAR, types[tails])
        dates = pc.if_else(pa.array(type_ >= DATE), written.take(tails), None)
        yield _rows(
            schemas.Triple,
            len(heads),
            triple_id=as_ids(joined([graph.digests[heads], kinds[joins], ends[tails]])),
            graph=graph.name,
            head_id=graph.ids.take(heads),
            head=graph.names.take(heads),
            relation=graph.relations.take(joins),
            tail_id=graph.ids.take(pa.array(tails, mask=tails >= nodes)),
            tail=labels.take(tails),
            value_type=VALUE_TYPES.take(type_),
            number=numbers.take(tails),
            date=dates,
            date_exact=_exact(dates),
            polarity="positive",
            modality="asserted",
            support=1,
            mentions=1,
            confidence=pa.array(graph.weights[part], mask=np.isnan(graph.weights[part])).fill_null(
                1.0
            ),
        )


def _exact(dates: pa.Array) -> pa.Array:
    """Return the dates that state a day of the calendar as date32, the others as null."""
    days = pc.if_else(pc.match_substring_regex(dates, _DAY), dates, None)
    exact = pc.strptime(days, "%Y-%m-%d", "s", error_is_null=True).cast(pa.date32())
    return pc.if_else(pc.equal(exact.cast(pa.string()), days), exact, None)  # no 30 February


def _types_of(texts: pa.Array, entities: int) -> np.ndarray:
    """Return the value type of each text; the first `entities` texts are keys of entities."""
    types = np.full(len(texts), TEXT)
    types[:entities] = ENTITY
    for pattern, type_ in ((_NUMBER, NUMBER), (_DATE, DATE)):
        types[pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)] = type_
    return types


def _numbers_of(texts: pa.Array) -> pa.Array:
    """Return the texts that are numbers as float64, the others as null."""
    numbers = pc.if_else(pc.match_substring_regex(texts, _NUMBER), texts, None)
    return pc.utf8_ltrim(numbers, characters="+").cast(pa.float64())
