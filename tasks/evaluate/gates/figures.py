"""A gate's metrics: means over data sets, per model and over models, with 95 % intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tasks.evaluate.gates.outcomes import Outcomes
from tasks.evaluate.gates.resampled import RATES, GateCurves
from tasks.evaluate.gates.scored import Scored
from tasks.evaluate.metrics import HIGH, LOW

KEPT = 0.99  # share of the accuracy of always retrieving that a good gate keeps
SHOWN_AT = {25: 0.25, 50: 0.5, 75: 0.75}  # rates at which accuracies are reported
# Metrics that are also reported per data set.
OF_PARTS = ("area_over_random", "share_of_perfect", "auroc_help")
STEP = 5  # of `RATES`, between the points of a report's curves

Metrics = dict[str, float]


def gate_figures(
    name: str,
    outcomes: Outcomes,
    scored: Sequence[Scored],
    curves: GateCurves,
    perfect: GateCurves,
) -> dict[str, Any]:
    """Return a gate's metrics as means over equally weighted data sets, and per data set."""
    parts = (outcomes, scored, curves, perfect)
    every = range(len(curves.datasets))
    return {
        "system": name,
        "items": sum(curves.items.values()),
        "metrics": _metrics(*parts, every),
        "by": {
            "dataset": {
                dataset: {
                    "items": curves.items[dataset],
                    "metrics": {
                        name: value
                        for name, value in _metrics(*parts, [number]).items()
                        if name.startswith(OF_PARTS)
                    },
                }
                for number, dataset in enumerate(curves.datasets)
            }
        },
        "curves": _curves(outcomes, curves),
    }


def difference(gate: GateCurves, system: GateCurves) -> Metrics:
    """Return by how much a gate's area exceeds the system's, paired by resample."""
    return with_interval("area_over_system", (gate.areas - system.areas).mean(axis=(0, 2)))


def _metrics(
    outcomes: Outcomes,
    scored: Sequence[Scored],
    curves: GateCurves,
    perfect: GateCurves,
    numbers: Sequence[int],
) -> Metrics:
    chosen = list(numbers)
    names = {curves.datasets[number] for number in chosen}
    areas, accuracies = curves.areas[chosen].mean(0), curves.accuracies[chosen].mean(0)
    values = _of_curves(areas, accuracies, perfect.areas[chosen].mean(0))
    metrics: Metrics = {}
    for name, value in values.items():
        metrics |= with_interval(name, value.mean(1))
    chosen_scores = [part for part in scored if part.dataset in names]
    metrics |= _rates(chosen_scores)
    auroc = _auroc(outcomes, chosen_scores)
    metrics |= _finite({"auroc_help": float(np.mean(list(auroc.values())))})
    for model, label in enumerate(outcomes.models if len(outcomes.models) > 1 else ()):
        for name, value in values.items():
            metrics |= with_interval(f"{name}:{label}", value[:, model])
        metrics |= _finite({f"auroc_help:{label}": auroc[label]})
    return metrics


def _of_curves(
    areas: np.ndarray, accuracies: np.ndarray, perfect: np.ndarray
) -> dict[str, np.ndarray]:
    """Return metrics (resamples, models) of curves (resamples, models, rates)."""
    always = accuracies[:, :, -1]
    best = accuracies.argmax(2)
    keeps = (accuracies >= KEPT * always[:, :, None]).argmax(2)
    with np.errstate(invalid="ignore", divide="ignore"):
        figures = {
            "area_over_random": areas,
            "share_of_perfect": areas / perfect,
            "best_accuracy": accuracies.max(2),
            "best_rate": RATES[best],
            "rate_at_99": RATES[keeps],
            "accuracy_at_half_of_always": at_rate(accuracies, 0.5) / always,
        }
    figures |= {f"accuracy_at_{percent}": at_rate(accuracies, r) for percent, r in SHOWN_AT.items()}
    return figures | {"accuracy_never": accuracies[:, :, 0], "accuracy_always": always}


def at_rate(accuracies: np.ndarray, rate: float) -> np.ndarray:
    """Return accuracies (resamples, models) at the rate nearest to this one."""
    return np.asarray(accuracies[:, :, int(np.abs(RATES - rate).argmin())])


def with_interval(name: str, values: np.ndarray) -> Metrics:
    """Return the first of the values (1 + resamples,), and the 95 % interval of the others."""
    if not np.isfinite(values[0]):
        return {}
    metrics = {name: float(values[0])}
    resampled = values[1:][np.isfinite(values[1:])]
    if len(resampled):
        low, high = np.percentile(resampled, [LOW, HIGH])
        metrics |= {f"{name}_low": float(low), f"{name}_high": float(high)}
    return _finite(metrics)


def _finite(metrics: Metrics) -> Metrics:
    return {name: round(value, 5) for name, value in metrics.items() if np.isfinite(value)}


def _rates(scored: Sequence[Scored]) -> Metrics:
    metrics: Metrics = {}
    for budget in scored[0].rates:
        for which, ending in enumerate(("", "_seed_fitted")):
            shares = float(np.mean([part.rates[budget][which] for part in scored]))
            metrics |= _finite({f"rate_at_budget_{budget * 100:.0f}{ending}": shares})
    return metrics


def _auroc(outcomes: Outcomes, scored: Sequence[Scored]) -> dict[str, float]:
    """Return each model's mean AUROC over the draws and data sets for which it is defined."""
    means = {}
    for number, model in enumerate(outcomes.models):
        figures = [outcomes.without[number], outcomes.with_knowledge[number]]
        each = [auroc_of_help(s.of_model(number), *(f[s.places] for f in figures)) for s in scored]
        known = [value for value in each if np.isfinite(value)]
        means[model] = float(np.mean(known)) if known else float("nan")
    return means


def auroc_of_help(scores: np.ndarray, without: np.ndarray, with_knowledge: np.ndarray) -> float:
    """Return the probability that a helped question is ranked before one that is not helped.

    Ties count half. The result is NaN if knowledge helps all questions or none.
    """
    from scipy.stats import rankdata

    helped = with_knowledge > without
    pairs = int(helped.sum()) * int((~helped).sum())
    if not pairs:
        return float("nan")
    ranks = rankdata(np.where(np.isnan(scores), -np.inf, scores))
    first = np.arange(1, helped.sum() + 1)
    return 1 - float((np.sort(ranks[helped]) - first).sum()) / pairs


def _curves(outcomes: Outcomes, curves: GateCurves) -> dict[str, list[float]]:
    """Return the rates and each model's accuracies at them, averaged over data sets."""
    points = {"rate": [round(float(rate), 2) for rate in RATES[::STEP]]}
    for number, model in enumerate(outcomes.models):
        accuracies = curves.accuracies[:, 0, number].mean(0)[::STEP]
        points[model] = [round(float(value), 5) for value in accuracies]
    return points
