"""`almanac evaluate --arms`: measures how each way to search and phrase a graph helps a reader."""

import argparse
from typing import Any

from flows import terminal
from flows.evaluations import EvaluateArms, arm_rows
from flows.orchestration import run_job
from schemas.errors import UsageError
from schemas.settings import Settings


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure all arms and show them beside the best, the bandit and the oracle."""
    if not arguments.graph:
        raise UsageError("Name the graph whose paths are read with --graph.")
    job = EvaluateArms.from_arguments(arguments, settings=settings)
    terminal.show_result(run_job(job, arguments), show, as_json=arguments.json)
    return 0


def show(result: dict[str, Any]) -> None:
    """Print the table."""
    rows = arm_rows(result["rows"])
    terminal.table(list(rows[0]), [list(row.values()) for row in rows])
    terminal.show(
        f"{result['rows'][0]['items']} questions of {result['dataset']}, read by "
        f"{result['reader']}; chance {result['chance']:.3f}; best arm and bandit are from "
        f"{result['trained_on']} other questions."
    )
