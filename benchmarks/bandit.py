"""The bandit in simulated worlds, where the mean reward of every arm in every context is known.

    python -m benchmarks.bandit [--rounds 8500] [--seeds 10]

Questions are of a few kinds, each with a mean reward of its own for each of six arms; contexts are
noisy vectors of the kind and features that say nothing. `gap` is the deviation of these means.
Regret is what the best arm in each context would have got more, summed over rounds, as many as
KnowGPT has training questions; the exponent is that of its growth from a quarter of the rounds on,
1 if nothing more is learned. Options were chosen with the first seeds; figures are from others.
Then policies are estimated from logs, whose true values are known.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchmarks.command import parser_of, report, run_command
from schemas.errors import UsageError
from tasks.paths.bandit.linucb import SAMPLING, BanditOptions, LinUCB
from tasks.paths.bandit.off_policy import (
    LoggedDecisions,
    RewardEstimate,
    always,
    doubly_robust,
    importance_weights,
    mean_of,
    predicted_rewards,
)

ARMS, WIDE, FEATURES = 6, 16, 4
FIRST_SEED = 1_000  # options were chosen with those from 0 on
WORLDS = {
    "4 kinds, gap .10": (4, 0.10),
    "4 kinds, gap .20": (4, 0.20),
    "8 kinds, gap .10": (8, 0.10),
}
EARLY = 200  # rounds, as many as `almanac train-paths` gives a bandit by default
GREEDY = 0.1  # epsilon
LOGGED = 2_000  # decisions in a log
World = tuple[np.ndarray, np.ndarray]


def importance_sampling(log: LoggedDecisions, chances: np.ndarray) -> RewardEstimate:
    """Return the inverse propensity estimate for a policy (Horvitz and Thompson 1952)."""
    weights = importance_weights(log, chances)
    return mean_of(weights * log.rewards, weights)


def self_normalised(log: LoggedDecisions, chances: np.ndarray) -> RewardEstimate:
    """Return the self-normalised estimate (Swaminathan and Joachims 2015).

    It is slightly biased but has less variance.

    Raises UsageError if the policy never chooses a logged arm.
    """
    weights = importance_weights(log, chances)
    if not weights.any():
        raise UsageError("The policy never chooses what was logged, so nothing can be estimated.")
    value = float(weights @ log.rewards / weights.sum())
    return mean_of(value + weights * (log.rewards - value) / weights.mean(), weights)


def world(kinds: int, gap: float, rounds: int, seed: int) -> World:
    """Return contexts (rounds, d) and the mean reward of each arm (rounds, arms)."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(kinds, WIDE))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    kind = rng.integers(kinds, size=rounds)
    vectors = centres[kind] + rng.normal(size=(rounds, WIDE)) / 2 / WIDE**0.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    features = rng.uniform(size=(rounds, FEATURES))
    features[:, 0] = 1
    contexts = np.hstack([vectors, features])
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    means = np.clip(0.7 + gap * rng.normal(size=(kinds, ARMS)), 0.02, 0.98)
    return contexts, means[kind]


Policy = Callable[[LinUCB, np.ndarray, np.random.Generator], np.ndarray]


def by_chances(bandit: LinUCB, context: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Return the bandit's own chances."""
    return bandit.chances(context)


def greedy(bandit: LinUCB, context: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the chances of epsilon-greedy on the same ridge regressions, ties broken at random."""
    chances = np.full(ARMS, GREEDY / ARMS)
    chances[np.argmax(bandit.means(context) + 1e-9 * rng.random(ARMS))] += 1 - GREEDY
    return chances


def uniform(*_: object) -> np.ndarray:
    """Return equal chances."""
    return np.full(ARMS, 1 / ARMS)


class Forgetting(LinUCB):
    """A bandit that weighs rewards less and less as others come, for models that drift."""

    discount = 1.0

    def update(self, arm: int, context: np.ndarray, reward: float) -> None:
        """Multiply the statistics of all arms by the discount first."""
        if self.discount < 1:
            self.gram *= self.discount
            self.weighted *= self.discount
            self._solved.clear()
        super().update(arm, context, reward)


def play(
    policy: Policy, options: BanditOptions, given: World, seed: int, discount: float = 1.0
) -> tuple[np.ndarray, LoggedDecisions]:
    """Return the regret of each round (rounds,), and the log."""
    contexts, means = given
    rng, bandit = np.random.default_rng(seed), Forgetting(ARMS, contexts.shape[1], options)
    bandit.discount = discount
    arms, rewards = np.zeros(len(means), np.int64), np.zeros(len(means))
    chances = np.zeros_like(means)
    for place, context in enumerate(contexts):
        chances[place] = policy(bandit, context, rng)
        arms[place] = min(ARMS - 1, int(np.searchsorted(chances[place].cumsum(), rng.random())))
        rewards[place] = rng.random() < means[place, arms[place]]
        if policy is not uniform:
            bandit.update(int(arms[place]), context, rewards[place])
    rows = np.arange(len(means))
    log = LoggedDecisions(contexts, arms, chances[rows, arms], chances, rewards)
    return means.max(1) - means[rows, arms], log


POLICIES: dict[str, tuple[Policy, BanditOptions]] = {
    "LinUCB as printed": (by_chances, BanditOptions(epsilon=0)),
    "LinUCB, delta .99": (by_chances, BanditOptions(epsilon=0, delta=0.99)),
    "posterior sampling": (by_chances, replace(SAMPLING, epsilon=0)),
    "posterior sampling, floor .05": (by_chances, SAMPLING),
    "epsilon-greedy .1": (greedy, BanditOptions()),
    "uniform": (uniform, BanditOptions()),
}


def interval(values: np.ndarray) -> dict[str, float]:
    """Return the mean over seeds with its interval of 95 %, by Student's distribution."""
    mean = float(values.mean())
    wide = float(student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5)
    return {"mean": round(mean, 3), "low": round(mean - wide, 3), "high": round(mean + wide, 3)}


def regrets(rounds: int, seeds: int) -> dict[str, Any]:
    """Return the regret of each policy in each world, beside that of the best fixed arm."""
    figures: dict[str, Any] = {}
    for name, (kinds, gap) in WORLDS.items():
        worlds = [world(kinds, gap, rounds, FIRST_SEED + seed) for seed in range(seeds)]
        sums = {
            policy: np.array(
                [play(*how, given, seed)[0].cumsum() for seed, given in enumerate(worlds)]
            )
            for policy, how in POLICIES.items()
        }
        sums["best fixed arm"] = np.array(
            [(means.max(1) - means[:, means.mean(0).argmax()]).cumsum() for _, means in worlds]
        )
        figures[name] = {
            policy: {
                "regret": interval(regret[:, -1]),
                f"after {EARLY}": interval(regret[:, EARLY - 1]),
                "less than epsilon-greedy": interval(
                    sums["epsilon-greedy .1"][:, -1] - regret[:, -1]
                ),
                "exponent": interval(np.log(regret[:, -1] / regret[:, rounds // 4]) / np.log(4)),
            }
            for policy, regret in sums.items()
        }
        print(name, {policy: f["regret"] for policy, f in figures[name].items()}, flush=True)
    return figures


def off_policy(seeds: int) -> dict[str, Any]:
    """Return how estimates of fixed arms and of the best policy compare with the truth."""
    figures: dict[str, Any] = {}
    logging: dict[str, tuple[Policy, BanditOptions]] = {
        "logged uniformly": (uniform, BanditOptions()),
        "logged while learning, floor .05": (by_chances, SAMPLING),
        "logged while learning, floor .30": (by_chances, replace(SAMPLING, epsilon=0.3)),
    }
    for name, how in logging.items():
        held: dict[str, list[tuple[bool, float, float]]] = {}
        for seed in range(seeds):
            given = world(4, 0.1, LOGGED, FIRST_SEED + seed)
            _, log = play(*how, given, seed)
            predicted = predicted_rewards(log)
            targets = [always(arm, log) for arm in range(ARMS)]
            for chances in [*targets, np.eye(ARMS)[given[1].argmax(1)]]:
                truth = float((chances * given[1]).sum(1).mean())
                for method, estimate in {
                    "importance": importance_sampling(log, chances),
                    "self-normalised": self_normalised(log, chances),
                    "doubly robust": doubly_robust(log, chances, predicted),
                }.items():
                    held.setdefault(method, []).append(
                        (
                            estimate.low <= truth <= estimate.high,
                            abs(estimate.value - truth),
                            estimate.high - estimate.low,
                        )
                    )
        figures[name] = {
            method: {
                "intervals": len(rows),
                "that hold the truth": round(float(np.mean([r[0] for r in rows])), 3),
                "mean error": round(float(np.mean([r[1] for r in rows])), 4),
                "mean width": round(float(np.mean([r[2] for r in rows])), 4),
            }
            for method, rows in held.items()
        }
        print(name, figures[name], flush=True)
    return figures


def drift(seeds: int) -> dict[str, Any]:
    """Return the regret of 2,000 rounds, and of 2,000 more after the arms have changed places."""
    figures = {}
    for discount in (1.0, 0.999, 0.997):
        halves = []
        for seed in range(seeds):
            contexts, means = world(4, 0.2, 4_000, FIRST_SEED + seed)
            means[2_000:] = means[2_000:, ::-1]
            options = replace(SAMPLING, epsilon=0)
            regret, _ = play(by_chances, options, (contexts, means), seed, discount)
            halves.append((regret[:2_000].sum(), regret[2_000:].sum()))
        before, after = np.array(halves).T
        figures[f"discount {discount}"] = {"before": interval(before), "after": interval(after)}
    return figures


def main() -> None:
    """Measure, write the results, and fail if a bound is missed."""
    arguments = parser_of(__doc__, rounds=8_500, seeds=10, regret_alone=False).parse_args()
    figures = {
        "rounds": arguments.rounds,
        "seeds": arguments.seeds,
        "sampling": asdict(SAMPLING),
        "regret": regrets(arguments.rounds, arguments.seeds),
    }
    if arguments.regret_alone:
        report("bandit", figures)
        return
    figures |= {"drift": drift(arguments.seeds), "off-policy": off_policy(2 * arguments.seeds)}
    report("bandit", figures)
    problems = []
    for name, policies in figures["regret"].items():
        for policy in ("LinUCB as printed", "posterior sampling"):
            measured = policies[policy]
            if measured["exponent"]["high"] >= 1:
                problems.append(f"{policy} does not learn: {name}")
            if measured["regret"]["high"] >= policies["uniform"]["regret"]["low"]:
                problems.append(f"{policy} is no better than chance: {name}")
        if policies["posterior sampling"]["less than epsilon-greedy"]["high"] < 0:
            problems.append(f"posterior sampling is worse than epsilon-greedy: {name}")
    for method, row in figures["off-policy"]["logged uniformly"].items():
        if row["that hold the truth"] < 0.9:
            problems.append(f"the intervals of {method} hold too few true values")
    if problems:
        raise SystemExit(". ".join(problems))


if __name__ == "__main__":
    run_command(main)
