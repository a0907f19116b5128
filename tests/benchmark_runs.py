"""Runs the commands of `benchmarks`, which tests do not import, mostly in processes of their own.

They are forks of a process that has loaded the libraries, which a command would take seconds for.
"""

import io
import json
import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from warehouse.home import Home

REPOSITORY = Path(__file__).parents[1]
SERVER = multiprocessing.get_context("forkserver")
SECONDS = 300  # that a command may take


def run_benchmark(name: str, *options: str, **environment: str) -> tuple[int, str, str]:
    """Run `python -m benchmarks.NAME`; return exit code, output and messages."""
    with TemporaryDirectory() as folder:
        files = [Path(folder) / file for file in ("out", "err")]
        given = (name, options, {**os.environ, **environment}, files)
        process = SERVER.Process(target=_run, args=given)
        process.start()
        process.join(SECONDS)
        process.kill()
        process.join()
        assert process.exitcode is not None
        return process.exitcode, *(file.read_text(encoding="utf-8") for file in files)


def _run(
    name: str, options: Sequence[str], environment: Mapping[str, str], files: Sequence[Path]
) -> None:
    """Become `python -m benchmarks.NAME`, with its output in files."""
    for descriptor, file in enumerate(files, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), descriptor)
    os.chdir(REPOSITORY)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [name, *options]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)


def figures_of(name: str, results: Path, *options: str) -> dict[str, Any]:
    """Return the figures of a benchmark that must succeed; `results` is a new folder."""
    code, _, err = run_benchmark(name, *options, BENCHMARK_RESULTS=str(results))
    assert code == 0, err
    (file,) = results.iterdir()
    figures: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return figures


def study(name: str, home: Home, questions: Path, *options: str) -> tuple[int, str, str]:
    """Run a study on questions in the format `jsonl`; return exit code, output and messages.

    It runs in this process, where other tests load the models' libraries, too.
    """
    words = [name, str(questions), "--format", "jsonl", "--home", str(home.path), *options]
    out, err = io.StringIO(), io.StringIO()
    with patch.object(sys, "argv", words), redirect_stdout(out), redirect_stderr(err):
        try:
            runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            return int(end.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("a command ends with its status")


def study_result(name: str, home: Home, questions: Path, *options: str) -> dict[str, Any]:
    """Return the result of a study that must succeed."""
    code, out, err = study(name, home, questions, *options, "--json")
    assert code == 0, err
    result: dict[str, Any] = json.loads(out)
    return result
