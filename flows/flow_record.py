"""What a flow run leaves on the Prefect server: artifacts, and an event for each edition."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.events import emit_event

from flows import terminal
from flows.jobs import Job
from flows.summary import counts_table
from schemas.errors import HeldError
from tasks.progress import Report, Warn
from tasks.run import last_run
from warehouse.home import Home

PUBLISHED = "almanac.edition.published"
HELD = "almanac.edition.held"
PROGRESS_SECONDS = 2.0  # between two updates of a stage's progress; each is a request


class FlowRecord:
    """The record of one run of a job, kept on the server within the flow.

    What cannot be recorded is told once by `warn`, and nothing more is tried: no result depends on
    the record, and a server that is gone must not hold up the work.
    """

    def __init__(self, job: Job, warn: Warn) -> None:
        self._job, self._warn = job, warn
        self._began = datetime.now(UTC)
        self._progress: UUID | None = None
        self._stage, self._share, self._sent = "", 0.0, 0.0
        self._broken = False

    def following(self, report: Report) -> Report:
        """Return a report that also moves the run's progress artifact."""

        def follow(stage: str, done: int, total: int) -> None:
            report(stage, done, total)
            now = time.monotonic()
            if stage == self._stage and now - self._sent < PROGRESS_SECONDS:
                return
            self._stage, self._sent = stage, now
            self._share = 100 * done / max(total, 1)
            self._keep(lambda: self._move(f"{stage}: {done} of {total}" if total else stage))

        return follow

    def done(self, result: Any) -> None:
        """Record a result: in words, its first table, and the edition if one was published."""
        job = self._job
        self._keep(lambda: self._describe(terminal.as_markdown(job.shown(result)), job.outcome))
        tables = [part for part in job.shown(result) if isinstance(part, terminal.Table)]
        self._keep(lambda: self._tabulate(tables[:1]))
        self._share = 100.0
        self._keep(lambda: self._move("done"))
        if isinstance(result, dict) and result.get("published"):
            about = {"run_id": result["run_id"], "counts": result["counts"]}
            self._keep(lambda: self._announce(PUBLISHED, result["edition"], about))

    def failed(self, error: BaseException) -> None:
        """Record why there is no result, what was counted so far, and a held edition."""
        held = isinstance(error, HeldError)
        words = terminal.one_line(str(error) or type(error).__name__)
        title = "Why the run was held" if held else "Why the run failed"
        self._keep(lambda: self._describe(words, title))
        self._keep(self._tabulate_counts)
        self._keep(lambda: self._move("held" if held else "failed"))
        if isinstance(error, HeldError):
            self._keep(lambda: self._announce(HELD, error.edition, {"reason": words}))

    def _keep(self, send: Callable[[], None]) -> None:
        if self._broken:
            return
        try:
            send()
        except Exception as problem:
            self._broken = True
            self._warn(failure(problem))

    def _describe(self, markdown: str, description: str) -> None:
        key = self._job.flow_name
        create_markdown_artifact(key=key, markdown=markdown, description=description)

    def _tabulate(self, tables: list[terminal.Table]) -> None:
        rows = [
            {name: _plain(cell) for name, cell in zip(table.columns, row, strict=True)}
            for table in tables
            for row in table.rows
        ]
        if rows:
            create_table_artifact(rows, f"{self._job.flow_name}-table", self._job.outcome)

    def _tabulate_counts(self) -> None:
        run = last_run(self._job.place)
        if run and run["started_at"] >= self._began:
            counts = [
                [f"{stage}: {what}", n] for stage, what, n in counts_table(run["counts"]).rows
            ]
            ended = [[name, run[name]] for name in ("run_id", "outcome", "error")]
            self._tabulate([terminal.Table(["what", "value"], [*ended, *counts])])

    def _move(self, description: str) -> None:
        if self._progress is None:
            key = f"{self._job.flow_name}-progress"
            self._progress = cast(UUID, create_progress_artifact(self._share, key, description))
        else:
            update_progress_artifact(self._progress, self._share, description)

    def _announce(self, event: str, edition: str | None, payload: dict[str, Any]) -> None:
        home = home_resource(self._job.place)
        of = {
            "prefect.resource.id": f"almanac.edition.{edition}",
            "prefect.resource.role": "edition",
        }
        emit_event(
            event, home, related=[of] if edition else [], payload={"edition": edition, **payload}
        )


def home_resource(home: Home) -> dict[str, str]:
    """Return how events name a home; triggers match it by its id."""
    place = home.path.resolve()
    return {"prefect.resource.id": f"almanac.home.{place}", "prefect.resource.name": place.name}


def failure(problem: Exception) -> str:
    """Return a warning that Prefect failed, but not the work."""
    reason = " ".join((str(problem) or type(problem).__name__).split())[:300]
    return f"Warning: Prefect failed; the work itself is not affected: {reason}"


def _plain(cell: Any) -> Any:
    return cell if isinstance(cell, int | float) else terminal.one_line(str(cell or ""))
