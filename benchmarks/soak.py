"""Refresh a home over and over while readers ask it, and watch memory, handles and files.

    python -m benchmarks.soak [--minutes 5] [--every 5] [--documents 40] [--readers 2]

One process refreshes every few seconds, each time with a changed document; others search, run SQL
on the tables and on the live records, and append records of their own. Each process notes its
memory and its open files after a fifth of the time and at the end.
"""

import multiprocessing
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import almanac
from benchmarks.command import parser_of, report, run_command
from benchmarks.nights import change, extent, settings
from benchmarks.villages import write_corpus
from schemas.operations import Rejection
from tasks.refresh import refresh
from warehouse.home import Home
from warehouse.live import record

COMPACT_AFTER = 4  # more often than by default, so that a short run sees it often
SETTLED = 0.2  # of the time, after which nothing should grow
COUNT = "select (select count(*) from runs), (select count(*) from triples)"
RUNS = multiprocessing.get_context("forkserver")


def held() -> dict[str, int]:
    """Return this process' resident memory in bytes and its number of open files."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return {
        "memory": pages * os.sysconf("SC_PAGE_SIZE"),
        "handles": sum(1 for _ in Path("/proc/self/fd").iterdir()),
    }


def over_and_over(act: Callable[[], None], minutes: float, every: float, reports: Any) -> None:
    """Act every so many seconds; tell what was held early and at the end, and all errors."""
    begun, done, errors, early = time.monotonic(), 0, Counter[str](), None
    while (now := time.monotonic() - begun) < minutes * 60:
        if early is None and done and now >= SETTLED * minutes * 60:
            early = held()
        try:
            act()
        except Exception as error:
            errors[f"{type(error).__name__}: {error}"[:300]] += 1
        done += 1
        time.sleep(max(0.0, every * done - (time.monotonic() - begun)))
    reports.put({"done": done, "errors": dict(errors), "early": early, "late": held()})


def write(home: Path, corpus: Path, minutes: float, every: float, reports: Any) -> None:
    """Refresh over and over, each time with one more document that has changed."""
    chance = random.Random(2)

    def act() -> None:
        change(corpus, corpus.parent / "spare", 1, chance)
        refresh(Home(home), [str(corpus)], settings(COMPACT_AFTER))

    over_and_over(act, minutes, every, reports)


def read(home: Path, minutes: float, every: float, reports: Any) -> None:
    """Search, query and append over and over, on a home that stays open."""
    live = Home(home).live
    with almanac.open(home) as place:

        def act() -> None:
            place.search("water mill", limit=5)
            place.sql(COUNT)
            now = datetime.now(UTC)
            about = {"run_id": "soak", "stage": "read", "reason": "none", "rejected_at": now}
            record(live, Rejection(**about, item_id=uuid4().hex))

        over_and_over(act, minutes, every, reports)


def main() -> bool:
    """Run the benchmark and write its results; return whether anything failed."""
    parser = parser_of(__doc__, minutes=5.0, every=5.0, documents=40, readers=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-soak-") as work:
        home, corpus = Path(work) / "home", Path(work) / "corpus"
        write_corpus(corpus, given.documents)
        refresh(Home(home), [str(corpus)], settings(COMPACT_AFTER))
        times, reports = (given.minutes, given.every), RUNS.Queue()
        readers = [
            RUNS.Process(target=read, args=(home, *times, reports)) for _ in range(given.readers)
        ]
        writer = RUNS.Process(target=write, args=(home, corpus, *times, reports))
        for process in (*readers, writer):
            process.start()
        sizes, begun = [], time.monotonic()
        while any(process.is_alive() for process in (*readers, writer)):
            time.sleep(min(given.every, 5.0))
            sizes.append((time.monotonic() - begun, extent(home)))
            if reports.qsize() > given.readers:
                break
        ends = [reports.get(timeout=60) for _ in (*readers, writer)]
        damaged = [*Home(home).journal.damaged(), *Home(home).live.damaged()]
    settled = [size for at, size in sizes if at >= SETTLED * given.minutes * 60] or [sizes[-1][1]]
    report("soak", figures_of(ends, settled, damaged) | {"minutes": given.minutes})
    return bool(damaged or any(end["errors"] for end in ends))


def figures_of(
    ends: list[dict[str, Any]], sizes: list[dict[str, Any]], damaged: list[str]
) -> dict[str, Any]:
    """Return errors, and how much more each process held at the end than early."""
    errors = [error for end in ends for error in end["errors"]]
    grown = [
        {name: end["late"][name] / end["early"][name] for name in end["late"]}
        for end in ends
        if end["early"]
    ]
    return {
        "times": sum(end["done"] for end in ends),
        "errors": len(errors),
        "what": errors[:5],
        "damaged": len(damaged),
        "memory_grew": round(max((one["memory"] for one in grown), default=1.0), 3),
        "handles_grew": round(max((one["handles"] for one in grown), default=1.0), 3),
        "most_files": {part: max(size[part]["files"] for size in sizes) for part in sizes[0]},
        "home_early": sizes[0],
        "home_late": sizes[-1],
    }


if __name__ == "__main__":
    run_command(main)
