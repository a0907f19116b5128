"""The edges among a few nodes of a graph, for many questions at once."""

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.neighbours import expanded

SETS_AT_ONCE = 64
"""Sets of nodes that are examined at once; each has one bit of a 64-bit number."""

HUB = 2_000
"""A node with more edges is a hub, whose edges are examined from their other ends."""

_ROWS = 1 << 14  # computed at a time

MOST_EDGES = 2_000
"""Edges that are returned per question: far more than a prompt has room for."""


class NodeSets:
    """Up to SETS_AT_ONCE sets of nodes, as one bit mask per node of the graph; for one thread."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._bits = np.zeros(graph.nodes, np.uint64)
        self.places = np.zeros(graph.nodes, np.int32)  # of members of the sets in `nodes`
        self.nodes: Nodes = np.zeros(0, np.int32)

    def fill(self, places: np.ndarray, nodes: Nodes) -> None:
        """Replace all sets: add each of `nodes` (members,) to the set of its place (members,)."""
        self._bits[self.nodes] = 0
        np.bitwise_or.at(self._bits, nodes, np.uint64(1) << places.astype(np.uint64))
        self.nodes = distinct(nodes)  # in any set
        self.places[self.nodes] = np.arange(len(self.nodes), dtype=np.int32)

    def has(self, places: np.ndarray, nodes: Nodes) -> np.ndarray:
        """Return whether the set at each place has the node, bool."""
        found: np.ndarray = (self._bits[nodes] >> places.astype(np.uint64)) & np.uint64(1) > 0
        return found

    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the edges with both ends in a common set: sorted numbers, and the sets' bit masks.

        Both are (edges,), int64 and uint64. The running time grows with the number of edges at
        these nodes, apart from hubs.
        """
        graph, bits, nodes = self._graph, self._bits, self.nodes
        leaving = graph.out_offsets[nodes + 1] - graph.out_offsets[nodes]
        entering = graph.in_offsets[nodes + 1] - graph.in_offsets[nodes]
        is_hub, entered_often = leaving > HUB, entering > HUB
        if leaving[is_hub].sum() <= entering[~entered_often].sum():
            return self._common(*self._leaving(nodes))
        found = [self._common(*self._leaving(nodes[~is_hub]))]
        hubs = nodes[is_hub]
        places, owners = expanded(graph.in_offsets, nodes[~entered_often])
        edges = graph.in_edges[places].astype(np.int64)
        shared = bits[graph.heads[edges]] & bits[nodes[~entered_often]][owners]
        # Hubs are looked up last, when few edges are left.
        kept = np.flatnonzero(shared)
        edges, shared = edges[kept], shared[kept]
        from_hub = is_hub[self.places[graph.heads[edges]]]
        found.append((edges[from_hub], shared[from_hub]))
        if entered_often.any():
            edges, shared = self._common(*self._leaving(hubs))
            to_hub = entered_often[self.places[graph.out_tails[edges]]]
            found.append((edges[to_hub], shared[to_hub]))
        edges, shared = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(edges)
        return edges[order], shared[order]

    def _leaving(self, nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
        edges, owners = expanded(self._graph.out_offsets, nodes)
        return edges, self._bits[nodes][owners]

    def _common(self, edges: np.ndarray, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the edges whose tails share a set with their heads, whose bit masks are given."""
        shared = heads & self._bits[self._graph.out_tails[edges]]
        kept = np.flatnonzero(shared)
        return edges[kept], shared[kept]


def distinct(values: np.ndarray) -> np.ndarray:
    """Return the sorted distinct values; `np.unique` takes several times as long."""
    values = np.sort(values)
    new = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    distinct: np.ndarray = values[new]
    return distinct


def members(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of a set and a thing, int64 each, sorted, from bit masks (things,)."""
    octets = bits.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)
    is_member = np.unpackbits(octets, axis=1, bitorder="little")
    places = np.flatnonzero(np.ascontiguousarray(is_member.T).view(np.bool_))
    sets = places // max(len(bits), 1)
    return sets, places - sets * len(bits)


def as_triples(graph: Graph, edges: np.ndarray) -> np.ndarray:
    """Return edges by their numbers as int32 (edges, 3): head, relation, tail."""
    columns = (graph.heads[edges], graph.out_relations[edges], graph.out_tails[edges])
    return np.stack(columns, axis=1).astype(np.int32, copy=False)


class EdgeLikeness:
    """The similarity of edges to contexts; an edge's vector is the sum of those of its parts.

    Lengths of sums are cached, since questions share edges; use one object per thread.
    """

    def __init__(self, graph: Graph, nodes: np.ndarray, relations: np.ndarray) -> None:
        """Take a graph and the vectors of its nodes (float16) and relations (float32)."""
        self._graph, self._nodes, self._relations = graph, nodes, relations
        self._lengths = np.zeros(len(graph.heads), np.float32)

    def of(
        self,
        contexts: np.ndarray,
        sets: NodeSets,
        edges: np.ndarray,
        places: np.ndarray,
        among: np.ndarray,
    ) -> np.ndarray:
        """Return the cosines of pairs of a context and an edge between nodes of the sets, float32.

        Contexts (contexts, d) have length one. `edges` are distinct edge numbers. `places` and
        `among` are the pairs: indices of contexts and of `edges`.
        """
        graph, vectors = self._graph, self._nodes[sets.nodes].astype(np.float32)
        ends = [sets.places[nodes[edges]] for nodes in (graph.heads, graph.out_tails)]
        kinds = graph.out_relations[edges]
        new = np.flatnonzero(self._lengths[edges] == 0)
        for start in range(0, len(new), _ROWS):
            some = new[start : start + _ROWS]
            sums = self._relations[kinds[some]]
            for column in ends:
                sums += vectors[column[some]]
            self._lengths[edges[some]] = np.sqrt(
                np.maximum(np.einsum("ij,ij->i", sums, sums), 1e-9)
            )
        nodes = contexts @ vectors.T
        total = (contexts @ self._relations.T)[places, kinds[among]]
        for column in ends:
            total += nodes[places, column[among]]
        total /= self._lengths[edges][among]
        return total


def best_of_each(
    sets: np.ndarray, things: np.ndarray, worth: np.ndarray, rows: np.ndarray, count: int
) -> list[np.ndarray]:
    """Return the rows of the things in each of `count` sets, sorted by descending worth.

    `worth` of the pairs of a set and a thing is clipped to -1 to 1; ties keep their order. At most
    MOST_EDGES rows are returned for each set.
    """
    # Set, worth and index in one integer: integers are sorted many times faster than floats.
    bits = max(len(sets) - 1, 1).bit_length()
    levels = ((1 - np.clip(worth, -1, 1)) * (1 << 30)).astype(np.uint64)
    keys = (sets.astype(np.uint64) << np.uint64(32) | levels) << np.uint64(bits)
    order = np.sort(keys | np.arange(len(sets), dtype=np.uint64)) & np.uint64((1 << bits) - 1)
    best = rows[things[order]]
    ends = np.bincount(sets, minlength=count).cumsum()
    starts = [0, *ends[:-1].tolist()]
    return [
        best[start : min(end, start + MOST_EDGES)].copy()
        for start, end in zip(starts, ends.tolist(), strict=True)
    ]
