"""P_sub: the two-hop subgraph around the nodes that a question and its candidate answers name.

KnowGPT (arXiv 2312.06185) takes a two-hop subgraph, as QA-GNN (Yasunaga et al. 2021) does: sources,
targets, and every node that is a neighbour of two of them, whatever the direction of the edges.
If there are too many, those nearest to the question are kept. QA-GNN ranks nodes by a language
model's loss; here they are ranked by the cosine of vectors.
"""

from collections.abc import Sequence

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.extraction.edges import (
    SETS_AT_ONCE,
    EdgeLikeness,
    NodeSets,
    as_triples,
    best_of_each,
    distinct,
    members,
)
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.path import Extracted, GroundedQuestion

MOST_NODES = 200
MOST_NEIGHBOURS = 10_000_000
"""Neighbours that are in memory at once, unless one question has more."""


class SubgraphExtraction:
    """Extracts the edges between sources, targets and common neighbours, most similar first."""

    name = "subgraph"

    def __init__(self, graph: Graph, vectors: GraphVectors, most_nodes: int = MOST_NODES) -> None:
        """Take a graph and its vectors; at most `most_nodes` nodes are kept per question."""
        self._graph, self._vectors, self._most = graph, vectors, most_nodes
        self._relations = vectors.relations.astype(np.float32)

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the edges for each question, without paths."""
        sets = NodeSets(self._graph)
        likeness = EdgeLikeness(self._graph, self._vectors.nodes, self._relations)
        extracted: list[Extracted] = []
        for start in range(0, len(questions), SETS_AT_ONCE):
            batch = questions[start : start + SETS_AT_ONCE]
            sets.fill(*self._members(batch, sets))
            edges, bits = sets.edges()
            places, among = members(bits)
            contexts = np.stack([question.context for question in batch])
            worth = likeness.of(contexts, sets, edges, places, among)
            triples = as_triples(self._graph, edges)
            best = best_of_each(places, among, worth, triples, len(batch))
            extracted += [Extracted((), rows) for rows in best]
        return extracted

    def nodes(self, questions: Sequence[GroundedQuestion]) -> list[Nodes]:
        """Return the nodes that are kept for each question: named ones, then common neighbours."""
        sets, kept = NodeSets(self._graph), []
        for start in range(0, len(questions), SETS_AT_ONCE):
            batch = questions[start : start + SETS_AT_ONCE]
            places, nodes = self._members(batch, sets)
            kept += [nodes[places == place] for place in range(len(batch))]
        return kept

    def _members(
        self, questions: Sequence[GroundedQuestion], sets: NodeSets
    ) -> tuple[np.ndarray, Nodes]:
        """Return the index of the question and the node, for all nodes that are kept."""
        named = [named_nodes(question)[: self._most] for question in questions]
        counts = np.array(list(map(len, named)))
        places, nodes = np.repeat(np.arange(len(named)), counts), np.concatenate(named)
        sets.fill(places, nodes)
        rows, others = self._between(counts, nodes, sets)
        ends = np.searchsorted(rows, np.arange(len(named) + 1))
        is_kept = np.ones(len(rows), np.bool_)
        for place in np.flatnonzero(np.diff(ends) > self._most - counts).tolist():
            own = slice(ends[place], ends[place + 1])
            vectors = self._vectors.nodes[others[own]].astype(np.float32)
            order = np.lexsort((others[own], -(vectors @ questions[place].context)))
            is_kept[own][order[self._most - counts[place] :]] = False
        return np.concatenate([places, rows[is_kept]]), np.concatenate([nodes, others[is_kept]])

    def _between(
        self, counts: np.ndarray, named: Nodes, sets: NodeSets
    ) -> tuple[np.ndarray, Nodes]:
        """Return the nodes that neighbour at least two named nodes of one question, sorted.

        They are preceded by the index of their question. `counts` is the number of `named` nodes of
        each question; named nodes themselves are left out.
        """
        neighbours = self._vectors.neighbours
        owners = np.repeat(np.arange(len(counts)), counts)
        looked_up = np.bincount(owners, neighbours.degrees[named], len(counts)).cumsum()
        groups = np.flatnonzero(np.diff(looked_up // MOST_NEIGHBOURS, prepend=0))
        again = []
        for part in np.split(np.arange(len(named)), np.searchsorted(owners, groups)):
            rows, nodes = neighbours.around(named[part])
            # Question and node in one number: a repeated number is a neighbour of two nodes.
            pairs = owners[part][rows] << 32 | nodes
            pairs.sort()
            again.append(distinct(pairs[1:][pairs[1:] == pairs[:-1]]))
        pairs = np.concatenate(again)
        places, nodes = pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32)
        new = ~sets.has(places, nodes)
        return places[new], nodes[new]


def named_nodes(question: GroundedQuestion) -> Nodes:
    """Return the distinct sources and targets of a question, in their order."""
    named = np.concatenate([question.sources, *question.targets])
    return np.array(list(dict.fromkeys(named.tolist())), np.int32)
