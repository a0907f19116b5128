"""A policy on small graphs: it learns, reads the question, resumes, and searches every pair."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from schemas.errors import AlmanacError, DamageError, UsageError
from tasks.graphs.graph import Graph
from tasks.models.checkpoint import CHECKPOINT
from tasks.paths.path import Path, Step
from tasks.paths.policy.beam import BeamOptions, search_paths
from tasks.paths.policy.demonstrations import FAR, distances_between, shortest_paths
from tasks.paths.policy.episodes import (
    Choose,
    Rules,
    VectorGraph,
    begin,
    choose_at_random,
    possible_actions,
    walk_all,
)
from tasks.paths.policy.network import NetworkShape, PolicyNetwork
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.train import Episodes, TrainedPolicy, train_policy

WIDTH = 16
PLAN = PolicyPlan(hidden=(32, 64), batch=64, cloning_epochs=15, epochs=5, learning_rate=3e-3)


def vectors(count: int, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def with_vectors(triples: list[tuple[str, str, str]], seed: int = 0) -> VectorGraph:
    graph = Graph.of("test", triples)
    return VectorGraph(
        graph, vectors(graph.nodes, seed), vectors(len(graph.relations), seed + 1_000)
    )


@cache
def tangle(seed: int = 0, nodes: int = 80) -> VectorGraph:
    """Return a graph in which random walks get lost; its nodes have the vectors of places.

    Edges join places that are near each other.
    """
    random = np.random.default_rng(seed)
    places = random.normal(size=(nodes, 3))
    places /= np.linalg.norm(places, axis=1, keepdims=True)
    nearest = np.argsort(-(places @ places.T), axis=1)[:, 1:4]
    triples = [
        (f"n{a}", f"r{random.integers(5)}", f"n{b}") for a in range(nodes) for b in nearest[a]
    ]
    world = with_vectors(triples, seed)
    numbers = [int(world.graph.label(node)[1:]) for node in range(world.graph.nodes)]
    turn = np.random.default_rng(99).normal(size=(3, WIDTH))
    return VectorGraph(world.graph, (places @ turn)[numbers], world.relations)


def pairs_of(world: VectorGraph, count: int, seed: int, steps: int = 3) -> Episodes:
    """Return pairs with a path between them, and random contexts."""
    random = np.random.default_rng(seed)
    sources, targets = random.integers(world.graph.nodes, size=(2, count)).astype(np.int32)
    far = distances_between(world, sources, targets, steps)
    near = (far > 0) & (far < FAR)
    return Episodes(sources[near], targets[near], vectors(int(near.sum()), seed))


def share_reached(world: VectorGraph, pairs: Episodes, choose: Choose) -> float:
    walks = begin(pairs.sources, pairs.targets, pairs.contexts, Rules())
    walk_all(world, walks, Rules(), choose)
    return float(walks.reached.mean())


@cache
def trained() -> TrainedPolicy:
    return train_policy(tangle(), pairs_of(tangle(), 1_000, seed=1), PLAN)


def weights_of(policy: TrainedPolicy) -> dict[str, bytes]:
    return {name: weight.numpy().tobytes() for name, weight in policy.network.weights.items()}


def test_a_policy_reaches_targets_that_random_walks_miss():
    world, pairs = tangle(), pairs_of(tangle(), 400, seed=2)
    untrained = PolicyNetwork.untrained(trained().network.shape, seed=0)
    assert share_reached(world, pairs, trained().network.greedy(world)) > 0.95
    assert share_reached(world, pairs, choose_at_random(0)) < 0.5
    assert share_reached(world, pairs, untrained.greedy(world)) < 0.6


def test_a_policy_walks_a_graph_that_it_never_saw():
    other = tangle(seed=7)
    pairs = pairs_of(other, 400, seed=3)
    assert share_reached(other, pairs, trained().network.greedy(other)) > 0.8
    assert share_reached(other, pairs, choose_at_random(0)) < 0.5


def test_rewards_alone_teach_a_policy():
    pairs = pairs_of(tangle(), 1_000, seed=1)
    plan = PLAN.model_copy(update={"cloning_epochs": 0, "epochs": 15})
    policy = train_policy(tangle(), pairs, plan)
    rewards = [float(row["reward"]) for row in policy.curve]
    assert np.mean(rewards[-10:]) > np.mean(rewards[:10]) + 0.5
    assert (
        share_reached(tangle(), pairs_of(tangle(), 400, seed=2), policy.network.greedy(tangle()))
        > 0.8
    )


def test_the_question_decides_between_two_ways():
    triples = [
        edge
        for n in range(40)
        for edge in (
            (f"a{n}", "mother", f"m{n}"),
            (f"a{n}", "father", f"f{n}"),
            (f"m{n}", "born in", f"b{n}"),
            (f"f{n}", "born in", f"b{n}"),
        )
    ]
    world = with_vectors(triples)
    mother, father, born = (
        world.graph.relation_numbers[r] for r in ("mother", "father", "born in")
    )

    def questions(numbers: range) -> tuple[Episodes, list[Path]]:
        paths = []
        for n in numbers:
            nodes = {k: int(world.graph.named(f"{k}{n}")[0]) for k in "amfb"}
            for parent, relation in (("m", mother), ("f", father)):
                way = (Step(relation, False, nodes[parent]), Step(born, False, nodes["b"]))
                paths.append(Path(nodes["a"], way))
        contexts = world.relation_vectors(np.array([path.steps[0].relation for path in paths]))
        ends = np.array([[path.start, path.nodes[-1]] for path in paths], np.int32).T
        return Episodes(*ends, contexts), paths

    training, gold = questions(range(25))
    testing, right = questions(range(25, 40))
    plan = PLAN.model_copy(update={"cloning_epochs": 20})

    def share_right(episodes: Episodes, plan: PolicyPlan) -> float:
        policy = train_policy(world, episodes, plan)
        found = search_paths(
            world,
            policy.network,
            testing.sources,
            testing.targets,
            testing.contexts,
            plan.rules,
            weights=plan.reward_weights,
        )
        return float(
            np.mean(
                [
                    paths[0].path.steps == path.steps
                    for paths, path in zip(found, right, strict=True)
                ]
            )
        )

    assert share_right(replace(training, demonstrations=gold), plan) > 0.95
    # Without gold paths, relatedness to the question decides (equation 3).
    assert share_right(training, plan.model_copy(update={"relatedness": 3.0})) > 0.95
    blind = plan.model_copy(update={"reads_context": False, "relatedness": 0.0})
    assert share_right(replace(training, demonstrations=gold), blind) < 0.75


@pytest.mark.parametrize("stages", [{"epochs": 0}, {"cloning_epochs": 0, "teacher": 1.0}])
def test_demonstrations_that_the_rules_do_not_offer_teach_nothing(stages):
    world = with_vectors([("hub", "to", f"n{number}") for number in range(20)])
    [hub], [last] = world.graph.named("hub"), world.graph.named("n19")
    elsewhere = [node for node in range(world.graph.nodes) if node not in (hub, last)]
    ways = [Path(int(hub), (Step(0, False, node),)) for node in (*elsewhere, int(last))]
    episodes = Episodes(
        np.full(len(ways), hub, np.int32),
        np.full(len(ways), last, np.int32),  # of many edges, the one to the target is offered first
        vectors(len(ways), seed=1),
        ways,
    )
    plan = PLAN.model_copy(update={"most_actions": 1, "batch": 1, "cloning_epochs": 1, **stages})
    curve = train_policy(world, episodes, plan).curve
    assert np.isfinite([float(row["loss"]) for row in curve]).all()
    imitated = [row for row in curve if row["stage"] == "imitation"]
    assert len(imitated) < len(ways) and all(row["alike"] == 1 for row in imitated)


def test_distances_are_the_same_however_few_are_held(monkeypatch):
    world = tangle()
    sources, targets = np.random.default_rng(0).integers(80, size=(2, 200)).astype(np.int32)
    together = distances_between(world, sources, targets, 3)
    monkeypatch.setattr("tasks.paths.policy.demonstrations.CELLS", 3 * world.graph.nodes)
    assert distances_between(world, sources, targets, 3).tolist() == together.tolist()
    monkeypatch.setattr("tasks.paths.policy.demonstrations.CELLS", 1)
    assert distances_between(world, sources, targets, 3).tolist() == together.tolist()


class StoppedError(Exception):
    """What ends a training in the middle."""


def test_a_training_that_is_killed_goes_on_to_the_same_weights(tmp_path):
    world, pairs = tangle(), pairs_of(tangle(), 200, seed=1)
    plan = PLAN.model_copy(update={"cloning_epochs": 2, "epochs": 2, "teacher": 0.1, "ridge": 1.0})
    whole = train_policy(world, pairs, plan)
    batches = len(whole.curve)

    def stop_at(number: int) -> None:
        def report(stage: str, done: int, total: int) -> None:
            assert total == batches
            if done == number:
                raise StoppedError

        with pytest.raises(StoppedError):
            train_policy(world, pairs, plan, tmp_path, report=report, checkpoint_seconds=0)

    for number in (2, batches // 2 + 1, batches - 1):
        stop_at(number)
    resumed = train_policy(world, pairs, plan, tmp_path)
    assert weights_of(resumed) == weights_of(whole)
    assert resumed.curve == whole.curve
    other = train_policy(world, pairs, plan.model_copy(update={"seed": 1}), tmp_path)
    assert weights_of(other) != weights_of(whole)
    elsewhere = train_policy(tangle(seed=3), pairs, plan, tmp_path)
    assert weights_of(elsewhere) == weights_of(train_policy(tangle(seed=3), pairs, plan))


def test_a_damaged_checkpoint_is_refused_with_advice(tmp_path):
    world, pairs = tangle(), pairs_of(tangle(), 100, seed=1)
    plan = PLAN.model_copy(update={"cloning_epochs": 1, "epochs": 0})
    train_policy(world, pairs, plan, tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(b"no tensors")
    with pytest.raises(DamageError, match="train again"):
        train_policy(world, pairs, plan, tmp_path)


def test_a_training_without_batches_comes_back_as_it_was(tmp_path):
    world, pairs = tangle(), pairs_of(tangle(), 100, seed=1)
    plan = PLAN.model_copy(update={"cloning_epochs": 0, "epochs": 0})
    first, second = (train_policy(world, pairs, plan, tmp_path) for _ in range(2))
    assert weights_of(first) == weights_of(second)
    assert second.curve == []


def test_the_number_of_threads_changes_no_weight():
    plan = PolicyPlan(hidden=(256, 512), cloning_epochs=1, epochs=1)
    pairs, before = pairs_of(tangle(), 500, seed=1), torch.get_num_threads()
    found = []
    try:
        for threads in (1, 4):
            torch.set_num_threads(threads)
            found.append(weights_of(train_policy(tangle(), pairs, plan)))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("value", [1e300, -1e300, float("inf"), float("nan")])
def test_weights_of_rewards_have_bounds(value):
    with pytest.raises(ValidationError):
        PolicyPlan(reach=value)
    assert PolicyPlan(reach=1e6).reach == 1e6


def test_a_training_that_diverges_says_so_and_leaves_nothing(tmp_path):
    plan = PLAN.model_copy(update={"learning_rate": 1e30})
    with pytest.raises(AlmanacError, match="diverged"):
        train_policy(tangle(), pairs_of(tangle(), 50, seed=1), plan, tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_probabilities_are_of_the_real_actions_only():
    world, pairs = tangle(), pairs_of(tangle(), 100, seed=4)
    walks = begin(pairs.sources, pairs.targets, pairs.contexts, Rules())
    actions = possible_actions(world, walks, Rules())
    likely = trained().network.log_probabilities(world, walks, actions).numpy()
    assert likely.shape == actions.mask.shape
    assert (np.isneginf(likely) == ~actions.mask).all()
    assert np.exp(likely).sum(1) == pytest.approx(np.ones(len(walks)), abs=1e-5)
    one = walks.rows(np.array([7]))
    alone = trained().network.log_probabilities(world, one, possible_actions(world, one, Rules()))
    real = actions.mask[7]
    assert alone.numpy()[0][: real.sum()] == pytest.approx(likely[7][real], abs=1e-5)


def test_numbers_of_nodes_and_relations_mean_nothing_to_a_policy():
    world = tangle()
    graph, order = world.graph, np.random.default_rng(1).permutation(world.graph.nodes)
    kinds = np.random.default_rng(2).permutation(len(graph.relations))
    edges = zip(graph.heads, graph.out_relations, graph.out_tails, strict=True)
    renamed = Graph.from_arrays(
        "renumbered",
        [""] * len(graph.relations),
        graph.labels,
        graph.ids,
        np.array([[order[h], kinds[r], order[t]] for h, r, t in edges], np.int32),
        (np.zeros(0, np.uint64), np.zeros(0, np.int32), np.zeros(0, np.float32)),
    )
    other = VectorGraph(renamed, np.empty_like(world.nodes), np.empty_like(world.relations))
    other.nodes[order], other.relations[kinds] = world.nodes, world.relations
    pairs = pairs_of(world, 100, seed=5)
    walked = []
    for place, (sources, targets) in (
        (world, (pairs.sources, pairs.targets)),
        (other, (order[pairs.sources], order[pairs.targets])),
    ):
        walks = begin(sources, targets, pairs.contexts, Rules())
        walk_all(place, walks, Rules(), trained().network.greedy(place))
        walked.append(walks.visited)
    visited = walked[0]
    assert (np.where(visited < 0, -1, order[visited]) == walked[1]).all()


def test_a_policy_refuses_vectors_of_another_length():
    world = tangle()
    wider = VectorGraph(world.graph, np.zeros((world.graph.nodes, 5)), np.zeros((5, 5)))
    with pytest.raises(UsageError, match="encoder"):
        share_reached(wider, pairs_of(world, 5, seed=1), trained().network.greedy(wider))


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_beams_find_every_path_that_fits_into_them(steps):
    world, pairs = tangle(), pairs_of(tangle(), 60, seed=6)
    rules = Rules(steps=steps)
    wide = BeamOptions(width=10_000)
    given = (pairs.sources, pairs.targets, pairs.contexts, rules)
    found = search_paths(world, trained().network, *given, options=wide)
    for source, target, paths in zip(pairs.sources, pairs.targets, found, strict=True):
        assert {path.path.steps for path in paths} == all_ways(
            world, int(source), int(target), steps
        )
        scores = [path.score for path in paths]
        assert scores == sorted(scores, reverse=True)
        assert len(paths) == len({path.path.steps for path in paths})
    ranked = search_paths(
        world, trained().network, *given, options=BeamOptions(width=10_000, likelihood=0)
    )
    for paths in ranked:
        totals = [path.path.rewards.total for path in paths if path.path.rewards]
        assert totals == sorted(totals, reverse=True) == [path.score for path in paths]
    narrow = search_paths(world, trained().network, *given, options=BeamOptions(width=3))
    assert max(map(len, narrow)) <= 3
    share = np.mean(
        [bool(few) >= bool(all_of_them) for few, all_of_them in zip(narrow, found, strict=True)]
    )
    assert share > 0.9


def all_ways(world: VectorGraph, node: int, target: int, steps: int) -> set[tuple[Step, ...]]:
    """Return the simple paths to the target, by trying all."""

    def ways(path: tuple[Step, ...], seen: tuple[int, ...]) -> set[tuple[Step, ...]]:
        if seen[-1] == target:
            return {path}
        if len(path) == steps:
            return set()
        steps_on = [Step(e.relation, False, e.tail) for e in world.graph.leaving(seen[-1])]
        steps_on += [Step(e.relation, True, e.head) for e in world.graph.entering(seen[-1])]
        return {
            way
            for step in steps_on
            if step.node not in seen
            for way in ways((*path, step), (*seen, step.node))
        }

    return ways((), (node,))


def test_a_pair_without_a_path_has_none():
    world = with_vectors([("a", "r", "b"), ("c", "r", "d")])
    a, b, c = (int(world.graph.named(name)[0]) for name in "abc")
    network = PolicyNetwork.untrained(NetworkShape(WIDTH, (8, 8)), seed=0)
    sources, targets = np.array([a, a, a], np.int32), np.array([c, b, a], np.int32)
    given = (sources, targets, vectors(3, seed=0), Rules())
    found = search_paths(world, network, *given)
    assert [len(paths) for paths in found] == [0, 1, 0]
    assert [path is not None for path in shortest_paths(world, *given)] == [False, True, False]
    assert distances_between(world, sources, targets, 3).tolist() == [FAR, 1, 0]
    with pytest.raises(AlmanacError, match="nothing to learn"):
        train_policy(world, Episodes(sources[:1], targets[:1], vectors(1, seed=0)), PLAN)


def test_walks_that_may_come_back_learn_where_to_stop():
    triples = [
        edge
        for n in range(30)
        for edge in ((f"p{n}", "child", f"c{n}"), (f"p{n}", "child", f"d{n}"))
    ]
    world = with_vectors(triples)
    ids = {k: np.array([world.graph.named(f"{k}{n}")[0] for n in range(30)]) for k in "pcd"}
    once, thrice = vectors(2, seed=9)
    short = [
        Path(int(p), (Step(0, False, int(c)),)) for p, c in zip(ids["p"], ids["c"], strict=True)
    ]
    long = [
        Path(path.start, (*path.steps, Step(0, True, path.start), *path.steps)) for path in short
    ]
    contexts = np.concatenate([np.tile(once, (30, 1)), np.tile(thrice, (30, 1))])
    sources, targets = np.tile(ids["p"], 2), np.tile(ids["c"], 2)
    plan = PLAN.model_copy(update={"simple": False, "cloning_epochs": 30, "epochs": 0})
    episodes = Episodes(sources, targets, contexts, short + long)
    policy = train_policy(world, episodes, plan)
    found = search_paths(
        *(world, policy.network, sources, targets, contexts, plan.rules),
        options=BeamOptions(likelihood=1),
    )
    right = [
        paths[0].path.steps == gold.steps for paths, gold in zip(found, short + long, strict=True)
    ]
    assert np.mean(right) > 0.95
