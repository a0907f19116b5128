"""Simulate a year of nightly refreshes of a corpus of which a small part changes each night.

    python -m benchmarks.nights [--nights 365] [--documents 200] [--change 0.005]

Each night some documents are written anew and a refresh runs in this process, on a home opened
anew, with the embedded engine and without vectors. The first nights, in which the corpus comes in
and the models are loaded, are not counted; then the median CPU time of ten nights at the beginning
is compared with that of the last ten. `never compacted` is the same with compaction put off.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import Any

from benchmarks.command import parser_of, report, run_command
from benchmarks.villages import write_corpus
from schemas.settings import EngineSettings, PublishSettings, Settings
from tasks.refresh import refresh
from warehouse.home import Home

SOME = 10  # nights whose times are compared
WARM = 3  # nights before these
NEVER = 1_000_000


def settings(compact_after: int) -> Settings:
    """Return settings of a small home; no edition is kept because it is young, as all are here."""
    publish = PublishSettings(keep_editions=5, keep_days=0, compact_after=compact_after)
    return Settings(engine=EngineSettings(encoder="none"), publish=publish, workers=1)


def change(corpus: Path, spare: Path, number: int, chance: random.Random) -> None:
    """Put texts that the corpus never had in the place of so many of its documents."""
    write_corpus(spare, number, seed=chance.randrange(1 << 30))
    for text in spare.glob("*.md"):
        chance.choice(sorted(corpus.glob("*.md"))).write_bytes(text.read_bytes())


def extent(home: Path) -> dict[str, dict[str, int]]:
    """Return the files and bytes of each part of a home, which may be refreshed meanwhile."""
    found = {}
    for part in ("journal", "live", "editions"):
        files = list(_sizes(home / part))
        found[part] = {"files": len(files), "bytes": sum(dict(files).values())}
    return found


def _sizes(folder: Path) -> Iterator[tuple[int, int]]:
    """Yield the number and the size of each file; editions share files, which have one number."""
    for place, _, names in os.walk(folder):  # a folder that goes meanwhile is left out
        for name in names:
            with suppress(FileNotFoundError):
                stat = (Path(place) / name).lstat()
                if S_ISREG(stat.st_mode):
                    yield stat.st_ino, stat.st_size


def play(work: Path, nights: int, documents: int, share: float, compact_after: int) -> Any:
    """Return the CPU seconds of each night, and how large the home was after each."""
    corpus, home, chance = work / "corpus", work / "home", random.Random(1)
    write_corpus(corpus, documents)
    seconds, extents = [], []
    for night in range(nights + WARM):
        started = time.process_time()
        refresh(Home(home), [str(corpus)], settings(compact_after))
        seconds.append(time.process_time() - started)
        extents.append(extent(home))
        print(f"night {night}: {seconds[-1]:.2f} s", file=sys.stderr)
        change(corpus, work / "spare", max(1, round(documents * share)), chance)
    return seconds[WARM:], extents[WARM:]


def figures_of(seconds: list[float], extents: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the nights cost at the beginning and at the end, and the size of the home."""
    first, last = (statistics.median(some) for some in (seconds[:SOME], seconds[-SOME:]))
    return {
        "cpu_seconds_first": round(first, 3),
        "cpu_seconds_last": round(last, 3),
        "last_to_first": round(last / first, 3),
        "most_files": {part: max(e[part]["files"] for e in extents) for part in extents[0]},
        "home_first": extents[0],
        "home_last": extents[-1],
    }


def main() -> bool:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__, nights=365, documents=200, change=0.005)
    parser.add_argument("--never", action="store_true", help="also put compaction off")
    given = parser.parse_args()
    figures: dict[str, Any] = {"nights": given.nights, "documents": given.documents}
    plans = {"compacted": PublishSettings().compact_after, "never compacted": NEVER}
    for name, compact_after in plans.items():
        if name == "compacted" or given.never:
            with tempfile.TemporaryDirectory(prefix="almanac-nights-") as work:
                played = play(
                    Path(work), given.nights, given.documents, given.change, compact_after
                )
            figures[name] = figures_of(*played)
    report("nights", figures)
    return False


if __name__ == "__main__":
    run_command(main)
