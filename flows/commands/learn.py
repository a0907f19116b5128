"""`almanac learn`: learns from questions with answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flows.commands.train_paths import arms_in_words, policy_in_words
from flows.jobs import FORMAT, Job, Runner, operand, option, switch
from flows.summary import rows_of
from flows.terminal import Shown

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
    replace: bool = switch("Forget what was learned for the graph earlier.")

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Learn and return what was learned, as `tasks.learn.learn` does."""
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


COMMAND = LearnFromQuestions
