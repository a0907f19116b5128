"""`almanac learn`: trains planners and gates on questions with answers."""

import argparse

from flows import terminal
from flows.commands.train_paths import show_arms, show_policy
from flows.jobs import LearnFromQuestions
from flows.orchestration import run_job


def run(arguments: argparse.Namespace) -> int:
    """Train planners and gates on the questions, and show how good they are."""
    job = LearnFromQuestions.from_arguments(arguments, gates=arguments.gate)
    learned = run_job(job, arguments)
    if arguments.json:
        terminal.show_json(learned)
        return 0
    planners = [item for item in learned if item["learned"] == "planner"]
    if planners:
        names = ["graph", "questions", "new", "explained", "paths"]
        if any(planner["tried"] for planner in planners):
            names += ["tried", "right"]
        terminal.table(names, [[item[name] for name in names] for item in planners])
        terminal.show("From now on, `almanac ask --graph NAME` plans its searches with this.")
    gates = [item for item in learned if item["learned"] == "gate"]
    if gates:
        names = ["task", "gate", "encoder", "seeds", "classes", "clusters"]
        terminal.table(names, [[item[name] for name in names] for item in gates])
        terminal.show(
            "From now on, `almanac ask` with a model asks these gates before it searches."
        )
    needs = [item for item in learned if item["learned"] == "needs"]
    if needs:
        names = ["model", "asked", "right", "examples"]
        terminal.table(names, [[item[name] for name in names] for item in needs])
        terminal.show("From now on, these examples show the model when it needs to ask an expert.")
    for item in learned:
        if item["learned"] == "policy":
            show_policy({name: value for name, value in item.items() if name != "learned"})
        if item["learned"] == "arms":
            show_arms(item)
    return 0
