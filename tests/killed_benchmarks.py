"""Benchmarks that kill processes, each run by a process of its own, so that it loads what it forks.

Tests share one server of processes, which loads only what most of them need.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = """
import json, sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

_, name, folder, options = sys.argv
tally = import_module(f"benchmarks.{name}").torture(Path(folder), **json.loads(options))
print(json.dumps(asdict(tally)))
"""


def tally_of(benchmark: str, folder: Path, **options: Any) -> dict[str, int]:
    """Return the results of a benchmark's kills."""
    arguments = [benchmark, str(folder), json.dumps(options)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    tally: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return tally
