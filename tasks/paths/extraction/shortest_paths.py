"""The shortest paths from the nodes that a question names to each of its candidate answers.

The search is bidirectional (Pohl 1971): it expands the end with fewer neighbours until both ends
meet. Edges are walked in either direction. Among paths of one length, those whose nodes are most
similar to the question are taken; of several edges between two nodes, the one whose relation is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.path import Extracted, GroundedQuestion, Path, Step

MOST_STEPS = 3
PATHS_OF_ONE = 3
"""Paths that are kept per candidate."""

MOST_WIDENED = 1_000_000
"""Neighbours examined in one step; to stay below, the nodes with the most are left out."""


@dataclass(frozen=True, eq=False)
class _Front:
    """The nodes last reached from one end, sorted, with the index of their parent and their worth.

    Parents are in the front before. The worth is the summed similarity of a path to the context.
    """

    nodes: Nodes
    parents: np.ndarray
    worth: np.ndarray
    before: "_Front | None" = None

    def back(self, place: int) -> list[int]:
        """Return the nodes on the path from a place of this front back to the end."""
        before = self.before.back(int(self.parents[place])) if self.before else []
        return [int(self.nodes[place]), *before]


class ShortestPaths:
    """Extracts the shortest paths of at most `most_steps` steps to each candidate."""

    name = "shortest_paths"

    def __init__(self, graph: Graph, vectors: GraphVectors, most_steps: int = MOST_STEPS) -> None:
        self._graph, self._vectors, self._most = graph, vectors, most_steps
        self._relations = vectors.relations.astype(np.float32)

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the paths for each question, the shortest first, and their edges."""
        return [self._of(question) for question in questions]

    def _of(self, question: GroundedQuestion) -> Extracted:
        found = [
            walk
            for targets in question.targets
            for walk in self._between(question.sources, targets, question.context)
        ]
        found.sort(key=lambda walk: (len(walk[0]), -walk[1]))
        likeness = self._relations @ question.context
        return Extracted.of_paths(self._path(nodes, likeness) for nodes, _ in found)

    def _path(self, nodes: tuple[int, ...], likeness: np.ndarray) -> Path:
        steps = [
            self._step(start, end, likeness) for start, end in zip(nodes, nodes[1:], strict=False)
        ]
        return Path(nodes[0], tuple(steps))

    def _step(self, start: int, end: int, likeness: np.ndarray) -> Step:
        """Return the step along the edge, in either direction, with the most similar relation."""
        steps = [
            Step(int(relation), inverse, end)
            for inverse, head, tail in ((False, start, end), (True, end, start))
            for relation in relations_between(self._graph, head, tail)
        ]
        return max(steps, key=lambda step: (likeness[step.relation], not step.inverse))

    def _between(
        self, sources: Nodes, targets: Nodes, context: np.ndarray
    ) -> list[tuple[tuple[int, ...], float]]:
        """Return nodes and worth of the best shortest paths from any source to any target."""
        ends = np.setdiff1d(sources, targets), np.unique(targets)
        fronts = [_Front(nodes, nodes, self._worth(nodes, context)) for nodes in ends]
        seen = np.zeros((2, self._graph.nodes), np.bool_)
        for side in (0, 1):
            seen[side, ends[side]] = True
        degrees = self._vectors.neighbours.degrees
        for _ in range(self._most):
            if not all(len(front.nodes) for front in fronts):
                break
            side = int(np.argmin([degrees[front.nodes].sum() for front in fronts]))
            owners, reached = self._widened(fronts[side])
            found = list(_meetings(fronts, side, owners, reached))
            if found:
                return found
            new = ~seen[side][reached]
            # Of several parents the last, which is the worthiest.
            nodes, last = np.unique(reached[new][::-1], return_index=True)
            parents = owners[new][::-1][last]
            worth = fronts[side].worth[parents] + self._worth(nodes, context)
            fronts[side] = _Front(nodes, parents, worth, fronts[side])
            seen[side, nodes] = True
        return []

    def _widened(self, front: _Front) -> tuple[np.ndarray, Nodes]:
        """Return the neighbours of a front, preceded by the indices of the nodes they belong to.

        The neighbours of the nodes with the highest worth come last.
        """
        order = np.argsort(front.worth, kind="stable")
        degrees = self._vectors.neighbours.degrees[front.nodes]
        if degrees.sum() > MOST_WIDENED:
            small = np.argsort(degrees, kind="stable")
            kept = np.zeros(len(degrees), np.bool_)
            kept[small[degrees[small].cumsum() <= MOST_WIDENED]] = True
            order = order[kept[order]]
        owners, reached = self._vectors.neighbours.around(front.nodes[order])
        return order[owners], reached

    def _worth(self, nodes: Nodes, context: np.ndarray) -> np.ndarray:
        likeness: np.ndarray = self._vectors.nodes[nodes].astype(np.float32) @ context
        return likeness


def relations_between(graph: Graph, head: int, tail: int) -> np.ndarray:
    """Return the relations of the edges from one node to another.

    The edges are read at the end that has fewer of them.
    """
    leaving = slice(graph.out_offsets[head], graph.out_offsets[head + 1])
    entering = slice(graph.in_offsets[tail], graph.in_offsets[tail + 1])
    if leaving.stop - leaving.start <= entering.stop - entering.start:
        return graph.out_relations[leaving][graph.out_tails[leaving] == tail]
    edges = graph.in_edges[entering]
    return graph.out_relations[edges[graph.heads[edges] == head]]


def _meetings(
    fronts: Sequence[_Front], side: int, owners: np.ndarray, reached: Nodes
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the paths of highest worth on which an expanded front meets the other one."""
    front, other = fronts[side], fronts[1 - side]
    ends = np.searchsorted(other.nodes, reached).clip(max=len(other.nodes) - 1)
    meets = np.flatnonzero(other.nodes[ends] == reached)
    owners, ends = owners[meets], ends[meets]
    worth = front.worth[owners] + other.worth[ends]
    for place in np.argsort(-worth, kind="stable")[:PATHS_OF_ONE]:
        own, others = front.back(owners[place]), other.back(ends[place])
        walk = own[::-1] + others if side == 0 else others[::-1] + own
        yield tuple(walk), float(worth[place])
