"""`almanac graphs`: lists and removes imported graphs."""

from dataclasses import asdict
from typing import Any

from flows.jobs import Command, Publication, Runner, operand

COLUMNS = ("graph", "triples", "rejected", "format", "language", "source", "imported_at")


class ListGraphs(Command):
    """List the imported graphs."""

    none_yet = (
        "No graph has been imported yet; `almanac import-graph FILE --name NAME` imports one."
    )

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the imported graphs."""
        from tasks.import_graph import list_graphs

        return [{column: graph[column] for column in COLUMNS} for graph in list_graphs(self.place)]


class RemoveGraph(Publication):
    """Remove a graph and publish an edition without it."""

    name: str = operand("NAME", "The graph's name.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Remove the graph and return the run."""
        from tasks.import_graph import remove_graph

        return asdict(
            remove_graph(self.place, self.name, self.chosen_settings, report=runner.report)
        )


COMMAND = {"list": ListGraphs, "remove": RemoveGraph}
