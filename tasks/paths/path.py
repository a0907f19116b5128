"""What is taken out of a graph for a question: paths, and the edges that a prompt shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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
    """A walk from a node along edges of a graph, and what it was worth."""

    start: int
    steps: tuple[Step, ...]
    rewards: Rewards | None = None

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes on the way, the first and the last included."""
        return (self.start, *(step.node for step in self.steps))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges on the way, in their own direction."""
        return tuple(
            Edge(step.node, step.relation, node)
            if step.inverse
            else Edge(node, step.relation, step.node)
            for node, step in zip(self.nodes, self.steps, strict=False)
        )


@dataclass(frozen=True, eq=False)
class GroundedQuestion:
    """A question with the nodes that it names.

    `context` is its vector, float32 (d,); `sources` are the nodes it mentions; `targets` those of
    each candidate answer, or of each answer of an open question that another route proposes.
    """

    text: str
    context: np.ndarray
    sources: Nodes
    targets: tuple[Nodes, ...]


@dataclass(frozen=True, eq=False)
class Extracted:
    """What was taken out of a graph for one question.

    `edges` is int32 (edges, 3: head, relation, tail), each edge once and the best first; `paths`
    are those that led to them, best first, if the strategy walks.
    """

    paths: tuple[Path, ...]
    edges: np.ndarray


class Extraction(Protocol):
    """A strategy that takes out of one graph what matters to questions."""

    @property
    def name(self) -> str:
        """What arms and evidence call it."""

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return what each question needs, in the same order."""
