"""P_RL as an extraction: all candidates alike, edges once, and fallbacks."""

from collections.abc import Sequence

import numpy as np

from tasks.graphs.graph import Graph
from tasks.paths.extraction.walks import PolicyWalks
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.neighbours import Neighbours
from tasks.paths.path import Extracted, GroundedQuestion
from tasks.paths.policy.beam import BeamOptions
from tasks.paths.policy.episodes import VectorGraph
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
    world = VectorGraph(
        graph, random.normal(size=(graph.nodes, 6)), random.normal(size=(len(graph.relations), 6))
    )
    plan = PolicyPlan(hidden=(8, 8))
    network = PolicyNetwork.untrained(NetworkShape(6, plan.hidden), seed=0)
    return PolicyWalks(world, TrainedPolicy(network, plan, None, []), **options)  # type: ignore[arg-type]


def question(strategy: PolicyWalks, sources: Sequence[str], *candidates: str) -> GroundedQuestion:
    nodes = {
        name: strategy.world.graph.named(name)[:1].astype(np.int32)
        for name in (*sources, *candidates)
    }
    empty = np.zeros(0, np.int32)
    return GroundedQuestion(
        "?",
        np.ones(6, np.float32),
        np.concatenate([empty, *(nodes[name] for name in sources)]),
        tuple(nodes[name] for name in candidates),
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
    strategy = walks(beam=BeamOptions(likelihood=0))
    graph = strategy.world.graph
    ask = question(strategy, ["saw", "axe"], "carpentry", "workshop", "moon")
    (extracted,) = strategy.extract([ask])
    ends = {(graph.label(p.start), graph.label(p.nodes[-1])) for p in extracted.paths}
    assert ends == {(source, end) for source in ("saw", "axe") for end in ("carpentry", "workshop")}
    totals = [path.rewards.total for path in extracted.paths if path.rewards]
    assert totals == sorted(totals, reverse=True)
    assert len({tuple(edge) for edge in extracted.edges.tolist()}) == len(extracted.edges) == 4
    first = extracted.paths[0].edges[0]
    assert extracted.edges[0].tolist() == [first.head, first.relation, first.tail]
    assert extracted.edges.dtype == np.int32


def test_walks_are_ranked_by_their_rewards_not_by_what_is_likely_for_the_policy():
    ways = [f"way {n}" for n in range(9)]
    strategy = walks([edge for way in ways for edge in (("saw", "to", way), (way, "to", "moon"))])
    (extracted,) = strategy.extract([question(strategy, ["saw"], "moon")])
    totals = [path.rewards.total for path in extracted.paths if path.rewards]
    assert len(totals) == len(ways)
    assert totals == sorted(totals, reverse=True)


def test_only_the_best_paths_are_kept():
    strategy = walks(most_paths=1)
    (extracted,) = strategy.extract([question(strategy, ["saw", "axe"], "carpentry", "workshop")])
    (best,) = extracted.paths
    assert len(extracted.edges) == len(best.steps)


def test_questions_without_a_path_fall_back_in_turn():
    barren, fruitful, unused = Recorder([]), Recorder([(4, 1, 5)]), Recorder([(0, 0, 1)])
    strategy = walks(fallbacks=(barren, fruitful, unused))
    lost = question(strategy, ["saw"], "moon")
    without = question(strategy, [], "moon")
    same = question(strategy, ["moon"], "moon")
    questions = [lost, question(strategy, ["saw"], "carpentry"), without, same]
    results = strategy.extract(questions)
    assert barren.questions == [lost, without, same]
    assert fruitful.questions == [lost, without, same]
    assert unused.questions == []
    assert [len(result.edges) for result in results] == [1, 2, 1, 1]
    assert [len(result.paths) for result in results] == [0, 1, 0, 0]
    assert walks().extract([]) == []


def test_shortest_paths_and_the_subgraph_are_the_usual_fallbacks():
    graph = Graph.of("tools", [*TRIPLES, *((f"n{n}", "next to", f"n{n + 1}") for n in range(5))])
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
    strategy = PolicyWalks.over(graph, vectors, walks().policy)
    sources, near, far = (graph.named(name).astype(np.int32) for name in ("n0", "n3", "n5"))
    context = np.ones(6, np.float32)
    both = strategy.extract(
        [GroundedQuestion("?", context, sources, (target,)) for target in (near, far)]
    )
    assert [len(extracted.paths) for extracted in both] == [1, 0]
    assert both[0].paths[0].rewards is not None
    assert [len(extracted.edges) for extracted in both] == [3, 0]
    # A neighbour of both ends is in P_sub, and on the policy's paths, too.
    (joined,) = strategy.extract([GroundedQuestion("?", context, sources, (graph.named("n2"),))])
    assert len(joined.edges) == 2
