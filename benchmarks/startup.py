"""How long commands take from the shell on the sample corpus' edition.

    python -m benchmarks.startup [--home demo-home]

Without a home one is made. Each command is a process of its own; the first of each kind runs after
the system's file cache was emptied, where that is allowed, and is reported as cold. Processor
seconds are given, too: on a busy machine they say more.
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
TIMES = 7
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


def measure(home: Path) -> dict[str, Any]:
    """Return cold and median warm seconds of each command, and the mean of the processor's."""
    figures: dict[str, Any] = {}
    for name, words in COMMANDS.items():
        cold = empty_file_cache()
        first = almanac(home, *words)
        before = processor_seconds()
        warm = [almanac(home, *words) for _ in range(TIMES)]
        figures[name] = {
            "cold_seconds" if cold else "first_seconds": round(first, 2),
            "warm_seconds": round(statistics.median(warm), 2),
            "processor_seconds": round((processor_seconds() - before) / TIMES, 2),
        }
    return figures


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-startup-") as made:
        home = arguments.home or Path(made)
        if not arguments.home:
            almanac(home, "refresh", str(EXAMPLES / "corpus"))
        figures = measure(home)
    report("startup", figures)


if __name__ == "__main__":
    run_command(main)
