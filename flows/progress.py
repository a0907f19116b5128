"""Progress of a run: bars on a terminal, a plain line every few seconds elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from flows import terminal
from tasks.progress import Report

LINE_SECONDS = 5.0


@contextmanager
def shown() -> Iterator[Report]:
    """Yield a report that writes to standard error."""
    with ExitStack() as bars:
        yield _bars(bars) if sys.stderr.isatty() else _lines()


def _bars(shown: ExitStack) -> Report:
    """Return a report of bars, which are drawn from the first report until `shown` is closed."""
    bars: dict[str, Any] = {}

    def report(stage: str, done: int, total: int) -> None:
        if not total:
            terminal.say(stage)
            return
        if not bars:
            bars[""] = shown.enter_context(_progress())
        if stage not in bars:
            bars[stage] = bars[""].add_task(stage, total=total)
        bars[""].update(bars[stage], completed=done, total=total)

    return report


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description:>8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def _lines() -> Report:
    last: dict[str, float] = {}

    def report(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - last.setdefault(stage, now) >= LINE_SECONDS:
            last[stage] = now
            terminal.say(f"{stage}: {done} of {total}" if total else stage)

    return report
