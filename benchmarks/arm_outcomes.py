"""Bandits on real outcomes: every arm answers training questions, bandits learn from one each.

    python -m benchmarks.arm_outcomes DATA --home HOME --outcomes FILE [--questions 1088]

DATA is CommonsenseQA, HOME has its graph and a policy of other training questions (docs/paths.md).
The outcomes are kept in FILE. For each seed the questions are shuffled: options learn from the
first ones, of each of which they are told the outcome of the arm that they chose, and then take the
best arm for each of the others. Intervals (95 %) are over questions, averaged over seeds.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arms_study import outcomes_of, reader_of_paths
from benchmarks.bandit import by_chances, greedy
from benchmarks.command import parser_of, report, run_command
from schemas.settings import Settings
from tasks.paths.bandit.context import AskedQuestion, ContextEncoding
from tasks.paths.bandit.linucb import SAMPLING, BanditOptions, LinUCB, drawn
from tasks.questions.formats import read_benchmark
from tasks.questions.splits import sample_apart, split
from warehouse.home import Home

LEARNED = (150, 300, 600)
Choosing = Callable[[LinUCB, np.ndarray, np.random.Generator], np.ndarray]
POLICIES: dict[str, tuple[Choosing, BanditOptions]] = {
    "posterior sampling": (by_chances, SAMPLING),
    "LinUCB as printed": (by_chances, BanditOptions()),
    "epsilon-greedy .1": (greedy, BanditOptions()),
}


def make_outcomes(data: Path, home: Home, graph: str, count: int, file: Path) -> None:
    """Have every arm of the plain reader answer questions, and save what came of it."""
    edition = home.editions.current()
    assert edition is not None
    training = split(read_benchmark(data, "commonsenseqa"))[0]
    with edition.pinned() as pinned:
        reader, ask = reader_of_paths(home, pinned, Settings(), graph)
        with ask as answers:
            outcomes = outcomes_of(reader, answers, sample_apart(training, count), show)
    np.savez(file, right=outcomes.right, contexts=outcomes.contexts)


def show(done: int, total: int) -> None:
    """Print progress."""
    print(f"{done} of {total}", flush=True)


def learned(
    right: np.ndarray, contexts: np.ndarray, counts: Sequence[int], name: str, seed: int
) -> dict[int, LinUCB]:
    """Return an option's bandit after each number of questions (questions, arms)."""
    chances, options = POLICIES[name]
    bandits, random = {}, np.random.default_rng(1_000 + seed)
    for count in counts:
        bandit = LinUCB(right.shape[1], contexts.shape[1], options)
        for context, row in zip(contexts[:count], right[:count], strict=True):
            arm = drawn(chances(bandit, context, random), random)
            bandit.update(arm, context, float(row[arm]))
        bandits[count] = bandit
    return bandits


def interval(values: np.ndarray) -> list[float]:
    """Return the mean and the interval of values (seeds, questions), NaN where not measured."""
    means = np.nanmean(values[:, ~np.isnan(values).all(0)], 0)
    wide = 1.96 * means.std(ddof=1) / len(means) ** 0.5
    return [round(float(means.mean() + sign * wide), 4) for sign in (0, -1, 1)]


def compare(
    right: np.ndarray, vectors: np.ndarray, counts: Sequence[int], seeds: int
) -> dict[str, Any]:
    """Return what each option gains over arms chosen uniformly, and over the best fixed arm.

    Options learn from each number of questions in `counts`; those after the most are measured.
    """
    gains: dict[str, list[np.ndarray]] = {}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(right))
        learning, measured = order[: max(counts)], order[max(counts) :]
        encoding = ContextEncoding.fit("outcomes", vectors[learning[:300]])
        contexts = encoding.contexts([AskedQuestion("", vector) for vector in vectors])
        bandits = {
            n: learned(right[learning], contexts[learning], counts, n, seed) for n in POLICIES
        }
        uniform = right.mean(1)
        for count in counts:
            best = right[:, right[learning[:count]].mean(0).argmax()]
            taken = {"best fixed arm": best}
            for name, by_count in bandits.items():
                weights = np.array([by_count[count].weights(a) for a in range(right.shape[1])])
                arms = (contexts @ weights.T).argmax(1)
                taken[name] = right[np.arange(len(right)), arms]
            gram = contexts[learning[:count]].T @ contexts[learning[:count]]
            told_all = np.linalg.solve(
                gram + 10 * np.eye(len(gram)),
                contexts[learning[:count]].T @ (right - uniform[:, None])[learning[:count]],
            )
            arms = (contexts @ told_all).argmax(1)
            taken["told every arm's outcome"] = right[np.arange(len(right)), arms]
            for name, outcome in taken.items():
                for beside, other in (("uniform", uniform), ("best fixed arm", best)):
                    gain = np.full(len(right), np.nan)
                    gain[measured] = (outcome - other)[measured]
                    gains.setdefault(f"{name}, {count} learned, over {beside}", []).append(gain)
    return {name: interval(np.array(values)) for name, values in gains.items()}


def main() -> None:
    """Make the outcomes unless they are there, compare the options, and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--graph", default="conceptnet")
    parser.add_argument("--outcomes", type=Path, required=True, help="an .npz file")
    parser.add_argument("--questions", type=int, default=1_088)
    parser.add_argument("--learned", type=int, nargs="+", default=LEARNED, metavar="N")
    parser.add_argument("--seeds", type=int, default=12)
    options = parser.parse_args()
    if not options.outcomes.exists():
        home = Home(options.home)
        make_outcomes(options.data, home, options.graph, options.questions, options.outcomes)
    with np.load(options.outcomes, allow_pickle=False) as saved:
        right, vectors = saved["right"][:, 1:].astype(float), saved["contexts"]
    if len(right) < max(options.learned) + 2:
        parser.error(
            f"{len(right)} questions are too few: options learn from {max(options.learned)} and "
            "are measured on the others."
        )
    figures = {
        "questions": len(right),
        "arms": right.mean(0).round(4).tolist(),
        "oracle": round(float(right.max(1).mean()), 4),
        **compare(right, vectors, options.learned, options.seeds),
    }
    report("arm-outcomes", figures)


if __name__ == "__main__":
    run_command(main)
