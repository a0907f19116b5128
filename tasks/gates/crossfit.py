"""Seed scores distributed like those of new questions, and thresholds that keep to a budget.

Seeds are nearer to the clusters fitted on them than new questions are, so thresholds from their
in-sample scores retrieve too often. Cross-fitting scores each seed by a gate that never saw
it.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tasks.gates.gate import Gate
from tasks.gates.questions import GateQuestions

FOLDS = 10
SEED = 42
BUDGETS = {"scarce": 0.25, "medium": 0.5, "abundant": 0.75}  # Thrust, section 4.1


def cross_fitted(make: Callable[[], Gate], seeds: GateQuestions) -> np.ndarray:
    """Return float64 (n,): each seed's score by a gate fitted on the other folds.

    All scores are NaN if there is only one distinct question.
    """
    scores = np.full(len(seeds), np.nan)
    for others, own in folds_of(seeds.texts):
        gate = make()
        gate.fit(seeds.take(others), counted_as=len(seeds))
        scores[own] = gate.score(seeds.take(own))
    return scores


def folds_of(texts: Sequence[str], folds: int = FOLDS) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each fold, the indices of all other texts and those of its own texts.

    Equal texts share a fold, so that none is a seed for its copy. A single distinct text has no
    folds.
    """
    _, group = np.unique(np.array(texts, dtype=object).astype(str), return_inverse=True)
    groups = int(group.max()) + 1 if len(texts) else 0
    folds = min(folds, groups) if groups > 1 else 0
    order = np.random.default_rng(SEED).permutation(groups)
    fold_of = np.empty(groups, int)
    fold_of[order] = np.arange(groups) % max(folds, 1)
    for fold in range(folds):
        own = fold_of[group] == fold
        yield np.flatnonzero(~own), np.flatnonzero(own)


def threshold(scores: np.ndarray, budget: float) -> float:
    """Return the score below which a share `budget` (0 to 1) of such questions is.

    Questions whose score is NaN always retrieve and use their part of the budget. Between two
    scores the threshold is interpolated by rank (Weibull's positions: the expected share below the
    k-th of n scores is k / (n + 1)).
    """
    known = np.sort(scores[~np.isnan(scores)])
    if not len(known):
        return math.nan
    unknown = 1 - len(known) / len(scores)
    share = (budget - unknown) / (1 - unknown) if unknown < 1 else 0.0
    return quantile(known.tolist(), share)


def quantile(ordered: Sequence[float], level: float) -> float:
    """Return the quantile of sorted scores by Weibull's positions; NaN without any.

    At a level of 0 or below it is minus infinity, from 1 on infinity.
    """
    if not ordered:
        return math.nan
    if level <= 0 or level >= 1:
        return -math.inf if level <= 0 else math.inf
    place = min(max(level * (len(ordered) + 1) - 1, 0.0), len(ordered) - 1.0)
    low = int(place)
    first, second = ordered[low], ordered[min(low + 1, len(ordered) - 1)]
    if first == second or place == low or math.isinf(first):  # those cannot be interpolated
        return first
    return first + (place - low) * (second - first)


def fetches(scores: np.ndarray, below: float) -> np.ndarray:
    """Return which of the scores (n,) retrieve knowledge: those below the threshold, and NaN."""
    chosen: np.ndarray = ~(scores >= below)
    return chosen
