"""`almanac sources`: lists and removes sources."""

from dataclasses import asdict
from typing import Any

from flows.jobs import Command, Publication, Runner, operand


class ListSources(Command):
    """List the sources."""

    none_yet = "There are no sources; `almanac refresh SOURCE` reads one."

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the sources that hold anything."""
        from tasks.sources import list_sources

        return list_sources(self.place)


class RemoveSource(Publication):
    """Remove a source's documents and publish an edition without them."""

    source: str = operand("SOURCE", "Its name in `almanac sources list`.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Remove the source and return the run."""
        from tasks.sources import remove_source

        return asdict(remove_source(self.place, self.source, self.chosen_settings, runner.report))


COMMAND = {"list": ListSources, "remove": RemoveSource}
