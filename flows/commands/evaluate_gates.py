"""`almanac evaluate --gate`: gates side by side on questions with outcomes."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from flows import progress, terminal
from flows.home import home_of, settings_of
from tasks.gate_evaluation.evaluate import GateMeasurement, evaluate_gates
from tasks.gate_evaluation.pictures import check_picture
from tasks.gate_evaluation.scored import Draws
from tasks.gating.encoders import EncoderChoice, open_question_encoder

SHOWN = ("share_of_perfect", "rate_at_99", "accuracy_at_half_of_always", "auroc_help")


def run(arguments: argparse.Namespace) -> int:
    """Measure the gates, show the figures and draw what is asked for."""
    home = home_of(arguments)
    settings = settings_of(home)
    pictures = [arguments.picture, arguments.densities]
    for name in filter(None, pictures):
        check_picture(Path(name))
    choice = EncoderChoice(arguments.encoder, arguments.layer, arguments.pooling)
    opened = partial(open_question_encoder, choice, settings.engine, home)
    questions = Path(arguments.questions)
    with progress.shown() as report:
        found = evaluate_gates(
            home, questions, arguments.format, opened, measurement(arguments), report
        )
    for name, reason in found.report["left_out"].items():
        terminal.say(f"The gate {name} is left out: {reason}.")
    if arguments.json:
        terminal.show_json(found.report)
    else:
        show(found.report)
    return 0


def measurement(arguments: argparse.Namespace) -> GateMeasurement:
    """Return how the gates are to be measured."""
    return GateMeasurement(
        gates=[name.strip() for name in arguments.gate.split(",") if name.strip()],
        draws=Draws(arguments.seeds, arguments.draws),
        limit=arguments.limit,
        options={"variant": arguments.variant, "clusters": arguments.clusters},
        choices=arguments.choices,
    )


def show(found: dict[str, Any]) -> None:
    """Print each gate's figures, and say which beat the random line and which the system."""
    gates = [found, *found["baselines"]]
    models = found["models"] if len(found["models"]) > 1 else []
    areas = ["area_over_random", *(f"area_over_random:{model}" for model in models)]
    rows = [
        [
            gate["system"],
            *(_interval(gate["metrics"], name) for name in areas),
            *(gate["metrics"].get(name) for name in SHOWN),
            *(gate["metrics"].get(f"rate_at_budget_{budget}") for budget in (25, 50, 75)),
        ]
        for gate in gates
    ]
    named = ["area", *models, "of perfect", "rate at 99 %", "half of always", "AUROC"]
    terminal.table([f"{found['dataset']}: gate", *named, "at 25 %", "at 50 %", "at 75 %"], rows)
    terminal.show(_verdict(gates, areas))
    seeds = ", ".join(f"{name} {count}" for name, count in found["seeds"].items())
    terminal.show(f"Means over {found['draws']} draws of seeds ({seeds}) and over the data sets.")


def _interval(metrics: dict[str, float], name: str) -> str:
    if name not in metrics:
        return ""
    low, high = metrics.get(f"{name}_low", 0.0), metrics.get(f"{name}_high", 0.0)
    return f"{metrics[name]:+.4f} ({low:+.4f} to {high:+.4f})"


def _verdict(gates: list[dict[str, Any]], areas: list[str]) -> str:
    """Say which gates are surely better than chance for every model, and than the system."""
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
