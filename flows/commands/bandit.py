"""`almanac bandit`: shows what a bandit has learned about its arms, or resets it."""

import argparse
from dataclasses import asdict
from typing import Any

from flows import terminal
from flows.home import home_of, settings_of
from tasks.paths.bandit.bandit import bandit_of, reset_bandit
from tasks.paths.bandit.off_policy import ArmOverview, overview


def run(arguments: argparse.Namespace) -> int:
    """Show the arms of a graph's bandit, or reset it and say so."""
    home = home_of(arguments)
    model = arguments.model
    if model is None:
        from tasks.ask.path_reader import reader_name

        model = reader_name(settings_of(home))
    bandit = bandit_of(home.live, arguments.graph, model)
    rewards = int(bandit.learned.pulls.sum())
    shown = {"graph": arguments.graph, "model": model, "rewards": rewards}
    if arguments.reset:
        reset_bandit(home.live, arguments.graph, model)
        terminal.show_result({**shown, "reset": True}, _show_reset, as_json=arguments.json)
    else:
        arms = overview(bandit.plan.arms, bandit.plan.fallback, bandit.logged())
        shown = {**shown, "trusted": not bandit.cautious, "arms": [asdict(a) for a in arms]}
        terminal.show_result(shown, lambda shown: _show(shown, arms), as_json=arguments.json)
    return 0


def _show_reset(shown: dict[str, Any]) -> None:
    terminal.show(
        f"The bandit of the graph {shown['graph']} for the model {shown['model']} has begun anew; "
        f"{shown['rewards']} rewards no longer count. Its decisions and rewards are still in the "
        "tables bandit_decisions and bandit_rewards."
    )


def _show(shown: dict[str, Any], arms: list[ArmOverview]) -> None:
    rows = [
        [
            f"{arm.arm} (usual)" if arm.usual else arm.arm,
            arm.pulls,
            None if arm.mean is None else f"{arm.mean:.3f}",
            None
            if arm.estimate is None
            else f"{arm.estimate.value:.3f} [{arm.estimate.low:.3f}, {arm.estimate.high:.3f}]",
        ]
        for arm in arms
    ]
    read_by = f"arm, read by {shown['model']}"
    terminal.table([read_by, "rewards", "mean", "on all questions, 95 %"], rows)
    if not shown["trusted"]:
        terminal.show("Rewards are few yet, so that the usual arm is chosen most of the time.")
