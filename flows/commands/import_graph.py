"""`almanac import-graph`: reads a graph that others made."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from flows.jobs import File, Run, Runner
from flows.parsing import Option


class ImportGraph(Run):
    """Import a graph that others made and publish an edition with it."""

    flow_name = "import-graph"
    outcome = "What the import did"

    source: Annotated[str, Option("FILE", operand=True)] = Field(
        description="The file, or the folder with the files of a mapping."
    )
    name: Annotated[str, Option("NAME")] = Field(
        description="The graph's name; replaces an earlier graph with this name."
    )
    format: Annotated[
        Literal[
            "auto",
            "tsv",
            "csv",
            "pipe",
            "jsonl",
            "nt",
            "parquet",
            "conceptnet",
            "wikidata",
            "nlpcc",
        ],
        Option(),
    ] = Field("auto", description="The file's format, guessed by default.")
    mapping: File = Field(None, description="YAML that describes another format (none).")
    languages: Annotated[list[str], Option("CODE", name="--language")] = Field(
        [], description="Keep names in this language only; may be repeated (all)."
    )

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
            report=runner.report,
            run_stage=runner.run_stage,
        )
        return asdict(run)


COMMAND = ImportGraph
