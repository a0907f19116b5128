"""`almanac sources`: lists and removes sources."""

import argparse
from dataclasses import asdict

from flows import progress, terminal
from flows.commands.refresh import show_report
from flows.home import home_of, settings_of

_SHOWN = ("source", "files", "documents", "refused", "sensitivity", "complete", "scanned_at")


def run(arguments: argparse.Namespace) -> int:
    """List the sources, or remove one with all its documents."""
    from tasks.sources import list_sources, remove_source

    home = home_of(arguments)
    if arguments.action == "remove":
        with progress.shown() as report:
            run = remove_source(home, arguments.source, settings_of(home), report)
        terminal.show_result(asdict(run), show_report, as_json=arguments.json)
        return 0
    sources = list_sources(home)
    if arguments.json:
        terminal.show_json(sources)
    elif sources:
        terminal.table(_SHOWN, [[row[column] for column in _SHOWN] for row in sources])
    else:
        terminal.say("Nothing has been read yet; `almanac refresh SOURCE` reads a source.")
    return 0
