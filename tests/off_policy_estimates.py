"""Simpler estimates of a policy from logged decisions, beside the doubly robust one."""

import numpy as np

from schemas.errors import UsageError
from tasks.paths.bandit.off_policy import (
    Estimate,
    LoggedDecisions,
    importance_weights,
    mean_of,
)


def importance_sampling(log: LoggedDecisions, chances: np.ndarray) -> Estimate:
    """Return the inverse propensity estimate for a policy (Horvitz and Thompson 1952)."""
    weights = importance_weights(log, chances)
    return mean_of(weights * log.rewards, weights)


def self_normalised(log: LoggedDecisions, chances: np.ndarray) -> Estimate:
    """Return the self-normalised estimate (Swaminathan and Joachims 2015).

    It is slightly biased but has less variance.

    Raises UsageError if the policy never chooses a logged arm.
    """
    weights = importance_weights(log, chances)
    if not weights.any():
        raise UsageError("The policy never chooses what was logged, so nothing can be estimated.")
    value = float(weights @ log.rewards / weights.sum())
    return mean_of(value + weights * (log.rewards - value) / weights.mean(), weights)
