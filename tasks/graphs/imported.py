"""Read the last import of a graph: entities in the order of their ids, triples once each.

Names and values are kept byte for byte. The journal is read part by part; memory holds the graph's
distinct names and values, and a few numbers per triple.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.imports import GraphImport, ImportedAlias, ImportedEntity, ImportedTriple
from schemas.row import Row
from tasks.graphs.graph import row_order
from tasks.graphs.name_keys import as_ids, digests
from warehouse.journal import Journal

# Appended to the graph's name, which has no such characters, these show the purpose of an id.
ENTITY, VALUE, RELATION = "\x1f", "\x1e", "\x1d"
STATED_TYPES = ("text", "year")
Columns = dict[str, pa.Array]


@dataclass(frozen=True, eq=False)
class ImportedGraph:
    """A graph's columns; entities and values share one numbering, with the values last.

    Triples are sorted by head, relation and tail. Where the source gives none, weights are NaN, and
    kinds and descriptions are null.
    """

    name: str
    language: str
    ids: pa.Array  # strings (entities,), sorted
    digests: np.ndarray  # uint64 (entities, 2), from which the ids are made
    keys: pa.Array  # strings (entities,)
    names: pa.Array  # strings (entities,)
    kinds: pa.Array  # strings (entities,)
    descriptions: pa.Array  # strings (entities,)
    values: pa.Array  # strings (values,), sorted
    relations: pa.Array  # strings (relations,), sorted
    heads: np.ndarray  # int32 (triples,)
    joins: np.ndarray  # int32 (triples,): numbers of relations
    tails: np.ndarray  # int32 (triples,)
    weights: np.ndarray  # float64 (triples,)
    types: np.ndarray  # int32 (triples,): places in STATED_TYPES, -1 where the source states none
    degrees: np.ndarray  # int64 (entities,): triples around each
    aliases: pa.Array  # strings (aliases,), sorted; entities' own names are among them
    alias_nodes: np.ndarray  # int32 (aliases,)
    alias_shares: np.ndarray  # float64 (aliases,)


def current_imports(journal: Journal, upto: int | None = None) -> list[dict[str, Any]]:
    """Return the last import of each graph that was not removed since, by name."""
    last = {row["graph"]: row for row in journal.table(GraphImport, upto=upto).to_pylist()}
    return [last[name] for name in sorted(last) if last[name]["action"] == "import"]


def read_import(journal: Journal, row: dict[str, Any], upto: int) -> ImportedGraph:
    """Return the graph of one import, a row of `current_imports`, up to a position."""
    with journal.pinned():
        return _Reading(journal, row, upto).graph()


def _distinct(columns: list[pa.DictionaryArray]) -> tuple[pa.Array, list[np.ndarray]]:
    """Return the distinct strings of columns, and their numbers in each column, int32."""
    if not columns:
        return pa.array([], pa.large_string()), []
    whole = pa.chunked_array(columns).unify_dictionaries()
    return whole.chunk(0).dictionary, [coded.indices.to_numpy() for coded in whole.chunks]


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    """Return strings without nulls as places in a dictionary."""
    coded = column.dictionary_encode()
    # Offsets of 64 bits: all strings together may have more than two gigabytes.
    dictionary = coded.dictionary.cast(pa.large_string())
    return pa.DictionaryArray.from_arrays(coded.indices, dictionary)


def _renumbered(columns: list[np.ndarray], order: np.ndarray) -> list[np.ndarray]:
    """Return numbers as their places in an order."""
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return [places[numbers] for numbers in columns]


class _Reading:
    """Reads one graph from the journal."""

    def __init__(self, journal: Journal, row: dict[str, Any], upto: int) -> None:
        self._journal, self._upto = journal, upto
        self._id, self._name, self._language = row["import_id"], row["graph"], row["language"]

    def graph(self) -> ImportedGraph:
        with ThreadPoolExecutor(2) as pool:
            read = pool.map(
                lambda path: _parted(self._read(ImportedTriple, path)), self._paths(ImportedTriple)
            )
            parts = [columns for columns in read if len(columns["head"])]
        described = list(self._columns(ImportedEntity))
        of_keys = [part[end] for end in ("head", "entity") for part in parts]
        keys, key_numbers = _distinct(
            [*of_keys, *(_encoded(columns["entity"]) for columns in described)]
        )
        relations, joins = _distinct([part["relation"] for part in parts])
        values, value_numbers = _distinct([part["value"] for part in parts])
        sums = digests(self._name + ENTITY, keys)
        ids = as_ids(sums)
        by_id, by_name, by_text = (pc.sort_indices(c).to_numpy() for c in (ids, relations, values))
        key_numbers = _renumbered(key_numbers, by_id)
        heads, entities = key_numbers[: len(parts)], key_numbers[len(parts) : 2 * len(parts)]
        numbers = _joined(key_numbers[2 * len(parts) :])  # of the described entities
        keys = keys.take(by_id)
        triples = _triples(
            parts,
            _joined(heads),
            _joined(_renumbered(joins, by_name)),
            _joined(entities),
            _joined(_renumbered(value_numbers, by_text)),
            [len(keys), len(relations), len(keys) + len(values)],
        )
        degrees = np.bincount(triples["heads"], minlength=len(keys))
        degrees += np.bincount(triples["tails"], minlength=len(keys))[: len(keys)]
        names = pc.coalesce(_first_texts(described, "name", numbers, len(keys)), keys)
        aliases, nodes, shares = alias_shares(*self._spellings(names, keys), degrees)
        return ImportedGraph(
            name=self._name,
            language=self._language,
            ids=ids.take(by_id),
            digests=sums[by_id],
            keys=keys,
            names=names,
            kinds=_first_texts(described, "kind", numbers, len(keys)),
            descriptions=_first_texts(described, "description", numbers, len(keys)),
            values=values.take(by_text),
            relations=relations.take(by_name),
            **triples,
            degrees=degrees,
            aliases=aliases,
            alias_nodes=nodes,
            alias_shares=shares,
        )

    def _paths(self, row: type[Row]) -> list[Path]:
        parts = self._journal.parts(row, upto=self._upto)
        by_file = {part.file: part for part in parts}
        return [self._journal.path(part) for part in by_file.values()]

    def _columns(self, row: type[Row]) -> Iterator[Columns]:
        """Yield the columns of this import's rows, part by part, in the order of the journal."""
        for path in self._paths(row):
            columns = self._read(row, path)
            if len(next(iter(columns.values()))):
                yield columns

    def _read(self, row: type[Row], path: Path) -> Columns:
        schema = row.arrow_schema()
        names = [name for name in schema.names if name != "import_id"]
        own = pc.field("import_id") == self._id
        table = pq.read_table(path, columns=names, filters=own, schema=schema)
        return {name: table[name].combine_chunks() for name in names}

    def _spellings(self, names: pa.Array, keys: pa.Array) -> tuple[pa.ChunkedArray, np.ndarray]:
        """Return the names of all entities and the aliases of known ones, each with its node."""
        texts, nodes = [names], [np.arange(len(names), dtype=np.int32)]
        for columns in self._columns(ImportedAlias):
            places = pc.index_in(columns["entity"].cast(keys.type), value_set=keys)
            nodes.append(places.drop_null().to_numpy())
            texts.append(columns["alias"].filter(places.is_valid()).cast(keys.type))
        return pa.chunked_array(texts), _joined(nodes)


def _parted(columns: Columns) -> Columns:
    """Return a part's columns with strings encoded, and tails parted into entities and values."""
    is_value, tails = columns["is_value"], columns["tail"]
    parted = {"entity": tails.filter(pc.invert(is_value)), "value": tails.filter(is_value)}
    texts = {"head": columns["head"], "relation": columns["relation"], **parted}
    return {**columns, **{name: _encoded(column) for name, column in texts.items()}}


def _triples(
    parts: list[Columns],
    heads: np.ndarray,
    joins: np.ndarray,
    entities: np.ndarray,
    values: np.ndarray,
    sizes: list[int],
) -> dict[str, np.ndarray]:
    """Return heads, joins, tails, weights and types, sorted, equal triples once.

    `entities` and `values` are the tails of either kind; `sizes` has the numbers of entities, of
    relations, and of entities and values.
    """
    is_value = _column(parts, "is_value", bool)
    tails = np.empty(len(heads), np.int32)
    tails[~is_value], tails[is_value] = entities, values + sizes[0]
    order = row_order([heads, joins, tails], sizes)
    heads, joins, tails = (column[order] for column in (heads, joins, tails))
    new = np.ones(len(order), bool)
    new[1:] = np.logical_or.reduce([np.diff(c) != 0 for c in (heads, joins, tails)])
    weights = _column(parts, "weight", float)[order]
    stated = [pc.index_in(p["value_type"], value_set=pa.array(STATED_TYPES)) for p in parts]
    types = _joined(pc.fill_null(places, -1).to_numpy() for places in stated)[order]
    firsts = np.flatnonzero(new)
    return {
        "heads": heads[new],
        "joins": joins[new],
        "tails": tails[new],
        "weights": np.fmax.reduceat(weights, firsts) if len(order) else weights,
        "types": np.maximum.reduceat(types, firsts) if len(order) else types,
    }


def _column(parts: list[Columns], name: str, kind: type) -> np.ndarray:
    columns = (part[name].to_numpy(zero_copy_only=False) for part in parts)
    return np.concatenate([np.empty(0, kind), *columns])


def _first_texts(
    described: list[Columns], column: str, numbers: np.ndarray, entities: int
) -> pa.Array:
    """Return each entity's first text in a column, null where it has none."""
    texts = pa.chunked_array([columns[column] for columns in described], pa.string())
    rows = np.flatnonzero(texts.is_valid().to_numpy())
    with_text, first = np.unique(numbers[rows], return_index=True)
    places = np.full(entities, -1, np.int64)
    places[with_text] = rows[first]
    whole = texts.cast(pa.large_string()).combine_chunks()
    return whole.take(pa.array(places, mask=places < 0))


def _joined(parts: Any) -> np.ndarray:
    return np.concatenate([np.empty(0, np.int32), *parts])


def alias_shares(
    names: pa.ChunkedArray, nodes: np.ndarray, known: np.ndarray
) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """Return names (strings), nodes (int32) and shares (float64), sorted by name, then node.

    `nodes` has a node for each name, `known` the number of facts about each node: a node with more
    facts is more likely to be meant. The shares of one name sum to one.
    """
    coded = names.dictionary_encode().combine_chunks()
    by_text = pc.sort_indices(coded.dictionary).to_numpy()
    places = np.empty(len(by_text), np.int32)
    places[by_text] = np.arange(len(by_text), dtype=np.int32)
    texts = places[coded.indices.to_numpy()]
    order = row_order([texts, nodes], [len(by_text), len(known)])
    texts, nodes = texts[order], nodes[order]
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(texts) != 0) | (np.diff(nodes) != 0)
    texts, nodes = texts[new], nodes[new]
    weights = known[nodes] + 1
    shares = weights / np.bincount(texts, weights, minlength=len(by_text))[texts]
    return coded.dictionary.take(by_text[texts]), nodes, shares
