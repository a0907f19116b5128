"""Lessons: what questions with answers tell a policy, found by searching for the answers.

No gold paths are needed. From the names in a question, trails are tried breadth-first; those that
lead to the answers may be meant, the more so, the fewer other nodes they lead to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.policy.network import GraphPolicy, States
from tasks.paths.policy.trails import Trail, explored, readings_of
from tasks.programs.planner.paths import Hop
from tasks.programs.planner.topics import Topic

CONTINUED = 150  # trails of one reading that are tried further
NEARLY = 0.5  # a trail may be meant if it fits so well, compared with the best one
EVENED = 0.3  # power of the fits: files often name only some of the answers
MOST_MEANT = 24
REMEMBERED = 128  # readings whose trails are kept for the next question


@dataclass(frozen=True, eq=False)
class Lesson:
    """A question with the trails that it may mean.

    `states` are those before each action of these trails. Row `n` of `actions`, int64 (trails, K),
    has the actions of trail n, -1 after the last; `trails` are the places of their readings, and
    `fits` how well each fits the answers, 0 to 1.
    """

    readings: list[Topic]
    states: States
    actions: np.ndarray
    trails: np.ndarray
    fits: np.ndarray


@dataclass(frozen=True, eq=False)
class Meanings:
    """The readings of a question, and the trails that it may mean, the likeliest first.

    A trail stands between the place of its reading and how well it fits the answers, 0 to 1.
    """

    readings: list[Topic]
    trails: list[tuple[int, Trail, float]]

    @property
    def hops(self) -> set[Hop]:
        """The hops of the trails that fit best."""
        best = self.trails[0][2]
        return {hop for _, trail, fit in self.trails if fit == best for hop in trail.hops}


class Teacher:
    """Finds what questions about one graph mean."""

    def __init__(self, graph: Graph, steps: int) -> None:
        self._graph, self._steps = graph, steps
        self._explored = lru_cache(REMEMBERED)(self._explore)

    def meanings(
        self, question: str, answers: Sequence[Nodes], others: Sequence[Nodes] = ()
    ) -> Meanings | None:
        """Return what a question with answers may mean; None if no trail leads to an answer.

        `others` are the nodes of wrong choices; if there are any, other nodes count nothing.
        """
        readings = readings_of(question, self._graph)
        found = [
            (place, trail, fit)
            for place, reading in enumerate(readings)
            for trail in self._explored(tuple(np.unique(reading.nodes).tolist()))
            if (fit := _fit(trail.ends, answers, others)) > 0
        ]
        if not found:
            return None
        best = max(fit for _, _, fit in found)
        meant = [row for row in found if row[2] >= NEARLY * best]
        meant.sort(key=lambda row: -row[2])
        return Meanings(readings, meant[:MOST_MEANT])

    def _explore(self, nodes: tuple[int, ...]) -> list[Trail]:
        start = Topic("", np.array(nodes, np.int32), "", 0.0, quoted=False)
        return list(explored(self._graph, start, self._steps, CONTINUED))


def lesson_of(policy: GraphPolicy, meanings: Meanings, steps: int) -> Lesson:
    """Return what a question teaches a policy that has counted the hops of all questions."""
    rows: dict[tuple[int, tuple[Hop, ...]], list[Hop]] = {}
    for place, trail, _ in meanings.trails:
        for length in range(min(len(trail.hops) + 1, steps)):
            key = (place, trail.hops[:length])
            if key not in rows:
                rows[key] = policy.choices(hop for hop, _ in policy.graph.fan(trail.levels[length]))
    states = policy.states(
        meanings.readings, [(place, hops, possible) for (place, hops), possible in rows.items()]
    )
    counts = [len(possible) + bool(hops) for (_, hops), possible in rows.items()]
    firsts = dict(zip(rows, np.cumsum([0, *counts]).tolist(), strict=False))
    actions = np.full((len(meanings.trails), steps + 1), -1, np.int64)
    for number, (place, trail, _) in enumerate(meanings.trails):
        for length, hop in enumerate(trail.hops):
            key = (place, trail.hops[:length])
            actions[number, length] = firsts[key] + rows[key].index(hop)
        if len(trail.hops) < steps:
            key = (place, trail.hops)
            actions[number, len(trail.hops)] = firsts[key] + len(rows[key])
    fits = np.array([fit for _, _, fit in meanings.trails], np.float32) ** EVENED
    places = np.array([place for place, _, _ in meanings.trails], np.int64)
    return Lesson(meanings.readings, states, actions, places, fits)


def _fit(ends: Nodes, answers: Sequence[Nodes], others: Sequence[Nodes]) -> float:
    """Return the F1 of a trail's ends, for choices the share of right ones among those reached."""
    right = sum(len(np.intersect1d(ends, nodes)) > 0 for nodes in answers)
    if not right:
        return 0.0
    if others:
        return right / (right + sum(len(np.intersect1d(ends, nodes)) > 0 for nodes in others))
    return 2 * right / (len(ends) + len(answers))
