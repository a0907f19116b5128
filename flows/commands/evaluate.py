"""`almanac evaluate`: measures a route on a benchmark, in comparison with baselines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import model_validator

from flows.jobs import MODEL, QUESTIONS, Job, Runner, finer, option, switch
from flows.terminal import Shown, Table
from tasks.text.english_words import counted


class EvaluationJob(Job):
    """A job that measures something on labelled questions and returns the figures."""

    questions: str = QUESTIONS
    format: str = option(
        "NAME", "metaqa, hotpotqa, boolq, mirage, jsonl …; an unknown name lists all."
    )
    limit: int | None = option(
        "N", "Use the first N of a seeded shuffle (all questions).", None, ge=1
    )


class EvaluateAnswers(EvaluationJob):
    """Measure answers on a benchmark and compare them with simple baselines."""

    flow_name = "evaluate-answers"
    outcome = "What was measured"
    shortcuts = MODEL

    route: str = option("NAME", "The route to measure.", "auto")
    graph: str | None = option("NAME", "Ask this graph every question (the graphs that fit).", None)
    learn: bool = switch("Learn nothing, and measure on all questions.", True)
    out: str | None = option(
        "FILE", "Write every answer and its figures to this file (none).", None
    )
    parts: bool = switch(
        "Also measure each route alone, and the query without each of its parts.",
    )
    expert: str | None = finer("Measure this expert alone.", None)
    zero_shot: bool = finer("Measure before learning, too.")
    demonstrations: int = finer(
        "Show this many training questions with their answers before each, to a model that "
        "answers from experts' texts or as a baseline.",
        0,
    )
    baselines: list[str] | None = finer(
        "bm25, embedding, spe (the default, for at most 2000 questions), or none; with "
        "a model also model, recitation, generated_knowledge, generate_then_read and "
        "retrieve_then_read.",
        None,
    )

    @model_validator(mode="after")
    def _has_parts(self) -> "EvaluateAnswers":
        """Refuse to take apart what has no parts."""
        if self.parts and (self.route != "auto" or self.expert):
            raise ValueError("--parts takes the whole query apart; leave out --route and expert")
        return self

    def work(self, runner: Runner) -> dict[str, Any]:
        """Measure and return the figures."""
        from tasks.evaluate.baselines.choose import BASELINES
        from tasks.evaluate.evaluate import Measurement, evaluate
        from tasks.evaluate.systems import system_for

        settings = self.chosen_settings
        reads_graphs = self.expert is None and self.route not in ("text", "experts")
        measurement = Measurement(
            graph=self.graph if self.graph or reads_graphs else "",
            limit=self.limit,
            learn=self.learn,
            zero_shot=self.zero_shot,
            demonstrations=self.demonstrations,
            parts=self.parts,
            baselines=list(BASELINES) if self.baselines is None else self.baselines,
            answers=Path(self.out) if self.out else None,
        )
        system = system_for(
            self.route, settings, self.place, learned=not self.learn, expert=self.expert
        )
        return evaluate(
            self.place,
            Path(self.questions),
            self.format,
            system,
            settings,
            measurement,
            runner.report,
            runner.warn,
        )

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the figures of all systems, then those of the system's groups."""
        systems = [result, *result["baselines"]]
        names = [name for name in result["metrics"] if f"{name}_low" in result["metrics"]]
        rows: list[list[Any]] = [
            row for system in systems for row in _rows(system, "all", system, names)
        ]
        for system in systems:
            for group, parts in system["by"].items():
                for value, part in parts.items():
                    rows += _rows(system, f"{group} {value}", part, names)
        yield Table([f"{result['dataset']}: system", "questions", "items", *names], rows)
        if self.parts:
            yield _gains(result)
        for stage, share in result.get("stages", {}).items():
            yield f"{stage}: {share:.3f} of the questions passed this stage."
        yield f"Learned from {counted(result['learned_from'], 'question')}."


def _gains(result: dict[str, Any]) -> Table:
    """Return what the whole query gains over each other system, and what each costs."""
    costs = {system["system"]: system for system in [result, *result["baselines"]]}
    whole: list[Any] = [result["system"], None, "", *_cost(result)]
    rows = [
        [
            gain["over"],
            gain["gain"],
            f"[{gain['gain_low']:+.3f}, {gain['gain_high']:+.3f}]",
            *_cost(costs[gain["over"]]),
        ]
        for gain in result["gains"]
    ]
    columns = ["the whole query against", "gain", "95 %", "seconds", "tokens a question"]
    return Table(columns, [whole, *rows])


def _cost(system: dict[str, Any]) -> list[float]:
    """Return the seconds and tokens that a question costs."""
    items = max(1, system["items"])
    return [round(system["seconds"] / items, 4), round(system["tokens"] / items)]


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


COMMAND = EvaluateAnswers
