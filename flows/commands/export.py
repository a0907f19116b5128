"""`almanac export`: writes an edition in the formats of other tools."""

from collections.abc import Iterator
from typing import Any

from flows.jobs import EDITION, LABELS, Command, OutPath, Runner, option
from flows.terminal import Shown
from tasks.text.english_words import counted


class Export(Command):
    """Write an edition as RDF, GraphML, a data set, notes and more, for other tools."""

    format: str = option(
        "NAME",
        "nt or ttl (RDF 1.2), graphml, neo4j-csv, hf (a data set for Hugging Face), dbt (sources), "
        "jsonl, obsidian (linked notes), or a plug-in's.",
    )
    out: OutPath = option(
        "PATH", "The file or folder to write; only an earlier export is replaced."
    )
    graph: str | None = option(
        "NAME", "This graph alone; `corpus` is your texts (all graphs).", None
    )
    edition: str | None = EDITION
    labels: list[str] = LABELS

    def work(self, runner: Runner) -> dict[str, Any]:
        """Write the export and return its size."""
        from flows.home import edition_of
        from tasks.export.export import export
        from warehouse.disk_errors import refusals_in_words

        spill = self.place.spill
        with (
            refusals_in_words(self.place.path, self.out),
            edition_of(self.place, self.edition, labels=self.labels).pinned() as edition,
        ):
            return export(edition, self.format, self.out, graph=self.graph, spill=spill)

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield what was written where."""
        files = counted(result["files"], "file")
        yield f"{result['out']}: edition {result['edition']}, {files}, {result['bytes']:,} bytes"


COMMAND = Export
