"""`almanac verbalize`: turns a graph into training texts."""

import argparse

from flows import terminal
from flows.commands.ask import asked_settings
from flows.commands.refresh import show_report
from flows.expert_jobs import Verbalize
from flows.home import home_of
from flows.model_options import refuse_model_options
from flows.orchestration import run_job
from tasks.verbalize import chosen_methods


def run(arguments: argparse.Namespace) -> int:
    """Make the texts and show the run's summary."""
    chosen_methods(arguments.method or [])  # errors are reported before anything starts
    if not arguments.rewrite:
        refuse_model_options(arguments, "no text is rewritten. Add --rewrite")
    job = Verbalize.from_arguments(
        arguments,
        settings=asked_settings(home_of(arguments), arguments),
        methods=arguments.method or [],
        wait_seconds=arguments.wait,
    )
    terminal.show_result(run_job(job, arguments), show_report, as_json=arguments.json)
    return 0
