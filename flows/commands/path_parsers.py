"""The options of the commands that learn graph paths and how to phrase them."""

import argparse

from flows.commands.parsing import (
    Commands,
    amount,
    command,
    model_options,
    positive,
    prefect_option,
    wait_option,
)


def train_paths(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that trains a policy and a bandit."""
    what = "Learn from questions which paths of a graph matter, and how to phrase them."
    p = command(commands, shared, "train-paths", module, what)
    p.add_argument("questions", metavar="QUESTIONS", help="a file of questions, or a folder")
    p.add_argument("--graph", required=True, metavar="NAME", help="the graph they are about")
    p.add_argument("--format", default="jsonl", metavar="NAME", help="as for evaluate (jsonl)")
    p.add_argument("--limit", type=positive, metavar="N", help="train on N questions (all)")
    p.add_argument(
        "--encoder",
        metavar="NAME",
        help="what makes vectors: minilm, static, or a sentence encoder (by the graph's size)",
    )
    p.add_argument("--steps", type=positive, metavar="K", help="the longest path (3)")
    p.add_argument("--epochs", type=int, metavar="N", help="walk each pair N times for rewards")
    p.add_argument("--cloning-epochs", type=int, metavar="N", help="imitate shortest paths N times")
    p.add_argument("--seed", type=int, metavar="N", help="random seed (0)")
    for name, what in (
        ("reach", "reaching the answer"),
        ("relatedness", "relatedness to the question"),
        ("conciseness", "short paths"),
    ):
        p.add_argument(f"--{name}", type=amount, metavar="WEIGHT", help=f"the weight of {what}")
    p.add_argument(
        "--ridge", type=amount, metavar="MU", help="learn W by ridge regression (the identity)"
    )
    p.add_argument(
        "--arms",
        type=int,
        metavar="N",
        help="questions that the answering model is asked, to learn how to phrase paths (200)",
    )
    p.add_argument(
        "--rule",
        choices=["sampling", "bound", "nonnegative"],
        help="how the bandit chooses: sampling, or the paper's confidence bound, perhaps with "
        "nonnegative weights (sampling)",
    )
    for unit in ("token", "second"):
        what = f"what each {unit} of an answer takes from its reward, which is 1 if right (0)"
        p.add_argument(f"--per-{unit}", type=amount, metavar="COST", help=what)
    wait_option(p)
    prefect_option(p)
    model_options(p)


def bandit(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that shows a bandit, or resets it."""
    what = "Show what was learned of each way to phrase a graph's paths, or learn it anew."
    p = command(commands, shared, "bandit", module, what)
    p.add_argument("--graph", required=True, metavar="NAME", help="the graph")
    p.add_argument(
        "--model", metavar="NAME", help="the model that answers (the one in the settings)"
    )
    p.add_argument("--reset", action="store_true", help="begin anew; the records are kept")
