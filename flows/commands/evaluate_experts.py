"""`almanac evaluate --study`: measures the effect of experts, their filters and their modes."""

import argparse
from typing import Any

from flows import terminal
from flows.commands.parsing import listed
from flows.evaluations import EvaluateExperts
from flows.orchestration import run_job
from schemas.settings import Settings


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure all rows of the study, write its report, and show the tables."""
    job = EvaluateExperts.from_arguments(
        arguments,
        models=listed(arguments.models),
        groups=listed(arguments.study),
        datasets=listed(arguments.datasets),
        settings=settings,
    )
    terminal.show_result(run_job(job, arguments), show, as_json=arguments.json)
    return 0


def show(figures: dict[str, Any]) -> None:
    """Print the tables of each data set."""
    from tasks.evaluate.experts_study.report import SECTIONS, shown_table

    for dataset, tables in figures["tables"].items():
        for name, section in SECTIONS.items():
            columns, rows = shown_table(name, tables[name])
            if rows:
                terminal.show(f"{dataset}: {section.heading}. {section.words}")
                terminal.table(columns, rows)
