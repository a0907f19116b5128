"""The undirected view of a graph: which nodes share an edge, each neighbour once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

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
        """Return the neighbours in a graph, in time linear in its edges."""
        heads, tails = (np.concatenate(pair) for pair in _both_ways(graph))
        shape = (graph.nodes, graph.nodes)
        # Converted from one order to the other and back, entries come out sorted, without a sort.
        marks = sparse.coo_array((np.ones(len(heads), np.bool_), (heads, tails)), shape)
        columns = sparse.csr_array(marks).tocsc()
        offsets, nodes = columns.indptr, columns.indices
        owners = np.repeat(np.arange(graph.nodes, dtype=np.int32), np.diff(offsets))
        kept = nodes != owners
        kept[1:] &= (nodes[1:] != nodes[:-1]) | (owners[1:] != owners[:-1])
        counts = np.bincount(owners[kept], minlength=graph.nodes)
        return cls(np.concatenate([[0], counts.cumsum()]), nodes[kept].astype(np.int32))

    @cached_property
    def degrees(self) -> np.ndarray:
        """The number of neighbours of each node, int64 (nodes,)."""
        return np.diff(self.offsets)

    @cached_property
    def matrix(self) -> Any:
        """The neighbours as a sparse matrix of ones, float32 (nodes, nodes)."""
        count = len(self.offsets) - 1
        ones = np.ones(len(self.nodes), np.float32)
        return sparse.csr_array((ones, self.nodes, self.offsets), (count, count))

    def around(self, nodes: Nodes) -> tuple[np.ndarray, Nodes]:
        """Return all neighbours of nodes: the place of the node in the list, and the neighbour."""
        places, owners = expanded(self.offsets, nodes)
        return owners, self.nodes[places]


def expanded(offsets: np.ndarray, nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """Return the places that belong to nodes, and for each place the number of its node."""
    starts = offsets[nodes]
    counts = offsets[np.asarray(nodes) + 1] - starts
    ends = counts.cumsum()
    owners = np.repeat(np.arange(len(nodes)), counts)
    places = np.arange(ends[-1] if len(ends) else 0) + (starts - (ends - counts))[owners]
    return places, owners


def _both_ways(graph: Graph) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    return (graph.heads, graph.out_tails), (graph.out_tails, graph.heads)
