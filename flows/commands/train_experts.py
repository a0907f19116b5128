"""`almanac train-experts`: trains language models on training texts."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from flows.jobs import PublishingJob, Runner, Shortcut, finer, operand, option
from flows.terminal import Picture, Shown, Table
from tasks.experts.training.plan import TrainingPlan


class TrainExperts(PublishingJob):
    """Train language models on training texts and publish an edition with them."""

    flow_name = "train-experts"
    outcome = "What the training did"
    batch_name = "train expert"
    batches_per_task = 1
    shortcuts = {
        "--base": Shortcut("plan.base", "NAME"),
        "--method": Shortcut("plan.method"),
        "--minutes": Shortcut("plan.minutes", "M"),
        "--workers": Shortcut("settings.workers", "N"),
    }

    names: list[str] = operand(
        "NAME", "The experts: the names of their sets of texts.", min_length=1
    )
    graph: str | None = option(
        "NAME", "The graph of their texts, which are made if there are none (all).", None
    )
    plan: TrainingPlan = finer("How they are trained.", TrainingPlan())
    description: str | None = finer("What the expert knows about.", None)
    parent: str | None = finer("The expert whose field contains theirs.", None)
    licence: str | None = finer("The licence of their weights.", None)

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
            report=runner.report,
            run_stage=runner.run_stage,
            each=runner.each,
        )
        return {**asdict(run), "experts": experts}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the experts, the picture of each training, and the run."""
        experts = result["experts"]
        columns = [name for name in experts[0] if name != "picture"]
        rows = [[_rounded(expert[name]) for name in columns] for expert in experts]
        yield Table(columns, rows)
        for expert in experts:
            yield Picture(f"Expert {expert['expert']}", self.place.path / expert["picture"])
        yield from super().shown(result)


def _rounded(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float) else value


COMMAND = TrainExperts
