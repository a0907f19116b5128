"""P_RL as an extraction: all candidates alike, edges once, fallbacks, and answers of its own."""

from collections.abc import Sequence

import numpy as np
import pytest

from tasks.graphs.graph import Graph
from tasks.paths.extraction.walks import PolicyWalks
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.neighbours import Neighbours
from tasks.paths.path import Extracted, GroundedQuestion
from tasks.paths.policy.network import NetworkShape, PolicyNetwork
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.train import TrainedPolicy

TRIPLES = [
    ("saw", "used for", "cutting"),
    ("cutting", "part of", "carpentry"),
    ("axe", "used for", "cutting"),
    ("carpentry", "done in", "workshop"),
    ("moon", "part of", "sky"),
]


def walks(triples: Sequence[tuple[str, str, str]] = TRIPLES, **options: object) -> PolicyWalks:
    graph = Graph.of("tools", triples)
    random = np.random.default_rng(0)
    vectors = GraphVectors(
        nodes=random.normal(size=(graph.nodes, 6)),
        relations=random.normal(size=(len(graph.relations), 6)),
        stem_keys=np.zeros(0, np.uint64),
        stem_nodes=np.zeros(0, np.int32),
        basis=None,
        neighbours=Neighbours.of(graph),
        encoder_name="static",
        encoder_id="",
        key="",
    )
    plan = PolicyPlan(width=8)
    network = PolicyNetwork.untrained(NetworkShape(6, plan.width, plan.steps), seed=0)
    policy = TrainedPolicy(network, plan, [])
    if options:
        return PolicyWalks(graph, vectors, policy, **options)  # type: ignore[arg-type]
    return PolicyWalks.over(graph, vectors, policy)


def question(strategy: PolicyWalks, text: str, *candidates: str) -> GroundedQuestion:
    named = [strategy.graph.named(name)[:1].astype(np.int32) for name in candidates]
    sources = [
        strategy.graph.named(word)[:1] for word in text.split() if len(strategy.graph.named(word))
    ]
    empty = np.zeros(0, np.int32)
    return GroundedQuestion(
        text, np.ones(6, np.float32), np.concatenate([empty, *sources]), tuple(named)
    )


class Recorder:
    """An extraction that notes the questions it gets and finds the edges it is given."""

    name = "recorder"

    def __init__(self, edges: list[tuple[int, int, int]]) -> None:
        self.questions: list[GroundedQuestion] = []
        self.edges = np.array(edges, np.int32).reshape(-1, 3)

    def extract(self, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        self.questions += questions
        return [Extracted((), self.edges) for _ in questions]


def test_every_candidate_is_walked_to_and_edges_come_once():
    strategy = walks(fallbacks=())
    graph = strategy.graph
    asked = question(strategy, "what do saw and axe share", "carpentry", "workshop", "moon")
    (extracted,) = strategy.extract([asked])
    ends = {(graph.label(p.start), graph.label(p.nodes[-1])) for p in extracted.paths}
    assert {end for _, end in ends} == {"carpentry", "workshop"}
    assert {start for start, _ in ends} == {"saw", "axe"}
    assert len({tuple(edge) for edge in extracted.edges.tolist()}) == len(extracted.edges)
    assert extracted.edges.dtype == np.int32
    assert all(path.rewards and path.rewards.reach == 1 for path in extracted.paths)


def test_the_best_path_to_each_candidate_is_kept_before_the_second_to_any():
    strategy = walks(most_paths=2)
    asked = question(strategy, "what do saw and axe share", "carpentry", "workshop")
    (extracted,) = strategy.extract([asked])
    ends = {strategy.graph.label(path.nodes[-1]) for path in extracted.paths}
    assert ends == {"carpentry", "workshop"}


def test_questions_without_a_path_fall_back_in_turn():
    barren, fruitful, unused = Recorder([]), Recorder([(4, 1, 5)]), Recorder([(0, 0, 1)])
    strategy = walks(fallbacks=(barren, fruitful, unused))
    lost = question(strategy, "saw", "moon")
    without = question(strategy, "why", "moon")
    results = strategy.extract([lost, question(strategy, "saw", "carpentry"), without])
    assert [asked.text for asked in barren.questions] == ["saw", "why"]
    assert [asked.text for asked in fruitful.questions] == ["saw", "why"]
    assert unused.questions == []
    assert [len(result.edges) for result in results] == [1, 2, 1]
    assert [bool(result.paths) for result in results] == [False, True, False]
    assert walks().extract([]) == []


def test_shortest_paths_lead_to_candidates_that_the_policy_does_not_reach():
    strategy = walks([*TRIPLES, *((f"n{n}", "next to", f"n{n + 1}") for n in range(5))])
    near, far = question(strategy, "n0", "n3"), question(strategy, "n0", "n5")
    both = strategy.extract([near, far])
    assert both[0].paths and both[0].paths[0].rewards is not None
    assert len(both[0].edges) == 3 and not len(both[1].edges)


def test_an_open_question_gets_answers_with_probabilities_and_paths():
    strategy = walks()
    proposed, extracted = strategy.propose(question(strategy, "what is saw used for"))
    best = proposed[0]
    assert list(map(strategy.graph.label, best.nodes)) == ["cutting"]
    assert 0 < best.probability <= 1
    chances = [proposal.probability for proposal in proposed]
    assert chances == sorted(chances, reverse=True) and sum(chances) <= 1
    assert extracted.paths[0].nodes[-1] == best.nodes[0]
    assert strategy.propose(question(strategy, "why"))[0] == []


def test_candidates_share_what_the_policy_knows():
    strategy = walks()
    shares = strategy.shares(question(strategy, "what is saw used for", "cutting", "moon"))
    assert shares[0] > 0.3 and shares[1] == 0
    assert strategy.shares(question(strategy, "why", "moon")).sum() == pytest.approx(0)
