"""P_sub: the two-hop subgraph around the nodes that a question and its candidate answers name.

KnowGPT (arXiv 2312.06185) takes a two-hop subgraph, as QA-GNN (Yasunaga et al. 2021) does: sources,
targets, and every node that is a neighbour of two of them, whatever the direction of the edges.
If there are too many, those nearest to the question are kept. QA-GNN ranks nodes by a language
model's loss; here they are ranked by the cosine of vectors. An edge's vector is the sum of those of
its parts.
"""

from collections.abc import Sequence

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.neighbours import expanded
from tasks.paths.path import Extracted, GroundedQuestion

MOST_NODES = 200
MOST_EDGES = 2_000
"""Edges that are returned per question: far more than a prompt has room for."""


class SubgraphExtraction:
    """Extracts the edges between sources, targets and common neighbours, most similar first."""

    name = "subgraph"

    def __init__(self, graph: Graph, vectors: GraphVectors, most_nodes: int = MOST_NODES) -> None:
        """Take a graph and its vectors; at most `most_nodes` nodes are kept per question."""
        self._graph, self._vectors, self._most = graph, vectors, most_nodes
        self._relations = vectors.relations.astype(np.float32)

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the edges for each question, without paths."""
        return [self._of(question) for question in questions]

    def nodes(self, question: GroundedQuestion) -> Nodes:
        """Return the nodes that are kept for a question: named ones, then common neighbours."""
        named = named_nodes(question)[: self._most]
        _, near = self._vectors.neighbours.around(named)
        near = np.sort(near)
        # Each node is listed once per neighbour: repeated ones are neighbours of two.
        between = np.setdiff1d(near[1:][near[1:] == near[:-1]], named)
        if len(between) > self._most - len(named):
            likeness = self._vectors.nodes[between].astype(np.float32) @ question.context
            nearest = np.argsort(-likeness, kind="stable")[: self._most - len(named)]
            between = between[nearest]
        return np.concatenate([named, between])

    def _of(self, question: GroundedQuestion) -> Extracted:
        graph, nodes = self._graph, np.sort(self.nodes(question))
        is_kept = np.zeros(graph.nodes, np.bool_)
        is_kept[nodes] = True
        edges, _ = expanded(graph.out_offsets, nodes)
        edges = edges[is_kept[graph.out_tails[edges]]]
        heads, kinds, tails = graph.heads[edges], graph.out_relations[edges], graph.out_tails[edges]
        vectors = self._vectors.nodes[nodes].astype(np.float32)
        sums = vectors[np.searchsorted(nodes, heads)] + self._relations[kinds]
        sums += vectors[np.searchsorted(nodes, tails)]
        worth = (sums @ question.context) / np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
        best = np.argsort(-worth, kind="stable")[:MOST_EDGES]
        return Extracted((), np.stack([heads, kinds, tails], axis=1)[best].astype(np.int32))


def named_nodes(question: GroundedQuestion) -> Nodes:
    """Return the distinct sources and targets of a question, in their order."""
    named = np.concatenate([question.sources, *question.targets])
    return np.array(list(dict.fromkeys(named.tolist())), np.int32)
