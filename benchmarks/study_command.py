"""What the commands of studies share: their first arguments, progress, and plain errors."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flows import progress, terminal
from flows.__main__ import explain
from flows.home import home_in
from tasks.progress import Report
from warehouse.home import Home


def study_parser(words: str | None) -> argparse.ArgumentParser:
    """Return a parser with the arguments that every study has; `words` describe the study."""
    parser = argparse.ArgumentParser(
        description=words, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", metavar="QUESTIONS", type=Path, help="a file or a folder")
    parser.add_argument("--format", required=True, metavar="NAME", help="as for `evaluate`")
    parser.add_argument(
        "--home", required=True, metavar="DIR", help="its table `evaluations` gets the figures"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="the first N of a seeded shuffle")
    parser.add_argument("--json", action="store_true", help="print one JSON value, no tables")
    return parser


def run_as_command(
    arguments: argparse.Namespace,
    study: Callable[[Home, Report], dict[str, Any]],
    show: Callable[[dict[str, Any]], None],
) -> int:
    """Run a study in the home that is named and print its result; return the exit code."""
    folder = Path(arguments.home)
    try:
        with progress.shown() as report:
            result = study(home_in(folder), report)
    except Exception as error:
        return explain(error, folder)
    (terminal.show_json if arguments.json else show)(result)
    return 0


def listed(names: str | None) -> list[str]:
    """Return the names in a list with commas, none for None."""
    return [name.strip() for name in (names or "").split(",") if name.strip()]
