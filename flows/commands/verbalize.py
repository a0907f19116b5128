"""`almanac verbalize`: turns a graph into training texts for an expert."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from flows.jobs import MODEL, PublishingJob, Runner, finer, option, refuse_idle, switch
from schemas.knowledge import CORPUS


class Verbalize(PublishingJob):
    """Turn a graph into training texts and publish an edition with them."""

    flow_name = "verbalize"
    outcome = "What the verbalization did"
    shortcuts = MODEL

    graph: str = option("NAME", "The graph; corpus is your own texts.", CORPUS)
    expert: str | None = option("NAME", "The name of the set of texts (the graph's).", None)
    methods: list[str] = option(
        "NAME",
        "entity_wiki, evidence, knowledge_walk, question or passage; may be repeated (all).",
        [],
        name="--method",
    )
    rewrite: bool = switch("Have the model put the texts into its own words.")
    seed: int = finer("The random seed that draws texts and held-out entities.", 0)
    evidence: int = finer("Most texts from single triples.", 100000, ge=0)
    walks: int = finer("Most random walks.", 100000, ge=0)
    wordings: int = finer("How often a question is asked in looser words.", 8, ge=0)
    held_out: float = finer("Share of entities whose texts are for validation.", 0.02, ge=0, lt=1)

    def check_given(self, given: Mapping[str, str]) -> None:
        """Raise UsageError if a model is chosen, but no text is rewritten."""
        flags = [flag for flag, key in given.items() if key.startswith("engine.model.")]
        if flags and not self.rewrite:
            refuse_idle(flags, "no text is rewritten. Add --rewrite")
        super().check_given(given)

    def work(self, runner: Runner) -> dict[str, Any]:
        """Verbalize and return the run."""
        from tasks.experts.verbalize.texts import METHODS, TextOptions
        from tasks.verbalize import chosen_methods, verbalize

        run = verbalize(
            self.place,
            self.chosen_settings,
            graph=self.graph,
            expert=self.expert,
            options=TextOptions(
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
