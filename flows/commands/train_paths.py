"""`almanac train-paths`: learns from questions how to walk a graph, and how to phrase it."""

import argparse
from typing import Any

from flows import terminal
from flows.commands.ask import asked_settings
from flows.commands.refresh import show_report
from flows.home import home_of
from flows.jobs import plan_of
from flows.orchestration import run_job
from flows.path_jobs import TrainPaths
from tasks.paths.policy.train import PolicyPlan


def run(arguments: argparse.Namespace) -> int:
    """Train, publish an edition with the policy, and show how often it arrives."""
    settings = asked_settings(home_of(arguments), arguments)
    job = TrainPaths.from_arguments(
        arguments,
        settings=settings,
        plan=plan_of(arguments, PolicyPlan),
        wait_seconds=arguments.wait,
    )
    report = run_job(job, arguments)
    if arguments.json:
        terminal.show_json(report)
        return 0
    policy, bandit = report.pop("policy"), report.pop("bandit")
    show_policy(policy)
    if bandit is not None:
        show_arms(bandit)
    show_report(report)
    return 0


def show_policy(policy: dict[str, Any]) -> None:
    """Print what is known of a policy."""
    rows = [[name.replace("_", " "), value] for name, value in policy.items()]
    terminal.table(["policy", ""], rows)


def show_arms(bandit: dict[str, Any]) -> None:
    """Print how often a bandit chose each arm, and how often it was right, or why it did not."""
    if "skipped" in bandit:
        terminal.show(bandit["skipped"])
        return
    rows = [[arm, counts["pulls"], counts["right"]] for arm, counts in bandit["arms"].items()]
    terminal.table([f"arm, read by {bandit['model']}", "chosen", "right"], rows)
