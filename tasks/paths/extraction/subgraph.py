"""P_sub: the surroundings within two steps of what a question and its candidate answers name.

KnowGPT (arXiv 2312.06185) takes a two-hop subgraph, as QA-GNN (Yasunaga et al. 2021) does: sources,
targets, and every node that is a neighbour of two of them, whatever the direction of the edges.
Where there are too many, those nearest to the question count. QA-GNN ranks by a language model's
loss; here the cosine of vectors decides.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sparse

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.extraction.edges import (
    TOGETHER,
    Likeness,
    NodeSets,
    as_triples,
    best_of_each,
    members,
)
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.path import Extracted, GroundedQuestion

MOST_NODES = 200
MOST_EDGES = 2_000
"""Edges of one question: far more than a prompt has room for."""


class SubgraphExtraction:
    """Takes the edges among sources, targets and their common neighbours, the likeliest first."""

    name = "subgraph"

    def __init__(self, graph: Graph, vectors: GraphVectors, most_nodes: int = MOST_NODES) -> None:
        """Take a graph and its vectors; at most `most_nodes` nodes are kept per question."""
        self._graph, self._vectors, self._most = graph, vectors, most_nodes
        self._relations = vectors.relations.astype(np.float32)

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the edges of each question; there are no paths."""
        sets = NodeSets(self._graph)
        extracted: list[Extracted] = []
        for start in range(0, len(questions), TOGETHER):
            batch = questions[start : start + TOGETHER]
            sets.fill(self._nodes(batch, sets))
            edges, bits = sets.edges()
            triples = as_triples(self._graph, edges)
            places, among = members(bits)
            contexts = np.stack([question.context for question in batch])
            likeness = Likeness(triples, self._vectors.nodes, self._relations)
            worth = likeness.with_contexts(contexts, places, among)
            best = best_of_each(places, among, worth, len(batch), MOST_EDGES)
            extracted += [Extracted((), triples[own]) for own in best]
        return extracted

    def nodes(self, questions: Sequence[GroundedQuestion]) -> list[Nodes]:
        """Return the nodes kept for each question: named ones first, then the likeliest."""
        sets, kept = NodeSets(self._graph), []
        for start in range(0, len(questions), TOGETHER):
            kept += self._nodes(questions[start : start + TOGETHER], sets)
        return kept

    def _nodes(self, questions: Sequence[GroundedQuestion], sets: NodeSets) -> list[Nodes]:
        named = [named_nodes(question)[: self._most] for question in questions]
        sets.fill(named)
        kept = []
        between = self._between(named, sets)
        for question, own, others in zip(questions, named, between, strict=True):
            room = self._most - len(own)
            if len(others) > room:
                vectors = self._vectors.nodes[others].astype(np.float32)
                likeness = vectors @ question.context
                others = others[np.argsort(-likeness, kind="stable")[:room]]
            kept.append(np.concatenate([own, others]))
        return kept

    def _between(self, named: list[Nodes], sets: NodeSets) -> Iterator[Nodes]:
        """Yield the neighbours of two or more nodes of each list, but for these, sorted."""
        ends = np.cumsum([0, *map(len, named)])
        places = np.concatenate(named)
        starts = sparse.csr_array(
            (np.ones(len(places), np.float32), places, ends), (len(named), self._graph.nodes)
        )
        reached = starts @ self._vectors.neighbours.matrix
        shared = reached.data > 1.5
        nodes = reached.indices[shared].astype(np.int32, copy=False)
        rows = np.repeat(np.arange(len(named)), np.diff(reached.indptr))[shared]
        new = ~sets.has(rows, nodes)
        nodes, counts = nodes[new], np.bincount(rows[new], minlength=len(named))
        for part in np.split(nodes, counts.cumsum()[:-1]):
            yield np.sort(part)


def named_nodes(question: GroundedQuestion) -> Nodes:
    """Return the distinct sources and targets of a question, in their order."""
    nodes = dict.fromkeys(question.sources.tolist())
    for targets in question.targets:
        nodes.update(dict.fromkeys(targets.tolist()))
    return np.fromiter(nodes, np.int32, len(nodes))
