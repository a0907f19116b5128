"""What another policy would have earned, estimated from logged decisions.

Rewards are weighted by the other policy's probability of the chosen arm over the logged propensity
(Horvitz and Thompson 1952; self-normalised: Swaminathan and Joachims 2015; doubly robust: Dudík et
al. 2011). Intervals are normal ones of 95 %; decisions that were logged while the bandit learned
are not independent, for which they do not account.
"""

from dataclasses import dataclass

import numpy as np

from schemas.errors import UsageError

_Z = 1.959964  # of a normal interval of 95 %


@dataclass(frozen=True, eq=False)
class LoggedDecisions:
    """Decisions that were rewarded, in their order.

    `contexts` (n, d), `arms` (n,) by number, `propensities` (n,) and `chances` (n, arms) with which
    they were chosen, `rewards` (n,).
    """

    contexts: np.ndarray
    arms: np.ndarray
    propensities: np.ndarray
    chances: np.ndarray
    rewards: np.ndarray


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean reward with its interval.

    `effective` is the number of decisions, drawn by the other policy itself, that would tell as
    much: (Σw)² / Σw². A small one means that the log says little about that policy.
    """

    value: float
    low: float
    high: float
    effective: float


def importance_sampling(log: LoggedDecisions, chances: np.ndarray) -> Estimate:
    """Return the inverse propensity estimate for a policy's probabilities (n, arms)."""
    weights = _weights(log, chances)
    return _estimate(weights * log.rewards, weights)


def self_normalised(log: LoggedDecisions, chances: np.ndarray) -> Estimate:
    """Return the estimate that divides by the sum of weights; slightly biased, less variable.

    Raises UsageError if no logged arm could have been chosen by the policy.
    """
    weights = _weights(log, chances)
    if not weights.any():
        raise UsageError("The policy never chooses what was logged, so nothing can be estimated.")
    value = float(weights @ log.rewards / weights.sum())
    return _estimate(value + weights * (log.rewards - value) / weights.mean(), weights)


def doubly_robust(log: LoggedDecisions, chances: np.ndarray, predicted: np.ndarray) -> Estimate:
    """Return the estimate from predicted rewards (n, arms), corrected by the logged ones."""
    weights = _weights(log, chances)
    played = predicted[np.arange(len(log.arms)), log.arms]
    return _estimate((chances * predicted).sum(1) + weights * (log.rewards - played), weights)


def predicted_rewards(log: LoggedDecisions, *, ridge: float = 1.0, folds: int = 5) -> np.ndarray:
    """Return the reward of every arm in every context (n, arms) by ridge regressions.

    Where little is known of an arm they come near the mean reward of all. A decision's own fold is
    left out, so that no prediction has seen the reward that corrects it.
    """
    count, arms = log.chances.shape
    fold = np.arange(count) % folds
    predicted = np.zeros((count, arms))
    for left_out in range(folds):
        others = fold != left_out
        mean = log.rewards[others].mean() if others.any() else 0.0
        for arm in range(arms):
            rows = log.contexts[others & (log.arms == arm)]
            rewards = log.rewards[others & (log.arms == arm)] - mean
            gram = rows.T @ rows + ridge * np.eye(log.contexts.shape[1])
            weights = np.linalg.solve(gram, rows.T @ rewards)
            predicted[~others, arm] = mean + log.contexts[~others] @ weights
    return predicted


def always(arm: int, log: LoggedDecisions) -> np.ndarray:
    """Return the probabilities (n, arms) of the policy that always chooses one arm."""
    chances = np.zeros_like(log.chances)
    chances[:, arm] = 1
    return chances


def _weights(log: LoggedDecisions, chances: np.ndarray) -> np.ndarray:
    if not len(log.arms) or chances.shape != log.chances.shape or (log.propensities <= 0).any():
        raise UsageError("An estimate needs logged decisions with their propensities.")
    weights: np.ndarray = chances[np.arange(len(log.arms)), log.arms] / log.propensities
    return weights


def _estimate(terms: np.ndarray, weights: np.ndarray) -> Estimate:
    """Return the mean of independent terms with its normal interval, unbounded for a single one."""
    value = float(terms.mean())
    wide = _Z * float(terms.std(ddof=1)) / len(terms) ** 0.5 if len(terms) > 1 else float("inf")
    squares = float(weights @ weights)
    effective = float(weights.sum()) ** 2 / squares if squares else 0.0
    return Estimate(value, value - wide, value + wide, effective)
