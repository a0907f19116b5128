"""`almanac gates`: lists and removes calibrated gates."""

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from flows import progress, terminal
from flows.commands.refresh import show_report
from flows.home import home_of, settings_of
from schemas.learning import TaskGate, Threshold
from tasks.gates.crossfit import BUDGETS
from warehouse.home import Home

if TYPE_CHECKING:
    from tasks.gates.calibrated import CalibratedGate
    from tasks.gates.live import PastDecision

_SHOWN = ("task", "gate", "encoder", "seeds", "classes", "clusters")


def run(arguments: argparse.Namespace) -> int:
    """List the gates of the current edition, or remove one."""
    from tasks.calibrate_gate import remove_gate

    home = home_of(arguments)
    if arguments.action == "remove":
        with progress.shown() as report:
            run = asdict(remove_gate(home, arguments.task, settings_of(home), report=report))
        terminal.show_result(run, show_report, as_json=arguments.json)
        return 0
    gates = list_gates(home)
    if arguments.json:
        terminal.show_json(gates)
    elif gates:
        terminal.table(list(gates[0]), [list(map(_shown, gate, gate.values())) for gate in gates])
    else:
        terminal.say(
            "There is no gate yet; `almanac calibrate-gate QUESTIONS --task NAME` calibrates one."
        )
    return 0


def _shown(name: str, value: Any) -> Any:
    if name == "fetched" and value is not None:
        return f"{value:.1%}"
    return f"{value:.4g}" if isinstance(value, float) else value


def list_gates(home: Home) -> list[dict[str, Any]]:
    """Return each gate of the current edition, with its thresholds and its recent decisions.

    Thresholds are those at the budgets of the Thrust paper. `asked` counts the recent questions
    that the gate decided on, `fetched` is the share of them that fetched knowledge, and `drifted`
    says whether their scores are distributed differently from those of its seeds.
    """
    from tasks.ask.gatekeeper import gate_history
    from tasks.gates.calibrated import calibrated_gates

    if home.editions.current() is None:
        return []
    window = settings_of(home).gate.window
    with home.editions.reading() as edition:
        if not edition.rows(TaskGate):
            return []
        rows = edition.table(TaskGate).to_pylist()
        gates = calibrated_gates(edition)
        values = {
            (row["task"], round(row["budget"], 2)): row["value"]
            for row in edition.table(Threshold).to_pylist()
        }
    return [
        {name: row[name] for name in _SHOWN}
        | {name: values[row["task"], share] for name, share in BUDGETS.items()}
        | _lately(gates[row["task"]], gate_history(home.live, gates[row["task"]], window))
        for row in rows
    ]


def _lately(gate: "CalibratedGate", past: "list[PastDecision]") -> dict[str, Any]:
    """Return a gate's decisions on recent questions."""
    from tasks.gates.live import LiveThreshold

    decided = [decision.retrieve for decision in past if decision.retrieve is not None]
    live = LiveThreshold(gate.seed_scores, BUDGETS["medium"], max(len(past), 1))
    live.resume(past)
    return {
        "asked": len(decided),
        "fetched": round(sum(decided) / len(decided), 3) if decided else None,
        "drifted": live.drifted(),
    }
