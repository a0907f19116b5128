"""Computes the curves of all resamples at once, from which intervals are derived.

Questions are resampled within their data set, in the same way for every draw of seeds and every
gate, and the draws are resampled too; so an interval covers both sources of variation, and the
comparison of gates is paired.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.evaluate.gates.outcomes import Outcomes
from tasks.evaluate.gates.scored import Scored

RESAMPLES = 1000
SEED = 7
RATES = np.linspace(0, 1, 101)  # retrieval rates at which curves are read
CHUNK = 1 << 18  # weights per chunk, so that they stay in the processor's cache


@dataclass(frozen=True)
class Resamples:
    """How often each question and each draw counts; row 0 counts everything once.

    `questions` holds for each data set (1 + resamples, its questions); `draws` is
    (1 + resamples, draws), whose rows sum to 1.
    """

    questions: dict[str, np.ndarray]
    draws: np.ndarray

    def of(self, dataset: str, columns: np.ndarray) -> np.ndarray:
        """Return how often these questions of a data set count, (1 + resamples, columns)."""
        return np.asarray(self.questions[dataset][:, columns])


@dataclass(frozen=True)
class GateCurves:
    """Curves at `RATES` and exact areas over random, by data set d, resample r and model m.

    `areas` is (d, r, m) and `accuracies` (d, r, m, rates), means over the draws; row 0 of the
    resamples is the measurement itself.
    """

    datasets: list[str]
    areas: np.ndarray
    accuracies: np.ndarray
    items: dict[str, int]


def resamples_of(outcomes: Outcomes, draws: int, count: int = RESAMPLES) -> Resamples:
    """Draw how often each question and each draw of seeds counts in each resample."""
    rng = np.random.default_rng(SEED)
    questions = {}
    for name, places in outcomes.each_dataset():
        size = len(places)
        drawn = rng.multinomial(size, np.full(size, 1 / size), count)
        questions[name] = np.concatenate([np.ones((1, size)), drawn]).astype(np.float32)
    drawn = rng.multinomial(draws, np.full(draws, 1 / draws), count)
    return Resamples(questions, np.concatenate([np.ones((1, draws)), drawn]) / draws)


def gate_curves(outcomes: Outcomes, scored: Sequence[Scored], resamples: Resamples) -> GateCurves:
    """Return a gate's curves over all resamples, means over the draws."""
    places = dict(outcomes.each_dataset())
    names, rows, models = list(places), len(resamples.draws), len(outcomes.models)
    areas = np.zeros((len(names), rows, models))
    accuracies = np.zeros((len(names), rows, models, len(RATES)))
    items = {}
    for part in scored:
        number = names.index(part.dataset)
        weights = resamples.of(part.dataset, np.searchsorted(places[part.dataset], part.places))
        share = resamples.draws[:, part.draw]
        area, accuracy = _curves(outcomes, part, weights)
        areas[number] += share[:, None] * area
        accuracies[number] += share[:, None, None] * accuracy
        items[part.dataset] = len(part.places)
    return GateCurves(names, areas, accuracies, items)


def perfect(outcomes: Outcomes, scored: Sequence[Scored], resamples: Resamples) -> GateCurves:
    """Return the curves of each model's perfect gate over the questions that were scored."""
    ideal = [replace(part, scores=-outcomes.gains[:, part.places]) for part in scored]
    return gate_curves(outcomes, ideal, resamples)


def _curves(outcomes: Outcomes, part: Scored, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return areas (r, m) and accuracies (r, m, rates) of one data set's scores in one draw."""
    without = outcomes.without[:, part.places]
    with_knowledge = outcomes.with_knowledge[:, part.places]
    if len(part.scores) == 1:  # models share their scores, and so all sorting and searching
        return weighted_curves(part.scores[0], without, with_knowledge, weights)
    parts = [
        weighted_curves(scores, without[m : m + 1], with_knowledge[m : m + 1], weights)
        for m, scores in enumerate(part.scores)
    ]
    areas, accuracies = zip(*parts, strict=True)
    return np.concatenate(areas, axis=1), np.concatenate(accuracies, axis=1)


def weighted_curves(
    scores: np.ndarray, without: np.ndarray, with_knowledge: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return areas over random (r, m) and accuracies at `RATES` (r, m, rates).

    `scores` is (n,), the figures (m, n); `weights` (r, n) is how often each question counts.
    """
    order, last = sorted_with_ties(scores)
    gains = (with_knowledge - without)[:, order]
    start = without[:, order]
    shape = (len(weights), len(gains))
    areas, accuracies = np.empty(shape), np.empty((*shape, len(RATES)))
    step = max(1, CHUNK // len(scores))
    for row in range(0, len(weights), step):
        part = weights[row : row + step][:, order].astype(np.float64)
        counts = np.cumsum(part, axis=1)[:, last]
        total = np.maximum(counts[:, -1], 1)
        places = _Places(counts, total)
        for model in range(len(gains)):
            gained = np.cumsum(part * gains[model], axis=1)[:, last]
            begin = part @ start[model] / total
            rows = slice(row, row + step)
            areas[rows, model] = _area(counts, gained) / total**2
            accuracies[rows, model] = begin[:, None] + places.read(gained) / total[:, None]
    return areas, accuracies


def sorted_with_ties(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of retrieval (n,) and the last index of each group of equal scores."""
    ranked = np.where(np.isnan(scores), -np.inf, scores)
    order = np.argsort(ranked, kind="stable")
    ranked = ranked[order]
    ends = np.append(ranked[1:] != ranked[:-1], True)
    return order, np.flatnonzero(ends)


def _area(counts: np.ndarray, gained: np.ndarray) -> np.ndarray:
    """Return the areas between the chord and the gains over counts, straight between knots."""
    zero = np.zeros((len(counts), 1))
    wide = np.diff(counts, axis=1, prepend=zero)
    before = np.concatenate([zero, gained[:, :-1]], axis=1)
    area: np.ndarray = (wide * (gained + before)).sum(1) / 2
    return area - gained[:, -1] * counts[:, -1] / 2


class _Places:
    """The positions of the rates between the knots of each row, from one search for all rows."""

    def __init__(self, counts: np.ndarray, total: np.ndarray) -> None:
        rows, knots = counts.shape
        wanted = RATES * total[:, None]
        offsets = np.arange(rows)[:, None] * (total.max() + 1)  # so that rows do not overlap
        positions = np.searchsorted((counts + offsets).ravel(), (wanted + offsets).ravel())
        right = positions.reshape(wanted.shape) - np.arange(rows)[:, None] * knots + 1
        self._right = np.clip(right, 1, knots)
        padded = np.concatenate([np.zeros((rows, 1)), counts], axis=1)
        low = np.take_along_axis(padded, self._right - 1, 1)
        high = np.take_along_axis(padded, self._right, 1)
        self._share = (wanted - low) / np.maximum(high - low, 1)

    def read(self, gained: np.ndarray) -> np.ndarray:
        """Return values (r, rates) at the rates, interpolated from those at the knots (r, k)."""
        padded = np.concatenate([np.zeros((len(gained), 1)), gained], axis=1)
        low = np.take_along_axis(padded, self._right - 1, 1)
        high = np.take_along_axis(padded, self._right, 1)
        return np.asarray(low + (high - low) * self._share)
