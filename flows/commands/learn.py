"""`almanac learn`: learns from questions with answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flows.commands.train_paths import arms_in_words, policy_in_words
from flows.jobs import FORMAT, Job, Runner, operand, option, switch
from flows.summary import rows_of
from flows.terminal import Shown, Table
from schemas.extras import check_extra

TABLES = {  # of each kind of thing that is learned: its columns, and what it changes
    "planner": (
        ("graph", "questions", "new", "explained", "paths", "tried", "right"),
        "From now on, `almanac ask --graph NAME` plans its searches with this.",
    ),
    "gate": (
        ("task", "gate", "encoder", "seeds", "classes", "clusters"),
        "From now on, `almanac ask` with a model asks these gates before it searches.",
    ),
    "needs": (
        ("model", "asked", "right", "examples"),
        "From now on, these examples show the model when it needs to ask an expert.",
    ),
}


class LearnFromQuestions(Job):
    """Learn from questions with answers how to search a graph."""

    flow_name = "learn-from-questions"
    outcome = "What was learned"
    writes = True

    questions: str | list[str] = operand(
        "QUESTIONS", "Files of questions, or folders with several."
    )
    format: str = FORMAT
    graph: str | None = option("NAME", "Ask this graph every question (the graphs that fit).", None)
    gates: bool = switch(
        "Also calibrate a gate for each task with at least 50 questions.", name="--gate"
    )
    experts: bool = switch(
        "Also ask the model the questions by itself, so that it learns when to ask experts."
    )
    paths: bool = switch("Also learn which paths of --graph matter, and how to phrase them.")
    measure: bool = switch(
        "Keep the parts of the query as they are; by default those are in use that are measured "
        "to help, on a quarter of the questions.",
        True,
    )
    replace: bool = switch("Forget what was learned for the graph earlier.")

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Learn and return what was learned, as `tasks.learn.learn` does."""
        check_extra("paths" if self.paths else "learn")  # the import below needs them already
        from tasks.learn import learn

        paths = [self.questions] if isinstance(self.questions, str) else self.questions
        return learn(
            self.place,
            [Path(path) for path in paths],
            self.format,
            self.chosen_settings,
            self.graph,
            gates=self.gates,
            experts=self.experts,
            paths=self.paths,
            replace=self.replace,
            measured=self.measure,
            report=runner.report,
        )

    def shown(self, result: list[dict[str, Any]]) -> Iterator[Shown]:
        """Yield a table for each kind of thing that was learned."""
        for kind, (columns, changes) in TABLES.items():
            items = [item for item in result if item["learned"] == kind]
            if items:
                known = [name for name in columns if any(item[name] is not None for item in items)]
                yield rows_of(known, items)
                yield changes
        for item in result:
            if item["learned"] == "policy":
                yield from policy_in_words({n: v for n, v in item.items() if n != "learned"})
            if item["learned"] == "arms":
                yield from arms_in_words(item)
            if item["learned"] == "parts":
                yield from _parts_in_words(item)


def _parts_in_words(item: dict[str, Any]) -> Iterator[Shown]:
    """Yield what each part of the query was measured to bring, and the query as decided."""
    if reason := item.get("skipped"):
        yield reason
        return
    yield Table(
        ["part of the query", "gain", "95 %", "in use"],
        [
            [
                part["part"],
                part["gain"],
                f"[{part['low']:+.3f}, {part['high']:+.3f}]",
                "yes" if part["use"] else "no",
            ]
            for part in item["parts"]
        ],
    )
    yield (
        f"With all parts {item['right_with_all']:.3f} of {item['questions']} questions kept apart "
        f"are answered rightly, {item['seconds_with_all']:.2f} s each; with those in use "
        f"{item['right_as_decided']:.3f}, {item['seconds_as_decided']:.2f} s. From now on, "
        "`almanac ask` uses these. Questions of the same files are worded alike: of other "
        "wordings, the figures say nothing."
    )


COMMAND = LearnFromQuestions
