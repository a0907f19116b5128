"""Runs the commands of studies, which are no part of the product, as people do."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from warehouse.home import Home

REPOSITORY = Path(__file__).parents[1]


def study(name: str, home: Home, questions: Path, *options: str) -> tuple[int, str, str]:
    """Run a study on questions in the format `jsonl`; return exit code, output and messages."""
    place = ["--format", "jsonl", "--home", str(home.path)]
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", str(questions), *place, *options],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def study_result(name: str, home: Home, questions: Path, *options: str) -> dict[str, Any]:
    """Return the result of a study that must succeed."""
    code, out, err = study(name, home, questions, *options, "--json")
    assert code == 0, err
    result: dict[str, Any] = json.loads(out)
    return result
