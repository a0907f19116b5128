"""Programs that try to escape, and ordinary ones that must run.

    python -m benchmarks.programs_safety

Every program of `hostile/escape_programs.jsonl` in three forms: as it is, with the names of its
target bound to our functions, and inside a `search()`. It counts canary files, secrets in anything
that comes back, connections to a socket of ours, changes to this process, and programs that do not
return within a second of their limit. Then six probes of our own run as scripts of a Python
confined only by the operating system, and of one that is not confined, to see that the traps
notice; no program of the file ever runs outside of the sandbox. Last, the ordinary programs of the
tests.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.command import DATA, parser_of, report, run_command
from tests.hostile_programs import Traps, escape_programs, run_hostile, run_probes
from tests.test_programs_ordinary import ordinary_programs, run_ordinary, what_came


def run_all_ordinary() -> dict[str, Any]:
    """Run the ordinary programs; return how many ran, and their time."""
    failed, times = [], []
    for name, expected, code in ordinary_programs():
        began = time.perf_counter()
        run = run_ordinary(code)
        times.append(time.perf_counter() - began)
        if run.error or expected not in what_came(run):
            failed.append(name)
    times.sort()
    return {
        "programs": len(times),
        "ran": len(times) - len(failed),
        "failed": failed,
        "median_milliseconds": round(1000 * times[len(times) // 2], 2),
    }


def main() -> int:
    """Run everything and write the figures; 1 if anything got out."""
    parser = parser_of(__doc__)
    parser.add_argument("--limit", type=int, metavar="N", help="hostile programs (all)")
    most = parser.parse_args().limit
    rows = escape_programs(DATA)[:most]
    with tempfile.TemporaryDirectory() as folder, Traps(Path(folder)) as traps:
        sandbox = run_hostile(traps, rows)
        wall = run_probes(traps, confined=True)
        control = run_probes(traps, confined=False)
    figures = {
        "sandbox": sandbox,
        "wall_of_the_system_alone": wall,
        "without_it": control,
        "ordinary": run_all_ordinary(),
    }
    report("programs-safety", figures)
    return int(bool(sandbox["harmful"] or sandbox["late"] or wall["harmful"]))


if __name__ == "__main__":
    run_command(main)
