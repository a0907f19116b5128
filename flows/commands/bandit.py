"""`almanac bandit`: shows what a bandit has learned about its arms."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from flows.jobs import Configured, Runner, option, switch
from flows.terminal import Shown, Table


class ShowBandit(Configured):
    """Show what was learned of each way to phrase a graph's paths."""

    graph: str = option("NAME", "The graph.")
    model: str | None = option("NAME", "The model that answers (the one in the settings).", None)
    reset: bool = switch("Start over; the records are kept.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Return the arms of the graph's bandit, or reset it."""
        from tasks.ask.parts import reader_name
        from tasks.paths.bandit.bandit import bandit_of, reset_bandit
        from tasks.paths.bandit.off_policy import overview

        home = self.place
        model = self.model or reader_name(self.chosen_settings)
        bandit = bandit_of(home.live, self.graph, model)
        rewards = int(bandit.learned.pulls.sum())
        found = {"graph": self.graph, "model": model, "rewards": rewards}
        if self.reset:
            reset_bandit(home.live, self.graph, model)
            return {**found, "reset": True}
        arms = overview(bandit.plan.arms, bandit.plan.fallback, bandit.logged())
        return {**found, "trusted": not bandit.cautious, "arms": [asdict(arm) for arm in arms]}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield a table of the arms."""
        if "reset" in result:
            yield (
                f"The bandit of the graph {result['graph']} for the model {result['model']} has "
                f"started over; {result['rewards']} rewards no longer count. Its decisions and "
                "rewards are still in the tables bandit_decisions and bandit_rewards."
            )
            return
        rows = [
            [
                f"{arm['arm']} (usual)" if arm["usual"] else arm["arm"],
                arm["pulls"],
                None if arm["mean"] is None else f"{arm['mean']:.3f}",
                None
                if (estimate := arm["estimate"]) is None
                else f"{estimate['value']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}]",
            ]
            for arm in result["arms"]
        ]
        read_by = f"arm, read by {result['model']}"
        yield Table([read_by, "rewards", "mean", "on all questions, 95 %"], rows)
        if not result["trusted"]:
            yield "Rewards are few yet, so that the usual arm is chosen most of the time."


COMMAND = ShowBandit
