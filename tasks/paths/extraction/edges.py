"""The edges among a few nodes of a graph, for many questions at once."""

from collections.abc import Sequence

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.neighbours import expanded

TOGETHER = 64
"""Sets of nodes that are examined at once: one bit of a number for each."""

HUB = 2_000
"""A node with more edges is examined from the other ends of its edges, which are fewer."""


class NodeSets:
    """Up to TOGETHER sets of nodes, as one number per node of the graph; for one thread."""

    def __init__(self, graph: Graph) -> None:
        """Start with empty sets of nodes of a graph."""
        self._graph = graph
        self._bits = np.zeros(graph.nodes, np.uint64)
        self._members: Nodes = np.zeros(0, np.int32)

    def fill(self, sets: Sequence[Nodes]) -> None:
        """Replace the sets; the nodes of each are distinct."""
        self._bits[self._members] = 0
        counts = list(map(len, sets))
        self._members = np.concatenate([np.zeros(0, np.int32), *sets])
        marks = np.uint64(1) << np.repeat(np.arange(len(counts), dtype=np.uint64), counts)
        np.bitwise_or.at(self._bits, self._members, marks)

    def has(self, places: np.ndarray, nodes: Nodes) -> np.ndarray:
        """Return whether the sets at these places have these nodes, bool."""
        found: np.ndarray = (self._bits[nodes] >> places.astype(np.uint64)) & np.uint64(1) > 0
        return found

    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the edges with both ends in one set: their numbers, sorted, and the sets' bits.

        Both are (edges,), int64 and uint64. It takes time in the number of edges at these nodes,
        hubs aside.
        """
        graph, bits = self._graph, self._bits
        nodes = np.unique(self._members)
        is_hub = graph.out_offsets[nodes + 1] - graph.out_offsets[nodes] > HUB
        found = [self._common(*self._leaving(nodes[~is_hub]))]
        if is_hub.any():
            hubs = nodes[is_hub]
            entered_often = graph.in_offsets[nodes + 1] - graph.in_offsets[nodes] > HUB
            places, owners = expanded(graph.in_offsets, nodes[~entered_often])
            edges = graph.in_edges[places].astype(np.int64)
            heads = graph.heads[edges]
            shared = bits[heads] & bits[nodes[~entered_often]][owners]
            # Few are left of most nodes' edges, so that the look-up of hubs comes last.
            edges, shared = edges[shared > 0], shared[shared > 0]
            from_hub = np.isin(graph.heads[edges], hubs, kind="sort")
            found.append((edges[from_hub], shared[from_hub]))
            if entered_often.any():
                found.append(self._between_hubs(hubs, nodes[entered_often]))
        edges, shared = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(edges)
        return edges[order], shared[order]

    def _leaving(self, nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
        edges, owners = expanded(self._graph.out_offsets, nodes)
        return edges, self._bits[nodes][owners]

    def _common(self, edges: np.ndarray, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the edges whose tails share a set with their heads, given as bits."""
        shared = heads & self._bits[self._graph.out_tails[edges]]
        return edges[shared > 0], shared[shared > 0]

    def _between_hubs(self, hubs: Nodes, entered: Nodes) -> tuple[np.ndarray, np.ndarray]:
        edges, shared = self._common(*self._leaving(hubs))
        kept = np.isin(self._graph.out_tails[edges], entered, kind="sort")
        return edges[kept], shared[kept]


def members(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sets and things, int64 each, sorted: which sets the bits of things (things,) name."""
    octets = bits.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)
    is_member = np.unpackbits(octets, axis=1, bitorder="little")
    places = np.flatnonzero(np.ascontiguousarray(is_member.T).view(np.bool_))
    sets = places // max(len(bits), 1)
    return sets, places - sets * len(bits)


def as_triples(graph: Graph, edges: np.ndarray) -> np.ndarray:
    """Return edges by their numbers as int32 (edges, 3): head, relation, tail."""
    columns = (graph.heads[edges], graph.out_relations[edges], graph.out_tails[edges])
    return np.stack(columns, axis=1).astype(np.int32, copy=False)


class Likeness:
    """How like triples in words are to contexts; a triple is the sum of its parts' vectors."""

    def __init__(self, triples: np.ndarray, nodes: np.ndarray, relations: np.ndarray) -> None:
        """Take int32 (triples, 3), vectors of all nodes, and those of relations in float32."""
        known, places = np.unique(triples[:, ::2], return_inverse=True)
        self._heads, self._tails = places.reshape(-1, 2).T
        self._kinds = triples[:, 1]
        self._nodes, self._relations = nodes[known].astype(np.float32), relations
        squares = [np.einsum("ij,ij->i", rows, rows) for rows in (self._nodes, relations)]
        crossed = self._nodes @ relations.T
        together = np.einsum("ij,ij->i", self._nodes[self._heads], self._nodes[self._tails])
        together += crossed[self._heads, self._kinds] + crossed[self._tails, self._kinds]
        total = squares[0][self._heads] + squares[0][self._tails] + squares[1][self._kinds]
        self._lengths = np.sqrt(np.maximum(total + 2 * together, 1e-9))

    def with_contexts(
        self, contexts: np.ndarray, places: np.ndarray, triples: np.ndarray
    ) -> np.ndarray:
        """Return cosines, float32 (pairs,), of contexts (contexts, d), of length one, and triples.

        `places` and `triples` number the contexts and triples of the pairs.
        """
        nodes, relations = self._nodes @ contexts.T, self._relations @ contexts.T
        total = nodes[self._heads[triples], places] + nodes[self._tails[triples], places]
        total += relations[self._kinds[triples], places]
        likeness: np.ndarray = total / self._lengths[triples]
        return likeness


def best_of_each(
    sets: np.ndarray, things: np.ndarray, worth: np.ndarray, count: int, most: int
) -> list[np.ndarray]:
    """Return for each of `count` sets its things, at most so many, those worth most first.

    The sets are sorted, and no thing is worth more than 1 or less than -1.
    """
    order = np.argsort(4.0 * sets - worth, kind="stable")
    ends = np.bincount(sets, minlength=count).cumsum()
    return [part[:most] for part in np.split(things[order], ends[:-1])]
