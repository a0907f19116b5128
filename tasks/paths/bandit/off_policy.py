"""Off-policy estimates of the mean reward of another policy, from logged decisions.

Predicted rewards are corrected by the logged ones (doubly robust: Dudík et al. 2011), which are
weighted by the other policy's probability of the chosen arm over the logged propensity. Intervals
are normal intervals of 95 %; they do not account for the dependence between decisions that were
logged while the bandit learned. `benchmarks/bandit.py` compares this with simpler estimates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from schemas.errors import UsageError

FEWEST = 2  # rewarded decisions for an estimate
_RIDGE, _FOLDS = 1.0, 5  # of the regression that predicts rewards
_Z = NormalDist().inv_cdf(0.975)  # for an interval of 95 %


@dataclass(frozen=True, eq=False)
class LoggedDecisions:
    """Rewarded decisions, in order.

    `contexts` (n, d), `arms` (n,) by number, `propensities` (n,) of the chosen arms, `chances`
    (n, arms) of all arms, `rewards` (n,).
    """

    contexts: np.ndarray
    arms: np.ndarray
    propensities: np.ndarray
    chances: np.ndarray
    rewards: np.ndarray


@dataclass(frozen=True, slots=True)
class RewardEstimate:
    """A mean reward with its interval.

    `effective` is the effective sample size (Σw)² / Σw². If it is small, the log says little about
    the policy.
    """

    value: float
    low: float
    high: float
    effective: float


@dataclass(frozen=True, slots=True)
class ArmOverview:
    """An arm's rewards, and its estimated mean reward over all rewarded questions.

    `usual` marks the arm that is used without a bandit. `mean` is None for an arm without rewards.
    `estimate` is None for such an arm, or if all arms together have fewer than two rewards.
    """

    arm: str
    usual: bool
    pulls: int
    mean: float | None
    estimate: RewardEstimate | None


def overview(arms: Sequence[str], usual: str, log: LoggedDecisions) -> list[ArmOverview]:
    """Return an overview of each arm, with estimates over all logged rewards.

    Estimates are doubly robust. From few rewards these can be impossible, so that they and their
    intervals are clipped to what rewards can be: from 0, or the lowest one if costs made it
    negative, to 1. No interval is narrower than that of a share that as many rewards as the arm's
    are worth tell (Agresti and Coull 1998), as the terms of a few look alike.
    """
    predicted = predicted_rewards(log) if len(log.arms) >= FEWEST else None
    shown = []
    for arm, name in enumerate(arms):
        rewards = log.rewards[log.arms == arm]
        estimate = None
        if len(rewards) and predicted is not None:
            estimate = doubly_robust(log, always(arm, log), predicted)
            least = min(0.0, float(log.rewards.min()))
            trials = estimate.effective + _Z**2
            above = (float(rewards.mean()) - least) / (1 - least)
            share = (above * estimate.effective + _Z**2 / 2) / trials
            wide = (1 - least) * _Z * (share * (1 - share) / trials) ** 0.5
            value = estimate.value
            places = value, min(estimate.low, value - wide), max(estimate.high, value + wide)
            value, low, high = np.clip(places, least, 1.0).tolist()
            estimate = replace(estimate, value=value, low=low, high=high)
        mean = float(rewards.mean()) if len(rewards) else None
        shown.append(ArmOverview(name, name == usual, len(rewards), mean, estimate))
    return shown


def doubly_robust(
    log: LoggedDecisions, chances: np.ndarray, predicted: np.ndarray
) -> RewardEstimate:
    """Return the doubly robust estimate from predicted (n, arms) and logged rewards."""
    weights = importance_weights(log, chances)
    played = predicted[np.arange(len(log.arms)), log.arms]
    return mean_of((chances * predicted).sum(1) + weights * (log.rewards - played), weights)


def predicted_rewards(log: LoggedDecisions) -> np.ndarray:
    """Return the predicted reward of every arm in every context (n, arms), by ridge regression.

    Predictions for an arm with few data are shrunk towards the mean reward of all arms. They are
    cross-fitted, so that no prediction depends on the reward that corrects it.
    """
    count, arms = log.chances.shape
    fold = np.arange(count) % _FOLDS
    predicted = np.zeros((count, arms))
    for left_out in range(_FOLDS):
        others = fold != left_out
        mean = log.rewards[others].mean() if others.any() else 0.0
        for arm in range(arms):
            rows = log.contexts[others & (log.arms == arm)]
            rewards = log.rewards[others & (log.arms == arm)] - mean
            gram = rows.T @ rows + _RIDGE * np.eye(log.contexts.shape[1])
            weights = np.linalg.solve(gram, rows.T @ rewards)
            predicted[~others, arm] = mean + log.contexts[~others] @ weights
    return predicted


def always(arm: int, log: LoggedDecisions) -> np.ndarray:
    """Return the probabilities (n, arms) of the policy that always chooses one arm."""
    chances = np.zeros_like(log.chances)
    chances[:, arm] = 1
    return chances


def importance_weights(log: LoggedDecisions, chances: np.ndarray) -> np.ndarray:
    """Return the policy's probability of each logged arm over its propensity (n,).

    Raises UsageError without decisions or propensities.
    """
    if not len(log.arms) or chances.shape != log.chances.shape or (log.propensities <= 0).any():
        raise UsageError("An estimate needs logged decisions with their propensities.")
    weights: np.ndarray = chances[np.arange(len(log.arms)), log.arms] / log.propensities
    return weights


def mean_of(terms: np.ndarray, weights: np.ndarray) -> RewardEstimate:
    """Return the mean of the terms with its normal interval, infinite for a single term."""
    value = float(terms.mean())
    wide = _Z * float(terms.std(ddof=1)) / len(terms) ** 0.5 if len(terms) > 1 else float("inf")
    squares = float(weights @ weights)
    effective = float(weights.sum()) ** 2 / squares if squares else 0.0
    return RewardEstimate(value, value - wide, value + wide, effective)
