"""The policy that walks a graph: reach, gold paths, another graph, and speed (KnowGPT's P_RL).

    python -m benchmarks.path_policy [--parts reach,gold,transfer,speed] [--limit N] [...]

Questions of PathQuestion and MetaQA are split by their entities into parts: half to train on, a
fifth to choose the ranking by, and the rest to report. Intervals (95 %) are over resampled groups
of questions that share entities. The target of a walk is the gold answer, as in the paper's
training; how well a path is found without it is measured, too (`open`).

reach     share of targets, where a path exists, that the likeliest actions reach within three
          steps; beside it a random walk and the untrained network
gold      share of questions whose gold path is the best, or among the best five, of a beam of five,
          by a policy trained on gold paths of other questions, and by one that had rewards only.
          Half of the gold paths of three hops come back to a node, which simple walks cannot
transfer  reach on a graph by the policy trained on another
speed     episodes per second of training in batches of 256, and one episode at a time
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path as File
from typing import Any

import numpy as np
import torch

from benchmarks.command import data, parser_of, report, run_command
from benchmarks.fact_check import interval
from benchmarks.path_worlds import World, metaqa, pathquestion, random_pairs
from tasks.paths.path import Path
from tasks.paths.policy.beam import BeamOptions, RankedPath, search_paths
from tasks.paths.policy.episodes import Choose, Rules, begin, choose_at_random, walk_all
from tasks.paths.policy.network import NetworkShape, PolicyNetwork
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.train import Episodes, TrainedPolicy, train_policy

ENCODER = "static"
SEED = 0
MOST = 6_000  # questions of each number of hops of MetaQA
PAIRS = 3_000  # of each graph without questions
PLAN = PolicyPlan(hidden=(128, 256))
OF_GOLD = PLAN.model_copy(update={"simple": False, "cloning_epochs": 15, "epochs": 0})
LIKELIHOODS = (0.0, 0.03, 0.1, 0.3, 1.0)
OPEN = 100  # questions for which every node within reach is a target
LOOPED = 256  # episodes of the loop
PARTS = ("reach", "gold", "transfer", "speed")


def show(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr, flush=True)


def share(world: World, right: np.ndarray, among: np.ndarray | None = None) -> dict[str, Any]:
    """Return a share with its interval; `among` are the rows that count."""
    rows = np.arange(len(right)) if among is None else np.flatnonzero(among)
    groups = [world.keys[row] for row in rows]
    values = right[rows].astype(float)
    return {
        "questions": len(rows),
        "share": round(float(values.mean()), 4),
        "interval": interval(groups, lambda chosen: values[chosen].mean()),
    }


def reached(world: World, choose: Choose, rules: Rules) -> np.ndarray:
    """Return which walks reach their targets."""
    pairs = world.pairs
    walks = begin(pairs.sources, pairs.targets, pairs.contexts, rules)
    walk_all(world.place, walks, rules, choose)
    return walks.reached


def train(world: World, plan: PolicyPlan, *, on_gold: bool = False) -> TrainedPolicy:
    """Train on the training part of a world."""
    part = world.part("training", SEED)
    pairs = part.pairs
    demonstrations = part.gold if on_gold else None
    started = time.perf_counter()
    policy = train_policy(
        world.place, Episodes(pairs.sources, pairs.targets, pairs.contexts, demonstrations), plan
    )
    show(f"{world.name}: trained in {time.perf_counter() - started:.0f} s")
    return policy


def measure_reach(worlds: list[World]) -> dict[str, Any]:
    """Return the reach of the policy of each world, beside chance and the untrained network."""
    figures = {}
    for world in worlds:
        policy = train(world, PLAN)
        part, place = world.part("reporting", SEED), world.place
        untrained = PolicyNetwork.untrained(policy.network.shape, SEED)
        ways = {
            "policy": policy.network.greedy(place),
            "untrained": untrained.greedy(place),
            "random": choose_at_random(SEED),
        }
        among = part.reachable
        figures[world.name] = {
            name: share(part, reached(part, choose, PLAN.rules), among)
            for name, choose in ways.items()
        }
        blind = train(world, PLAN.model_copy(update={"lookahead": 0}))
        figures[world.name]["policy without lookahead"] = share(
            part, reached(part, blind.network.greedy(place), PLAN.rules), among
        )
        show(f"{world.name}: {figures[world.name]}")
    return figures


def ranks(world: World, policy: TrainedPolicy, likelihood: float) -> np.ndarray:
    """Return the rank of each gold path, from 0; 99 if it is not among the paths."""
    pairs, plan = world.pairs, policy.plan
    searched = search_paths(
        *(world.place, policy.network, pairs.sources, pairs.targets, pairs.contexts, plan.rules),
        options=BeamOptions(likelihood=likelihood),
        weights=plan.reward_weights,
        projection=policy.projection,
    )
    return np.array(
        [rank_of(paths, gold) for paths, gold in zip(searched, world.gold, strict=True)]
    )


def rank_of(paths: list[RankedPath], gold: Path | None) -> int:
    """Return where a path is among others."""
    return next((n for n, path in enumerate(paths) if gold and path.path.steps == gold.steps), 99)


def measure_gold(worlds: list[World]) -> dict[str, Any]:
    """Return how often the gold path is the best, and among the best five."""
    figures: dict[str, Any] = {}
    for world in worlds:
        kinds = {
            "trained on gold paths": (OF_GOLD, True),
            "trained on gold paths, simple walks": (
                OF_GOLD.model_copy(update={"simple": True}),
                True,
            ),
            "trained on gold paths, question unread": (
                OF_GOLD.model_copy(update={"reads_context": False}),
                True,
            ),
            "trained on shortest paths and rewards": (PLAN, False),
        }
        figures[world.name] = {}
        for kind, (plan, on_gold) in kinds.items():
            plan = plan.model_copy(update={"steps": world.hops})
            policy = train(world, plan, on_gold=on_gold)
            choosing, part = world.part("choosing", SEED), world.part("reporting", SEED)
            tops = {w: float((ranks(choosing, policy, w) < 1).mean()) for w in LIKELIHOODS}
            likelihood = max(tops, key=lambda weight: tops[weight])
            rank, simple = ranks(part, policy, likelihood), part.simple_gold
            row = figures[world.name][kind] = {
                "likelihood": likelihood,
                "top 1": share(part, rank < 1),
                "top 5": share(part, rank < 5),
                "top 1 of simple gold paths": share(part, rank < 1, simple),
                "top 5 of simple gold paths": share(part, rank < 5, simple),
            }
            if kind in ("trained on gold paths", "trained on gold paths, question unread"):
                row["open"] = measure_open(part, policy, likelihood)
            show(f"{world.name}, {kind}: {row}")
    return figures


def measure_open(world: World, policy: TrainedPolicy, likelihood: float) -> dict[str, Any]:
    """Return how often the gold path is the best of those to any node within reach."""
    random = np.random.default_rng(SEED)
    part = world.rows(np.sort(random.permutation(len(world.keys))[:OPEN]))
    right, place = [], world.place
    for row, gold in enumerate(part.gold):
        near = {int(part.pairs.sources[row])}
        for _ in range(world.hops):
            near |= set(place.edges_at(np.array(sorted(near)))[3].tolist())
        targets = np.array(sorted(near), np.int32)
        sources = np.repeat(part.pairs.sources[row : row + 1], len(targets))
        contexts = np.repeat(part.pairs.contexts[row : row + 1], len(targets), axis=0)
        searched = search_paths(
            *(place, policy.network, sources, targets, contexts, policy.plan.rules),
            options=BeamOptions(width=3, likelihood=likelihood),
            weights=policy.plan.reward_weights,
        )
        paths = [path for paths in searched for path in paths]
        paths.sort(key=lambda path: -path.score)
        right.append([rank_of(paths, gold), len(targets)])
    rank, targets_each = np.array(right).T
    return {
        "targets for each question": round(float(targets_each.mean()), 1),
        "top 1": share(part, rank < 1),
        "top 5": share(part, rank < 5),
    }


def measure_transfer(groups: list[list[World]]) -> dict[str, Any]:
    """Return the reach on each world of the policies trained on those of its group."""
    figures: dict[str, Any] = {}
    for worlds in groups:
        for home in worlds:
            policy = train(home, PLAN)
            for world in worlds:
                part = world.part("reporting", SEED)
                choose = policy.network.greedy(world.place)
                figures[f"trained on {home.name}, walks {world.name}"] = share(
                    part, reached(part, choose, PLAN.rules), part.reachable
                )
        for world in worlds:
            part = world.part("reporting", SEED)
            for name, choose in (
                ("random walk", choose_at_random(SEED)),
                ("untrained", untrained(world).greedy(world.place)),
            ):
                figures[f"{name}, {world.name}"] = share(
                    part, reached(part, choose, PLAN.rules), part.reachable
                )
    show(f"{figures}")
    return figures


def untrained(world: World) -> PolicyNetwork:
    """Return a network with random weights."""
    return PolicyNetwork.untrained(NetworkShape(world.vectors.dimensions, PLAN.hidden), SEED)


def measure_speed(world: World, rounds: int) -> dict[str, Any]:
    """Return episodes per second of learning from rewards, taking turns in one run.

    The loop walks one episode at a time with the same network, rewards and optimizer, and learns
    from each.
    """
    part = world.part("training", SEED, 2_048)
    plan = PLAN.model_copy(update={"cloning_epochs": 0, "epochs": 1})

    def timed(plan: PolicyPlan, part: World) -> float:
        pairs = part.pairs
        first: list[float] = []

        def report(stage: str, done: int, total: int) -> None:
            first.append(time.perf_counter())

        train_policy(world.place, pairs, plan, report=report)
        return (len(part.keys) - plan.batch) / (first[-1] - first[0])  # after the first batch

    few = part.rows(np.arange(min(LOOPED, len(part.keys))))
    figures: dict[str, Any] = {"world": world.name}
    for hidden in ((128, 256), (512, 1_024)):
        sized = plan.model_copy(update={"hidden": hidden})
        speeds: dict[str, list[float]] = {"batches": [], "loop": []}
        for _ in range(rounds):
            speeds["batches"].append(timed(sized, part))
            speeds["loop"].append(timed(sized.model_copy(update={"batch": 1}), few))
        medians = {name: float(np.median(values)) for name, values in speeds.items()}
        figures[f"hidden layers {hidden}"] = {
            "episodes per second": {
                name: [round(value, 1) for value in values] for name, values in speeds.items()
            },
            "times as fast": round(medians["batches"] / medians["loop"], 1),
        }
        show(f"{figures}")
    return figures


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--cache", type=File, help="keep vectors of graphs here")
    parser.add_argument("--parts", default=",".join(PARTS), help="some of " + ",".join(PARTS))
    parser.add_argument("--encoder", default=ENCODER, help="static or minilm")
    parser.add_argument("--limit", type=int, default=MOST, help="pairs of each graph")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of speed (3)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for part, figures in measured(arguments, arguments.cache or File(folder)):
            report(f"path-policy-{part}", {"encoder": arguments.encoder, **figures})


def measured(arguments: argparse.Namespace, cache: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of each part that was asked for."""
    encoder, most = arguments.encoder, arguments.limit
    path_worlds = [
        pathquestion(data("pathquestion"), hops, cache, encoder, most) for hops in (2, 3)
    ]

    def films() -> list[World]:
        return [metaqa(data("metaqa"), hops, cache, encoder, most) for hops in (1, 2, 3)]

    def bare() -> list[World]:
        files = (
            ("conceptnet", data("conceptnet", "CN-100K", "train.txt.gz")),
            ("medkg", data("medkg", "ddb_triples.tsv.gz")),
        )
        few = min(most, PAIRS)
        return [random_pairs(name, file, cache, encoder, few) for name, file in files]

    measures: dict[str, Callable[[], dict[str, Any]]] = {
        "reach": lambda: measure_reach([*path_worlds, *films()]),
        "gold": lambda: measure_gold(path_worlds),
        "transfer": lambda: measure_transfer([[path_worlds[1], films()[1]], bare()]),
        "speed": lambda: measure_speed(path_worlds[1], arguments.rounds),
    }
    for part in arguments.parts.split(","):
        yield part, measures[part]()


if __name__ == "__main__":
    run_command(main)
