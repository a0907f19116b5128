"""P_sub: the surroundings within two steps of what a question and its candidate answers name.

KnowGPT (arXiv 2312.06185) takes a two-hop subgraph, as QA-GNN (Yasunaga et al. 2021) does: sources,
targets, and every node that is a neighbour of two of them, whatever the direction of the edges.
Where there are too many, those nearest to the question count. QA-GNN ranks by a language model's
loss; here the cosine of vectors decides.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.extraction.edges import (
    LIKELIEST_EDGES,
    EdgesAmong,
    as_triples,
    likeness_of_triples,
)
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.path import Extracted, GroundedQuestion

MOST_NODES = 200
_TOGETHER = 256  # questions


class SubgraphExtraction:
    """Takes the edges among sources, targets and their common neighbours, the likeliest first."""

    name = "subgraph"

    def __init__(self, graph: Graph, vectors: GraphVectors, most_nodes: int = MOST_NODES) -> None:
        """Take a graph and its vectors; at most `most_nodes` nodes are kept per question."""
        self._graph, self._vectors, self._most = graph, vectors, most_nodes
        self._relations = vectors.relations.astype(np.float32)

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the edges of each question; there are no paths."""
        among = EdgesAmong(self._graph)
        extracted = []
        for start in range(0, len(questions), _TOGETHER):
            batch = questions[start : start + _TOGETHER]
            for question, nodes in zip(batch, self.nodes(batch), strict=True):
                extracted.append(Extracted((), self._edges(question, nodes, among)))
        return extracted

    def nodes(self, questions: Sequence[GroundedQuestion]) -> list[Nodes]:
        """Return the nodes kept for each question: named ones first, then the likeliest."""
        named = [named_nodes(question)[: self._most] for question in questions]
        between = self._between(named)
        kept = []
        for question, own, others in zip(questions, named, between, strict=True):
            room = self._most - len(own)
            if len(others) > room:
                vectors = self._vectors.nodes[others].astype(np.float32)
                likeness = vectors @ question.context
                others = others[np.argsort(-likeness, kind="stable")[:room]]
            kept.append(np.concatenate([own, others]).astype(np.int32))
        return kept

    def _between(self, named: list[Nodes]) -> list[Nodes]:
        """Return the neighbours of two or more nodes of each list, sorted."""
        ends = np.cumsum([0, *map(len, named)])
        starts = sparse.csr_array(
            (np.ones(ends[-1], np.float32), np.concatenate([[], *named]).astype(np.int32), ends),
            (len(named), self._graph.nodes),
        )
        reached = starts @ self._vectors.neighbours.matrix
        shared = reached.data > 1.5
        rows = np.repeat(np.arange(len(named)), np.diff(reached.indptr))[shared]
        nodes = reached.indices[shared]
        counts = np.bincount(rows, minlength=len(named)).cumsum()
        parts = np.split(nodes, counts[:-1]) if len(named) else []
        return [
            np.setdiff1d(nodes, own, assume_unique=True)
            for nodes, own in zip(parts, named, strict=True)
        ]

    def _edges(self, question: GroundedQuestion, nodes: Nodes, among: EdgesAmong) -> np.ndarray:
        """Return the edges among nodes, int32 (edges, 3), the likeliest first."""
        triples = as_triples(self._graph, among.find(nodes))
        if not len(triples):
            return triples
        known, places = np.unique(triples[:, ::2], return_inverse=True)
        vectors = self._vectors.nodes[known].astype(np.float32)
        heads, tails = places.reshape(-1, 2).T
        local = np.stack([heads, triples[:, 1], tails], axis=1)
        likeness = likeness_of_triples(local, question.context, vectors, self._relations)
        return triples[np.argsort(-likeness, kind="stable")[:LIKELIEST_EDGES]]


def named_nodes(question: GroundedQuestion) -> Nodes:
    """Return the distinct sources and targets of a question, in their order."""
    nodes = np.concatenate([question.sources, *question.targets])
    _, first = np.unique(nodes, return_index=True)
    return nodes[np.sort(first)].astype(np.int32)
