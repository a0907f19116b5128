"""Measures the rows of a paper's table anew, by the functions that users measure with."""

from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from benchmarks.arms_study import study_arms
from benchmarks.command import data
from benchmarks.experts_study.measure import with_model
from benchmarks.knowledge_gain.asked_models import open_asked_model
from benchmarks.knowledge_gain.measure import GainMeasurement, measure_gain
from benchmarks.papers.tables import Description, Figure, OwnRow, figure_at
from benchmarks.rival_gates import add_rivals
from flows.home import settings_of
from flows.terminal import say
from schemas.errors import UsageError
from schemas.settings import EngineSettings, Settings
from tasks.ask.parts import reader_name
from tasks.evaluate.baselines.prompted import PROMPTED
from tasks.evaluate.evaluate import Measurement, evaluate
from tasks.evaluate.gates.evaluate import GateMeasurement, evaluate_gates
from tasks.evaluate.gates.resampled import RATES, GateCurves
from tasks.evaluate.gates.scored import Draws
from tasks.evaluate.metrics import HIGH, LOW
from tasks.evaluate.systems import system_for
from tasks.experts.registry import active_experts
from tasks.import_graph import list_graphs
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.load import open_question_encoder
from tasks.models.loaded_model import load_model
from tasks.progress import Report
from warehouse.home import Home

FULL = 0.9  # Thrust's table 3 takes the best of the rates below it


@dataclass(frozen=True)
class Asking:
    """What is asked: the home, a model by name if not the settings', and how many questions.

    `questions` in a `format` take the place of a table's own.
    """

    home: Home
    model: str | None
    limit: int | None
    report: Report
    questions: Path | None = None
    format: str | None = None

    @property
    def settings(self) -> Settings:
        """The home's settings, with the model that is named."""
        settings = settings_of(self.home)
        return with_model(settings, self.model) if self.model else settings


def measured(table: Description, asking: Asking) -> list[OwnRow]:
    """Return the rows that can be measured; those of one name and model become one row."""
    rows: dict[tuple[str, ...], OwnRow] = {}
    for run in table.get("run", []):
        source = _source(run, asking)
        for row in KINDS[run["kind"]](run, asking, *source) if source else ():
            key = (row.beside, row.name, row.by)
            rows[key] = _joined(rows[key], row) if key in rows else row
    return list(rows.values())


def _source(run: Description, asking: Asking) -> tuple[Path, str] | None:
    """Return what a run asks, with its format; None if that is not at hand."""
    if asking.questions and asking.format:
        fits = run.get("format") in (None, asking.format)
        return (asking.questions, asking.format) if fits else None
    return (data(run["data"]), run["format"]) if "data" in run else None


def _joined(one: OwnRow, other: OwnRow) -> OwnRow:
    values = [a or b for a, b in zip(one.values, other.values, strict=True)]
    questions, cost = f"{one.questions} + {other.questions}", f"{one.cost}; {other.cost}"
    return replace(one, values=values, questions=questions, cost=cost.strip("; "))


def _figures(run: Description, figures: dict[str, Any]) -> list[Figure | None]:
    """Return the figures for a run's columns, None for those that it lacks."""

    def figure(path: str) -> Figure | None:
        try:
            return figure_at(figures, path) if path else None
        except KeyError:
            return None

    return [figure(path) for path in run["cells"]]


def _answering(settings: Settings) -> str:
    """Return what answers; a model on this machine with its number of parameters."""
    engine, name = settings.engine, reader_name(settings)
    if engine.engine != "transformers":
        return name
    model = load_model(engine.model.name, engine.model.device).model
    return f"{name}, {model.num_parameters() / 1e6:,.0f}M"


def _answers(run: Description, asking: Asking, path: Path, format: str) -> Iterator[OwnRow]:
    """Yield the rows of a route, or of the modes of experts, and those of baselines."""
    route, baselines = run.get("route", "experts"), run.get("baselines", [])
    for mode, mode_row in run.get("modes", {None: run["rows"].get(route, "")}).items():
        settings = asking.settings
        if mode:
            _need_experts(asking.home)
            experts = settings.experts.model_copy(update={"mode": mode})
            settings = settings.model_copy(update={"experts": experts})
        known = PROMPTED if settings.engine.engine == "rules" else ()
        how = Measurement(
            limit=asking.limit,
            learn=run.get("learn", True),
            demonstrations=run.get("shots", 0),
            baselines=[name for name in baselines if name not in known],
        )
        system, place = system_for(route, settings, asking.home), (asking.home, path, format)
        found = evaluate(*place, system, settings, how, asking.report, say)
        baselines = []  # once is enough
        for one in [found, *found["baselines"]]:
            name = one["system"].removesuffix(f" {settings.engine.model.name}")
            beside = mode_row if name == route else run["rows"].get(name, "")
            by = _answering(settings) if name in (route, *PROMPTED) else name
            seconds, tokens = (one[cost] / one["items"] for cost in ("seconds", "tokens"))
            items, cost = f"{one['items']:,}", f"{seconds:.2f} s, {tokens:.0f} tokens a question"
            yield OwnRow(beside or name, by, items, _figures(run, one), beside, cost)


def _need_experts(home: Home) -> None:
    edition = home.editions.current()
    if edition is None or not active_experts(home, edition):
        raise UsageError(
            f"{home.path} has no experts to ask. Name a home that has some with --home; "
            "docs/experts.md says how they are trained."
        )


def _arms(run: Description, asking: Asking, path: Path, format: str) -> Iterator[OwnRow]:
    """Yield the rows of arms, of a bandit, and of an oracle over the paths of a graph."""
    if run["graph"] not in {row["graph"] for row in list_graphs(asking.home)}:
        say(f"{asking.home.path} has no graph {run['graph']} (docs/paths.md): no {format}.")
        return
    asked = {"questions": path, "format": format, "graph": run["graph"], "model": asking.model}
    given = Namespace(**asked, limit=asking.limit, training=asking.limit or 500)
    for row in study_arms(given, asking.home, asking.report)["rows"]:
        if row["row"] in run["rows"]:
            beside, values = run["rows"][row["row"]], _figures(run, row)
            cost = f"{row['edges']:.0f} edges a question" if "edges" in row else ""
            name, by = beside or row["row"], _answering(asking.settings)
            yield OwnRow(name, by, f"{row['items']:,}", values, beside, cost)


def _gates(run: Description, asking: Asking, path: Path, format: str) -> Iterator[OwnRow]:
    """Yield for each model and data set the accuracies at retrieval rates chosen by gates."""
    add_rivals()
    gates = dict.fromkeys(cell.partition(" ")[0] for cell in run["cells"])
    encoder = open_question_encoder(EncoderChoice("minilm"), EngineSettings(), asking.home)
    how = GateMeasurement(["thrust", *gates], Draws(budgets=False), asking.limit)
    results = evaluate_gates(asking.home, path, format, lambda _: encoder, how, asking.report, say)
    for model, answering in enumerate(results.outcomes.models):
        for place, (dataset, items) in enumerate(results.curves["thrust"].items.items()):
            values = [_at(results.curves, cell, place, model) for cell in run["cells"]]
            yield OwnRow(dataset, answering, f"{items:,}", list(values))


def _at(curves: dict[str, GateCurves], cell: str, place: int, model: int) -> Figure:
    """Return a gate's accuracy at a rate, or at the best one below full, with its interval."""
    gate, _, rate = cell.partition(" ")
    accuracies = curves[gate].accuracies[place, :, model]  # (resamples, rates)
    best = accuracies[0, RATES < FULL].argmax()
    column = best if rate == "best" else np.abs(RATES - float(rate)).argmin()
    low, high = np.percentile(accuracies[1:, column], [LOW, HIGH])
    return [round(float(value), 4) for value in (accuracies[0, column], low, high)]


def _gain(run: Description, asking: Asking, path: Path, format: str) -> Iterator[OwnRow]:
    """Yield what a model scores without and with the texts that questions bring."""
    home, settings, name = asking.home, asking.settings.engine, f"papers-{uuid4().hex[:12]}"
    opened = partial(open_asked_model, settings=settings, home=home, run_id=name)
    how = GainMeasurement([asking.model] if asking.model else [], limit=asking.limit)
    found = measure_gain(home, path, format, opened, how, settings, asking.report, say)
    for model in [found, *found["baselines"]]:
        for dataset, part in model["by"]["dataset"].items():
            values = _figures(run, part["metrics"])
            yield OwnRow(dataset, model["system"], f"{part['items']:,}", values)


KINDS: dict[str, Callable[[Description, Asking, Path, str], Iterator[OwnRow]]] = {
    "evaluate": _answers,
    "arms": _arms,
    "gates": _gates,
    "gain": _gain,
}
