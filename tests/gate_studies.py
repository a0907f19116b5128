"""Studies of gates that no user runs: layers, and hardness of questions.

`python -m benchmarks.gate_curves` runs them. Hardness is how badly models answer without knowledge,
1 minus the figure without it; low scores should go with it, so the sign is flipped: good is
positive, as in table 5 of the Thrust paper.
"""

from collections.abc import Sequence

import numpy as np

from tasks.evaluate.gates.candidates import CandidateGate
from tasks.evaluate.gates.evaluate import GateResults
from tasks.evaluate.gates.figures import with_interval
from tasks.evaluate.gates.outcomes import Outcomes
from tasks.evaluate.gates.resampled import (
    RESAMPLES,
    Resamples,
    resamples_of,
    sorted_with_ties,
)
from tasks.evaluate.gates.scored import Scored
from tasks.gates.gate import Gate, make_gate
from tasks.models.encoders.load import Encoder

KINDS = ("hardness_spearman", "hardness_pearson")


# -- layers ---------------------------------------------------------------------------------------


def layer_candidates(encoders: Sequence[Encoder], outcomes: Outcomes) -> list[CandidateGate]:
    """Return Thrust over each layer of a model, the last first; there is an encoder per layer."""
    return [
        CandidateGate(
            f"thrust layer {number}",
            _thrust,
            outcomes.with_vectors(encoder.encode(outcomes.questions.texts).astype(float)),
        )
        for number, encoder in reversed(list(enumerate(encoders)))
    ]


def _thrust(draw: int) -> Gate:
    return make_gate("thrust")


# -- hardness -------------------------------------------------------------------------------------


def hardness_figures(
    results: GateResults, draws: int, resamples: int = RESAMPLES
) -> dict[str, dict[str, float]]:
    """Return each gate's correlations with hardness, means over models, with 95 % intervals."""
    drawn = resamples_of(results.outcomes, draws, resamples)
    figures: dict[str, dict[str, float]] = {}
    for gate, scores in results.scored.items():
        correlations = hardness_correlations(results.outcomes, scores, drawn)
        figures[gate] = {}
        for kind, values in correlations.items():
            figures[gate] |= with_interval(kind, values.mean(axis=(0, 2)))
    return figures


def hardness_correlations(
    outcomes: Outcomes, scored: Sequence[Scored], resamples: Resamples
) -> dict[str, np.ndarray]:
    """Return correlations (data sets, 1 + resamples, models), means over the draws.

    Correlations by rank treat unknown scores as the lowest; those by value are NaN then, and
    both are NaN where all scores or all hardness are equal.
    """
    places = dict(outcomes.each_dataset())
    shape = (len(places), len(resamples.draws), len(outcomes.models))
    totals = {kind: np.zeros(shape) for kind in KINDS}
    for part in scored:
        weights = resamples.of(part.dataset, np.searchsorted(places[part.dataset], part.places))
        share = resamples.draws[:, part.draw]
        number = list(places).index(part.dataset)
        for model in range(len(outcomes.models)):
            scores, figures = part.of_model(model), outcomes.without[model, part.places]
            by_rank = _correlation(_ranks(scores, weights), _ranks(figures, weights), weights)
            by_value = _correlation(scores[None], figures[None], weights)
            totals["hardness_spearman"][number, :, model] += share * by_rank
            totals["hardness_pearson"][number, :, model] += share * by_value
    return totals


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the ranks (r, n) of values (n,) under weights (r, n); ties share the mean rank."""
    order, last = sorted_with_ties(values)
    counts = np.cumsum(weights[:, order].astype(np.float64), axis=1)[:, last]
    before = np.concatenate([np.zeros((len(counts), 1)), counts[:, :-1]], axis=1)
    group = np.repeat(np.arange(len(last)), np.diff(last, prepend=-1))
    ranks = np.empty(weights.shape)
    ranks[:, order] = ((before + counts + 1) / 2)[:, group]
    return ranks


def _correlation(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the correlation (r,) of rows x and y, (r, n) or (1, n), under weights (r, n)."""
    if not np.isfinite(x).all():
        return np.full(len(weights), np.nan)
    x, y = _centred(x, weights), _centred(y, weights)
    spreads = (weights * x**2).sum(1) * (weights * y**2).sum(1)
    with np.errstate(invalid="ignore"):  # 0 / 0 where all are equal
        return np.asarray((weights * x * y).sum(1) / np.sqrt(spreads))


def _centred(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return values minus their mean; zero where the difference is only rounding."""
    total = np.maximum(weights.sum(1, keepdims=True), 1)
    apart = values - (weights * values).sum(1, keepdims=True) / total
    rounding = np.finfo(float).eps * values.shape[1] * np.abs(values).max()
    return np.where(np.abs(apart) > rounding, apart, 0.0)
