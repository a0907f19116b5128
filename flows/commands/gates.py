"""`almanac gates`: lists and removes calibrated gates, and compares gates by known outcomes."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.commands.calibrate_gate import EncodedQuestions
from flows.commands.evaluate import EvaluationJob
from flows.jobs import Command, Publication, Runner, finer, operand, option
from flows.terminal import Remark, Shown, Table

if TYPE_CHECKING:
    from tasks.gates.calibrated import CalibratedGate
    from tasks.gates.live import PastDecision
    from warehouse.home import Home

_SHOWN = ("task", "gate", "options", "encoder", "seeds", "classes", "clusters")
MEASURED = {
    "share_of_perfect": "of perfect",
    "rate_at_99": "rate at 99 %",
    "accuracy_at_half_of_always": "half of always",
    "auroc_help": "AUROC",
    "rate_at_budget_25": "at 25 %",
    "rate_at_budget_50": "at 50 %",
    "rate_at_budget_75": "at 75 %",
}


class ListGates(Command):
    """List the calibrated gates, with their thresholds and recent decisions."""

    none_yet = (
        "There is no gate yet; `almanac calibrate-gate QUESTIONS --task NAME` calibrates one."
    )

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the gates of the current edition."""
        return list_gates(self.place)

    def shown(self, result: list[dict[str, Any]]) -> Iterator[Shown]:
        """Yield a table of the gates with short numbers."""
        yield from super().shown([{n: _shown(n, v) for n, v in gate.items()} for gate in result])


class RemoveGate(Publication):
    """Remove a gate and publish an edition without it."""

    task: str = operand("TASK", "The task whose gate goes.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Remove the gate and return the run."""
        from tasks.calibrate_gate import remove_gate

        return asdict(
            remove_gate(self.place, self.task, self.chosen_settings, report=runner.report)
        )


class EvaluateGates(EncodedQuestions, EvaluationJob):
    """Measure gates on questions with known outcomes: whether knowledge helped."""

    flow_name = "evaluate-gates"
    outcome = "What was measured"

    gates: list[str] = option(
        "NAME",
        "A gate, such as thrust or popularity; the first is the system (all).",
        ["all"],
        name="--gate",
    )
    picture: str | None = option("FILE", "Draw the curves as .svg or .png (none).", None)
    seeds: int = finer("Questions to calibrate with, per data set.", 200, ge=1)
    draws: int = finer("How often the seeds are drawn.", 10, ge=1)
    choices: bool = finer("Encode the choices with the question.")
    ablations: bool = finer("Measure every variant of Thrust instead.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Measure, draw, and return the figures."""
        from tasks.evaluate.gates.evaluate import GateMeasurement, evaluate_gates
        from tasks.evaluate.gates.scored import Draws
        from tasks.evaluate.pictures import check_picture, draw_curves
        from tasks.models.encoders.load import open_question_encoder
        from warehouse.disk_errors import warned_of_refusals

        if self.picture:
            check_picture(Path(self.picture))
        measurement = GateMeasurement(
            gates=[name for names in self.gates for name in names.split(",") if name],
            draws=Draws(self.seeds, self.draws),
            limit=self.limit,
            options=self.options("variant", "clusters"),
            choices=self.choices,
            popularity_of=self.popularity_of,
            study="ablations" if self.ablations else "gates",
        )
        engine, chosen = self.chosen_settings.engine, self.encoder_choice
        results = evaluate_gates(
            self.place,
            Path(self.questions),
            self.format,
            lambda texts: open_question_encoder(chosen.for_questions(texts), engine, self.place),
            measurement,
            runner.report,
            runner.warn,
        )
        if self.picture:
            report, models = results.report, results.outcomes.models
            picture = Path(self.picture)
            with warned_of_refusals(picture, "the picture was not drawn.", runner.warn):
                draw_curves(picture, report["dataset"], models, results.curves, results.perfect)
        for name, reason in results.report["left_out"].items():
            runner.warn(f"The gate {name} is left out: {reason}.")
        return results.report

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield each gate's figures, and which gates beat the random line or the system."""
        gates = [result, *result["baselines"]]
        models = result["models"] if len(result["models"]) > 1 else []
        areas = ["area_over_random", *(f"area_over_random:{model}" for model in models)]
        shown = [name for name in MEASURED if any(name in gate["metrics"] for gate in gates)]
        rows = [
            [
                gate["system"],
                *(_interval(gate["metrics"], name) for name in areas),
                *(_rounded(gate["metrics"].get(name)) for name in shown),
            ]
            for gate in gates
        ]
        names = ["area", *models, *(MEASURED[name] for name in shown)]
        yield Table([f"{result['dataset']}: gate", *names], rows)
        yield _verdict(gates, areas)
        seeds = ", ".join(f"{name} {count}" for name, count in result["seeds"].items())
        yield f"Means over {result['draws']} draws of seeds ({seeds}) and over the data sets."
        if self.picture:
            yield Remark(f"The curves are drawn in {self.picture}.")


def _shown(name: str, value: Any) -> Any:
    if name == "fetched" and value is not None:
        return f"{value:.1%}"
    return f"{value:.4g}" if isinstance(value, float) else value


def list_gates(home: "Home") -> list[dict[str, Any]]:
    """Return each gate of the current edition, with its thresholds and its recent decisions.

    Thresholds are those at the budgets of the Thrust paper. `asked` counts the recent questions
    that the gate decided on, `fetched` is the share of them that fetched knowledge, and `drifted`
    says whether their scores are distributed differently from those of its seeds.
    """
    from flows.home import settings_of
    from schemas.learning import TaskGate, Threshold
    from tasks.ask.gatekeeper import gate_history
    from tasks.gates.calibrated import calibrated_gates
    from tasks.gates.crossfit import BUDGETS

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
    from tasks.gates.crossfit import BUDGETS
    from tasks.gates.live import LiveThreshold

    decided = [decision.retrieve for decision in past if decision.retrieve is not None]
    live = LiveThreshold(gate.seed_scores, BUDGETS["medium"], max(len(past), 1))
    live.resume(past)
    return {
        "asked": len(decided),
        "fetched": round(sum(decided) / len(decided), 3) if decided else None,
        "drifted": live.drifted(),
    }


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


COMMAND = {"list": ListGates, "measure": EvaluateGates, "remove": RemoveGate}
