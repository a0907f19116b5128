"""Fits gates on drawn seeds and scores the rest of each data set."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tasks.evaluate.gates.outcomes import OWN_COLUMNS, Outcomes, drawn
from tasks.gates.crossfit import BUDGETS, cross_fitted, fetches, threshold
from tasks.gates.gate import Gate
from tasks.gates.questions import GateQuestions

Make = Callable[[int], Gate]  # makes the gate of a draw; a random gate differs between draws


@dataclass(frozen=True)
class Scored:
    """A gate's scores of the questions with indexes `places` (k,), which it was not fitted on.

    `scores` is (1, k), or (m, k) if the gate distinguishes m models. `rates` holds per budget the
    retrieval rates with a cross-fitted threshold and with one from the seeds' in-sample scores.
    """

    dataset: str
    draw: int
    places: np.ndarray
    scores: np.ndarray
    rates: dict[float, tuple[float, float]]

    def of_model(self, number: int) -> np.ndarray:
        """Return the scores (k,) that apply to a model."""
        return np.asarray(self.scores[number % len(self.scores)])


@dataclass(frozen=True)
class Draws:
    """`count` draws of `seeds` questions per data set; with `budgets`, thresholds are measured."""

    seeds: int = 200
    count: int = 10
    budgets: bool = True


def scored(outcomes: Outcomes, make: Make, draws: Draws) -> Iterator[Scored]:
    """Yield a gate's scores of each data set in each draw, fitted within that data set alone.

    A gate that reads columns that differ between models is fitted once per model.
    """
    per_model = bool(make(0).needs & OWN_COLUMNS)
    models = [outcomes.of_model(m) for m in range(len(outcomes.models) if per_model else 1)]
    budgets = list(BUDGETS.values()) if draws.budgets else []
    for draw in range(draws.count):
        for name, places in outcomes.each_dataset():
            fitted, fresh = drawn(outcomes, places, name, draws.seeds, draw)
            results = [
                _scored(partial(make, draw), questions.take(fitted), questions.take(fresh), budgets)
                for questions in models
            ]
            shares = np.mean([shares for _, shares in results], axis=0).tolist()
            rates = {budget: (a, b) for budget, (a, b) in zip(budgets, shares, strict=True)}
            yield Scored(name, draw, fresh, np.array([scores for scores, _ in results]), rates)


def _scored(
    make: Callable[[], Gate], seeds: GateQuestions, fresh: GateQuestions, budgets: list[float]
) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """Return the scores of fresh questions and the retrieval rates per budget."""
    gate = make()
    gate.fit(seeds)
    scores = gate.score(fresh)
    if not budgets:
        return scores, []
    crossed, own = cross_fitted(make, seeds), gate.score(seeds)
    return scores, [
        (
            float(fetches(scores, threshold(crossed, budget)).mean()),
            float(fetches(scores, threshold(own, budget)).mean()),
        )
        for budget in budgets
    ]
