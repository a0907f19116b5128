"""`almanac graphs`: lists and removes imported graphs."""

import argparse
from dataclasses import asdict

from flows import progress, terminal
from flows.commands.refresh import show_report
from flows.home import home_of, settings_of

_SHOWN = ("graph", "triples", "rejected", "format", "language", "source", "imported_at")


def run(arguments: argparse.Namespace) -> int:
    """List the imported graphs, or remove one."""
    from tasks.import_graph import list_graphs, remove_graph

    home = home_of(arguments)
    if arguments.action == "remove":
        with progress.shown() as report:
            run = asdict(remove_graph(home, arguments.name, settings_of(home), report=report))
        terminal.show_result(run, show_report, as_json=arguments.json)
        return 0
    graphs = [{column: graph[column] for column in _SHOWN} for graph in list_graphs(home)]
    if arguments.json:
        terminal.show_json(graphs)
    elif graphs:
        terminal.table(_SHOWN, [list(graph.values()) for graph in graphs])
    else:
        terminal.say(
            "No graph has been imported yet; `almanac import-graph FILE --name NAME` imports one."
        )
    return 0
