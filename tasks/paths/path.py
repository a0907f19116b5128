"""Paths and edges that are extracted from a graph for a question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from tasks.graphs.graph import Edge, Nodes


@dataclass(frozen=True, slots=True)
class Step:
    """A step along an edge to a node; `inverse` goes from the edge's tail to its head."""

    relation: int
    inverse: bool
    node: int


@dataclass(frozen=True, slots=True)
class Rewards:
    """The rewards of a path (KnowGPT, equations 2 to 4) and their weighted sum."""

    reach: float
    relatedness: float
    conciseness: float
    total: float


@dataclass(frozen=True, slots=True)
class Path:
    """A walk from a node along edges of a graph, with its rewards."""

    start: int
    steps: tuple[Step, ...]
    rewards: Rewards | None = None

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes on the path, including the first and the last."""
        return (self.start, *(step.node for step in self.steps))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges on the path, in their own direction."""
        return tuple(
            Edge(step.node, step.relation, node)
            if step.inverse
            else Edge(node, step.relation, step.node)
            for node, step in zip(self.nodes, self.steps, strict=False)
        )


@dataclass(frozen=True, eq=False)
class GroundedQuestion:
    """A question with the nodes that it names.

    `context` is its vector, float32 (d,); `sources` are the nodes it mentions; `targets` are
    those of each candidate answer, or of each answer that another route proposes for an open
    question.
    """

    text: str
    context: np.ndarray
    sources: Nodes
    targets: tuple[Nodes, ...]


@dataclass(frozen=True, eq=False)
class Extracted:
    """The paths and edges that were extracted from a graph for one question.

    `edges` is int32 (edges, 3: head, relation, tail), with distinct edges and the best first;
    `paths` are the paths of these edges, best first, if the strategy finds paths.
    """

    paths: tuple[Path, ...]
    edges: np.ndarray

    @classmethod
    def of_paths(cls, paths: Iterable[Path]) -> Self:
        """Return paths, the best first, with their distinct edges."""
        paths = tuple(paths)
        edges = dict.fromkeys(
            (edge.head, edge.relation, edge.tail) for path in paths for edge in path.edges
        )
        return cls(paths, np.array(list(edges), np.int32).reshape(-1, 3))


class Strategy(Protocol):
    """A strategy that extracts what is relevant to questions from one graph."""

    @property
    def name(self) -> str:
        """The name of the strategy in arms and evidence."""

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the paths and edges for each question, in the same order."""
