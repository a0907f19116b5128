"""Trails: the relations that a walk takes, hop by hop, and the nodes to which they lead.

All edges of one relation at a node say the same about a question, so a policy chooses a hop, a
relation in one direction, and walks along all its edges at once. A trail may return to nodes: some
questions ask for the parents of somebody's children.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.path import Path, Step
from tasks.programs.planner.paths import Hop
from tasks.programs.planner.topics import Topic, topics_in
from tasks.programs.planner.writer import written_names
from tasks.text.question import analyse

MOST_NODES = 2_000  # from which the next hop is walked
WAYS = 16  # walks along one trail to one node that are compared
_PARTS = re.compile(r"\s+(?:(?:of|the|and)\s+)+")  # between the parts of a name


def readings_of(text: str, graph: Graph) -> list[Topic]:
    """Return the readings of a question, one for each name in it; none without names.

    A word of a longer name that the graph does not have is no name: it means somebody else.
    """
    question = analyse(text)
    written = written_names(question)
    return [topic for topic in topics_in(question, graph) if not _is_cut_from(topic, written)]


def _is_cut_from(topic: Topic, written: Sequence[str]) -> bool:
    """Return whether a topic is a word of a written name, instead of a part joined by `of`."""
    name = topic.name.lower()
    return any(
        name not in _PARTS.split(longer.lower()) and name in longer.lower().split()
        for longer in written
        if longer not in topic.masked
    )


@dataclass(frozen=True, eq=False)
class Trail:
    """Hops from the nodes of a reading; `levels` has the nodes after each hop, the first before."""

    reading: Topic
    hops: tuple[Hop, ...] = ()
    levels: tuple[Nodes, ...] = ()

    @classmethod
    def begin(cls, reading: Topic) -> "Trail":
        """Return the trail of a reading before its first hop."""
        return cls(reading, (), (np.unique(reading.nodes),))

    @property
    def ends(self) -> Nodes:
        """The nodes that the trail leads to; the first ones only if there are no others.

        A question for the films that share a director with a film means other films.
        """
        others = np.setdiff1d(self.levels[-1], self.reading.nodes, assume_unique=True)
        return others if len(others) else self.levels[-1]

    def longer(self, graph: Graph) -> "list[Trail]":
        """Return the trails that are one hop longer."""
        return [
            Trail(self.reading, (*self.hops, hop), (*self.levels, reached))
            for hop, reached in graph.fan(self.levels[-1][:MOST_NODES])
        ]

    def paths_to(self, graph: Graph, node: int) -> list[Path]:
        """Return walks along the trail that end at a node, at most WAYS."""
        return [Path(start, steps) for start, steps in self._ways(graph, node, len(self.hops))]

    def _ways(self, graph: Graph, node: int, hops: int) -> list[tuple[int, tuple[Step, ...]]]:
        if hops == 0:
            return [(node, ())]
        relation, inverse = self.hops[hops - 1]
        before = graph.step(np.array([node], np.int32), relation, inverse=not inverse)
        last = Step(relation, inverse, node)
        ways: list[tuple[int, tuple[Step, ...]]] = []
        for earlier in np.intersect1d(before, self.levels[hops - 1]).tolist():
            ways += [(s, (*steps, last)) for s, steps in self._ways(graph, earlier, hops - 1)]
            if len(ways) >= WAYS:
                break
        return ways[:WAYS]


def explored(graph: Graph, reading: Topic, steps: int, most: int) -> Iterator[Trail]:
    """Yield the trails of up to `steps` hops, the shorter ones first, `most` of them continued."""
    level = [Trail.begin(reading)]
    for _ in range(steps):
        following: list[Trail] = []
        for trail in level[:most]:
            longer = trail.longer(graph)
            yield from longer
            following += longer
        most -= len(level)
        level = following
