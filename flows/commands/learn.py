"""`almanac learn`: what learns from questions with answers learns; no server is started."""

import argparse
from pathlib import Path

from flows import progress, terminal
from flows.home import home_of, settings_of
from tasks.learn_planners import learn_planners


def run(arguments: argparse.Namespace) -> int:
    """Learn a planner for each graph that the questions are asked of, and say how good it is."""
    home = home_of(arguments)
    with progress.shown() as report:
        learned = learn_planners(
            home,
            Path(arguments.questions),
            arguments.format,
            settings_of(home),
            arguments.graph,
            report,
        )
    if arguments.json:
        terminal.show_json(learned)
        return 0
    names = ["graph", "questions", "explained", "paths", "tried", "right"]
    terminal.table(names, [[one[name] for name in names] for one in learned])
    terminal.show("`almanac ask --graph NAME` plans its searches by this from now on.")
    return 0
