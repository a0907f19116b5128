"""Runs the commands of `benchmarks`, which tests do not import, in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from warehouse.home import Home

REPOSITORY = Path(__file__).parents[1]


def run_benchmark(name: str, *options: str, **environment: str) -> tuple[int, str, str]:
    """Run `python -m benchmarks.NAME`; return exit code, output and messages."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *options],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def figures_of(name: str, results: Path, *options: str) -> dict[str, Any]:
    """Return the figures of a benchmark that must succeed; `results` is a new folder."""
    code, _, err = run_benchmark(name, *options, BENCHMARK_RESULTS=str(results))
    assert code == 0, err
    (file,) = results.iterdir()
    figures: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return figures


def study(name: str, home: Home, questions: Path, *options: str) -> tuple[int, str, str]:
    """Run a study on questions in the format `jsonl`; return exit code, output and messages."""
    place = ["--format", "jsonl", "--home", str(home.path)]
    return run_benchmark(name, str(questions), *place, *options)


def study_result(name: str, home: Home, questions: Path, *options: str) -> dict[str, Any]:
    """Return the result of a study that must succeed."""
    code, out, err = study(name, home, questions, *options, "--json")
    assert code == 0, err
    result: dict[str, Any] = json.loads(out)
    return result
