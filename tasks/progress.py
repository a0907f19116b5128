"""Types for reports, warnings, and running stages and batches, with plain defaults."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

Report = Callable[[str, int, int], None]  # stage, amount done, total
Warn = Callable[[str], None]  # tells people something in plain words
RunStage = Callable[[str, Callable[[], None]], None]  # runs a stage, given its name and its work
Each = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]
"""Yields `work(*batch)` for each batch, in any order, and decides where that happens."""


def run_plainly(name: str, work: Callable[[], None]) -> None:
    """Do the work of a stage and nothing else."""
    work()


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""
