"""`almanac refresh`: reads sources, extracts from them, and publishes an edition."""

import argparse
from typing import Any

from flows import terminal
from flows.home import home_of, settings_of
from flows.jobs import RefreshKnowledge
from flows.model_options import check_model, with_model_options
from flows.orchestration import run_job
from flows.summary import YIELD_COLUMNS, counted, headline, yields
from schemas.settings import Settings
from tasks.ingest.formats.url_secrets import hide_secrets
from tasks.run import RunReport


def run(arguments: argparse.Namespace) -> int:
    """Bring the home up to date with the sources and show the run's summary."""
    home = home_of(arguments)
    settings = with_options(settings_of(home), arguments)
    check_model(home, settings.engine)
    job = RefreshKnowledge.from_arguments(
        arguments,
        sources=hide_secrets(arguments.sources),
        settings=settings,
        wait_seconds=arguments.wait,
    )
    terminal.show_result(run_job(job, arguments), show_report, as_json=arguments.json)
    return 0


def with_options(settings: Settings, arguments: argparse.Namespace) -> Settings:
    """Return the settings, with options of the command line in place of their own values."""
    engine = with_model_options(settings.engine, arguments)
    persons = {"speaker": arguments.speaker, "audience": arguments.audience}
    engine = engine.model_copy(update={k: v for k, v in persons.items() if v is not None})
    changes: dict[str, Any] = {"engine": engine}
    if arguments.workers:
        changes.update(workers=arguments.workers)
    if arguments.dask:
        address = None if arguments.dask == "local" else arguments.dask
        changes.update(runner="dask", dask_address=address)
    settings = settings.model_copy(update=changes)
    return without_vectors(settings) if arguments.no_vectors else settings


def without_vectors(settings: Settings) -> Settings:
    """Return the settings without an encoder, so that search uses words alone."""
    engine = settings.engine.model_copy(update={"encoder": "none"})
    return settings.model_copy(update={"engine": engine})


def show_report(report: dict[str, Any]) -> None:
    """Print the summary of a run."""
    run = RunReport(**report)
    counts = list(counted(run))
    if counts:
        terminal.table(["stage", "what", "number"], counts)
    if run.yields:
        terminal.table(YIELD_COLUMNS, yields(run))
    seconds = ", ".join(f"{stage} {spent:.1f} s" for stage, spent in run.seconds.items())
    terminal.show(f"Time: {seconds}.")
    if "calls" in run.counts:
        terminal.show("Cost: unknown." if run.cost is None else f"Cost: {run.cost:.4f}.")
    for note in run.notes:
        terminal.show(f"Note: {note}.")
    terminal.show(headline(run))
