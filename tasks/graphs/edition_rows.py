"""Make the rows of an edition's tables from imported graphs."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import schemas
from schemas.row import Row
from tasks.graphs.imported import RELATION, STATED_TYPES, VALUE, ImportedGraph
from tasks.graphs.name_keys import as_ids, digests, joined
from tasks.text.values import parse_value

BATCH = 491_520  # triples in memory as text at a time: four row groups of an edition's files
VALUE_TYPES = pa.array(["entity", "text", "number", "quantity", "date", "year"])
ENTITY, TEXT, NUMBER, QUANTITY, DATE, YEAR = range(6)
_NUMBER = r"\A-?(0|[1-9]\d{0,14})(\.\d{1,15})?\z"  # 007 is a code
_DATE = r"\A[12]\d{3}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?\z"
_DAY = r"\A\d{4}-\d\d-\d\d\z"
_YEAR = r"\A[12]\d{3}\z"
_STATED_YEAR = r"\A-?\d{4}\z"  # by the source: any year of ISO 8601
_WORDED = r"\d[^\d-]|[^\d-].*\d"  # 2019-20 is a season
_LONGEST = 60  # characters of a text that is read for an amount or a date in words
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
    types, stated = _stated(written, nodes, graph.language)
    of_years = pc.match_substring_regex(graph.relations, _OF_YEARS).to_numpy(zero_copy_only=False)
    years, any_years = (
        pc.match_substring_regex(written, pattern).to_numpy(zero_copy_only=False)
        for pattern in (_YEAR, _STATED_YEAR)
    )
    ends = np.concatenate([graph.digests, digests(graph.name + VALUE, graph.values)])
    kinds = digests(graph.name + RELATION, graph.relations)
    for start in range(0, len(graph.heads), BATCH):
        part = slice(start, start + BATCH)
        heads, joins, tails = graph.heads[part], graph.joins[part], graph.tails[part]
        states = graph.types[part]
        is_year = years[tails] & of_years[joins]
        is_year |= any_years[tails] & (states == STATED_TYPES.index("year"))
        is_text = (types[tails] == NUMBER) & (states == STATED_TYPES.index("text"))
        type_ = np.where(is_year, YEAR, np.where(is_text, TEXT, types[tails]))
        ends_here = stated.take(pa.array(tails))
        dates = pc.if_else(is_year, written.take(tails), ends_here["date"].combine_chunks())
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
            number=pc.if_else(is_year | is_text, None, ends_here["number"].combine_chunks()),
            unit=ends_here["unit"].combine_chunks(),
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


def _stated(texts: pa.Array, entities: int, language: str) -> tuple[np.ndarray, pa.Table]:
    """Return the type of each text, and its number, unit and date, null where it has none.

    The first `entities` texts are keys of entities, which may be called "12 Monkeys": only plain
    numbers and dates are values there. The others are read as the values of the corpus are.
    """
    dated = pc.if_else(pc.match_substring_regex(texts, _DATE), texts, None)
    no_day = pc.and_(pc.match_substring_regex(dated, _DAY), pc.is_null(_exact(dated)))
    dates = pc.if_else(no_day, None, dated)
    figures = pc.if_else(pc.match_substring_regex(texts, _NUMBER), texts, None)
    numbers = figures.cast(pa.float64())
    types = np.full(len(texts), TEXT)
    types[:entities] = ENTITY
    types[numbers.is_valid()] = NUMBER
    types[dates.is_valid()] = DATE
    may_state = pc.and_(
        pc.match_substring_regex(texts, _WORDED), pc.less_equal(pc.utf8_length(texts), _LONGEST)
    )
    worded = (types == TEXT) & may_state.to_numpy(zero_copy_only=False)
    read = [parse_value(text, language) for text in texts.filter(worded).to_pylist()]
    types[worded] = [VALUE_TYPES.index(value.value_type).as_py() for value in read]
    columns = {
        "number": (numbers, [value.number for value in read]),
        "unit": (pa.nulls(len(texts), texts.type), [value.unit for value in read]),
        "date": (dates, [value.date for value in read]),
    }
    return types, pa.table(
        {
            name: pc.replace_with_mask(column, worded, pa.array(values, column.type))
            for name, (column, values) in columns.items()
        }
    )
