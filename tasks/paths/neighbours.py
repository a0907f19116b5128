"""The undirected view of a graph: the distinct neighbours of each node."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sparse

from tasks.graphs.graph import Graph, Nodes


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The neighbours of node n, sorted: `nodes[offsets[n]:offsets[n + 1]]`; never n itself."""

    offsets: np.ndarray  # int64 (nodes + 1,)
    nodes: np.ndarray  # int32 (pairs,)

    @classmethod
    def of(cls, graph: Graph) -> "Neighbours":
        """Return the neighbours of all nodes of a graph."""
        differ = np.flatnonzero(graph.heads != graph.out_tails)
        heads, tails = graph.heads[differ], graph.out_tails[differ]
        ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        marks = np.ones(2 * len(differ), np.bool_)
        matrix = sparse.coo_array((marks, ends), (graph.nodes, graph.nodes)).tocsr()
        matrix.sum_duplicates()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))

    @cached_property
    def degrees(self) -> np.ndarray:
        """The number of neighbours of each node, int64 (nodes,)."""
        return np.diff(self.offsets)

    def around(self, nodes: Nodes) -> tuple[np.ndarray, Nodes]:
        """Return the neighbours of all nodes, preceded by the index of each one's node."""
        places, owners = expanded(self.offsets, nodes)
        return owners, self.nodes[places]


def expanded(offsets: np.ndarray, nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """Return the places from offset to offset of the nodes, and the index of each one's node."""
    starts = offsets[nodes]
    counts = offsets[np.asarray(nodes) + 1] - starts
    ends = counts.cumsum()
    owners = np.repeat(np.arange(len(nodes)), counts)
    places = np.arange(len(owners))
    places += np.repeat(starts - (ends - counts), counts)
    return places, owners
