"""Lessons: what questions with answers tell a policy, found by searching for the answers.

No gold paths are needed. From the names in a question, trails are tried breadth-first; those that
lead to the answers may be meant, the more so, the fewer other nodes they lead to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tasks.graphs.graph import Nodes
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
    meant: tuple[Hop, ...]  # the hops of the best trails


class Teacher:
    """Makes lessons from questions about one graph."""

    def __init__(self, policy: GraphPolicy, steps: int) -> None:
        self._policy, self._graph, self._steps = policy, policy.graph, steps
        self._explored = lru_cache(REMEMBERED)(self._explore)

    def lesson(
        self, question: str, answers: Sequence[Nodes], others: Sequence[Nodes] = ()
    ) -> Lesson | None:
        """Return what a question with answers teaches; None if no trail leads to an answer.

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
        return self._as_arrays(readings, meant[:MOST_MEANT])

    def _explore(self, nodes: tuple[int, ...]) -> list[Trail]:
        start = Topic("", np.array(nodes, np.int32), "", 0.0, quoted=False)
        return list(explored(self._graph, start, self._steps, CONTINUED))

    def _as_arrays(
        self, readings: list[Topic], meant: Sequence[tuple[int, Trail, float]]
    ) -> Lesson:
        rows: dict[tuple[int, tuple[Hop, ...]], list[Hop]] = {}
        for place, trail, _ in meant:
            for length in range(min(len(trail.hops) + 1, self._steps)):
                key = (place, trail.hops[:length])
                if key not in rows:
                    nodes = trail.levels[length]
                    rows[key] = [hop for hop, _ in self._graph.fan(nodes)]
        states = self._policy.states(
            readings, [(place, hops, possible) for (place, hops), possible in rows.items()]
        )
        counts = [len(possible) + bool(hops) for (_, hops), possible in rows.items()]
        firsts = dict(zip(rows, np.cumsum([0, *counts]).tolist(), strict=False))
        actions = np.full((len(meant), self._steps + 1), -1, np.int64)
        for number, (place, trail, _) in enumerate(meant):
            for length, hop in enumerate(trail.hops):
                key = (place, trail.hops[:length])
                actions[number, length] = firsts[key] + rows[key].index(hop)
            if len(trail.hops) < self._steps:
                key = (place, trail.hops)
                actions[number, len(trail.hops)] = firsts[key] + len(rows[key])
        fits = np.array([fit for _, _, fit in meant], np.float32) ** EVENED
        return Lesson(
            readings,
            states,
            actions,
            np.array([place for place, _, _ in meant], np.int64),
            fits,
            tuple({hop for _, trail, fit in meant if fit == fits.max() for hop in trail.hops}),
        )


def _fit(ends: Nodes, answers: Sequence[Nodes], others: Sequence[Nodes]) -> float:
    """Return the F1 of a trail's ends, for choices the share of right ones among those reached."""
    right = sum(len(np.intersect1d(ends, nodes)) > 0 for nodes in answers)
    if not right:
        return 0.0
    if others:
        return right / (right + sum(len(np.intersect1d(ends, nodes)) > 0 for nodes in others))
    return 2 * right / (len(ends) + len(answers))
