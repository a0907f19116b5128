"""The command line: one module per command, loaded only when the command is called."""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows import terminal
from flows.commands import COMMANDS
from flows.parsing import CommandParser, NearParser, add_shared_options, command_of
from flows.retired import moved

if TYPE_CHECKING:
    from flows.jobs import Call, Command, Job

INTERRUPTED = "Query interrupted"  # DuckDB's error in place of KeyboardInterrupt


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0 done, 1 the work failed, 2 the call was wrong."""
    # Libraries make hundreds of thousands of objects that stay: looking through them for garbage
    # every 700 was a tenth of the time of short commands.
    gc.set_threshold(20_000)
    arguments = _parsed(sys.argv[1:] if argv is None else argv)
    try:
        from flows.jobs import Call
        from schemas.extras import leave_out_pandas

        leave_out_pandas()
        call = Call(_do, arguments.json, arguments.debug, arguments.prefect)
        code = command_of(arguments).run(call)
        terminal.flush()
        return code
    except BrokenPipeError:  # the reader of the output, such as `head`, has enough
        _close_output()
        return 0
    except terminal.OutputError as error:
        _close_output()
        terminal.say(str(error))
        return 1
    except KeyboardInterrupt:
        return _stopped(arguments)
    except Exception as error:
        if isinstance(error, RuntimeError) and str(error) == INTERRUPTED:
            return _stopped(arguments)
        if arguments.debug:
            raise
        out = getattr(arguments, "out", None)
        home = arguments.command_model.home_folder(arguments.home)
        return explain(error, home, Path(out) if out else None)


def _close_output() -> None:
    """Send what is left of the output nowhere, so that flushing at exit does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command_typed(words: Sequence[str]) -> "Command":
    """Return the validated command that words call; leaves with code 2 if they are wrong."""
    return command_of(_parsed(words))


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    return build_parser().parse_args(moved(words))


class _Version(argparse.Action):
    """Prints the release; it is looked up only then, as that takes longer than most of the rest."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        from schemas.extras import DISTRIBUTION

        terminal.show(f"almanac {version(DISTRIBUTION)}")
        parser.exit()


def _do(job: "Job", call: "Call") -> Any:
    from flows.orchestration import run_job

    return run_job(job, call)


def _stopped(arguments: argparse.Namespace) -> int:
    """Say that the user stopped the command, and of a job what becomes of it; return 1."""
    from flows.jobs import Job

    kept = " Finished work is kept, and the next run continues from there."
    terminal.say("Stopped." + (kept if issubclass(arguments.command_model, Job) else ""))
    return 1


def explain(error: Exception, home: Path, out: Path | None = None) -> int:
    """Print an error of work on a home, which writes `out`, in words; return the exit code."""
    from schemas.errors import AlmanacError
    from warehouse.disk_errors import refusal_in_words

    if isinstance(error, AlmanacError):
        terminal.say(str(error))
        return error.exit_code
    words = refusal_in_words(error, home, out)
    if words is not None:
        terminal.say(words)
        return 1
    terminal.say(
        f"Something unexpected went wrong ({type(error).__name__}: {error}). "
        "Run the command again with --debug to see where."
    )
    return 1


def build_parser(*, whole: bool = False) -> argparse.ArgumentParser:
    """Return the parser of the whole command line; only if it is to be `whole`, all is loaded."""
    parser = NearParser(
        prog="almanac",
        description="Keep a knowledge base up to date with texts; ask it, and query it in SQL.",
        epilog="The exit code is 0 if all is done, 1 if the work failed, and 2 if the call was "
        "wrong or names what does not exist; standard error says why.",
        allow_abbrev=False,
    )
    add_shared_options(parser)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    parser.set_defaults(home=None, json=False, debug=False, prefect=False)
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", parser_class=CommandParser
    )
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, command=name, help=what, description=what)
        if whole:
            command.fill()
            for action in command.actions.values():
                action.fill()
    return parser


if __name__ == "__main__":
    sys.exit(main())
