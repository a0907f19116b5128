"""Walks over a graph: what they may do, hubs, dead ends, and where they end."""

import numpy as np
import pytest

from tasks.graphs.graph import Graph
from tasks.paths.path import Path, Step
from tasks.paths.policy.episodes import (
    STOP,
    Actions,
    Rules,
    VectorGraph,
    Walks,
    advance,
    begin,
    choose_at_random,
    end_walks,
    possible_actions,
    rewards_of,
    walk_all,
)

TRIPLES = [
    ("ada", "parent", "ben"),
    ("ben", "parent", "cyd"),
    ("cyd", "born in", "Rome"),
    ("ada", "born in", "Oslo"),
    ("ben", "spouse", "ada"),
    ("eve", "parent", "eve"),
]


RULES = Rules()


def world_of(triples: list[tuple[str, str, str]], seed: int = 0) -> VectorGraph:
    graph = Graph.of("test", triples)
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(graph.nodes + len(graph.relations), 8)).astype(np.float16)
    return VectorGraph(graph, vectors[: graph.nodes], vectors[graph.nodes :])


def walks_between(world: VectorGraph, pairs: list[tuple[str, str]], rules: Rules = RULES) -> Walks:
    numbers = {world.graph.label(node): node for node in range(world.graph.nodes)}
    sources, targets = np.array([[numbers[a], numbers[b]] for a, b in pairs], np.int32).T
    return begin(sources, targets, np.ones((len(pairs), 8), np.float32), rules)


def described(world: VectorGraph, actions: Actions, row: int) -> set[tuple[str, bool, str]]:
    return {
        (
            "stop" if relation == STOP else world.graph.relations[relation],
            bool(inverse),
            world.graph.label(node),
        )
        for relation, inverse, node, real in zip(
            actions.relations[row],
            actions.inverse[row],
            actions.nodes[row],
            actions.mask[row],
            strict=True,
        )
        if real
    }


def take(world: VectorGraph, walks: Walks, rules: Rules, nodes: list[str]) -> None:
    """Move each walk to the node of that name."""
    actions = possible_actions(world, walks, rules)
    choice = [
        next(
            column
            for column in np.flatnonzero(actions.mask[row])
            if world.graph.label(actions.nodes[row, column]) == node
        )
        for row, node in enumerate(nodes)
    ]
    advance(walks, np.arange(len(walks)), actions, np.array(choice))
    end_walks(walks, rules)


def test_actions_are_the_edges_in_both_directions():
    world = world_of(TRIPLES)
    walks = walks_between(world, [("ben", "Rome"), ("Rome", "ada")])
    actions = possible_actions(world, walks, Rules())
    assert described(world, actions, 0) == {
        ("parent", False, "cyd"),
        ("parent", True, "ada"),
        ("spouse", False, "ada"),
    }
    assert described(world, actions, 1) == {("born in", True, "cyd")}
    assert actions.mask.shape == (2, 3)
    assert actions.mask.sum(1).tolist() == [3, 1]


def test_a_graph_tells_which_nodes_are_near_each_other():
    world = world_of([*TRIPLES, *(("hub", "has", f"spoke {n}") for n in range(99))])
    numbers = {world.graph.label(node): node for node in range(world.graph.nodes)}
    pairs = [("ada", "ben"), ("ben", "ada"), ("ada", "cyd"), ("ada", "Rome"), ("eve", "eve")]
    pairs += [("hub", "spoke 3"), ("spoke 4", "spoke 3"), ("Oslo", "hub")]
    some, others = np.array([[numbers[a], numbers[b]] for a, b in pairs]).T
    assert world.adjacent(some, others).tolist() == [1, 1, 0, 0, 0, 1, 0, 0]
    assert world.bridged(some, others).tolist() == [0, 0, 1, 0, 0, 0, 1, 0]


def test_a_simple_walk_visits_nothing_twice_and_ends_at_its_target():
    world, rules = world_of(TRIPLES), Rules(steps=3)
    walks = walks_between(world, [("ada", "Rome"), ("ada", "ben")], rules)
    take(world, walks, rules, ["ben", "ben"])
    assert walks.ended.tolist() == [False, True]
    going = walks.rows(np.array([0]))
    assert described(world, possible_actions(world, going, rules), 0) == {("parent", False, "cyd")}
    take(world, going, rules, ["cyd"])
    take(world, going, rules, ["Rome"])
    assert going.reached.all()
    assert [world.graph.label(node) for node in going.path(0).nodes] == [
        *("ada", "ben", "cyd", "Rome")
    ]


def test_a_path_gives_back_the_edges_of_the_graph():
    world, rules = world_of(TRIPLES), Rules()
    walks = walks_between(world, [("Rome", "ben")], rules)
    take(world, walks, rules, ["cyd"])
    take(world, walks, rules, ["ben"])
    path = walks.path(0)
    born, parent = (world.graph.relation_numbers[name] for name in ("born in", "parent"))
    assert path == Path(
        path.start, (Step(born, True, path.nodes[1]), Step(parent, True, path.nodes[2]))
    )
    edges = set(
        zip(world.graph.heads, world.graph.out_relations, world.graph.out_tails, strict=True)
    )
    assert {(edge.head, edge.relation, edge.tail) for edge in path.edges} <= edges


def test_other_walks_may_come_back_and_choose_where_to_stop():
    world, rules = world_of(TRIPLES), Rules(steps=3, simple=False)
    walks = walks_between(world, [("ada", "ben"), ("eve", "eve")], rules)
    assert ("stop", False, "ada") not in described(world, possible_actions(world, walks, rules), 0)
    take(world, walks, rules, ["ben", "eve"])
    assert not walks.ended.any()
    actions = possible_actions(world, walks, rules)
    assert {("stop", False, "ben"), ("parent", True, "ada")} <= described(world, actions, 0)
    stops = (actions.relations == STOP).argmax(1)
    advance(walks, np.arange(2), actions, stops)
    assert walks.ended.all()
    assert walks.lengths.tolist() == [1, 1]
    assert walks.reached.all()


def test_a_walk_without_actions_ends_where_it_is():
    world, rules = world_of(TRIPLES), Rules()
    walks = walks_between(world, [("eve", "Rome"), ("Oslo", "Rome")], rules)
    walk_all(world, walks, rules, choose_at_random(1))
    assert walks.ended.all()
    assert walks.lengths[0] == 0
    rewards = rewards_of(world, walks)
    assert rewards.reach[0] == -1
    assert rewards.conciseness[0] == 0


def test_a_hub_offers_the_target_its_neighbours_and_those_most_like_it():
    spokes = [("hub", "has", f"spoke {n}") for n in range(50)]
    world = world_of([*spokes, ("spoke 7", "near", "goal"), ("goal", "near", "spoke 31")])
    rules = Rules(most_actions=6)
    walks = walks_between(world, [("hub", "goal"), ("hub", "spoke 40")], rules)
    actions = possible_actions(world, walks, rules)
    assert actions.mask.sum(1).tolist() == [6, 6]
    offered = {node for _, _, node in described(world, actions, 0)}
    assert {"spoke 7", "spoke 31"} < offered
    vectors = world.vectors(np.arange(world.graph.nodes))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [world.graph.label(node) for node in range(world.graph.nodes)]
    likeness = vectors @ vectors[names.index("goal")]
    ends = [n for n, name in enumerate(names) if name.startswith("spoke")]
    ranked = sorted(ends, key=lambda node: -likeness[node])
    others = [names[node] for node in ranked if names[node] not in ("spoke 7", "spoke 31")]
    assert offered == {"spoke 7", "spoke 31", *others[:4]}
    assert "spoke 40" in {node for _, _, node in described(world, actions, 1)}
    again = possible_actions(world, walks, rules)
    assert (again.nodes == actions.nodes).all()


def test_a_hub_with_more_edges_than_are_compared_still_offers_the_target():
    world = world_of([("hub", "has", f"spoke {n}") for n in range(9_001)])
    walks = walks_between(world, [("hub", f"spoke {n}") for n in (1, 2, 4_999)])
    actions = possible_actions(world, walks, Rules())
    assert actions.mask.sum(1).tolist() == [64] * 3
    assert (actions.nodes == walks.targets[:, None]).any(1).all()


def test_a_hub_does_not_lead_a_simple_walk_back():
    world, rules = (
        world_of([("hub", "has", f"spoke {n}") for n in range(20)]),
        Rules(most_actions=5),
    )
    walks = walks_between(world, [("spoke 3", "spoke 9")], rules)
    take(world, walks, rules, ["hub"])
    offered = {node for _, _, node in described(world, possible_actions(world, walks, rules), 0)}
    assert len(offered) == 5
    assert "spoke 9" in offered
    assert "spoke 3" not in offered


@pytest.mark.parametrize("simple", [True, False])
def test_walks_of_a_batch_do_not_depend_on_each_other(simple):
    random = np.random.default_rng(3)
    names = [f"n{n}" for n in range(40)]
    triples = [
        (names[a], f"r{r}", names[b])
        for a, r, b in zip(*random.integers([40, 4, 40], size=(150, 3)).T, strict=True)
    ]
    world, rules = world_of(triples), Rules(steps=4, most_actions=5, simple=simple)
    there = [world.graph.label(node) for node in range(world.graph.nodes)]
    pairs = [tuple(random.choice(there, 2, replace=False)) for _ in range(60)]

    def most_alike(walks: Walks, actions: Actions) -> np.ndarray:
        likeness = np.einsum(
            "wnd,wd->wn", world.vectors(actions.nodes), world.vectors(walks.targets)
        )
        return np.where(actions.mask, likeness, -np.inf).argmax(1)

    together = walks_between(world, pairs, rules)
    walk_all(world, together, rules, most_alike)
    assert together.ended.all()
    for row, pair in enumerate(pairs):
        alone = walks_between(world, [pair], rules)
        walk_all(world, alone, rules, most_alike)
        assert alone.path(0) == together.path(row)


def test_random_walks_are_the_same_for_the_same_seed():
    world = world_of([(f"n{n}", "next", f"n{m}") for n in range(12) for m in range(n)])

    def walked(seed: int) -> np.ndarray:
        walks = walks_between(world, [("n1", "n9")] * 30)
        walk_all(world, walks, Rules(), choose_at_random(seed))
        return walks.visited

    assert (walked(1) == walked(1)).all()
    assert (walked(1) != walked(2)).any()
