"""Studies of gates that no user runs: layers, hardness of questions, densities of scores.

`python -m benchmarks.gate_curves` runs them. Hardness is how badly models answer without knowledge,
1 minus the figure without it; low scores should go with it, so the sign is flipped: good is
positive, as in table 5 of the Thrust paper.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tasks.evaluate.gates.candidates import Candidate
from tasks.evaluate.gates.evaluate import GateResults
from tasks.evaluate.gates.figures import with_interval
from tasks.evaluate.gates.outcomes import Outcomes
from tasks.evaluate.gates.resampled import RESAMPLES, Resamples, resamples_of, sorted_with_ties
from tasks.evaluate.gates.scored import Scored
from tasks.evaluate.pictures import finish, make_panels, shown, style
from tasks.gates.gate import Gate, make_gate
from tasks.models.encoders.load import Encoder

KINDS = ("hardness_spearman", "hardness_pearson")
POINTS = 200  # of a density
OUTSIDE = 3.0  # bandwidths that a density continues beyond its data


# -- layers ---------------------------------------------------------------------------------------


def layer_candidates(encoders: Sequence[Encoder], outcomes: Outcomes) -> list[Candidate]:
    """Return Thrust over each layer of a model, the last first; there is an encoder per layer."""
    return [
        Candidate(
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


# -- densities ------------------------------------------------------------------------------------


def draw_densities(
    path: Path, dataset: str, gate: str, outcomes: Outcomes, scored: Sequence[Scored]
) -> None:
    """Draw how a gate's scores of fresh questions are distributed in each data set.

    Scores are taken by their logarithm where all are positive (the paper's figure 5); densities are
    kernel estimates with Scott's bandwidth over the scores of all draws.
    """
    scores = {
        name: _finite(np.concatenate([part.of_model(0) for part in scored if part.dataset == name]))
        for name, _ in outcomes.each_dataset()
    }
    logarithmic = all((values > 0).all() for values in scores.values())
    label = f"{gate}: {'natural logarithm of the score' if logarithmic else 'score'}"
    figure, ((panel,),) = make_panels(1, 1, label)
    panel.set_ylabel("density")
    for place, (name, values) in enumerate(scores.items()):
        _draw_density(panel, np.log(values) if logarithmic else values, name, place)
    panel.set_ylim(bottom=0)
    figure.suptitle(f"{shown(dataset)}: scores of fresh questions by task")
    finish(figure, panel, path)


def _draw_density(panel: Any, values: np.ndarray, name: str, place: int) -> None:
    """Draw one density; where all values are equal, a line at their place."""
    from scipy.stats import gaussian_kde

    if len(np.unique(values)) < 2:
        panel.axvline(values[0] if len(values) else np.nan, label=shown(name), **style(place))
        return
    density = gaussian_kde(values)
    margin = OUTSIDE * float(np.sqrt(density.covariance[0, 0]))
    x = np.linspace(values.min() - margin, values.max() + margin, POINTS)
    y = density(x)
    panel.plot(x, y, label=shown(name), linewidth=1.8, **style(place))
    panel.fill_between(x, y, color=style(place)["color"], alpha=0.08, linewidth=0)


def _finite(values: np.ndarray) -> np.ndarray:
    return np.asarray(values[np.isfinite(values)])
