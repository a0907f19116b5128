"""Run the short forms of documented figures and tell which no longer hold.

    python -m benchmarks.check [NAME ...] [--fast]

`figures.toml` has a short form of each command, which takes seconds, and between which bounds its
figures lie. `--fast` runs those of a second or two, in one process. Figures that need data which is
not here are named and left out. `--help-pages` opens the help of every command instead.
"""

import contextlib
import importlib
import io
import os
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson

from benchmarks.command import parser_of, run_command
from recipes.command import DATA, MISSING, ROOT, missing

FIGURES = Path(__file__).with_name("figures.toml")
LONGEST = 600  # seconds of a short form


@dataclass(frozen=True)
class Outcome:
    """What came of a short form: what differs, or what it lacks; its figures if it holds."""

    differs: list[str]
    lacking: str = ""
    found: str = ""

    @property
    def sentence(self) -> str:
        """Return in words whether the figures hold, differ, or lack data."""
        if self.lacking:
            return f"lacks data: {self.lacking}"
        return f"differs: {'; '.join(self.differs)}" if self.differs else f"holds: {self.found}"


def short_forms() -> dict[str, dict[str, Any]]:
    """Return the commands of figures by the names of their results."""
    forms: dict[str, dict[str, Any]] = tomllib.loads(FIGURES.read_text(encoding="utf-8"))["command"]
    return forms


def value_at(figures: Any, path: str) -> Any:
    """Return the figure at a path such as `linking > gold > f1`; KeyError if there is none."""
    for part in path.split(" > "):
        figures = figures[int(part)] if isinstance(figures, list) else figures[part]
    return figures


def outside(figures: dict[str, Any], bounds: dict[str, list[float]]) -> list[str]:
    """Return a line for each figure that is missing or does not lie between its bounds.

    Of a list, such as that of harmful programs, the bounds are about its length.
    """
    wrong = []
    for path, (least, most) in bounds.items():
        try:
            value = value_at(figures, path)
        except (KeyError, IndexError):
            wrong.append(f"{path} is missing")
            continue
        size = len(value) if isinstance(value, list) else value
        if not (isinstance(size, int | float) and least <= size <= most):
            wrong.append(f"{path} is {value}, not between {least} and {most}")
    return wrong


def in_a_process(words: list[str]) -> tuple[int, str, str]:
    """Run a command; return its status, the last line about what went wrong, and its output."""
    program = ["-m", "flows", *words[1:]] if words[0] == "almanac" else ["-m", *words]
    try:
        done = subprocess.run(
            [sys.executable, *program], cwd=ROOT, capture_output=True, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return 1, f"It took more than {LONGEST} s.", ""
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return done.returncode, lines[-1] if lines else "", done.stdout


def in_this_process(words: list[str]) -> tuple[int, str, str]:
    """The same for a command of this package, where others have loaded what it needs, too."""
    output = io.StringIO()
    try:
        with (
            patch.object(sys, "argv", words),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
        ):
            run_command(importlib.import_module(words[0]).main)
    except SystemExit as end:
        return (1, str(end.code), "") if end.code else (0, "", output.getvalue())
    except Exception as error:
        return 1, traceback.format_exception_only(error)[-1].strip(), ""


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def checked(name: str, form: dict[str, Any], *, here: bool) -> Outcome:
    """Run a short form and compare its results with their bounds."""
    run, printed = in_this_process if here else in_a_process, ""
    with tempfile.TemporaryDirectory(prefix="almanac-check-") as folder:
        results, work = Path(folder) / "results", Path(folder) / "work"
        work.mkdir()
        with patch.dict(os.environ, BENCHMARK_RESULTS=str(results)):
            for command in form["short"]:
                line = command.replace("WORK", str(work)).replace("DATA", str(DATA))
                given = [Path(word) for word in shlex.split(line)]
                gone = [path for path in given if path.is_relative_to(DATA) and not path.exists()]
                if gone:
                    return Outcome([], missing(gone[0]))
                status, words, printed = run(shlex.split(line))
                if MISSING in words:
                    return Outcome([], words)
                if status:
                    return Outcome([f"{command}: {words}"])
        path = results / f"{name}.json"
        figures = orjson.loads(path.read_bytes() if path.exists() else printed)
    wrong = outside(figures, form["bounds"])
    found = {path: value_at(figures, path) for path in form["bounds"] if not wrong}
    words = ", ".join(f"{path} {value}" for path, value in found.items())
    return Outcome(wrong, found=words)


def help_pages() -> list[str]:
    """Open the help of every command in this process; return those that fail."""
    wrong = []
    for package in ("benchmarks", "recipes"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if 'if __name__ == "__main__":' not in path.read_text(encoding="utf-8"):
                continue
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            status, words, _ = in_this_process([module, "--help"])
            wrong += [f"{module}: {words}"] if status else []
    return wrong


def main() -> bool:
    """Run the short forms; return whether any differs."""
    parser = parser_of(__doc__, fast=False, help_pages=False)
    forms = short_forms()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(forms))
    chosen = parser.parse_args()
    if chosen.help_pages:
        wrong = help_pages()
        print("\n".join(wrong))
        return bool(wrong)
    unknown = set(chosen.names) - set(forms)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))} is not in figures.toml.")
    differing = 0
    for name, form in forms.items():
        if (chosen.names and name not in chosen.names) or (chosen.fast and not form.get("fast")):
            continue
        began, worked = time.monotonic(), processor_seconds()
        outcome = checked(name, form, here=chosen.fast)
        times = f"{time.monotonic() - began:.1f} s, {processor_seconds() - worked:.1f} s CPU"
        print(f"{name}: {outcome.sentence} ({times})", flush=True)
        differing += bool(outcome.differs)
    return differing > 0


if __name__ == "__main__":
    run_command(main)
