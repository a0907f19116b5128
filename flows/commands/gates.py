"""`almanac gates`: the calibrated gates, listed and removed."""

import argparse
from dataclasses import asdict
from typing import Any

from flows import progress, terminal
from flows.commands.refresh import show_report
from flows.home import home_of, settings_of
from schemas.learning import TaskGate, Threshold
from tasks.gating.crossfit import BUDGETS
from warehouse.home import Home

_SHOWN = ("task", "gate", "encoder", "seeds", "classes", "clusters")


def run(arguments: argparse.Namespace) -> int:
    """List the gates of the current edition, or remove one."""
    from tasks.calibrate_gate import remove_gate

    home = home_of(arguments)
    if arguments.action == "remove":
        with progress.shown() as report:
            done = asdict(remove_gate(home, arguments.task, settings_of(home), report=report))
        if arguments.json:
            terminal.show_json(done)
        else:
            show_report(done)
        return 0
    gates = list_gates(home)
    if arguments.json:
        terminal.show_json(gates)
    elif gates:
        terminal.table(list(gates[0]), [list(gate.values()) for gate in gates])
    else:
        terminal.say("No gate yet; `almanac calibrate-gate QUESTIONS --task NAME` calibrates one.")
    return 0


def list_gates(home: Home) -> list[dict[str, Any]]:
    """Return each gate of the current edition with its thresholds at the paper's budgets."""
    with home.editions.reading() as edition:
        if not edition.rows(TaskGate):
            return []
        rows = edition.table(TaskGate).to_pylist()
        values = {
            (row["task"], round(row["budget"], 2)): row["value"]
            for row in edition.table(Threshold).to_pylist()
        }
    return [
        {name: row[name] for name in _SHOWN}
        | {name: values[row["task"], share] for name, share in BUDGETS.items()}
        for row in rows
    ]
