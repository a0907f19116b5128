"""`almanac feedback`: says how right an answer was."""

import argparse

from flows import terminal
from flows.home import home_of
from tasks.feedback import note_feedback

LEARNED = {
    "counted": "Thanks. The bandit that chose how the graph was phrased has learned from it.",
    "repeated": "Thanks. It is kept; the bandit had learned from this question before.",
    "unknown": "Thanks. It is kept beside the answer.",
}


def run(arguments: argparse.Namespace) -> int:
    """Record the feedback and print whether a bandit learned from it."""
    home = home_of(arguments)
    correct = {"right": 1.0, "wrong": 0.0}.get(arguments.verdict)
    outcome = note_feedback(
        home,
        arguments.question_id,
        float(arguments.verdict) if correct is None else correct,
        arguments.words,
    )
    if arguments.json:
        terminal.show_json({"question_id": arguments.question_id, "bandit": outcome})
    else:
        terminal.show(LEARNED[outcome])
    return 0
