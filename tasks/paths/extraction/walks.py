"""P_RL: the paths of a learned policy, to candidates or to answers of its own (KnowGPT)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.paths.extraction.shortest_paths import ShortestPaths
from tasks.paths.extraction.subgraph import SubgraphExtraction
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.path import Extracted, GroundedQuestion, Path, Strategy
from tasks.paths.policy.beam import WIDTH, LikelyTrail, Proposal, proposals, search_trails
from tasks.paths.policy.network import GraphPolicy
from tasks.paths.policy.rewards import rewarded
from tasks.paths.policy.trails import Trail, readings_of
from tasks.paths.policy.train import TrainedPolicy
from tasks.programs.planner.topics import Topic

MOST_ENDS = 5  # nodes of the best answer to which paths are shown
UNLIKELY = -30.0  # the log-probability of paths that the policy did not find

_Scored = tuple[float, Path]


@dataclass(frozen=True, eq=False)
class PolicyWalks:
    """Extracts the best paths from the names in a question to each of its candidates.

    Paths are ranked by the policy's log-probability plus their reward; the best path to each
    candidate comes before the second to any, so that no candidate is preferred. Candidates that
    the policy does not reach are left to the first of `fallbacks`, such as shortest paths; if no
    edge was found at all, to the next ones, such as P_sub.
    """

    graph: Graph
    vectors: GraphVectors
    policy: TrainedPolicy
    fallbacks: tuple[Strategy, ...] = ()
    width: int = WIDTH
    most_paths: int = 10
    name: str = "walks"

    @classmethod
    def over(cls, graph: Graph, vectors: GraphVectors, policy: TrainedPolicy) -> "PolicyWalks":
        """Return the policy's walks over a graph; shortest paths and P_sub are the fallbacks."""
        shortest = ShortestPaths(graph, vectors, policy.plan.steps)
        return cls(graph, vectors, policy, (shortest, SubgraphExtraction(graph, vectors)))

    @cached_property
    def on_graph(self) -> GraphPolicy:
        """The policy's network on this graph."""
        return GraphPolicy(self.policy.network, self.graph, self.vectors.relations)

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the best paths and their edges for each question, in the same order."""
        return [self._of(question, self.trails(question)) for question in questions]

    def trails(self, question: GroundedQuestion) -> list[LikelyTrail]:
        """Return the policy's likeliest trails from the names in a question, the best first."""
        readings = readings_of(question.text, self.graph)
        named = np.concatenate([np.zeros(0, np.int32), *(reading.nodes for reading in readings)])
        others = np.setdiff1d(question.sources, named)
        if len(others):
            readings.append(Topic("", others, question.text, 0.0, quoted=False))
        return search_trails(self.on_graph, readings, self.width)

    def propose(self, question: GroundedQuestion) -> tuple[list[Proposal], Extracted]:
        """Return the policy's own answers to an open question, and the paths to them.

        First come paths to the nodes of the best answer, then one along each other trail.
        """
        found = self.trails(replace(question, sources=_NONE))
        proposed = proposals(self.on_graph, found)
        if not proposed:
            return [], Extracted.of_paths(())
        best = proposed[0]
        paths = self._along(best.trail, best.nodes[:MOST_ENDS], question.context)
        for likely in found:
            if likely.trail is not best.trail:
                paths += self._along(likely.trail, likely.trail.ends[:1], question.context)
        return proposed, Extracted.of_paths(paths)

    def shares(self, question: GroundedQuestion) -> np.ndarray:
        """Return how likely each candidate is the answer, as far as the policy can tell: float64.

        A trail gives its probability to its ends in equal parts, so that one that leads to much
        decides little. The sum over the candidates is one at most.
        """
        shares = np.zeros(len(question.targets))
        for proposal in proposals(self.on_graph, self.trails(question)):
            hits = [np.isin(proposal.nodes, nodes).sum() for nodes in question.targets]
            shares += proposal.probability * np.array(hits) / len(proposal.nodes)
        return shares / max(shares.sum(), 1.0)

    def _of(self, question: GroundedQuestion, found: Sequence[LikelyTrail]) -> Extracted:
        by_candidate = [self._to(question, nodes, found) for nodes in question.targets]
        for fallback in self.fallbacks:
            missing = tuple(
                nodes if not paths else _NONE
                for nodes, paths in zip(question.targets, by_candidate, strict=True)
            )
            if any(map(len, missing)):
                [other] = fallback.extract([replace(question, targets=missing)])
                if not other.paths and not any(by_candidate):
                    if len(other.edges):
                        return other
                    continue
                for scored in self._scored(other.paths, question.context, UNLIKELY):
                    end = scored[1].nodes[-1]
                    place = next(n for n, nodes in enumerate(missing) if end in nodes)
                    by_candidate[place].append(scored)
        firsts = [max(paths, key=_score) for paths in by_candidate if paths]
        rest = [scored for paths in by_candidate for scored in paths]
        firsts.sort(key=_score, reverse=True)
        rest.sort(key=_score, reverse=True)
        ranked = dict.fromkeys(path for _, path in [*firsts, *rest])
        kept = list(ranked)[: self.most_paths]
        order = {path: score for score, path in rest}
        return Extracted.of_paths(sorted(kept, key=lambda path: -order[path]))

    def _to(
        self, question: GroundedQuestion, nodes: Nodes, found: Sequence[LikelyTrail]
    ) -> list[_Scored]:
        """Return the best paths to any of some nodes, with their scores."""
        scored: list[_Scored] = []
        for likely in found:
            for node in np.intersect1d(nodes, likely.trail.ends).tolist():
                ways = likely.trail.paths_to(self.graph, node)
                scored += self._scored(ways, question.context, likely.likely)
            if len(scored) >= self.most_paths:
                break
        return scored

    def _scored(self, paths: Sequence[Path], context: np.ndarray, likely: float) -> list[_Scored]:
        nodes, relations = self.vectors.nodes, self.vectors.relations
        valued = rewarded(paths, context, nodes, relations, self.policy.plan)
        return [(likely + path.rewards.total, path) for path in valued if path.rewards]

    def _along(self, trail: Trail, nodes: Nodes, context: np.ndarray) -> list[Path]:
        """Return the best path along a trail to each of some nodes."""
        scored = (
            self._scored(trail.paths_to(self.graph, node), context, 0.0) for node in nodes.tolist()
        )
        return [max(ways, key=_score)[1] for ways in scored if ways]


_NONE: Nodes = np.zeros(0, np.int32)


def _score(scored: _Scored) -> float:
    return scored[0]
