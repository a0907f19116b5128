"""`almanac import-graph`: imports a graph from a file."""

import argparse
from pathlib import Path

from flows import terminal
from flows.commands.refresh import show_report, without_vectors
from flows.home import home_of, settings_of
from flows.jobs import ImportGraph
from flows.orchestration import run_job
from tasks.graphs.formats.formats import plan
from tasks.import_graph import check_name


def run(arguments: argparse.Namespace) -> int:
    """Import the file and show the run's summary."""
    settings = settings_of(home_of(arguments))
    job = ImportGraph.from_arguments(
        arguments,
        source=arguments.file,
        languages=arguments.language or [],
        wait_seconds=arguments.wait,
        settings=without_vectors(settings) if arguments.no_vectors else settings,
    )
    check_name(job.name)  # errors are reported before anything starts
    plan(Path(job.source), job.format, Path(job.mapping) if job.mapping else None, job.languages)
    terminal.show_result(run_job(job, arguments), show_report, as_json=arguments.json)
    return 0
