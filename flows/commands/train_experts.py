"""`almanac train-experts`: trains experts on their texts."""

import argparse

from flows import terminal
from flows.commands.refresh import show_report
from flows.expert_jobs import TrainExperts
from flows.home import home_of, settings_of
from flows.jobs import plan_of
from flows.orchestration import run_job
from tasks.experts.training.plan import TrainingPlan


def run(arguments: argparse.Namespace) -> int:
    """Train experts, publish an edition with them, and show a summary of each."""
    settings = settings_of(home_of(arguments))
    if arguments.workers:
        settings = settings.model_copy(update={"workers": arguments.workers})
    job = TrainExperts.from_arguments(
        arguments,
        settings=settings,
        plan=plan_of(arguments, TrainingPlan),
        wait_seconds=arguments.wait,
    )
    report = run_job(job, arguments)
    if arguments.json:
        terminal.show_json(report)
        return 0
    experts = report.pop("experts")
    shown = [name for name in experts[0] if name != "picture"]
    terminal.table(shown, [[_shown(expert[name]) for name in shown] for expert in experts])
    show_report(report)
    return 0


def _shown(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float) else value
