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


@dataclass(frozen=True, slots=True)
class Coded:
    """A column as places in one of a vocabulary's dictionaries."""

    dictionary: int
    places: np.ndarray  # int32


class Vocabulary:
    """The distinct strings of many columns; after all are added, `settle` numbers them."""

    def __init__(self) -> None:
        """Start without strings."""
        self._dictionaries: list[pa.Array] = []
        self._numbers: list[np.ndarray] = []

    def add(self, coded: pa.DictionaryArray) -> Coded:
        """Add a dictionary-encoded column of strings without nulls."""
        # Offsets of 64 bits: all strings together may have more than two gigabytes.
        self._dictionaries.append(coded.dictionary.cast(pa.large_string()))
        return Coded(len(self._dictionaries) - 1, coded.indices.to_numpy())

    def settle(self) -> pa.Array:
        """Return the distinct strings, numbered in the order of their first occurrence."""
        if not any(map(len, self._dictionaries)):
            return pa.array([], pa.large_string())
        whole = pa.chunked_array(self._dictionaries).dictionary_encode().combine_chunks()
        ends = np.cumsum(list(map(len, self._dictionaries)))
        self._numbers = np.split(whole.indices.to_numpy(), ends[:-1])
        self._dictionaries = []
        return whole.dictionary

    def renumber(self, order: np.ndarray) -> None:
        """Renumber the strings by their places in this order."""
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        self._numbers = [places[numbers] for numbers in self._numbers]

    def numbers(self, coded: Coded) -> np.ndarray:
        """Return the number of each string of a column, int32."""
        if not len(coded.places):
            return np.empty(0, np.int32)
        return self._numbers[coded.dictionary][coded.places]


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


@dataclass(frozen=True)
class _Part:
    """The triples of one part of the journal; tails are values where `is_value` is true."""

    heads: Coded
    joins: Coded
    tails: Coded
    values: Coded
    is_value: np.ndarray
    weights: np.ndarray
    types: np.ndarray


class _Reading:
    """Reads one graph from the journal."""

    def __init__(self, journal: Journal, row: dict[str, Any], upto: int) -> None:
        self._journal, self._upto = journal, upto
        self._id, self._name, self._language = row["import_id"], row["graph"], row["language"]
        self._keys, self._joins, self._values = Vocabulary(), Vocabulary(), Vocabulary()

    def graph(self) -> ImportedGraph:
        with ThreadPoolExecutor(2) as pool:
            paths = self._paths(ImportedTriple)
            encoded = pool.map(lambda path: _encoded(self._read(ImportedTriple, path)), paths)
            parts = [self._part(columns) for columns in encoded if len(columns["head"])]
        described = [
            (self._keys.add(c["entity"].dictionary_encode()), c)
            for c in self._columns(ImportedEntity)
        ]
        keys, relations, values = (v.settle() for v in (self._keys, self._joins, self._values))
        sums = digests(self._name + ENTITY, keys)
        ids = as_ids(sums)
        by_id, by_text = (pc.sort_indices(column).to_numpy() for column in (ids, values))
        by_name = pc.sort_indices(relations).to_numpy()
        for vocabulary, order in (
            (self._keys, by_id), (self._values, by_text), (self._joins, by_name)
        ):  # fmt: skip
            vocabulary.renumber(order)
        keys = keys.take(by_id)
        triples = self._triples(parts, len(keys), len(relations), len(values))
        degrees = np.bincount(triples["heads"], minlength=len(keys))
        degrees += np.bincount(triples["tails"], minlength=len(keys))[: len(keys)]
        names = pc.coalesce(self._first_texts(described, "name", len(keys)), keys)
        aliases, nodes, shares = alias_shares(*self._spellings(names, keys), degrees)
        return ImportedGraph(
            name=self._name,
            language=self._language,
            ids=ids.take(by_id),
            digests=sums[by_id],
            keys=keys,
            names=names,
            kinds=self._first_texts(described, "kind", len(keys)),
            descriptions=self._first_texts(described, "description", len(keys)),
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

    def _part(self, columns: Columns) -> _Part:
        return _Part(
            heads=self._keys.add(columns["head"]),
            joins=self._joins.add(columns["relation"]),
            tails=self._keys.add(columns["entity"]),
            values=self._values.add(columns["value"]),
            is_value=columns["is_value"].to_numpy(zero_copy_only=False),
            weights=columns["weight"].to_numpy(zero_copy_only=False),
            types=pc.fill_null(
                pc.index_in(columns["value_type"], value_set=pa.array(STATED_TYPES)), -1
            ).to_numpy(),
        )

    def _triples(
        self, parts: list[_Part], keys: int, relations: int, values: int
    ) -> dict[str, np.ndarray]:
        """Return heads, joins, tails, weights and types, sorted, equal triples once."""
        tails = np.empty(sum(len(part.is_value) for part in parts), np.int32)
        is_value = np.concatenate([np.empty(0, bool), *(part.is_value for part in parts)])
        tails[~is_value] = _joined(self._keys.numbers(part.tails) for part in parts)
        tails[is_value] = _joined(self._values.numbers(part.values) for part in parts) + keys
        heads = _joined(self._keys.numbers(part.heads) for part in parts)
        joins = _joined(self._joins.numbers(part.joins) for part in parts)
        order = row_order([heads, joins, tails], [keys, relations, keys + values])
        heads, joins, tails = (column[order] for column in (heads, joins, tails))
        new = np.ones(len(order), bool)
        new[1:] = np.logical_or.reduce([np.diff(c) != 0 for c in (heads, joins, tails)])
        weights = np.concatenate([np.empty(0), *(part.weights for part in parts)])[order]
        types = _joined(part.types for part in parts)[order]
        firsts = np.flatnonzero(new)
        return {
            "heads": heads[new],
            "joins": joins[new],
            "tails": tails[new],
            "weights": np.fmax.reduceat(weights, firsts) if len(order) else weights,
            "types": np.maximum.reduceat(types, firsts) if len(order) else types,
        }

    def _first_texts(
        self, described: list[tuple[Coded, Columns]], column: str, entities: int
    ) -> pa.Array:
        """Return each entity's first text in a column, null where it has none."""
        texts = pa.chunked_array([columns[column] for _, columns in described], pa.string())
        numbers = _joined(self._keys.numbers(coded) for coded, _ in described)
        rows = np.flatnonzero(texts.is_valid().to_numpy())
        with_text, first = np.unique(numbers[rows], return_index=True)
        places = np.full(entities, -1, np.int64)
        places[with_text] = rows[first]
        whole = texts.cast(pa.large_string()).combine_chunks()
        return whole.take(pa.array(places, mask=places < 0))

    def _spellings(self, names: pa.Array, keys: pa.Array) -> tuple[pa.ChunkedArray, np.ndarray]:
        """Return the names of all entities and the aliases of known ones, each with its node."""
        texts, nodes = [names], [np.arange(len(names), dtype=np.int32)]
        for columns in self._columns(ImportedAlias):
            places = pc.index_in(columns["entity"].cast(keys.type), value_set=keys)
            nodes.append(places.drop_null().to_numpy())
            texts.append(columns["alias"].filter(places.is_valid()).cast(keys.type))
        return pa.chunked_array(texts), _joined(nodes)


def _encoded(columns: Columns) -> Columns:
    """Dictionary-encode a part's columns of strings; tails become entities and values."""
    is_value, tails = columns["is_value"], columns["tail"]
    parted = {"entity": tails.filter(pc.invert(is_value)), "value": tails.filter(is_value)}
    texts = {"head": columns["head"], "relation": columns["relation"], **parted}
    return {**columns, **{name: column.dictionary_encode() for name, column in texts.items()}}


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
