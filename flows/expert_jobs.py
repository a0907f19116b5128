"""The jobs that make training texts and experts."""

from base64 import b64encode
from dataclasses import asdict
from typing import Any, ClassVar

from pydantic import Field

from flows.jobs import Run, Runner
from flows.summary import table_as_markdown
from schemas.knowledge import CORPUS
from tasks.experts.training.plan import TrainingPlan


class Verbalize(Run):
    """Turn a graph into training texts and publish an edition with them."""

    flow_name = "verbalize"
    outcome = "What the verbalization did"

    graph: str = Field(CORPUS, description="The graph; corpus is your own texts.")
    expert: str | None = Field(None, description="The set's name; the graph's by default.")
    methods: list[str] = Field(
        [], description="entity_wiki, evidence, knowledge_walk, question, passage; all by default."
    )
    seed: int = Field(0, description="The random seed that draws texts and held-out entities.")
    evidence: int = Field(100_000, ge=0, description="Most texts from single triples.")
    walks: int = Field(100_000, ge=0, description="Most random walks.")
    wordings: int = Field(8, ge=0, description="How often a question is asked in looser words.")
    held_out: float = Field(
        0.02, ge=0, lt=1, description="Share of entities whose texts are for validation."
    )
    rewrite: bool = Field(False, description="Have the model put the texts into its own words.")

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
            wait_seconds=self.wait_seconds,
            report=runner.report,
            run_stage=runner.run_stage,
        )
        return asdict(run)


class TrainExperts(Run):
    """Train language models on training texts and publish an edition with these experts."""

    flow_name = "train-experts"
    outcome = "What the training did"
    batch_name: ClassVar[str] = "train expert"
    batches_per_task: ClassVar[int] = 1

    names: list[str] = Field(min_length=1, description="The experts: the names of their texts.")
    graph: str | None = Field(None, description="Train on texts of this graph alone.")
    plan: TrainingPlan = Field(TrainingPlan(), description="How they are trained.")
    description: str | None = Field(None, description="What the expert knows about.")
    parent: str | None = Field(None, description="The expert whose field contains theirs.")
    licence: str | None = Field(None, description="The licence of their weights.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Train and return the run, with a summary of each expert."""
        from tasks.train_experts import About, train_experts

        run, experts = train_experts(
            self.place,
            self.names,
            self.chosen_settings,
            graph=self.graph,
            plan=self.plan,
            about=About(self.description, self.parent, self.licence),
            wait_seconds=self.wait_seconds,
            report=runner.report,
            run_stage=runner.run_stage,
            each=runner.each,
        )
        return {**asdict(run), "experts": experts}

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the run, the experts, and the picture of each training."""
        experts = result["experts"]
        shown = [name for name in experts[0] if name not in ("picture", "path")]
        parts = [
            super().as_markdown(result),
            table_as_markdown(shown, [[expert[name] for name in shown] for expert in experts]),
        ]
        for expert in experts:
            picture = b64encode((self.place.path / expert["picture"]).read_bytes()).decode()
            parts.append(f"![Expert {expert['expert']}](data:image/png;base64,{picture})")
        return "\n".join(parts)
