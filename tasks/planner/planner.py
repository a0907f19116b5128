"""Chooses the path that a question means, by the model, among those that the graph has."""

from collections.abc import Sequence

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.planner.candidates import known_paths, short_paths
from tasks.planner.path_model import LONGEST, Candidate, Encoding, PathModel
from tasks.planner.paths import Path
from tasks.planner.topics import topics_in

QUESTIONS = 32  # scored at a time


class Planner:
    """Plans searches in one graph."""

    def __init__(self, graph: Graph, model: PathModel, paths: Sequence[Path]) -> None:
        """Take a model that was learned on the graph, and the paths it saw to be meant."""
        self.graph, self.model = graph, model
        self._encoding = Encoding(graph)
        self.longer = [path for path in paths if len(path) == LONGEST]
        self.longest = max((len(path) for path in paths), default=1)

    def candidates(self, question: str) -> tuple[list[Candidate], list[Nodes]]:
        """Return the paths that a question may mean, and where each ends."""
        rows: dict[tuple[int, Path], tuple[Candidate, Nodes]] = {}
        for topic in topics_in(question, self.graph):
            for path, nodes in short_paths(self.graph, topic, min(self.longest, LONGEST - 1)):
                rows[id(topic), path] = (Candidate(topic, path), nodes)
            for path, nodes in known_paths(self.graph, topic, self.longer):
                rows[id(topic), path] = (Candidate(topic, path), nodes)
        return [one for one, _ in rows.values()], [nodes for _, nodes in rows.values()]

    def plan(self, questions: Sequence[str]) -> list[list[tuple[Candidate, float, Nodes]]]:
        """Return each question's candidates with their probability and end, best first."""
        import torch

        planned = []
        for start in range(0, len(questions), QUESTIONS):
            found = [self.candidates(question) for question in questions[start : start + QUESTIONS]]
            filled = [self._encoding.rows(ours) for ours, _ in found if ours]
            scores = np.zeros(0)
            if filled:
                with torch.no_grad():
                    scores = self.model.scores(self._encoding.batch(filled)).numpy()
            at = 0
            for ours, ends in found:
                share = np.exp(scores[at : at + len(ours)] - scores[at : at + len(ours)].max()) if ours else []
                at += len(ours)
                rows = list(zip(ours, share / np.sum(share) if ours else [], ends, strict=True))
                planned.append(sorted(rows, key=lambda row: -row[1]))
        return planned
