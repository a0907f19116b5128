"""`almanac import-graph`: reads a graph that others made."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.jobs import OWN_LABELS, PublishingJob, Runner, operand, option
from schemas.labels import GivenLabels


class ImportGraph(PublishingJob):
    """Import a graph that others made and publish an edition with it."""

    flow_name = "import-graph"
    outcome = "What the import did"

    source: str = operand("FILE", "A file, or a folder described by --mapping.")
    name: str = option("NAME", "The graph's name; replaces an earlier graph with this name.")
    format: str = option(
        "NAME",
        "tsv, csv, pipe, jsonl, nt (N-Triples or N-Quads), parquet, conceptnet, wikidata, nlpcc, "
        "or a plug-in's; it is guessed with",
        "auto",
    )
    mapping: str | None = option("FILE", "YAML that describes another format (none).", None)
    languages: list[str] = option(
        "CODE",
        "Of N-Triples, ConceptNet and Wikidata, keep texts in this language only; may be repeated "
        "(en and zh).",
        [],
        name="--language",
    )

    labels: GivenLabels = OWN_LABELS

    def work(self, runner: Runner) -> dict[str, Any]:
        """Import and return the run."""
        from tasks.import_graph import import_graph

        run = import_graph(
            self.place,
            Path(self.source),
            self.chosen_settings,
            name=self.name,
            format=self.format,
            mapping=Path(self.mapping) if self.mapping else None,
            languages=self.languages,
            labels=self.labels,
            report=runner.report,
            run_stage=runner.run_stage,
        )
        return asdict(run)


COMMAND = ImportGraph
