"""A run: the state that its stages share, and the row that records it from start to end."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import orjson

from schemas.errors import HeldError
from schemas.operations import Run
from schemas.settings import Settings
from tasks.compact import compact_if_due
from tasks.lineage import Lineage
from tasks.progress import Each, Report, RunStage, Workers, run_plainly, silent
from tasks.tracing import span
from tasks.version import code_version
from warehouse.disk_errors import refusal_in_words, refusals_in_words
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.lease import lease
from warehouse.live import record


@dataclass
class RunReport:
    """The report of a run for users and for `--json`; `cost` is None if unknown.

    `yields` are the rows of the new edition's table `yields`.
    """

    run_id: str
    outcome: str = "running"
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    edition: str | None = None
    published: bool = False
    notes: list[str] = field(default_factory=list)
    yields: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    cost: float | None = 0.0
    flow: str = "refresh_knowledge"


@contextmanager
def publishing_run(
    home: Home, flow: str, settings: Settings, patience: float = 0.0
) -> Iterator[RunReport]:
    """Yield the report of a run that may build and publish, holding the home's lease meanwhile.

    Waits for another run's lease for `publish.wait_seconds`, or for `patience` seconds if that is
    longer; then raises BusyError.
    """
    wait_seconds = max(settings.publish.wait_seconds, patience)
    run = RunReport(run_id=f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:6]}", flow=flow)
    with (
        refusals_in_words(home.path),
        lease(home.path, run.run_id, wait_seconds),
        span(f"almanac.{flow}", run_id=run.run_id) as timed,
    ):
        home.set_damage_aside()
        with recorded(home, run):
            home.clean()
            yield run
            counts, notes = compact_if_due(home, settings.publish.compact_after)
            run.notes += notes
            if counts:
                run.counts["parts"] = counts
        if timed:
            timed.set_attributes({"outcome": run.outcome, "edition": run.edition or ""})


@dataclass
class Work:
    """The state shared by the stages of a run.

    `each` decides where batches are processed; a `cluster`, if there is one, before it.
    `sources_read` are those whose texts it looks at. `candidate` is the edition built for
    publication; None if nothing has changed.
    """

    home: Home
    settings: Settings
    run: RunReport
    report: Report = silent
    each: Each | None = None
    cluster: Workers | None = None
    sources_read: set[str] = field(default_factory=set)
    candidate: Edition | None = None


W = TypeVar("W", bound=Work)
Stages = Sequence[tuple[str, Callable[[W], None], str]]
"""In order: the name of each stage, its function, and in words what it makes of what."""


def run_stages(work: W, stages: Stages[W], run_stage: RunStage = run_plainly) -> None:
    """Run the stages in order and note how many seconds each took."""
    for name, stage, _ in stages:
        started = time.perf_counter()
        with span(f"almanac.stage.{name}"):
            run_stage(name, partial(stage, work))
        work.run.seconds[name] = round(time.perf_counter() - started, 3)


@contextmanager
def recorded(home: Home, run: RunReport) -> Iterator[None]:
    """Record the run from its start to its end, however it ends; close the rows of dead runs."""
    earlier = _last_row(home)  # each run closed the one before it
    if earlier and earlier["outcome"] == "running":
        # This run holds the lease, so the run that wrote this row is dead.
        record(home.live, Run(**{**earlier, "outcome": "died"}))
    started = datetime.now(UTC)
    error: str | None = None
    record(home.live, _run_row(run, started))
    lineage = Lineage(run.flow, home.path, run.notes)
    lineage.start()
    try:
        yield
    except BaseException as problem:
        words = refusal_in_words(problem, home.path)
        stopped = "It was stopped." if isinstance(problem, KeyboardInterrupt) else None
        error = words or stopped or str(problem) or type(problem).__name__
        if run.outcome == "running":
            run.outcome = "held" if isinstance(problem, HeldError) else "failed"
        raise
    finally:
        record(home.live, _run_row(run, started, datetime.now(UTC), error))
        sources = dict.fromkeys(row["source"] for row in run.yields)
        lineage.end(run.outcome, run.edition, run.counts.get("edition", {}), sources, error)


def last_run(home: Home) -> dict[str, Any] | None:
    """Return the home's last run as its row has it, with the counts by stage as a dict."""
    row = _last_row(home)
    return row and {**row, "counts": orjson.loads(row["counts"])}


def _last_row(home: Home) -> dict[str, Any] | None:
    parts = home.live.parts(Run)[-1:]
    rows = [row for part in parts for row in home.live.part_table(Run, part).to_pylist()]
    return rows[-1] if rows else None


def _run_row(
    run: RunReport, started: datetime, ended: datetime | None = None, error: str | None = None
) -> Run:
    return Run(
        run_id=run.run_id,
        flow=run.flow,
        started_at=started,
        ended_at=ended,
        outcome=run.outcome,
        counts=orjson.dumps(run.counts).decode(),
        code_version=code_version(),
        edition=run.edition if run.published else None,
        error=error,
    )
