"""Studies of gates that no user runs: layers, and hardness of questions.

`python -m benchmarks.gate_curves` runs them. Hardness is how badly models answer without knowledge,
1 minus the figure without it; low scores should go with it, so the sign is flipped: good is
positive, as in table 5 of the Thrust paper.
"""

from collections.abc import Sequence

import numpy as np

from tasks.evaluate.gates.candidates import CandidateGate
from tasks.evaluate.gates.evaluate import GateResults
from tasks.evaluate.gates.figures import KEPT, Metrics, at_rate, with_interval
from tasks.evaluate.gates.outcomes import Outcomes
from tasks.evaluate.gates.resampled import (
    RATES,
    RESAMPLES,
    Resamples,
    resamples_of,
    sorted_with_ties,
    weighted_curves,
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


# -- one threshold for all data sets --------------------------------------------------------------


def together_figures(
    results: GateResults, draws: int, resamples: int = RESAMPLES
) -> dict[str, Metrics]:
    """Return each gate's figures with one threshold for all data sets, if there are several."""
    outcomes = results.outcomes
    if len(dict(outcomes.each_dataset())) < 2:
        return {gate: {} for gate in results.scored}
    drawn = resamples_of(outcomes, draws, resamples)
    return {
        gate: figures_together(outcomes, accuracies_together(outcomes, scores, drawn))
        for gate, scores in results.scored.items()
    }


def accuracies_together(
    outcomes: Outcomes, scored: Sequence[Scored], resamples: Resamples
) -> np.ndarray:
    """Return accuracies (resamples, models, rates) with one threshold for all data sets.

    With a threshold per data set, a gate can only choose between the questions of that data set. If
    its scores are comparable across data sets, as expected gains are, one threshold also retrieves
    more in data sets where knowledge helps more. The accuracies are means over the draws; row 0 of
    the resamples is the measurement itself.
    """
    places = dict(outcomes.each_dataset())
    models = len(outcomes.models)
    accuracies = np.zeros((len(resamples.draws), models, len(RATES)))
    for draw in sorted({part.draw for part in scored}):
        parts = [part for part in scored if part.draw == draw]
        places_asked = np.concatenate([part.places for part in parts])
        weights = np.concatenate(
            [
                resamples.of(part.dataset, np.searchsorted(places[part.dataset], part.places))
                for part in parts
            ],
            axis=1,
        )
        for model in range(models):
            scores = np.concatenate([part.of_model(model) for part in parts])
            without = outcomes.without[model : model + 1, places_asked]
            helped = outcomes.with_knowledge[model : model + 1, places_asked]
            _, accuracy = weighted_curves(scores, without, helped, weights)
            accuracies[:, model] += resamples.draws[:, draw, None] * accuracy[:, 0]
    return accuracies


def figures_together(outcomes: Outcomes, accuracies: np.ndarray) -> Metrics:
    """Return how well a single threshold for all data sets keeps the accuracy of always retrieving.

    `accuracies` is (resamples, models, rates). The metrics are the lowest retrieval rate that keeps
    99 % of that accuracy, and the share of it that is kept at a rate of one half.
    """
    always = accuracies[:, :, -1]
    keeps = (accuracies >= KEPT * always[:, :, None]).argmax(2)
    values = {
        "together_rate_at_99": RATES[keeps],
        "together_accuracy_at_half_of_always": at_rate(accuracies, 0.5) / always,
    }
    metrics: Metrics = {}
    for name, value in values.items():
        metrics |= with_interval(name, value.mean(1))
        for number, model in enumerate(outcomes.models if len(outcomes.models) > 1 else ()):
            metrics |= with_interval(f"{name}:{model}", value[:, number])
    return metrics
