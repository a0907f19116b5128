"""The options of the commands that calibrate gates and show them."""

import argparse

from flows.commands.gate_options import thrust_options
from flows.commands.parsing import Commands, command, group, model_options, positive, prefect_option


def calibrate_gate(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that calibrates a gate."""
    what = "Learn from a task's questions when outside knowledge is needed; replaces its gate."
    p = command(commands, shared, "calibrate-gate", module, what)
    p.add_argument("questions", metavar="QUESTIONS", help="a file, or a folder of files")
    p.add_argument(
        "--task",
        required=True,
        metavar="NAME",
        help="the task's name; picks one where the file has several tasks",
    )
    p.add_argument("--format", default="jsonl", metavar="NAME", help="as for evaluate (jsonl)")
    p.add_argument("--gate", default="thrust", metavar="NAME", help="thrust, popularity, entropy …")
    p.add_argument(
        "--seeds",
        type=positive,
        default=200,
        metavar="N",
        help="questions to calibrate with (200)",
    )
    p.add_argument(
        "--draw", type=int, default=42, metavar="N", help="random seed that draws them (42)"
    )
    p.add_argument(
        "--outcomes-of", metavar="MODEL", help="use this model's outcomes, if the file has several"
    )
    prefect_option(p)
    thrust_options(p)
    model_options(p)


def gates(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that lists and removes gates."""
    p, actions = group(
        commands, shared, "gates", "List and remove gates, which decide on retrieval."
    )
    p.set_defaults(module=module, action="list")
    command(actions, shared, "list", module, "List the calibrated gates.", action="list")
    removing = command(actions, shared, "remove", module, "Remove a gate.", action="remove")
    removing.add_argument("task", metavar="TASK", help="the task whose gate goes")
