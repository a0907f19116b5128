"""`almanac evaluate`: measures a route on a benchmark, in comparison with baselines."""

import argparse
from typing import Any

from flows import terminal
from flows.commands import evaluate_arms, evaluate_experts, evaluate_gates, evaluate_knowledge
from flows.commands.ask import asked_settings, with_expert_mode
from flows.evaluations import (
    EvaluateAnswers,
    EvaluateArms,
    EvaluateExperts,
    EvaluateGates,
    EvaluateKnowledge,
    Evaluation,
)
from flows.home import home_of
from flows.orchestration import run_job
from schemas.errors import UsageError

ANSWERS = ""
JOBS: dict[str, type[Evaluation]] = {  # by the option that chooses what is measured
    ANSWERS: EvaluateAnswers,
    "gate": EvaluateGates,
    "arms": EvaluateArms,
    "study": EvaluateExperts,
    "knowledge": EvaluateKnowledge,
}


def run(arguments: argparse.Namespace) -> int:
    """Measure answers, gates or the effect of knowledge, and show the figures."""
    _refuse_unread_options(arguments, _measured(arguments))
    settings = with_expert_mode(asked_settings(home_of(arguments), arguments), arguments.mode)
    if arguments.gate is not None:
        return evaluate_gates.run(arguments, settings)
    if arguments.arms:
        return evaluate_arms.run(arguments, settings)
    if arguments.study is not None:
        return evaluate_experts.run(arguments, settings)
    if arguments.knowledge:
        return evaluate_knowledge.run(arguments, settings)
    job = EvaluateAnswers.from_arguments(
        arguments,
        baselines=_baselines(arguments.baselines),
        settings=settings,
    )
    terminal.show_result(run_job(job, arguments), show, as_json=arguments.json)
    return 0


def _measured(arguments: argparse.Namespace) -> str:
    """Return the option that chooses what is measured; UsageError if there are several."""
    given = [name for name in JOBS if getattr(arguments, name, None) not in (None, False)]
    if len(given) > 1:
        raise UsageError(f"Choose one of {' and '.join(map(_option, given))}.")
    return given[0] if given else ANSWERS


def _refuse_unread_options(arguments: argparse.Namespace, measured: str) -> None:
    """Raise UsageError for an option that is set but not read by what is measured."""
    for name in dict.fromkeys(name for job in JOBS.values() for name in job.model_fields):
        defaults = {
            option: job.model_fields[name].default
            for option, job in JOBS.items()
            if name in job.model_fields
        }
        value = getattr(arguments, name, None)
        if measured in defaults or value is None or value in defaults.values():
            continue
        if ANSWERS in defaults:
            raise UsageError(f"{_option(measured)} does not read {_option(name)}.")
        raise UsageError(f"{_option(name)} needs {' or '.join(map(_option, defaults))}.")


def _option(name: str) -> str:
    return "--no-learn" if name == "learn" else f"--{name.replace('_', '-')}"


def _baselines(names: str | None) -> list[str] | None:
    """Return the baselines that the command line names; None means the default ones."""
    return None if names is None else [n for n in names.split(",") if n not in ("", "none")]


def show(figures: dict[str, Any]) -> None:
    """Print the figures of all systems, then those of the system's groups."""
    systems = [figures, *figures["baselines"]]
    names = [name for name in figures["metrics"] if f"{name}_low" in figures["metrics"]]
    rows: list[list[Any]] = [
        row for system in systems for row in _rows(system, "all", system, names)
    ]
    for system in systems:
        for group, parts in system["by"].items():
            for value, part in parts.items():
                rows += _rows(system, f"{group} {value}", part, names)
    terminal.table([f"{figures['dataset']}: system", "questions", "items", *names], rows)
    for stage, share in figures.get("stages", {}).items():
        terminal.show(f"{stage}: {share:.3f} of the questions passed this stage.")
    terminal.show(f"Learned from {figures['learned_from']} questions.")


def _rows(
    system: dict[str, Any], what: str, part: dict[str, Any], names: list[str]
) -> list[list[Any]]:
    """Return the figures on a part of the questions, and on the exact ones among them."""
    measured = [[what, part["items"], part["metrics"]]]
    if "metrics_exact" in part:
        measured.append([f"{what}, exact", part["items_exact"], part["metrics_exact"]])
    return [
        [system["system"], questions, items, *(metrics.get(name) for name in names)]
        for questions, items, metrics in measured
    ]
