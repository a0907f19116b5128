"""How well a budget is kept while questions change: fixed thresholds and the live threshold.

    python -m benchmarks.gate_drift [--runs 20] [--drawn]

Scores are drawn; 200 are the calibration's, 3000 follow. They stay as they are, become harder at
once after a third (by 1.5 standard deviations), become harder bit by bit (by 2 in all), are equal
to many others, or 15 % must retrieve because they ask for something current. Where the public data
is available, questions of one task are followed by as many of another, scored by Thrust. It reports
the share that retrieved, in percent, and how far blocks of 200 questions are from the budget, in
points.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import parser_of, report, run_command
from benchmarks.gate_budgets import tasks_of
from tasks.gates.crossfit import BUDGETS, cross_fitted, threshold
from tasks.gates.live import LiveThreshold
from tasks.gates.thrust import ThrustGate
from warehouse.home import Home

SEEDS, QUESTIONS, BLOCK = 200, 3000, 200
LOOKED_AT = 10  # questions between two looks for drift
PAIRS = (("medqa", "medmcqa"), ("mmlu", "medmcqa"), ("medmcqa", "popqa"), ("popqa", "mmlu"))
Stream = tuple[np.ndarray, np.ndarray, np.ndarray]  # scores of seeds, of questions, which must
Keeper = Callable[[np.ndarray, float], Callable[[float, bool], bool]]


def drawn(world: str, run: int) -> Stream:
    """Return the scores of one run in one world."""
    random = np.random.default_rng(run)
    seeds, scores = random.normal(size=SEEDS), random.normal(size=QUESTIONS)
    passed = np.arange(QUESTIONS) / QUESTIONS
    must = np.zeros(QUESTIONS, bool)
    if world == "harder at once":
        scores -= 1.5 * (passed >= 1 / 3)
    if world == "harder bit by bit":
        scores -= 2 * passed
    if world == "equal scores":
        seeds, scores = np.round(seeds), np.round(scores)
    if world == "15 % must fetch":
        must = random.random(QUESTIONS) < 0.15
    return seeds, scores, must


def fixed(seeds: np.ndarray, budget: float) -> Callable[[float, bool], bool]:
    """Decide by the calibration's threshold."""
    below = threshold(seeds, budget)
    return lambda score, must: must or score < below


def live(seeds: np.ndarray, budget: float) -> Callable[[float, bool], bool]:
    """Decide as `ask` does."""
    keeper = LiveThreshold(seeds, budget)
    return lambda score, must: keeper.decide(score, forced=must)


KEEPERS: dict[str, Keeper] = {"fixed": fixed, "live": live}


def kept(keeper: Keeper, streams: list[Stream], budget: float) -> dict[str, float]:
    """Return the retrieval rate, and the mean distance of blocks from the budget."""
    shares, blocks = [], []
    for seeds, scores, must in streams:
        decide = keeper(seeds, budget)
        fetched = np.array([decide(*one) for one in zip(scores, must, strict=True)], float)
        shares.append(fetched.mean())
        whole = fetched[: len(fetched) // BLOCK * BLOCK].reshape(-1, BLOCK).mean(1)
        blocks.append(np.abs(whole - budget).mean())
    percent = (round(100 * float(np.mean(values)), 1) for values in (shares, blocks))
    return dict(zip(("fetched", "blocks off"), percent, strict=True))


def alarms(streams: list[Stream]) -> dict[str, Any]:
    """Return in how many runs drift was reported, and after how many questions (median)."""
    first = []
    for seeds, scores, _ in streams:
        keeper = LiveThreshold(seeds, 0.5)
        for number, score in enumerate(scores, 1):
            keeper.decide(score)
            if number % LOOKED_AT == 0 and keeper.drifted():
                first.append(number)
                break
    return {
        "runs": len(streams),
        "told": len(first),
        "after questions": float(np.median(first)) if first else None,
    }


def measured(streams: list[Stream]) -> dict[str, Any]:
    """Return all figures of one world."""
    figures: dict[str, Any] = {
        f"{share:.0%}": {name: kept(keeper, streams, share) for name, keeper in KEEPERS.items()}
        for share in BUDGETS.values()
    }
    return {**figures, "drift": alarms(streams)}


def real_streams(runs: int) -> dict[str, list[Stream]]:
    """Return streams of questions of one task, followed by as many of another."""
    with tempfile.TemporaryDirectory() as folder:
        tasks = tasks_of(Home(Path(folder)))
    streams: dict[str, list[Stream]] = {}
    for own, other in PAIRS:
        streams[f"{own}, then {other}"] = made = []
        for run in range(runs):
            random = np.random.default_rng(run)
            order = random.permutation(len(tasks[own]))
            seeds, rest = tasks[own].take(order[:SEEDS]), tasks[own].take(order[SEEDS:])
            count = min(len(rest), 2 * BLOCK)
            others = tasks[other].take(random.permutation(len(tasks[other]))[:count])
            gate = ThrustGate()
            gate.fit(seeds)
            scores = np.concatenate([gate.score(rest.take(range(count))), gate.score(others)])
            held_out = cross_fitted(ThrustGate, seeds)
            made.append((held_out, scores, np.zeros(len(scores), bool)))
    return streams


def main() -> None:
    """Measure, print and write the results."""
    chosen = parser_of(__doc__, runs=20, drawn=False).parse_args()
    runs = chosen.runs
    worlds = (
        *("as they are", "harder at once", "harder bit by bit"),
        *("equal scores", "15 % must fetch"),
    )
    streams = {world: [drawn(world, run) for run in range(runs)] for world in worlds}
    if not chosen.drawn:
        streams |= real_streams(max(1, runs // 4))
    report("gate-drift", {world: measured(made) for world, made in streams.items()})


if __name__ == "__main__":
    run_command(main)
