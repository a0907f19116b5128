"""Work that is killed (SIGKILL) at random points and resumed until it ends, round after round."""

import multiprocessing
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from benchmarks.command import parser_of, report

LONGEST = 120.0  # seconds of work that nobody kills
# Children come of a server that has loaded what takes long and started no thread.
SERVER = multiprocessing.get_context("forkserver")


class Tally(Protocol):
    """A dataclass that counts kills, rounds, and whatever a benchmark looks for."""

    kills: int
    rounds: int


def play_rounds(
    work: Path, tally: Tally, kills: int, run: Callable[[Path, bool], bool], check: Callable
) -> None:
    """Kill so many runs, and check the folder of each round once a run in it has ended.

    `run(folder, may_be_killed)` tells whether it ended by itself. Folders do not exist beforehand.
    """
    while tally.kills < kills:
        folder = work / f"round-{tally.rounds}"
        while not run(folder, tally.kills < kills):
            tally.kills += 1
        tally.rounds += 1
        check(folder)
        shutil.rmtree(folder)
        print(f"{tally.kills} kills, {tally.rounds} rounds", file=sys.stderr)


def ended_in_time(seconds: float | None, work: Callable[..., Any], *values: Any) -> bool:
    """Do the work in a child, killed after this many seconds; return whether it ended by itself.

    Work that nobody kills must end well; RuntimeError if it does not.
    """
    child = SERVER.Process(target=work, args=values)
    child.start()
    child.join(LONGEST if seconds is None else seconds)
    ended = child.exitcode is not None
    child.kill()
    child.join()
    if (ended or seconds is None) and child.exitcode:
        raise RuntimeError(f"work that nobody killed ended with {child.exitcode}")
    return ended


def kill_command(
    name: str,
    about: str | None,
    torture: Callable[..., Any],
    kills: int,
    faults: Iterable[str],
    **options: Any,
) -> bool:
    """Be the command of a benchmark, whose further options are given with their defaults.

    Returns whether its tally has any of the faults.
    """
    chosen = parser_of(about, kills=kills, seed=1, **options).parse_args()
    with tempfile.TemporaryDirectory(prefix=f"almanac-{name}-") as work:
        tally = asdict(torture(Path(work), **vars(chosen)))
    report(name, tally)
    return any(tally[fault] for fault in faults)


def left_in(folder: Path, *kinds: str) -> int:
    """Count the files below a folder that a run should have removed."""
    return sum(1 for kind in kinds for _ in folder.rglob(kind))


def drawn(chance: random.Random, longest: float, may_be_killed: bool) -> float | None:
    """Return after how many seconds a run is killed; None if it is not to be."""
    return chance.uniform(0, longest) if may_be_killed else None
