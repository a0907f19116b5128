"""What every command here shares: its options, its data, its results file, and how it ends.

ALMANAC_DATA is the folder of the benchmark data; else it is `shared/data` beside the checkout.
BENCHMARK_RESULTS is the folder of the results, in place of `benchmarks/results`.
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import orjson

from schemas.errors import AlmanacError

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("ALMANAC_DATA") or ROOT.parent / "shared" / "data")
RESULTS = ROOT / "benchmarks" / "results"


def parser_of(about: str | None, **defaults: Any) -> argparse.ArgumentParser:
    """Return a parser that shows `about` as it stands, with an option for each default.

    A default gives its option the type of its value; False makes a switch.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(option, action="store_true")
        else:
            shown = {"metavar": type(default).__name__.upper(), "help": f"({default})"}
            parser.add_argument(option, type=type(default), default=default, **shown)
    return parser


def data(*parts: str) -> Path:
    """Return a file or folder of the benchmark data; SystemExit says which is missing."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        raise SystemExit(missing(path))
    return path


def missing(path: Path | str) -> str:
    """Return the sentence about benchmark data that is not there."""
    return (
        f"There is no {path}, which belongs to the benchmark data. ALMANAC_DATA names its folder; "
        f"now it is {DATA}."
    )


def run_command(main: Callable[[], int | bool | None]) -> NoReturn:
    """Run a command and exit with its status; missing data and wrong use are told in a sentence."""
    try:
        status = main()
    except FileNotFoundError as error:
        if error.filename and Path(error.filename).is_relative_to(DATA):
            raise SystemExit(missing(error.filename)) from None
        raise
    except AlmanacError as error:
        raise SystemExit(str(error)) from None
    sys.exit(int(status or 0))


def report(name: str, figures: dict[str, Any]) -> Path:
    """Print the figures, write them to NAME.json with their command and origin; return the file.

    Paths in the command are shortened to their last part.
    """
    main = sys.modules["__main__"].__spec__
    words = [Path(word).name if os.sep in word else word for word in sys.argv[1:]]
    about = {
        "command": " ".join(["python -m", main.name if main else sys.argv[0], *words]),
        "measured_on": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }
    print(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode(), flush=True)
    path = Path(os.environ.get("BENCHMARK_RESULTS") or RESULTS) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps({**about, **figures}, option=orjson.OPT_INDENT_2) + b"\n")
    return path


def commit() -> str:
    """Return the commit that is measured; `+` marks changes to it, but for results themselves."""
    head = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", ":/", ":!/benchmarks/results", ":!/docs")
    return f"{head}+" if changed else head or "unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()
