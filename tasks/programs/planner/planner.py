"""Chooses the path that a question means among those of the graph, by the model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.programs.planner.classes import Members
from tasks.programs.planner.features import named_share
from tasks.programs.planner.path_model import LONGEST, Encoding, WordModel
from tasks.programs.planner.paths import (
    LARGEST,
    Path,
    known_paths,
    onward,
    short_paths,
)
from tasks.programs.planner.topics import Topic, topics_in
from tasks.text.question import Question

QUESTIONS = 32  # scored at a time
PREFIXES = 6  # paths of two hops that are extended by a third
NOWHERE: Nodes = np.zeros(0, np.int32)
LONGEST_UNTAUGHT = 2  # hops: too many paths of three share the same words


@dataclass(frozen=True)
class Planned:
    """A path that a question may mean, its end nodes, and its share of the probability.

    A relation that other questions meant, and that the topic lacks, has no nodes. Nodes that are
    not among the `members` of the class that is asked for are left out.
    """

    topic: Topic
    path: Path
    nodes: Nodes
    share: float = 0.0
    members: Members | None = None


Candidates = dict[tuple[int, Path], Planned]  # by the reading and the path


class Planner:
    """Plans searches in one graph."""

    def __init__(
        self,
        graph: Graph,
        model: WordModel,
        paths: Sequence[Path],
        longest: int = 1,
        worded: Sequence[tuple[str, Path]] = (),
        examples: int | None = None,
    ) -> None:
        """Take a model that was learned on the graph, and the paths that its questions meant.

        Plans have up to `longest` hops, or as many as the longest of these paths. `worded` are some
        of the `examples` without their topics, each with the path that it means; many examples may
        have few wordings.
        """
        self.graph, self.model, self.worded = graph, model, worded
        self.examples = len(worded) if examples is None else examples
        self._encoding = Encoding(graph, model.known)
        self._paths = paths
        self._known = [path for path in paths if len(path) == LONGEST]
        self.longest = max((len(path) for path in paths), default=longest)

    def plan(self, questions: Sequence[Question]) -> list[list[Planned]]:
        """Return each question's candidates, the most probable first."""
        planned = []
        for start in range(0, len(questions), QUESTIONS):
            batch = [self._candidates(q) for q in questions[start : start + QUESTIONS]]
            ranked = self._ranked(batch)
            if self.longest == LONGEST:
                for candidates, plans in zip(batch, ranked, strict=True):
                    self._extend(candidates, plans)
                ranked = self._ranked(batch)
            planned += ranked
        return planned

    def fit(self, planned: Planned) -> float:
        """Return how well a question fits this graph, 0 to 1.

        It fits if its words were learned from, or if it contains the names of the path's relations:
        the lowest share of their words counts.
        """
        relations = [self.graph.relations[relation] for relation, _ in planned.path]
        named = min(named_share(planned.topic.masked, relation) for relation in relations)
        return max(named, self.model.familiar(planned.topic.masked))

    def _candidates(self, question: Question) -> Candidates:
        candidates: Candidates = {}
        topics = topics_in(question, self.graph)
        for topic in topics:
            short = short_paths(self.graph, topic, min(self.longest, LONGEST - 1))
            for path, nodes in chain(short, known_paths(self.graph, topic, self._known)):
                candidates[id(topic), path] = Planned(topic, path, nodes)
        # Learned paths that none of the topics has; not longer ones: several paths say the same,
        # and an entity rarely has them all.
        there = {path for _, path in candidates}
        for path in self._paths:
            if len(path) == 1 and path not in there:
                for topic in topics:
                    candidates[id(topic), path] = Planned(topic, path, NOWHERE)
        return candidates

    def _extend(self, candidates: Candidates, ranked: list[Planned]) -> None:
        """Add the extensions of the likeliest paths of two hops."""
        prefixes = [p for p in ranked if len(p.path) == LONGEST - 1 and len(p.nodes)]
        for plan in prefixes[:PREFIXES]:
            if len(plan.nodes) <= LARGEST:
                for hop, nodes in onward(self.graph, plan.topic.nodes, plan.nodes):
                    path = (*plan.path, hop)
                    added = Planned(plan.topic, path, nodes)
                    candidates.setdefault((id(plan.topic), path), added)

    def _ranked(self, batch: Sequence[Candidates]) -> list[list[Planned]]:
        rows = [
            self._encoding.rows([(one.topic, one.path) for one in own.values()])
            for own in batch
            if own
        ]
        if not rows:
            return [[] for _ in batch]
        scores = self.model.ranking(self._encoding.batch(rows))
        ranked = []
        ends = np.cumsum([len(candidates) for candidates in batch])
        for candidates, own in zip(batch, np.split(scores, ends[:-1]), strict=True):
            shares = np.exp(own - own.max(initial=-np.inf)) if candidates else own
            shares = shares / max(shares.sum(), 1e-9)
            plans = [
                replace(plan, share=float(share))
                for plan, share in zip(candidates.values(), shares, strict=True)
            ]
            ranked.append(sorted(plans, key=lambda plan: -plan.share))
        return ranked


def untaught_planner(graph: Graph) -> Planner:
    """Return a planner that uses shared words alone."""
    return Planner(graph, WordModel(), (), longest=LONGEST_UNTAUGHT)
