"""Types for reports, warnings, and running stages and batches, with plain defaults."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

Report = Callable[[str, int, int], None]  # stage, amount done, total (0: none)
Warn = Callable[[str], None]  # tells people something in plain words
RunStage = Callable[[str, Callable[[], None]], None]  # runs a stage, given its name and its work
Each = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]
"""Yields `work(*batch)` for each batch, in any order, and decides where that happens."""


class Workers(Protocol):
    """What processes batches as `Each` does, so many at once, in other processes."""

    @property
    def threads(self) -> int:
        """How many batches are processed at once."""
        ...

    def __call__(
        self,
        work: Callable[..., Any],
        batches: Iterable[tuple[Any, ...]],
        leases: Sequence[Any] = (),
    ) -> Iterator[Any]:
        """Yield `work(*batch)`, or `work(lease, *batch)` if it has to hold one of some leases."""
        ...


def run_plainly(name: str, work: Callable[[], None]) -> None:
    """Do the work of a stage and nothing else."""
    work()


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


def in_order(numbered: Iterator[tuple[int, Any]]) -> Iterator[Any]:
    """Yield results that come with their numbers, from 0 on, in order; early ones wait."""
    early: dict[int, Any] = {}
    number = 0
    for own, result in numbered:
        early[own] = result
        while number in early:
            yield early.pop(number)
            number += 1
