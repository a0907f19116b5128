"""LinUCB with prompts as arms (KnowGPT, equations 6 to 8; Li et al. 2010, disjoint models).

Each arm has a ridge regression of its rewards on the contexts in which it was played. The paper
calls the second term of (6) Gaussian noise but gives the width of a confidence bound in (8), and
calls the weights non-negative but fits them without that constraint in (7). The default follows (6)
to (8) as printed, but for `epsilon`; `posterior_sampling` and `nonnegative` follow the prose.
"""

from math import log, sqrt
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from schemas.errors import UsageError

Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
_POINTS = np.linspace(-6, 6, 81)  # in standard deviations; the grid for integrating Gaussians


@dataclass(frozen=True, slots=True)
class BanditOptions:
    """How arms are estimated and chosen.

    `ridge` is λ of (7), `delta` is δ of (8). `posterior_sampling` draws the weights from a Gaussian
    whose covariance is `spread`² times the inverse of (7); `nonnegative` fits them by non-negative
    least squares. `epsilon` is the probability of a uniformly drawn arm, so that every logged
    propensity is at least epsilon / arms.
    """

    ridge: Positive = 1.0
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.1
    posterior_sampling: bool = False
    spread: Positive = 0.5
    nonnegative: bool = False
    epsilon: Share = 0.05

    @property
    def gamma(self) -> float:
        """The factor of the confidence width (8): γ = 1 + sqrt(ln(2 / δ) / 2)."""
        return 1 + sqrt(log(2 / self.delta) / 2)


# In simulations (benchmarks/bandit.py) the printed width explores for thousands of questions, since
# arms differ by a few hundredths; these options have less regret.
SAMPLING = BanditOptions(ridge=0.3, posterior_sampling=True, spread=0.25)
Rule = Literal["sampling", "bound", "nonnegative"]
RULES: dict[Rule, BanditOptions] = {
    "sampling": SAMPLING,
    "bound": BanditOptions(),
    "nonnegative": BanditOptions(nonnegative=True),
}


class LinUCB:
    """A linear bandit with a separate linear model for each arm.

    `gram` (arms, d, d) is CᵀC and `weighted` (arms, d) is Cᵀr of (7); `pulls` and `rewards` (arms,)
    are the number and sum of all rewards.
    """

    def __init__(self, arms: int, dimensions: int, options: BanditOptions | None = None) -> None:
        """Start without any rewards; raises UsageError without arms or dimensions."""
        if arms < 1 or dimensions < 1:
            raise UsageError("A bandit needs at least one arm and one dimension.")
        self.options = options or BanditOptions()
        self.gram = np.zeros((arms, dimensions, dimensions))
        self.weighted = np.zeros((arms, dimensions))
        self.pulls = np.zeros(arms, np.int64)
        self.rewards = np.zeros(arms)
        self._solved: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # inverse and weights

    @property
    def arms(self) -> int:
        """The number of arms."""
        return len(self.pulls)

    @property
    def dimensions(self) -> int:
        """The length of a context."""
        return self.weighted.shape[1]

    def update(self, arm: int, context: np.ndarray, reward: float) -> None:
        """Update an arm with its reward in a context (d,).

        Raises UsageError for a context or reward that is not finite or has another shape.
        """
        context = self._checked(context)
        if not np.isfinite(reward):
            raise UsageError("A reward must be a finite number.")
        self.gram[arm] += np.outer(context, context)
        self.weighted[arm] += reward * context
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self._solved.pop(arm, None)

    def inverse(self, arm: int) -> np.ndarray:
        """Return (CᵀC + λI)⁻¹ of an arm, (d, d)."""
        return self._solution(arm)[0]

    def weights(self, arm: int) -> np.ndarray:
        """Return α of an arm (d,): equation (7), or its minimum over non-negative weights."""
        return self._solution(arm)[1]

    def _solution(self, arm: int) -> tuple[np.ndarray, np.ndarray]:
        if arm not in self._solved:
            inverse = np.linalg.inv(self.regularised(arm))
            weights = inverse @ self.weighted[arm]
            if self.options.nonnegative:
                from scipy.optimize import nnls  # 0.3 s, which every question would wait for

                # With A = LLᵀ, (7) is |Lᵀα - L⁻¹b|² and a constant.
                lower = np.linalg.cholesky(self.regularised(arm))
                weights, _ = nnls(lower.T, np.linalg.solve(lower, self.weighted[arm]))
            self._solved[arm] = inverse, weights
        return self._solved[arm]

    def regularised(self, arm: int) -> np.ndarray:
        """Return CᵀC + λI of an arm, (d, d)."""
        return self.gram[arm] + self.options.ridge * np.eye(self.dimensions)

    def means(self, context: np.ndarray) -> np.ndarray:
        """Return the expected reward c·α of each arm (arms,)."""
        context = self._checked(context)
        return np.array([context @ self.weights(arm) for arm in range(self.arms)])

    def widths(self, context: np.ndarray) -> np.ndarray:
        """Return the confidence width sqrt(c (CᵀC + λI)⁻¹ cᵀ) of each arm (arms,)."""
        context = self._checked(context)
        squares = [context @ self.inverse(arm) @ context for arm in range(self.arms)]
        return np.sqrt(np.maximum(squares, 0))

    def scores(self, context: np.ndarray) -> np.ndarray:
        """Return E(Q|PF) of equation (6) for each arm (arms,)."""
        return self.means(context) + self.options.gamma * self.widths(context)

    def chances(self, context: np.ndarray) -> np.ndarray:
        """Return the probability that each arm is chosen in a context (arms,).

        A probability of 1 - epsilon is split equally among the arms with the highest score or, with
        posterior sampling, by the probability that an arm's sampled reward is the largest. Epsilon
        is split equally among all arms.
        """
        if self.options.posterior_sampling:
            best = largest_chances(self.means(context), self.options.spread * self.widths(context))
        else:
            scores = self.scores(context)
            best = np.isclose(scores, scores.max(), rtol=0, atol=1e-12).astype(float)
            best /= best.sum()
        epsilon = self.options.epsilon
        return (1 - epsilon) * best + epsilon / self.arms

    def _checked(self, context: np.ndarray) -> np.ndarray:
        context = np.asarray(context, float)
        if context.shape != (self.dimensions,) or not np.isfinite(context).all():
            raise UsageError(f"A context must be {self.dimensions} finite numbers.")
        return context


def drawn(chances: np.ndarray, rng: np.random.Generator) -> int:
    """Return an arm drawn with the probabilities `chances` (arms,)."""
    sums = chances.cumsum()
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))


def largest_chances(means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return the probability that each of several independent Gaussians is the largest (arms,).

    These are the propensities of posterior sampling, because the models of the arms are disjoint.
    They are integrated by the trapezoidal rule: one arm's density times the others' distribution
    functions, over the grid points of all arms.
    """
    from scipy.special import ndtr

    deviations = np.maximum(deviations, 1e-12)
    points = np.unique(means[:, None] + deviations[:, None] * _POINTS)
    below = ndtr((points - means[:, None]) / deviations[:, None])  # (arms, points)
    above = np.cumprod(np.vstack([np.ones(len(points)), below[:-1]]), 0)  # of the arms before each
    under = np.cumprod(np.vstack([np.ones(len(points)), below[:0:-1]]), 0)[::-1]  # and after it
    others = above * under
    between = (others[:, 1:] + others[:, :-1]) / 2
    chances: np.ndarray = (np.diff(below, axis=1) * between).sum(1)
    return chances / chances.sum()
