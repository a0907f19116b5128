"""Measures gates on questions with outcomes, side by side, in one run over one home."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from tasks.embed import Encoder
from tasks.evaluation.formats import read_benchmark
from tasks.evaluation.report import evaluation_rows
from tasks.evaluation.splits import sample
from tasks.extract_pending import Report
from tasks.gate_evaluation.figures import difference, gate_figures
from tasks.gate_evaluation.outcomes import Outcomes, outcomes_of
from tasks.gate_evaluation.resampled import (
    RESAMPLES,
    Measured,
    measured,
    perfect,
    resamples_of,
)
from tasks.gate_evaluation.scored import Draws, Make, Scored, scored
from tasks.gating.gate import GATES, Gate, make_gate
from tasks.refresh import silent
from tasks.vectors import VectorStore
from warehouse.home import Home
from warehouse.live import record

MISSING = {
    "vectors": "no encoder is chosen",
    "popularity": "the questions do not say how popular their subjects are",
    "uncertainty": "the questions do not say how sure a model is of its own answers",
    "answers": "the questions do not say what a model answers by itself",
}


@dataclass(frozen=True)
class GateMeasurement:
    """Which gates are measured and how; `all` stands for every gate, Thrust first.

    `limit` takes the first of a seeded shuffle. `options` are Thrust's. With `choices` a question
    is taken together with the choices that it has.
    """

    gates: Sequence[str] = ("thrust",)
    draws: Draws = field(default_factory=Draws)
    limit: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    choices: bool = False
    resamples: int = RESAMPLES


@dataclass(frozen=True)
class GateResults:
    """What was measured: the report that `--json` prints, and what pictures are drawn from."""

    report: dict[str, Any]
    outcomes: Outcomes
    scored: dict[str, list[Scored]]
    curves: dict[str, Measured]
    perfect: Measured


def evaluate_gates(
    home: Home,
    path: Path,
    format: str,
    open_encoder: Callable[[], Encoder] | None,
    how: GateMeasurement | None = None,
    report: Report = silent,
) -> GateResults:
    """Measure gates on the questions of a file or folder; the figures become live records.

    Vectors are kept in the home, each computed once. Raises UsageError where the questions have no
    outcomes or the first gate cannot be measured on them.
    """
    how = how or GateMeasurement()
    makers = gate_makers(how)
    benchmark = read_benchmark(path, format)
    outcomes = outcomes_of(sample(benchmark.questions, how.limit), choices=how.choices)
    encoder = None
    if open_encoder and any("vectors" in make(0).needs for make in makers.values()):
        encoder = VectorStore(home.journal, open_encoder(), report)
        outcomes = outcomes.with_vectors(encoder.encode(outcomes.questions.texts).astype(float))
    began = time.perf_counter()
    results = compare_gates(benchmark.name, outcomes, makers, how, report)
    results.report["encoder"] = encoder.id if encoder else None
    results.report["seconds"] = round(time.perf_counter() - began, 2)
    parts = [results.report, *results.report["baselines"]]
    record(home.live, *(row for p in parts for row in evaluation_rows(benchmark.name, p, None)))
    return results


def gate_makers(how: GateMeasurement) -> dict[str, Make]:
    """Return how each gate that is asked for is made; UsageError for names that there are not."""
    names = list(GATES) if "all" in how.gates else list(dict.fromkeys(how.gates))
    if not names:
        raise UsageError(f"Name a gate to measure: {', '.join(GATES)} or all.")
    makers: dict[str, Make] = {}
    for name in names:
        options = how.options if name == "thrust" else {}
        make_gate(name, **options)
        makers[name] = partial(_make, name, options)
    return makers


def _make(name: str, options: dict[str, Any], draw: int) -> Gate:
    return make_gate(name, **({"seed": draw} if name == "random" else options))


def compare_gates(
    dataset: str,
    outcomes: Outcomes,
    makers: dict[str, Make],
    how: GateMeasurement,
    report: Report = silent,
) -> GateResults:
    """Measure gates on the same draws and resamples; the first is the system.

    A gate that needs what the questions do not have is left out, which the report tells, unless it
    is the first.
    """
    makers, left_out = _possible(outcomes, makers)
    resamples = resamples_of(outcomes, how.draws.count, how.resamples)
    found: dict[str, list[Scored]] = {}
    curves: dict[str, Measured] = {}
    ideal = None
    for name, make in makers.items():
        found[name] = list(scored(outcomes, make, how.draws))
        ideal = ideal or perfect(outcomes, found[name], resamples)
        curves[name] = measured(outcomes, found[name], resamples)
        report("gates", len(found), len(makers))
    assert ideal is not None
    told = [gate_figures(n, outcomes, found[n], curves[n], ideal) for n in makers]
    first = told[0]["system"]
    for one in told[1:]:
        one["metrics"] |= difference(curves[one["system"]], curves[first])
    about = {"models": list(outcomes.models), **_drawn(outcomes, how), "left_out": left_out}
    whole = {"dataset": dataset, **told[0], **about, "baselines": told[1:]}
    return GateResults(whole, outcomes, found, curves, ideal)


def _possible(
    outcomes: Outcomes, makers: dict[str, Make]
) -> tuple[dict[str, Make], dict[str, str]]:
    """Return the gates whose needs are there, and why the others are left out."""
    left_out, asked = {}, outcomes.of_model(0)
    for name, make in makers.items():
        lacking = [need for need in sorted(make(0).needs) if getattr(asked, need) is None]
        if lacking:
            left_out[name] = "; ".join(MISSING[need] for need in lacking)
    first = next(iter(makers))
    if first in left_out:
        raise UsageError(
            f"The gate {first} cannot be measured here: {left_out[first]}. "
            "Name another gate first, or questions that have it."
        )
    return {name: make for name, make in makers.items() if name not in left_out}, left_out


def _drawn(outcomes: Outcomes, how: GateMeasurement) -> dict[str, Any]:
    """Tell how many questions of each data set were seeds; where it is small, half of them."""
    sizes = {name: len(places) for name, places in outcomes.each_dataset()}
    return {
        "draws": how.draws.count,
        "seeds": {name: min(how.draws.seeds, size // 2) for name, size in sizes.items()},
    }
