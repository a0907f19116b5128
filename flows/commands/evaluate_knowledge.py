"""`almanac evaluate --knowledge`: asks models without and with a passage of knowledge."""

import argparse
from typing import Any

from flows import terminal
from flows.commands.parsing import listed
from flows.evaluations import EvaluateKnowledge
from flows.orchestration import run_job
from schemas.settings import Settings

SHOWN = ("without_knowledge", "with_knowledge", "knowledge_gain")
SHARES = ("helped", "harmed")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure the models, draw the gains if asked, and show the figures."""
    job = EvaluateKnowledge.from_arguments(
        arguments,
        models=listed(arguments.models),
        settings=settings,
    )
    terminal.show_result(run_job(job, arguments), show, as_json=arguments.json)
    return 0


def show(figures: dict[str, Any]) -> None:
    """Print the effect of knowledge per model and data set, and how well a proxy predicts it."""
    rows: list[list[Any]] = []
    for model in [figures, *figures["baselines"]]:
        parts = model["by"]["dataset"]
        rows += [_row(model["system"], name, part) for name, part in parts.items()]
        if len(parts) > 1:
            rows.append(_row(model["system"], "all", model))
    names = ("without", "with", "gain", *SHARES)
    terminal.table([f"{figures['dataset']}: model", "questions", "items", *names], rows)
    if figures["left_out"]:
        terminal.show(
            f"{figures['left_out']} questions without a passage or an answer are left out."
        )
    for agreement in figures["agreement"]:
        terminal.show(_agreement_words(agreement))


def _row(system: str, name: str, part: dict[str, Any]) -> list[Any]:
    metrics = part["metrics"]
    values = [
        f"{metrics[n]:.3f} ({metrics[f'{n}_low']:.3f} to {metrics[f'{n}_high']:.3f})" for n in SHOWN
    ]
    return [system, name, part["items"], *values, *(f"{metrics[n]:.3f}" for n in SHARES)]


def _agreement_words(agreement: dict[str, Any]) -> str:
    """Return in a sentence how well a proxy predicts a model."""
    proxy, model = agreement["proxy"], agreement["model"]
    if not agreement["items"]:
        return f"No question has outcomes of both {proxy} and {model}."
    by_set = agreement["gain_correlation"]
    sets = "too few data sets to correlate" if by_set is None else f"{by_set:+.2f} over data sets"
    return (
        f"{proxy} for {model}: {agreement['equal_outcomes']:.3f} of {agreement['items']} outcomes "
        f"are equal ({agreement['equal_by_chance']:.3f} by chance); rank correlation of gains: "
        f"{sets}."
    )
