"""`almanac evaluate`: measures a route on a benchmark, in comparison with baselines."""

import argparse
from typing import Any

from flows import terminal
from flows.commands import evaluate_gates
from flows.commands.ask import asked_settings, with_expert_mode
from flows.commands.question_parsers import STUDIES
from flows.evaluations import EvaluateAnswers, EvaluateGates, Evaluation
from flows.home import home_of
from flows.orchestration import run_job
from schemas.errors import UsageError

ANSWERS = ""
JOBS: dict[str, type[Evaluation]] = {  # by the option that chooses what is measured
    ANSWERS: EvaluateAnswers,
    "gate": EvaluateGates,
}


def run(arguments: argparse.Namespace) -> int:
    """Measure answers or gates, and show the figures."""
    _refuse_studies(arguments)
    _refuse_unread_options(arguments, ANSWERS if arguments.gate is None else "gate")
    settings = with_expert_mode(asked_settings(home_of(arguments), arguments), arguments.mode)
    if arguments.gate is not None:
        return evaluate_gates.run(arguments, settings)
    job = EvaluateAnswers.from_arguments(
        arguments,
        baselines=_baselines(arguments.baselines),
        settings=settings,
    )
    terminal.show_result(run_job(job, arguments), show, as_json=arguments.json)
    return 0


def _refuse_studies(arguments: argparse.Namespace) -> None:
    """Raise UsageError for an option of a study, with the command to write instead."""
    for option, name in STUDIES.items():
        if getattr(arguments, option) not in (None, False):
            raise UsageError(
                f"`evaluate` has no --{option} any more: in a checkout of the repository, write "
                f"`python -m benchmarks.{name} QUESTIONS --format NAME --home DIR`."
            )


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
