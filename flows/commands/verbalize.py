"""`almanac verbalize`: turns a graph into training texts for an expert."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from flows.jobs import MODEL, Name, Run, Runner, refuse_idle
from flows.parsing import Option
from schemas.knowledge import CORPUS


class Verbalize(Run):
    """Turn a graph into training texts and publish an edition with them."""

    flow_name = "verbalize"
    outcome = "What the verbalization did"
    shortcuts = MODEL

    graph: Annotated[str, Option("NAME")] = Field(
        CORPUS, description="The graph; corpus is your own texts."
    )
    expert: Name = Field(None, description="The name of the set of texts (the graph's).")
    methods: Annotated[list[str], Option("NAME", name="--method")] = Field(
        [],
        description="entity_wiki, evidence, knowledge_walk, question or passage; may be repeated "
        "(all).",
    )
    rewrite: Annotated[bool, Option()] = Field(
        False, description="Have the model put the texts into its own words."
    )
    seed: int = Field(0, description="The random seed that draws texts and held-out entities.")
    evidence: int = Field(100_000, ge=0, description="Most texts from single triples.")
    walks: int = Field(100_000, ge=0, description="Most random walks.")
    wordings: int = Field(8, ge=0, description="How often a question is asked in looser words.")
    held_out: float = Field(
        0.02, ge=0, lt=1, description="Share of entities whose texts are for validation."
    )

    def check_given(self, given: Mapping[str, str]) -> None:
        """Raise UsageError if a model is chosen, but no text is rewritten."""
        flags = [flag for flag, key in given.items() if key.startswith("engine.model.")]
        if flags and not self.rewrite:
            refuse_idle(flags, "no text is rewritten. Add --rewrite")
        super().check_given(given)

    def work(self, runner: Runner) -> dict[str, Any]:
        """Verbalize and return the run."""
        from tasks.experts.verbalize.texts import METHODS, Options
        from tasks.verbalize import chosen_methods, verbalize

        run = verbalize(
            self.place,
            self.chosen_settings,
            graph=self.graph,
            expert=self.expert,
            options=Options(
                methods=chosen_methods(self.methods) or METHODS,
                seed=self.seed,
                evidence=self.evidence,
                walks=self.walks,
                wordings=self.wordings,
                held_out=self.held_out,
            ),
            rewrite=self.rewrite,
            report=runner.report,
            run_stage=runner.run_stage,
        )
        return asdict(run)


COMMAND = Verbalize
