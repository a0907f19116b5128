"""How the benchmark of relevance and length counts, and its claim on a graph made by hand."""

import numpy as np
import pytest

from tasks.graphs.graph import Graph
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.neighbours import Neighbours
from tasks.paths.path import GroundedQuestion, Path, Step
from tasks.paths.path_graph import PathGraph
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.train import Example, train_policy
from tests.path_measures import (
    Pairs,
    compared,
    measure,
    pairs_of,
    simple_paths,
    steps_around,
    values_of,
)

CONTEXT = np.eye(8, dtype=np.float32)[0]
WAYS = 6


def ways(number: int) -> list[tuple[str, str, str]]:
    """Return two ways of two steps, one about the question, and an edge between them."""
    source, target = f"source {number}", f"target {number}"
    return [
        *((source, "to", f"{kind} {number}") for kind in ("apt", "idle")),
        *((f"{kind} {number}", "to", target) for kind in ("apt", "idle")),
        (f"idle {number}", "to", f"apt {number}"),
    ]


def path_graph() -> PathGraph:
    graph = Graph.of("ways", [triple for number in range(WAYS) for triple in ways(number)])
    random = np.random.default_rng(0)
    nodes = random.normal(size=(graph.nodes, 8)) / 10
    for node in range(graph.nodes):
        nodes[node, 0] = 1.0 if graph.label(node).startswith("apt") else 0.0
        nodes[node, 1] = 1.0 if graph.label(node).startswith("idle") else 0.0
        nodes[node, 2] = 1.0
    vectors = GraphVectors(
        nodes=(nodes / np.linalg.norm(nodes, axis=1, keepdims=True)).astype(np.float16),
        relations=np.zeros((1, 8), np.float16),
        stem_keys=np.zeros(0, np.uint64),
        stem_nodes=np.zeros(0, np.int32),
        basis=None,
        neighbours=Neighbours.of(graph),
        encoder_name="static",
        encoder_id="",
        key="",
    )
    return PathGraph(graph, vectors)


def question(paths: PathGraph, source: str, *targets: str) -> GroundedQuestion:
    nodes = [paths.graph.named(name).astype(np.int32) for name in (source, *targets)]
    return GroundedQuestion("?", CONTEXT, nodes[0], tuple(nodes[1:]))


def test_all_simple_paths_to_the_first_target_count_and_no_others():
    edges = np.array([(0, 0, 1), (1, 1, 2), (0, 0, 2), (2, 1, 0), (2, 0, 3), (4, 0, 0), (3, 0, 4)])
    around = steps_around(edges)
    found = {tuple(step.node for step in way) for way in simple_paths(around, (0,), {3}, 3)}
    assert found == {(4, 3), (2, 3), (1, 2, 3)}
    way = [way for way in simple_paths(around, (0,), {3}, 3) if way[0].node == 2]
    # Two edges join 0 and 2: one is walked forwards, the other backwards.
    assert {(way[0].relation, way[0].inverse) for way in way} == {(0, False), (1, True)}
    assert {way[-1].node for way in simple_paths(around, (0,), {2, 3}, 3)} == {2, 3}
    assert not [way for way in simple_paths(around, (0,), {2, 3}, 3) if way[0].node == 2 < len(way)]
    assert list(simple_paths(around, (0,), {9}, 3)) == []


def test_every_source_goes_with_every_candidate_that_is_something_else():
    paths = path_graph()
    grounded = question(paths, "source 0", "target 0", "source 0", "target 1")
    pairs = pairs_of([grounded, grounded])
    assert pairs.numbers == [0, 0, 1, 1]
    ends = [paths.graph.label(int(each.targets[0][0])) for each in pairs.questions]
    assert ends == ["target 0", "target 1"] * 2


def test_relatedness_is_that_of_a_paths_beginnings():
    paths = path_graph()
    grounded = question(paths, "source 0", "target 0")
    start, apt, end = (
        int(paths.graph.named(name)[0]) for name in ("source 0", "apt 0", "target 0")
    )
    path = Path(start, (Step(0, False, apt), Step(0, False, end)))
    [values, nothing] = values_of(paths.vectors, Pairs([0, 0], [grounded, grounded]), [[path], []])
    vectors = paths.vectors.nodes.astype(np.float64)
    sums = vectors[start], vectors[start] + vectors[apt], vectors[[start, apt, end]].sum(0)
    cosines = [float(each[0] / np.linalg.norm(each)) for each in sums]
    assert values == (pytest.approx(np.mean(cosines), abs=1e-3), 2)
    assert nothing is None


def test_pairs_without_both_paths_do_not_count_and_questions_are_resampled_whole():
    own = [(0.5, 1.0), (0.5, 1.0), None, (0.1, 3.0)]
    others = [(0.25, 2.0), (0.25, 2.0), (0.0, 1.0), None]
    figures = compared([7, 7, 8, 9], own, others)
    assert (figures["pairs"], figures["questions"]) == (2, 1)
    assert figures["relatedness"]["difference"] == 0.25
    assert figures["relatedness"]["interval"] == [0.25, 0.25]
    assert figures["length"]["difference"] == -1


def test_a_trained_policy_takes_the_way_that_is_about_the_question():
    paths = path_graph()
    names = [(f"source {number}", f"target {number}") for number in range(WAYS)]
    examples = [
        Example(f"Where does {source} lead?", (paths.graph.named(target),))
        for source, target in names
    ]
    plan = PolicyPlan(width=8, batch=8)
    policy = train_policy(paths.graph, paths.vectors.relations, examples, plan)
    trained = PathGraph(paths.graph, paths.vectors, policy)
    figures = measure(trained, [question(paths, *pair) for pair in names])
    assert figures["pairs with a path"] == dict.fromkeys(
        ("policy", "shortest paths", "P_sub"), WAYS
    )
    beside = figures["beside P_sub"]
    assert beside["relatedness"]["interval"][0] > 0
    assert beside["length"] == {
        "policy": 2.0,
        "other": 2.5,  # two ways of two steps and two of three
        "difference": -0.5,
        "interval": [-0.5, -0.5],
    }
    assert figures["beside shortest paths"]["length"]["difference"] == 0
