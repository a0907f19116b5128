"""One knowledge graph as arrays: the edges at a node, and the nodes with a name.

Nodes are entities and values, numbered from 0; an edge is a triple. Each graph has a folder, whose
files are mapped into memory, so that opening millions of edges takes no time:

graph.json                     name and relations
labels.arrow                   names and entity ids of the nodes
NAME.npy                       one file per array of `Graph`
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tasks.graphs.name_keys import by_key, name_keys, ranges_of
from tasks.text.names import other_genitive
from warehouse.editions import Edition

Nodes = np.ndarray  # int32
FOLDER = "graphs"  # within an edition's folder: a folder for each graph
NAMES = "names"  # within a graph's folder: the indexes for linking


@dataclass(frozen=True)
class Edge:
    """A triple of the graph, by node and relation numbers."""

    head: int
    relation: int
    tail: int


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph of `nodes` nodes and `edges` edges.

    `labels` holds each node's name and `ids` its entity id (null for values). Edges are sorted by
    head, then relation: those that leave node n are `out_offsets[n]:out_offsets[n + 1]` of
    `out_relations` and `out_tails`. `in_offsets` and `in_edges` give the numbers of the edges that
    enter a node, sorted by relation. `key_hashes` (sorted) and `key_nodes` lead from names and
    aliases to nodes, the likeliest bearer first.
    """

    name: str
    relations: list[str]
    labels: Any  # pyarrow string array (nodes,)
    ids: Any  # pyarrow string array (nodes,), null for values
    heads: np.ndarray  # int32 (edges,)
    out_offsets: np.ndarray  # int64 (nodes + 1,)
    out_relations: np.ndarray  # int32 (edges,)
    out_tails: np.ndarray  # int32 (edges,)
    in_offsets: np.ndarray  # int64 (nodes + 1,)
    in_edges: np.ndarray  # int32 (edges,)
    key_hashes: np.ndarray  # uint64 (names,)
    key_nodes: np.ndarray  # int32 (names,)
    kinds: Any = None  # pyarrow string array (nodes,), null where none is given; None without any

    @classmethod
    def of(
        cls,
        name: str,
        triples: Iterable[tuple[str, str, str]],
        aliases: Iterable[tuple[str, str]] = (),
    ) -> "Graph":
        """Return a graph of triples in which names identify nodes; aliases are (alias, name)."""
        numbers: dict[str, int] = {}
        relations: dict[str, int] = {}
        rows = [
            (
                numbers.setdefault(head, len(numbers)),
                relations.setdefault(relation, len(relations)),
                numbers.setdefault(tail, len(numbers)),
            )
            for head, relation, tail in triples
        ]
        labels = list(numbers)
        named = [(label, node, 1.0) for label, node in numbers.items()]
        named += [(alias, numbers[label], 0.5) for alias, label in aliases if label in numbers]
        edges = np.array(sorted(set(rows)), np.int32).reshape(-1, 3)
        names = (
            name_keys(name for name, _, _ in named),
            np.array([node for _, node, _ in named], np.int32),
            np.array([weight for _, _, weight in named], np.float32),
        )
        return cls.from_arrays(
            name, list(relations), pa.array(labels), pa.array(labels), edges, names
        )

    @classmethod
    def from_arrays(
        cls,
        name: str,
        relations: list[str],
        labels: Any,
        ids: Any,
        edges: np.ndarray,
        names: tuple[np.ndarray, np.ndarray, np.ndarray],
        kinds: Any = None,
    ) -> "Graph":
        """Return a graph of edges (edges, 3: head, relation, tail) and of names.

        `names` are hashes (see `name_keys`), nodes and weights, (names,) each.
        """
        nodes, columns = len(labels), [np.ascontiguousarray(edges[:, k]) for k in range(3)]
        leaving = row_order(columns, [nodes, len(relations), nodes])
        heads, joins, tails = (column[leaving] for column in columns)
        entering = row_order([tails, joins, heads], [nodes, len(relations), nodes]).astype(np.int32)
        hashes, bearers = by_key(*names)
        return cls(
            name=name,
            relations=relations,
            labels=labels,
            ids=ids,
            heads=heads,
            out_offsets=_offsets(heads, nodes),
            out_relations=joins,
            out_tails=tails,
            in_offsets=_offsets(tails[entering], nodes),
            in_edges=entering,
            key_hashes=hashes,
            key_nodes=bearers,
            kinds=kinds,
        )

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.out_offsets) - 1

    @property
    def entities(self) -> np.ndarray:
        """Which nodes are entities, not values: bool (nodes,)."""
        return np.asarray(pa.array(self.ids).is_valid())

    @cached_property
    def relation_numbers(self) -> dict[str, int]:
        """The number of each relation."""
        return {relation: number for number, relation in enumerate(self.relations)}

    def label(self, node: int) -> str:
        """Return a node's name."""
        return str(self.labels[int(node)].as_py())

    def kind(self, node: int) -> str:
        """Return the kind that an entity was given; empty without one."""
        return (self.kinds[int(node)].as_py() or "") if self.kinds is not None else ""

    def named(self, name: str) -> Nodes:
        """Return the nodes that bear a name, compared in its normal form; the likeliest first.

        If no node is called "the X of Y", return those called "Y's X", and vice versa.
        """
        nodes = self._with_key(name)
        if len(nodes) == 0 and (other := other_genitive(name)):
            nodes = self._with_key(other)
        return nodes

    def _with_key(self, name: str) -> Nodes:
        low, high = ranges_of(self.key_hashes, name_keys([name]))
        return self.key_nodes[low[0] : high[0]]

    def bearers(self, name: str) -> Nodes:
        """Return the nodes with a name, sorted; only exact matches if there are any."""
        nodes = self.named(name)
        exact = [node for node in nodes if self.label(node) == name]
        return np.sort(np.array(exact or nodes, np.int32))

    def leaving(self, node: int) -> Iterator[Edge]:
        """Yield the edges with a node as their head."""
        for edge in range(self.out_offsets[node], self.out_offsets[node + 1]):
            yield Edge(node, int(self.out_relations[edge]), int(self.out_tails[edge]))

    def entering(self, node: int) -> Iterator[Edge]:
        """Yield the edges with a node as their tail."""
        for edge in self.in_edges[self.in_offsets[node] : self.in_offsets[node + 1]]:
            yield Edge(int(self.heads[edge]), int(self.out_relations[edge]), node)

    def edges_around(
        self, node: int, most: int
    ) -> tuple[tuple[np.ndarray, Nodes], tuple[np.ndarray, Nodes]]:
        """Return relations and ends of the edges that leave a node, and of those that enter it.

        At most `most` edges are returned, those that leave first.
        """
        leaving = slice(self.out_offsets[node], self.out_offsets[node + 1])
        relations, tails = self.out_relations[leaving][:most], self.out_tails[leaving][:most]
        edges = self.in_edges[self.in_offsets[node] : self.in_offsets[node + 1]]
        edges = edges[: most - len(tails)]
        return (relations, tails), (self.out_relations[edges], self.heads[edges])

    def step(self, nodes: Nodes, relation: int, *, inverse: bool = False) -> Nodes:
        """Return the distinct nodes that a relation leads to from the given ones, sorted.

        `inverse` goes from tails to heads.
        """
        edges = self._touching(nodes, inverse=inverse)
        edges = edges[self.out_relations[edges] == relation]
        return np.unique((self.heads if inverse else self.out_tails)[edges])

    def relations_around(self, nodes: Nodes) -> list[tuple[int, bool]]:
        """Return the relations that leave (False) or enter (True) any of the nodes."""
        return [
            (int(relation), inverse)
            for inverse in (False, True)
            for relation in np.unique(self.out_relations[self._touching(nodes, inverse=inverse)])
        ]

    def fan(self, nodes: Nodes) -> Iterator[tuple[tuple[int, bool], Nodes]]:
        """Yield each relation that leaves (False) or enters (True) the nodes, with the other ends.

        This is `step` for all of `relations_around` with a single sort of the edges.
        """
        for inverse in (False, True):
            edges = self._touching(nodes, inverse=inverse)
            if not len(edges):
                continue
            kinds = self.out_relations[edges]
            ends = (self.heads if inverse else self.out_tails)[edges]
            order = np.lexsort((ends, kinds))
            kinds, ends = kinds[order], ends[order]
            new_kind = np.concatenate([[True], kinds[1:] != kinds[:-1]])
            once = new_kind | np.concatenate([[True], ends[1:] != ends[:-1]])
            kinds, ends, starts = kinds[once], ends[once], np.flatnonzero(new_kind[once])
            for start, reached in zip(starts, np.split(ends, starts[1:]), strict=True):
                yield (int(kinds[start]), inverse), reached

    def _touching(self, nodes: Nodes, *, inverse: bool) -> np.ndarray:
        """Return the numbers of the edges that leave, or enter, any of the nodes."""
        offsets = self.in_offsets if inverse else self.out_offsets
        starts, ends = offsets[nodes], offsets[np.asarray(nodes) + 1]
        counts = ends - starts
        # The ranges of all nodes, expanded with one cumulative sum.
        places = np.arange(counts.sum()) + np.repeat(starts - (counts.cumsum() - counts), counts)
        return self.in_edges[places] if inverse else places


def _offsets(sorted_nodes: np.ndarray, nodes: int) -> np.ndarray:
    counts = np.bincount(sorted_nodes, minlength=nodes)
    return np.concatenate([[0], counts.cumsum()]).astype(np.int64)


def row_order(columns: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    """Return int64 (rows,): the order of rows by their columns, the first column first.

    A column has numbers from 0 to below its size. Equal rows may come in any order.
    """
    if math.prod(max(size, 1) for size in sizes) >= 2**63:
        return np.lexsort(columns[::-1])
    packed = columns[0].astype(np.int64)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        packed *= size
        packed += column
    if (packed[1:] >= packed[:-1]).all():
        return np.arange(len(packed))
    return np.argsort(packed)


ARRAYS = tuple(field.name for field in fields(Graph) if field.type is np.ndarray)

KEYS = ("key_hashes.npy", "key_nodes.npy")


def save_graph(graph: Graph, folder: Path) -> None:
    """Write a graph into a folder, which must not hold one yet."""
    folder.mkdir(parents=True)
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", getattr(graph, name), allow_pickle=False)
    columns = {"label": graph.labels, "id": graph.ids}
    table = pa.table(columns if graph.kinds is None else columns | {"kind": graph.kinds})
    path = str(folder / "labels.arrow")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    about = {"name": graph.name, "relations": graph.relations}
    (folder / "graph.json").write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")


def save_names(folder: Path, keys: np.ndarray, nodes: np.ndarray) -> None:
    """Add keys of names (uint64, sorted) and their nodes to a graph that was saved without."""
    for name, array in zip(KEYS, (keys, nodes), strict=True):
        np.save(folder / name, array, allow_pickle=False)


def open_graph(folder: Path) -> Graph:
    """Open the graph in a folder; its arrays are mapped, not read."""
    about = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    # Plain arrays over the mapped bytes: every slice of a memmap costs microseconds more.
    arrays = {
        name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
        for name in ARRAYS
    }
    with pa.memory_map(str(folder / "labels.arrow")) as file:
        table = pa.ipc.open_file(file).read_all().combine_chunks()
    labels, ids = (table[name].chunk(0) for name in ("label", "id")) if len(table) else ([], [])
    kinds = table["kind"].chunk(0) if len(table) and "kind" in table.column_names else None
    return Graph(about["name"], about["relations"], labels, ids, **arrays, kinds=kinds)


def graph_folders(edition: Edition) -> list[Path]:
    """Return the folders in which an edition keeps the arrays of its graphs."""
    return sorted((edition.path / FOLDER).glob("[0-9]*"))


def graphs_of(edition: Edition) -> dict[str, Graph]:
    """Return the graphs of an edition by name; their arrays are mapped, not read."""
    return {graph.name: graph for graph in map(open_graph, graph_folders(edition))}
