"""What a bandit has learned of its arms, and what each would have earned on every question."""

from dataclasses import dataclass

from tasks.paths.bandit.off_policy import Estimate, always, doubly_robust, predicted_rewards
from tasks.paths.bandit.registry import Bandit

FEWEST = 2  # rewarded decisions without which nothing can be estimated


@dataclass(frozen=True, slots=True)
class ArmOverview:
    """An arm's rewards, and what it would have earned on all questions with a reward.

    `usual` is the arm without a bandit. `mean` is None for an arm without rewards; then, or with
    fewer than two rewards of all arms, there is no estimate.
    """

    arm: str
    usual: bool
    pulls: int
    mean: float | None
    estimate: Estimate | None


def overview(bandit: Bandit) -> list[ArmOverview]:
    """Return what is known of each arm; estimates are doubly robust, over all logged rewards."""
    plan, learned, log = bandit.state.plan, bandit.state.bandit, bandit.logged()
    estimates: dict[int, Estimate] = {}
    if len(log.arms) >= FEWEST:
        predicted = predicted_rewards(log)
        estimates = {
            arm: doubly_robust(log, always(arm, log), predicted) for arm in set(log.arms.tolist())
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
