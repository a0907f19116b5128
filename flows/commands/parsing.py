"""Building blocks for the parsers of all commands; imports only the standard library."""

import argparse
from datetime import date
from typing import Any

Commands = Any  # argparse keeps the type of its sub-parsers to itself


def command(
    commands: Commands,
    shared: argparse.ArgumentParser,
    name: str,
    module: str,
    what: str,
    **defaults: Any,
) -> argparse.ArgumentParser:
    """Add a command whose work is in the module with this name; return its parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=what, description=what, parents=[shared], allow_abbrev=False
    )
    parser.set_defaults(module=module, **defaults)
    return parser


def group(
    commands: Commands, shared: argparse.ArgumentParser, name: str, what: str
) -> tuple[argparse.ArgumentParser, Commands]:
    """Add a command with actions; return its parser and the sub-parsers to add them to."""
    parser = commands.add_parser(
        name, help=what, description=what, parents=[shared], allow_abbrev=False
    )
    return parser, parser.add_subparsers(metavar="ACTION", dest="action")


def model_options(p: argparse.ArgumentParser) -> None:
    """Add the choice of engine and model, and the limits on calls and cost."""
    p.add_argument(
        "--engine",
        choices=["rules", "openai", "transformers"],
        help="the embedded rules, a model behind OpenAI's API, or a local transformers model",
    )
    p.add_argument(
        "--model",
        metavar="NAME",
        help="the endpoint's model, or a local one by path, hub name, or `smollm2`",
    )
    p.add_argument("--base-url", metavar="URL", help="the endpoint (OPENAI_BASE_URL)")
    p.add_argument("--concurrency", type=positive, metavar="N", help="concurrent calls (16)")
    p.add_argument("--budget", type=amount, metavar="MONEY", help="the most that the run may cost")


def prefect_option(p: argparse.ArgumentParser) -> None:
    """Add the option that makes the command a Prefect flow run."""
    p.add_argument(
        "--prefect",
        action="store_true",
        help="run as a Prefect flow; starts a temporary server unless PREFECT_API_URL names one",
    )


def wait_option(p: argparse.ArgumentParser, seconds: float = 0.0) -> None:
    """Add how long to wait for another run that publishes."""
    p.add_argument(
        "--wait",
        type=amount,
        default=seconds,
        metavar="SECONDS",
        help=f"wait for a running refresh ({seconds:g})",
    )


def listed(names: str | None) -> list[str]:
    """Return the names in a list with commas, none for None."""
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def positive(text: str) -> int:
    """Return an integer of at least 1; raise ArgumentTypeError otherwise."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be at least 1")
    return number


def amount(text: str) -> float:
    """Return a finite number of at least 0; raise ArgumentTypeError otherwise."""
    number = float(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError("it must be 0 or more")
    return number


def day(text: str) -> date:
    """Return the date that a text in ISO format names; raise ArgumentTypeError otherwise."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError("it must be a date such as 2026-03-31") from None


def share(text: str) -> float:
    """Return a number from 0 to 1; raise ArgumentTypeError otherwise."""
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError("it must be between 0 and 1")
    return number
