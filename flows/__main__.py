"""The command line: one module per command, loaded only when the command is called."""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from flows import terminal
from flows.commands import COMMANDS

INTERRUPTED = "Query interrupted"  # DuckDB's error in place of KeyboardInterrupt


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0 done, 1 the work failed, 2 the call was wrong."""
    # Libraries make hundreds of thousands of objects that stay: looking through them for garbage
    # every 700 was a tenth of the time of short commands.
    gc.set_threshold(20_000)
    # As defaults of the parser they would overwrite the options given before the command.
    unset = argparse.Namespace(home=None, json=False, debug=False)
    arguments = build_parser().parse_args(argv, unset)
    try:
        _refuse_broken_text(arguments)
        command = import_module(f".commands.{arguments.module}", __package__)
        return int(command.run(arguments))
    except BrokenPipeError:
        # The reader of the output, such as `head`, has enough; flushing at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _stopped(arguments)
    except Exception as error:
        if isinstance(error, RuntimeError) and str(error) == INTERRUPTED:
            return _stopped(arguments)
        if arguments.debug:
            raise
        return explain(error, arguments)


def _stopped(arguments: argparse.Namespace) -> int:
    """Say that the user stopped the command, and of a job what becomes of it; return 1."""
    kept = " Finished work is kept, and the next run continues from there."
    terminal.say("Stopped." + (kept if hasattr(arguments, "prefect") else ""))
    return 1


def explain(error: Exception, arguments: argparse.Namespace) -> int:
    """Print an error in plain words; return the exit code."""
    from flows.home import folder_of
    from schemas.errors import AlmanacError
    from warehouse.disk_errors import refusal_in_words

    if isinstance(error, AlmanacError):
        terminal.say(str(error))
        return error.exit_code
    words = refusal_in_words(error, folder_of(arguments))
    if words is not None:
        terminal.say(words)
        return 1
    terminal.say(
        f"Something unexpected went wrong ({type(error).__name__}: {error}). "
        "Run the command again with --debug to see where."
    )
    return 1


def _refuse_broken_text(arguments: argparse.Namespace) -> None:
    """Raise UsageError for arguments that are not UTF-8; only paths to read may be any bytes."""
    from schemas.errors import UsageError

    for name, value in vars(arguments).items():
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str):
                continue
            if "\0" in text:
                raise UsageError(f"The value of {name} holds a NUL character.")
            try:
                text.encode()
            except UnicodeEncodeError:
                if name not in ("home", "examples", "sources"):
                    raise UsageError(f"The value of {name} is not UTF-8 text.") from None


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    shared = shared_options()
    parser = argparse.ArgumentParser(
        prog="almanac",
        description="Keep a knowledge base up to date with texts; ask it, and query it in SQL.",
        parents=[shared],
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module, add in COMMANDS.items():
        add(commands, shared, module)
    return parser


def shared_options() -> argparse.ArgumentParser:
    """Return the options that may stand before or after the command."""
    shared = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument(
        "--home",
        metavar="DIR",
        help="the almanac's folder (ALMANAC_HOME, else ./almanac-home; of demo ./demo-home)",
    )
    shared.add_argument("--json", action="store_true", help="print one JSON value and nothing else")
    shared.add_argument("--debug", action="store_true", help="show where an error comes from")
    return shared


if __name__ == "__main__":
    sys.exit(main())
