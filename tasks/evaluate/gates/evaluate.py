"""Compares gates on questions with outcomes, in one run over one home."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tasks.evaluate.gates.candidates import (
    CandidateGate,
    check_gates,
    need_vectors,
    of_ablations,
    of_gates,
)
from tasks.evaluate.gates.figures import difference, gate_figures
from tasks.evaluate.gates.outcomes import Outcomes, outcomes_of
from tasks.evaluate.gates.resampled import RESAMPLES, GateCurves, gate_curves, perfect, resamples_of
from tasks.evaluate.gates.scored import Draws, Scored, scored
from tasks.evaluate.report import record_figures
from tasks.gates.subject_popularity import open_popularity
from tasks.models.encoders.load import Encoder
from tasks.models.encoders.store import VectorStore
from tasks.progress import Report, Warn, silent
from tasks.questions.formats import read_benchmark
from tasks.questions.splits import sample
from warehouse.home import Home

Study = Literal["gates", "ablations"]


@dataclass(frozen=True)
class GateMeasurement:
    """Which gates are measured and how; `all` stands for every gate, Thrust first.

    `limit` takes the first questions of a seeded shuffle. `options` are Thrust's. With `choices`, a
    question's text includes its choices. `popularity_of` names the graph of the home from which the
    popularity of the questions' subjects is taken. The study of ablations measures Thrust alone,
    without thresholds.
    """

    gates: Sequence[str] = ("thrust",)
    draws: Draws = field(default_factory=Draws)
    limit: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    choices: bool = False
    popularity_of: str | None = None
    study: Study = "gates"
    resamples: int = RESAMPLES


@dataclass(frozen=True)
class GateResults:
    """The results: the report that `--json` prints, and the data for pictures."""

    report: dict[str, Any]
    outcomes: Outcomes
    scored: dict[str, list[Scored]]
    curves: dict[str, GateCurves]
    perfect: GateCurves


def evaluate_gates(
    home: Home,
    path: Path,
    format: str,
    open_encoder: Callable[[], Encoder],
    measurement: GateMeasurement | None = None,
    report: Report = silent,
    warn: Warn = warnings.warn,
) -> GateResults:
    """Measure gates on the questions of a file or folder; the figures become live records.

    `warn` is called if the disk refuses them. Vectors are kept in the home, so that each is
    computed once. Raises UsageError if the questions have no outcomes or the first gate cannot be
    measured on them.
    """
    measurement = measurement or GateMeasurement()
    names = check_gates(
        measurement.gates if measurement.study == "gates" else ["thrust"], measurement.options
    )
    benchmark = read_benchmark(path, format)
    questions = sample(benchmark.questions, measurement.limit)
    if measurement.popularity_of is not None:
        questions = open_popularity(
            home.editions.current(), measurement.popularity_of
        ).with_popularity(questions)
    outcomes = outcomes_of(questions, choices=measurement.choices)
    encoder = open_encoder() if need_vectors(names) else None
    if encoder:
        store = VectorStore(home.journal, encoder, report)
        outcomes = outcomes.with_vectors(store.encode(outcomes.questions.texts).astype(float))
    started = time.perf_counter()
    left_out: dict[str, str] = {}
    if measurement.study == "ablations":
        candidates = of_ablations(outcomes)
    else:
        candidates, left_out = of_gates(names, measurement.options, outcomes)
    results = compare_gates(benchmark.name, candidates, measurement, report)
    results.report["encoder"] = encoder.id if encoder else None
    results.report["choices"] = measurement.choices
    results.report["popularity"] = _popularity(outcomes, measurement)
    results.report["left_out"] = left_out
    results.report["seconds"] = round(time.perf_counter() - started, 2)
    record_figures(home, results.report, warn)
    return results


def compare_gates(
    dataset: str,
    candidates: Sequence[CandidateGate],
    measurement: GateMeasurement,
    report: Report = silent,
) -> GateResults:
    """Measure gates on the same questions, draws and resamples; the first gate is the system."""
    outcomes = candidates[0].outcomes
    draws = Draws(
        measurement.draws.seeds,
        measurement.draws.count,
        measurement.draws.budgets and measurement.study == "gates",
    )
    resamples = resamples_of(outcomes, draws.count, measurement.resamples)
    scores: dict[str, list[Scored]] = {}
    curves: dict[str, GateCurves] = {}
    figures: list[dict[str, Any]] = []
    for candidate in candidates:
        name = candidate.name
        scores[name] = list(scored(candidate.outcomes, candidate.make, draws))
        if not figures:
            ideal = perfect(outcomes, scores[name], resamples)
        curves[name] = gate_curves(outcomes, scores[name], resamples)
        figures.append(gate_figures(name, outcomes, scores[name], curves[name], ideal))
        report("gates", len(figures), len(candidates))
    system, *others = figures
    for other in others:
        other["metrics"] |= difference(curves[other["system"]], curves[system["system"]])
    whole = {"dataset": dataset, **system, **_drawn(outcomes, measurement), "baselines": others}
    return GateResults(whole, outcomes, scores, curves, ideal)


def _popularity(outcomes: Outcomes, measurement: GateMeasurement) -> dict[str, Any]:
    popularity = outcomes.questions.popularity
    known = 0.0 if popularity is None else float(np.mean(~np.isnan(popularity)))
    return {"of": measurement.popularity_of, "known": round(known, 4)}


def _drawn(outcomes: Outcomes, measurement: GateMeasurement) -> dict[str, Any]:
    """Return the number of seeds per data set: at most half of its questions."""
    sizes = {name: len(places) for name, places in outcomes.each_dataset()}
    return {
        "models": list(outcomes.models),
        "draws": measurement.draws.count,
        "seeds": {name: min(measurement.draws.seeds, size // 2) for name, size in sizes.items()},
    }
