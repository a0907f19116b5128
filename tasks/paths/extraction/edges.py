"""The edges among a few nodes of a graph, and which of them matter to a question."""

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.neighbours import expanded

HUB = 2_000
"""A node with more edges is examined from the other ends of its edges, which are fewer."""

LIKELIEST_EDGES = 2_000
"""No more edges are taken for one question."""


class EdgesAmong:
    """Finds edges with both ends in a set of nodes; use one per thread."""

    def __init__(self, graph: Graph) -> None:
        """Take a graph."""
        self._graph = graph
        self._places = np.full(graph.nodes, -1, np.int32)

    def find(self, nodes: Nodes) -> np.ndarray:
        """Return the numbers of the edges among distinct nodes, int64 (edges,), sorted.

        It takes time in the number of edges at these nodes, hubs aside.
        """
        graph, places = self._graph, self._places
        places[nodes] = np.arange(len(nodes))
        leaving = graph.out_offsets[nodes + 1] - graph.out_offsets[nodes]
        is_hub = leaving > HUB
        edges, _ = expanded(graph.out_offsets, nodes[~is_hub])
        found = [edges[places[graph.out_tails[edges]] >= 0]]
        if is_hub.any():
            entering = graph.in_offsets[nodes + 1] - graph.in_offsets[nodes]
            entered_often = entering > HUB
            places_in, _ = expanded(graph.in_offsets, nodes[~entered_often])
            edges = graph.in_edges[places_in]
            heads = places[graph.heads[edges]]
            found.append(edges[(heads >= 0) & is_hub[heads]])
            if entered_often.any():  # from hub to hub
                edges, _ = expanded(graph.out_offsets, nodes[is_hub])
                tails = places[graph.out_tails[edges]]
                found.append(edges[(tails >= 0) & entered_often[tails]])
        places[nodes] = -1
        return np.sort(np.concatenate(found)).astype(np.int64)


def as_triples(graph: Graph, edges: np.ndarray) -> np.ndarray:
    """Return edges by their numbers as int32 (edges, 3): head, relation, tail."""
    columns = (graph.heads[edges], graph.out_relations[edges], graph.out_tails[edges])
    return np.stack(columns, axis=1).astype(np.int32)


def likeness_of_triples(
    triples: np.ndarray, context: np.ndarray, nodes: np.ndarray, relations: np.ndarray
) -> np.ndarray:
    """Return the cosine of a context and each triple in words, float32 (triples,).

    A triple (head and tail as rows of `nodes`) is the sum of its parts' vectors, all float32.
    """
    heads, kinds, tails = triples.T
    vectors = nodes[heads] + relations[kinds] + nodes[tails]
    lengths = np.linalg.norm(vectors, axis=1) * max(float(np.linalg.norm(context)), 1e-9)
    likeness: np.ndarray = (vectors @ context) / np.maximum(lengths, 1e-9)
    return likeness
