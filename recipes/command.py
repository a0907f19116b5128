"""What the commands of recipes and benchmarks share: their options, their data, how they end.

ALMANAC_DATA is the folder of the data; else it is `shared/data` beside the checkout.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from schemas.errors import AlmanacError

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("ALMANAC_DATA") or ROOT.parent / "shared" / "data")
MISSING = "which belongs to the benchmark data"


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
            shown: dict[str, Any] = {
                "metavar": type(default).__name__.upper(),
                "help": f"({default})",
            }
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
        f"There is no {path}, {MISSING}. ALMANAC_DATA names the folder of that data; now it is "
        f"{DATA}."
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
