"""How much knowledge helps models: each question is asked without and with its passage.

    python -m benchmarks.knowledge_gain QUESTIONS --format F --home HOME [--models NAMES]

Compare the Thrust paper's table 6 and figure 7 (arXiv 2307.10442). Without --models, the outcomes
in the questions' file are measured or, if it has none, the model of the home's settings is asked.
--out writes the questions with their outcomes, which gates are calibrated with and measured on.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.knowledge_gain.asked_models import open_asked_model
from benchmarks.knowledge_gain.measure import GainMeasurement, measure_gain
from benchmarks.study_command import listed, run_as_command, study_parser
from benchmarks.study_pictures import draw_gain
from flows import terminal
from flows.home import settings_of
from tasks.evaluate.pictures import check_picture
from tasks.progress import Report
from warehouse.disk_errors import warned_of_refusals
from warehouse.home import Home

SHOWN = ("without_knowledge", "with_knowledge", "knowledge_gain")
SHARES = ("helped", "harmed")


def measured(arguments: argparse.Namespace, home: Home, report: Report) -> dict[str, Any]:
    """Measure, draw, and return the figures."""
    if arguments.picture:
        check_picture(arguments.picture)
    engine = settings_of(home).engine
    run_id = f"knowledge-gain-{uuid4().hex[:12]}"
    opened = partial(open_asked_model, settings=engine, home=home, run_id=run_id)
    models = listed(arguments.models)
    how = GainMeasurement(models, arguments.proxy, arguments.limit, arguments.out)
    figures = measure_gain(
        *(home, arguments.questions, arguments.format, opened, how, engine, report, terminal.say)
    )
    if arguments.picture:
        with warned_of_refusals(arguments.picture, "the picture was not drawn.", terminal.say):
            draw_gain(arguments.picture, figures)
    return figures


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


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the models, show the figures, and return the exit code."""
    parser = study_parser(__doc__)
    parser.add_argument(
        "--models",
        metavar="NAMES",
        help="folders, hub names or endpoint:NAME, with commas (the settings' model)",
    )
    parser.add_argument(
        "--proxy", metavar="MODEL", help="measure how well this smaller model predicts the others"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="for every question's outcomes")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the gains: .svg, .png")
    arguments = parser.parse_args(argv)
    return run_as_command(arguments, partial(measured, arguments), show)


if __name__ == "__main__":
    sys.exit(main())
