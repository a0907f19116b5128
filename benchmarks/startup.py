"""How long commands take from the shell on the sample corpus' edition.

    python -m benchmarks.startup [--home demo-home] [--times N] [--warm]

Without a home one is made. Each command is a process of its own; the first of each kind runs after
the system's file cache was emptied, where that is allowed, and is reported as cold; `--warm` leaves
the cache, which all programs of the machine share, as it is. Processor seconds are given, too: on a
busy machine they say more.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.command import parser_of, report, run_command

EXAMPLES = Path(__file__).parents[1] / "examples"
COMMANDS = {
    "sql": ["sql", "select kind, count(*) from entities group by all order by all"],
    "ask": ["ask", "Who founded Amazon?"],
    "ask_zh": ["ask", "清华大学位于哪里？"],
    "editions": ["editions", "list"],
    "refresh_nothing_new": ["refresh", str(EXAMPLES / "corpus")],
}


def almanac(home: Path, *words: str) -> float:
    """Run one command and return its seconds."""
    command = [sys.executable, "-m", "flows", "--home", str(home), *words]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def processor_seconds() -> float:
    """Return the processor time of all commands so far."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def empty_file_cache() -> bool:
    """Make the next reads come from the disk; return whether that was allowed."""
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError:
        return False
    return True


def first_run(home: Path, words: list[str]) -> dict[str, float]:
    """Return the seconds of a command after the file cache was emptied, if that is allowed."""
    cold = empty_file_cache()
    return {"cold_seconds" if cold else "first_seconds": round(almanac(home, *words), 2)}


def warm_runs(home: Path, words: list[str], times: int) -> dict[str, float]:
    """Return the median seconds of a command, and the mean of the processor's."""
    before = processor_seconds()
    seconds = [almanac(home, *words) for _ in range(times)]
    return {
        "warm_seconds": round(statistics.median(seconds), 2),
        "processor_seconds": round((processor_seconds() - before) / times, 2),
    }


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__, times=7)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--warm", action="store_true", help="do not empty the file cache")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-startup-") as made:
        home = arguments.home or Path(made)
        if not arguments.home:
            almanac(home, "refresh", str(EXAMPLES / "corpus"))
        figures: dict[str, Any] = {}
        for name, words in COMMANDS.items():
            first = {} if arguments.warm else first_run(home, words)
            figures[name] = first | warm_runs(home, words, arguments.times)
    report("startup", figures)


if __name__ == "__main__":
    run_command(main)
