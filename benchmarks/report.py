"""Writing the report of an edition with a million triples: seconds, and peak memory.

    python -m benchmarks.report [--triples 1000000]

The triples are those of `benchmarks.graph_import`, whose names and relations are drawn with skew.
The report is written in a process of its own, as `almanac report` does.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.command import parser_of, report, run_command
from benchmarks.graph_import import FORMATS, import_it, write_lines
from tasks.report.write import write_report
from warehouse.home import Home


def write(home: Home, folder: Path) -> dict[str, Any]:
    """Write the report of a home into a folder; return what it took, in seconds and MB."""
    started = time.perf_counter()
    written = write_report(home, home.require_edition(), folder)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seconds": round(time.perf_counter() - started, 1),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_mb": used.ru_maxrss // 1024,
        "files": written.files,
        "mb": written.size // 1_000_000,
    }


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__, triples=1_000_000)
    parser.add_argument("--only", nargs=2)
    arguments = parser.parse_args()
    if arguments.only:
        place, folder = map(Path, arguments.only)
        print(json.dumps(write(Home(place), folder)))
        return
    with tempfile.TemporaryDirectory() as name:
        lines, place, folder = (Path(name) / part for part in ("large.tsv", "home", "report"))
        write_lines(lines, arguments.triples, FORMATS["tsv"])
        import_it(lines, place, publish=True)
        command = [sys.executable, "-m", "benchmarks.report", "--only", str(place), str(folder)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    report("report", {"triples": arguments.triples, **json.loads(done.stdout.splitlines()[-1])})


if __name__ == "__main__":
    run_command(main)
