"""The threshold for the next question, which keeps to a budget even if questions change.

The threshold is a quantile of the latest scores; the oldest are those of the calibration. The
quantile's level rises by a step after a question that used less than the budget, and falls after
one that used more (adaptive conformal inference, Gibbs and Candès 2021). So whatever the scores do,
the share of T questions that retrieved is within (1 + 2 STEP) / (STEP T) of the budget, as long as
no retrieval is forced. Forced retrievals, for questions that have no score or ask for current
information, count too: the other questions share the rest of the budget.

A rolling window is used instead of the P² algorithm, which never forgets: after a shift, P² keeps
the quantile of the whole past. A window's quantile is exact, the records of answers hold the window
anyway, and a sorted list of it costs a few microseconds per question.
"""

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tasks.gates.crossfit import quantile

WINDOW = 400  # latest scores that the threshold is taken from
STEP = 0.01  # learning rate of the level: a retrieval has an effect for some hundred questions
ENOUGH = 50  # live scores before drift is tested
ALARM = 0.001  # probability of a false alarm per test
OVERSPENT = 0.1  # excess over the budget, as a share, that causes a warning


@dataclass(frozen=True, slots=True)
class PastDecision:
    """The score of an earlier question, None if it had none, and the decision on it.

    `level` is the level of the quantile that was the threshold. All fields but the score are None
    if there was no decision.
    """

    score: float | None
    retrieve: bool | None = None
    budget: float | None = None
    level: float | None = None


class LiveThreshold:
    """Decides on one question after another; a decision takes O(log window)."""

    def __init__(self, seed_scores: Iterable[float], budget: float, window: int = WINDOW) -> None:
        """Begin with the cross-fitted scores of the calibration.

        `budget` is the share of questions, 0 to 1, that may retrieve. `level` is the level of the
        quantile that is the threshold.
        """
        seeds = np.asarray(list(seed_scores), float)
        self._seeds = np.sort(seeds[~np.isnan(seeds)])
        self._budget, self._window = budget, window
        self.level = budget
        # Shuffled, because they leave the window one by one, and the lowest must not leave first.
        oldest = np.random.default_rng(0).permutation(self._seeds)[:window]
        self._scores: deque[float] = deque(oldest.tolist())
        self._sorted = sorted(self._scores)
        self._live = 0  # scores in the window that are not from the calibration
        self._fetched: deque[bool] = deque(maxlen=window)

    @property
    def threshold(self) -> float:
        """The score below which the next question retrieves; NaN before the first score."""
        return quantile(self._sorted, self.level)

    @property
    def rate(self) -> float | None:
        """The share of the last `window` questions that retrieved; None before the first."""
        return sum(self._fetched) / len(self._fetched) if self._fetched else None

    def decide(self, score: float, *, forced: bool = False) -> bool:
        """Return whether the next question retrieves: its score is NaN or too low, or it is forced.

        If the score equals the threshold, the question retrieves as long as the rate is below the
        budget. For an infinite score the threshold does not matter.
        """
        below = self.threshold
        if forced or math.isinf(score):
            retrieve = forced or score < 0
        elif score == below:
            retrieve = (self.rate or 0.0) < self._budget
        else:
            retrieve = not score > below
        self._enter(score)
        self._follow(retrieve)
        return retrieve

    def fetched_after_all(self) -> None:
        """Count a retrieval for an earlier question that the gate had decided against."""
        self._move(-STEP)
        for place in range(len(self._fetched) - 1, -1, -1):
            if not self._fetched[place]:
                self._fetched[place] = True
                return

    def resume(self, past: Iterable[PastDecision]) -> None:
        """Resume after earlier decisions, given with the oldest first.

        The level is computed from its value at the first decision and the retrievals since then.
        """
        for decision in past:
            if decision.score is not None:
                self._enter(decision.score)
            if decision.retrieve is not None and decision.budget == self._budget:
                if not self._fetched and decision.level is not None:
                    self.level = decision.level
                self._follow(decision.retrieve)

    def drifted(self) -> bool:
        """Return whether the live scores are distributed otherwise than the calibration's.

        It is false before there are `ENOUGH` live scores.
        """
        if self._live < ENOUGH or not len(self._seeds):
            return False
        live = np.sort(np.array(list(self._scores)[-self._live :]))
        return _chance(self._seeds, live) < ALARM

    def warnings(self, task: str) -> list[str]:
        """Return warnings for a task: of drift, and of a budget that cannot be kept."""
        warnings = []
        if self.drifted():
            warnings.append(
                f"The last {self._live} questions of the task {task} have other scores than those "
                "that its gate was calibrated on. The budget is kept, but the gate is less "
                "reliable for them: calibrate it on such questions with "
                f"`almanac calibrate-gate FILE --task {task}`."
            )
        rate = self.rate or 0.0
        if self.level <= 0 and rate > self._budget + OVERSPENT and len(self._fetched) >= ENOUGH:
            warnings.append(
                f"Of the last {len(self._fetched)} questions of the task {task}, {rate:.0%} "
                f"retrieved knowledge, although the budget is {self._budget:.0%}: too many had no "
                "answer from the model itself, had no score, or asked for current information "
                "(see `retrieve_cause` in the table `answers`). Set a larger budget, or choose a "
                "model that knows more."
            )
        return warnings

    # -- state ------------------------------------------------------------------------------------

    def _enter(self, score: float) -> None:
        if math.isnan(score):
            return
        if len(self._scores) >= self._window:
            gone = self._scores.popleft()
            del self._sorted[bisect_left(self._sorted, gone)]
        self._scores.append(score)
        insort(self._sorted, score)
        self._live = min(self._live + 1, len(self._scores))

    def _follow(self, retrieve: bool) -> None:
        self._fetched.append(retrieve)
        self._move(STEP * (self._budget - retrieve))

    def _move(self, by: float) -> None:
        # Clipped just beyond 0 and 1, so that it recovers at once when forced retrievals end.
        self.level = min(1 + STEP, max(-STEP, self.level + by))


def _chance(first: np.ndarray, second: np.ndarray) -> float:
    """Return the probability that two sorted samples of one distribution differ at least so much.

    This is the test of Kolmogorov and Smirnov, with Stephens' correction for small samples (1970).
    """
    from scipy.special import kolmogorov  # 0.4 s, needed only once there are enough live scores

    every = np.concatenate([first, second])
    shares = [np.searchsorted(one, every, side="right") / len(one) for one in (first, second)]
    gap = np.abs(shares[0] - shares[1]).max()
    root = math.sqrt(len(first) * len(second) / (len(first) + len(second)))
    return float(kolmogorov((root + 0.12 + 0.11 / root) * gap))
