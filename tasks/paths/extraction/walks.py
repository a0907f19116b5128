"""P_RL: paths from sources to candidates, found by a learned policy (arXiv 2312.06185)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.graphs.graph import Graph
from tasks.paths.extraction.shortest_paths import ShortestPaths
from tasks.paths.extraction.subgraph import SubgraphExtraction
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.path import Extracted, GroundedQuestion, Strategy
from tasks.paths.policy.beam import BeamOptions, RankedPath, search_paths
from tasks.paths.policy.episodes import VectorGraph
from tasks.paths.policy.train import TrainedPolicy

# With a weight for likelihood, walks are less related to questions than shortest paths are.
BY_REWARD = BeamOptions(width=20, likelihood=0.0)


@dataclass(frozen=True, eq=False)
class PolicyWalks:
    """Extracts the best paths between each source and each node of each candidate.

    For each question the `most_paths` paths with the highest scores are kept, whichever candidate
    they lead to, so that no candidate is preferred. If the policy finds none, the result of the
    first of `fallbacks` that finds an edge is used, such as shortest paths and then P_sub.
    """

    world: VectorGraph
    policy: TrainedPolicy
    fallbacks: tuple[Strategy, ...] = ()
    beam: BeamOptions = BY_REWARD
    most_paths: int = 10
    name: str = "walks"

    @classmethod
    def over(cls, graph: Graph, vectors: GraphVectors, policy: TrainedPolicy) -> "PolicyWalks":
        """Return the policy's walks over a graph; shortest paths and P_sub are the fallbacks."""
        world = VectorGraph.of(graph, vectors)
        shortest = ShortestPaths(graph, vectors, policy.plan.steps)
        return cls(world, policy, (shortest, SubgraphExtraction(graph, vectors)))

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the best paths and their edges for each question, in the same order."""
        kept: list[list[RankedPath]] = [[] for _ in questions]
        numbers, sources, targets = _pairs(questions)
        if len(numbers):
            plan = self.policy.plan
            contexts = np.stack([question.context for question in questions])
            walked = search_paths(
                *(self.world, self.policy.network, sources, targets, contexts[numbers], plan.rules),
                options=self.beam,
                weights=plan.reward_weights,
                projection=self.policy.projection,
            )
            for number, paths in zip(numbers.tolist(), walked, strict=True):
                kept[number] += paths
        extracted = [self._extracted(paths) for paths in kept]
        for fallback in self.fallbacks:
            empty = [number for number, result in enumerate(extracted) if not len(result.edges)]
            if not empty:
                break
            others = fallback.extract([questions[number] for number in empty])
            for number, other in zip(empty, others, strict=True):
                extracted[number] = other
        return extracted

    def _extracted(self, paths: list[RankedPath]) -> Extracted:
        ranked = sorted(paths, key=lambda path: -path.score)
        return Extracted.of_paths(path.path for path in ranked[: self.most_paths])


def _pairs(questions: Sequence[GroundedQuestion]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct pairs of source and candidate node, as question, source and target."""
    pairs = {
        (number, int(source), int(target)): None
        for number, question in enumerate(questions)
        for target in np.concatenate([np.zeros(0, np.int32), *question.targets])
        for source in question.sources
        if source != target
    }
    numbers, sources, targets = np.array(list(pairs), np.int64).reshape(-1, 3).T
    return numbers, sources.astype(np.int32), targets.astype(np.int32)
