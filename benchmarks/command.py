"""What every command here shares: its results file, and what it shares with recipes.

BENCHMARK_RESULTS is the folder of the results, in place of `benchmarks/results`.
"""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from recipes.command import DATA, ROOT, data, missing, parser_of, run_command

__all__ = [
    "DATA",
    "RESULTS",
    "commit",
    "data",
    "missing",
    "parser_of",
    "report",
    "results_folder",
    "run_command",
]
RESULTS = ROOT / "benchmarks" / "results"


def report(name: str, figures: dict[str, Any]) -> Path:
    """Print the figures, write them to NAME.json with their command and origin; return the file.

    Paths in the command are shortened to their last part.
    """
    main = sys.modules["__main__"].__spec__
    module = main.name if main else sys.argv[0]
    words = [Path(word).name if os.sep in word else word for word in sys.argv[1:]]
    about = {
        "command": " ".join(["python -m", module.removesuffix(".__main__"), *words]),
        "measured_on": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }
    print(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode(), flush=True)
    path = results_folder() / f"{name}.json"
    path.write_bytes(orjson.dumps({**about, **figures}, option=orjson.OPT_INDENT_2) + b"\n")
    return path


def results_folder() -> Path:
    """Return the folder of the results, made if it is not there."""
    folder = Path(os.environ.get("BENCHMARK_RESULTS") or RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def commit() -> str:
    """Return the commit that is measured; `+` marks changes to it, but for results themselves."""
    head = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", ":/", ":!/benchmarks/results", ":!/docs")
    return f"{head}+" if changed else head or "unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()
