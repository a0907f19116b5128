"""An overview of a bandit's arms: their rewards, and estimates over all rewarded questions."""

from dataclasses import dataclass, replace

import numpy as np

from tasks.paths.bandit.off_policy import Estimate, always, doubly_robust, predicted_rewards
from tasks.paths.bandit.registry import Bandit

FEWEST = 2  # rewarded decisions for an estimate


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
    estimate: Estimate | None


def overview(bandit: Bandit) -> list[ArmOverview]:
    """Return an overview of each arm, with estimates over all logged rewards.

    Estimates are doubly robust. From few rewards these can be impossible, so that they and their
    intervals are clipped to what rewards can be: from 0, or the lowest one if costs made it
    negative, to 1.
    """
    plan, learned, log = bandit.state.plan, bandit.state.bandit, bandit.logged()
    estimates: dict[int, Estimate] = {}
    if len(log.arms) >= FEWEST:
        predicted = predicted_rewards(log)
        estimates = {
            arm: _clipped(doubly_robust(log, always(arm, log), predicted), log.rewards)
            for arm in set(log.arms.tolist())
        }
    return [
        ArmOverview(
            name,
            name == plan.fallback,
            int(pulls),
            float(rewards / pulls) if pulls else None,
            estimates.get(arm),
        )
        for arm, (name, pulls, rewards) in enumerate(
            zip(plan.arms, learned.pulls, learned.rewards, strict=True)
        )
    ]


def _clipped(estimate: Estimate, rewards: np.ndarray) -> Estimate:
    """Return an estimate of a mean of rewards, within what these can be."""
    least = min(0.0, float(rewards.min()))
    places = np.clip((estimate.value, estimate.low, estimate.high), least, 1.0)
    value, low, high = map(float, places)
    return replace(estimate, value=value, low=low, high=high)
