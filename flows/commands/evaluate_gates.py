"""`almanac evaluate --gate`: compares gates on questions with known outcomes."""

import argparse
from typing import Any

from flows import terminal
from flows.commands.parsing import listed
from flows.evaluations import EvaluateGates
from flows.orchestration import run_job
from schemas.settings import Settings

SHOWN = {
    "share_of_perfect": "of perfect",
    "rate_at_99": "rate at 99 %",
    "accuracy_at_half_of_always": "half of always",
    "auroc_help": "AUROC",
    "rate_at_budget_25": "at 25 %",
    "rate_at_budget_50": "at 50 %",
    "rate_at_budget_75": "at 75 %",
}


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure the gates, draw the curves if asked, and show the figures."""
    job = EvaluateGates.from_arguments(
        arguments,
        gates=listed(arguments.gate),
        settings=settings,
    )
    figures = run_job(job, arguments)
    for name, reason in figures["left_out"].items():
        terminal.say(f"The gate {name} is left out: {reason}.")
    terminal.show_result(figures, show, as_json=arguments.json)
    if job.picture:
        terminal.say(f"The curves are drawn in {job.picture}.")
    return 0


def show(figures: dict[str, Any]) -> None:
    """Print each gate's figures, and which gates beat the random line or the system."""
    gates = [figures, *figures["baselines"]]
    models = figures["models"] if len(figures["models"]) > 1 else []
    areas = ["area_over_random", *(f"area_over_random:{model}" for model in models)]
    shown = [name for name in SHOWN if any(name in gate["metrics"] for gate in gates)]
    rows = [
        [
            gate["system"],
            *(_interval(gate["metrics"], name) for name in areas),
            *(_rounded(gate["metrics"].get(name)) for name in shown),
        ]
        for gate in gates
    ]
    names = ["area", *models, *(SHOWN[name] for name in shown)]
    terminal.table([f"{figures['dataset']}: gate", *names], rows)
    terminal.show(_verdict(gates, areas))
    seeds = ", ".join(f"{name} {count}" for name, count in figures["seeds"].items())
    terminal.show(f"Means over {figures['draws']} draws of seeds ({seeds}) and over the data sets.")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _interval(metrics: dict[str, float], name: str) -> str:
    if name not in metrics:
        return ""
    low, high = metrics.get(f"{name}_low", 0.0), metrics.get(f"{name}_high", 0.0)
    return f"{metrics[name]:+.4f} ({low:+.4f} to {high:+.4f})"


def _verdict(gates: list[dict[str, Any]], areas: list[str]) -> str:
    """Return which gates beat chance for every model, and which beat the system, with certainty.

    Certainty means that the whole 95 % interval lies above zero.
    """
    sure = [
        gate["system"]
        for gate in gates
        if all(gate["metrics"].get(f"{name}_low", 0.0) > 0 for name in areas)
    ]
    first = gates[0]["system"]
    better = [
        gate["system"] for gate in gates[1:] if gate["metrics"].get("area_over_system_low", 0.0) > 0
    ]
    chance = f"Surely better than chance: {', '.join(sure) or 'none'}."
    return f"{chance} Surely better than {first}: {', '.join(better) or 'none'}."
