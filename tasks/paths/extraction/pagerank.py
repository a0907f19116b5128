"""Extraction by personalised PageRank from the nodes that a question and its candidates name.

Personalised PageRank (Haveliwala 2002) on the undirected graph, by forward push (Andersen, Chung
and Lang 2006): the residual of a node is pushed to its neighbours as long as it exceeds TOLERANCE
per neighbour. So only the surroundings are visited, however large the graph is, and hubs are only
pushed when it is worth the work. A round pushes from all nodes of many questions at once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.extraction.edges import TOGETHER, NodeSets, as_triples, best_of_each, members
from tasks.paths.extraction.subgraph import MOST_NODES, named_nodes
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.neighbours import Neighbours
from tasks.paths.path import Extracted, GroundedQuestion

RESTART = 0.3
"""The probability that a walk restarts after a step."""

TOLERANCE = 1e-4
"""The residual per neighbour up to which a node is not pushed; it bounds the error of ranks."""


class PageRankExtraction:
    """Extracts the edges between the nodes with the highest ranks, most traffic first."""

    name = "pagerank"

    def __init__(self, graph: Graph, vectors: GraphVectors, most_nodes: int = MOST_NODES) -> None:
        """Take a graph and its vectors; at most `most_nodes` nodes are kept per question."""
        self._graph, self._neighbours, self._most = graph, vectors.neighbours, most_nodes

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the edges for each question, without paths."""
        sets = NodeSets(self._graph)
        extracted: list[Extracted] = []
        for start in range(0, len(questions), TOGETHER):
            batch = questions[start : start + TOGETHER]
            ranks = personal_ranks(self._neighbours, _restarts(batch, self._graph.nodes))
            kept = [
                _kept(ranks, row, named_nodes(question), self._most)
                for row, question in enumerate(batch)
            ]
            counts = [len(nodes) for nodes, _ in kept]
            nodes = np.concatenate([nodes for nodes, _ in kept])
            sets.fill(np.repeat(np.arange(len(kept)), counts), nodes)
            edges, bits = sets.edges()
            triples = as_triples(self._graph, edges)
            places, among = members(bits)
            traffic = self._traffic(kept, places, triples[among])
            best = best_of_each(places, among, traffic, triples, len(batch))
            extracted += [Extracted((), rows) for rows in best]
        return extracted

    def _traffic(
        self, kept: list[tuple[Nodes, np.ndarray]], places: np.ndarray, triples: np.ndarray
    ) -> np.ndarray:
        """Return how often walks take each edge: the mean of rank per neighbour over its two ends.

        `places` and `triples` are the questions and the edges of pairs.
        """
        degrees = self._neighbours.degrees
        traffic = np.zeros(len(places))
        ends = np.searchsorted(places, np.arange(len(kept) + 1))
        for (nodes, ranks), start, end in zip(kept, ends[:-1], ends[1:], strict=True):
            order = np.argsort(nodes)
            for column in (0, 2):
                at = triples[start:end, column]
                found = order[np.searchsorted(nodes[order], at)]
                traffic[start:end] += ranks[found] / np.maximum(degrees[at], 1)
        return traffic / 2


def personal_ranks(neighbours: Neighbours, restarts: Any) -> Any:
    """Return the ranks, sparse float32 (questions, nodes), of walks that restart at `restarts`.

    Each row of `restarts`, sparse (questions, nodes), sums to 1. The rank of a node with n
    neighbours is too low by less than n * TOLERANCE; ranks are never too high. Walks stay at a node
    without neighbours.
    """
    left = sparse.csr_array(restarts, dtype=np.float32)
    ranks = sparse.csr_array(left.shape, dtype=np.float32)
    degrees = neighbours.degrees
    while True:
        counts = degrees[left.indices]
        lone, pushed = counts == 0, left.data > TOLERANCE * counts
        if not pushed.any():
            return ranks + RESTART * left  # a share RESTART of the residual would stay in any case
        ranks = ranks + _with_data(left, np.where(lone, left.data, RESTART * left.data * pushed))
        moved = np.where(pushed & ~lone, (1 - RESTART) * left.data / np.maximum(counts, 1), 0)
        kept = np.where(pushed, 0, left.data)
        left = _with_data(left, kept) + _with_data(left, moved) @ neighbours.matrix


def _with_data(array: Any, data: np.ndarray) -> Any:
    """Return a sparse array with new values, without those that are zero."""
    new = sparse.csr_array(
        (data.astype(np.float32), array.indices.copy(), array.indptr.copy()), array.shape
    )
    new.eliminate_zeros()
    return new


def _restarts(questions: Sequence[GroundedQuestion], nodes: int) -> Any:
    """Return the restart probabilities (questions, nodes): half sources, half targets."""
    rows, columns, shares = [], [], []
    for row, question in enumerate(questions):
        targets = np.concatenate([np.zeros(0, np.int32), *question.targets])
        ends = [nodes for nodes in (question.sources, targets) if len(nodes)]
        for named in ends:
            rows.append(np.full(len(named), row))
            columns.append(named)
            shares.append(np.full(len(named), 1 / (len(ends) * len(named)), np.float32))
    if not rows:
        return sparse.csr_array((len(questions), nodes), dtype=np.float32)
    places = (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_array((np.concatenate(shares), places), (len(questions), nodes)).tocsr()


def _kept(ranks: Any, row: int, named: Nodes, most: int) -> tuple[Nodes, np.ndarray]:
    """Return the nodes of one question and their ranks: the named ones, then the highest."""
    own = slice(ranks.indptr[row], ranks.indptr[row + 1])
    nodes, worth = ranks.indices[own].astype(np.int32), ranks.data[own]
    is_named = np.isin(nodes, named)
    order = np.lexsort((nodes, -worth, ~is_named))[:most]
    return nodes[order], worth[order]
