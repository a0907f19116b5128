"""The options of the commands that ask, learn and measure."""

import argparse

from flows.commands.gate_options import measured_gate_options
from flows.commands.parsing import (
    Commands,
    command,
    day,
    model_options,
    positive,
    prefect_option,
    share,
    wait_option,
)

STUDIES = {  # options that `evaluate` had, and the command of a checkout that has them now
    "study": "experts_study",
    "datasets": "experts_study",
    "knowledge": "knowledge_gain",
    "models": "knowledge_gain",
    "proxy": "knowledge_gain",
    "arms": "arms_study",
    "training": "arms_study",
}


def remember(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that keeps a text or a file."""
    p = command(
        commands, shared, "remember", module, "Add a text or a file; it can be asked about at once."
    )
    p.add_argument("said", metavar="TEXT", help="a text, a file, or - for standard input")
    p.add_argument("--sensitive", action="store_true", help="never send it to a remote model")
    wait_option(p, seconds=60)


def ask(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that answers one question."""
    p = command(commands, shared, "ask", module, "Answer a question, with sources.")
    p.add_argument("question", nargs="*", metavar="QUESTION", help="the question")
    p.add_argument(
        "-i",
        "--interactive",
        action="store_true",
        help="ask one question after another; with --json, one object per line",
    )
    p.add_argument(
        "--choices",
        action="append",
        default=[],
        metavar="CHOICE",
        help="a choice, of which the answer is one; give the option once per choice",
    )
    _ask_options(p)
    p.add_argument(
        "--explain",
        action="store_true",
        help="show the program, all evidence and the gate's choice",
    )
    p.add_argument("--picture", metavar="FILE", help="draw the paths behind the answer as an SVG")


def answer(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that answers a file of questions."""
    p = command(commands, shared, "answer", module, "Answer a file of questions, with sources.")
    p.add_argument(
        "questions",
        metavar="QUESTIONS",
        help="a file with one JSON object per line, with `question`",
    )
    p.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="the file to write, one object per line as from `ask --json`",
    )
    _ask_options(p)
    prefect_option(p)


def feedback(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that says how right an answer was."""
    p = command(commands, shared, "feedback", module, "Say how right an answer was.")
    p.add_argument("question_id", metavar="QUESTION_ID", help="as `ask --explain` shows it")
    p.add_argument("verdict", type=_verdict, metavar="VERDICT", help="right, wrong, or 0 to 1")
    p.add_argument("--words", metavar="WORDS", help="a comment, kept beside the answer")


def _verdict(text: str) -> str:
    """Return right, wrong or a share; raise ArgumentTypeError otherwise."""
    try:
        if text not in ("right", "wrong"):
            share(text)
    except ValueError:
        wrong = "it must be right, wrong, or a number from 0 to 1"
        raise argparse.ArgumentTypeError(wrong) from None
    return text


def _ask_options(p: argparse.ArgumentParser) -> None:
    """Add the options that decide how questions are answered."""
    p.add_argument(
        "--route",
        choices=["auto", "programs", "paths", "text", "experts", "none"],
        default="auto",
        help="answer by programs over graphs, by paths in a graph, from the texts, by experts, by "
        "none of these, or by what fits (auto)",
    )
    p.add_argument("--graph", metavar="NAME", help="ask this graph alone, by programs or paths")
    _expert_options(p)
    p.add_argument(
        "--rounds",
        type=positive,
        default=1,
        metavar="N",
        help="searches a model may make, four at most (1)",
    )
    p.add_argument(
        "--min-score",
        type=share,
        metavar="P",
        help="give no answer from texts that is less likely to be right than P, from 0 to 1 (0.6)",
    )
    p.add_argument("--task", metavar="NAME", help="use this task's gate, not the nearest task's")
    p.add_argument(
        "--gate-budget",
        type=_gate_budget,
        metavar="SHARE",
        help="share of questions that may retrieve: scarce (25%%), medium (50%%), abundant (75%%), "
        "or a number from 0 to 1",
    )
    p.add_argument("--no-gate", action="store_true", help="always retrieve")
    which = p.add_mutually_exclusive_group()
    which.add_argument(
        "--edition", metavar="ID", help="an older edition instead of the current one"
    )
    which.add_argument(
        "--as-of",
        type=day,
        metavar="DATE",
        help="the last edition that was built on this day (UTC) or before, such as 2026-03-31",
    )
    model_options(p)


def _expert_options(p: argparse.ArgumentParser) -> None:
    """Add the options that decide how experts are used."""
    p.add_argument("--expert", metavar="NAME", help="ask this expert alone")
    p.add_argument(
        "--mode",
        choices=["bottom_up", "automatic", "explicit"],
        help="all experts write; or an expert is asked where more is needed, chosen by its "
        "description (automatic) or by the model (explicit) (bottom_up)",
    )


def _gate_budget(text: str) -> str | float:
    """Return a budget's name or a share, where `30%` is 0.3; raise ArgumentTypeError otherwise."""
    if text in ("scarce", "medium", "abundant"):
        return text
    try:
        return share(text) if not text.endswith("%") else share(str(float(text[:-1]) / 100))
    except ValueError:
        wrong = "it must be scarce, medium, abundant, or a share from 0 to 1"
        raise argparse.ArgumentTypeError(wrong) from None


def learn(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that learns from questions with answers."""
    p = command(
        commands,
        shared,
        "learn",
        module,
        "Learn from questions with answers how to search a graph.",
    )
    p.add_argument("questions", nargs="+", metavar="QUESTIONS", help="files, or folders of files")
    p.add_argument("--format", default="jsonl", metavar="NAME", help="as for evaluate (jsonl)")
    p.add_argument("--graph", metavar="NAME", help="ask all questions of this graph")
    p.add_argument(
        "--replace", action="store_true", help="forget what was learned for the graph before"
    )
    p.add_argument(
        "--gate", action="store_true", help="also calibrate a gate per task of 50 questions or more"
    )
    p.add_argument(
        "--experts",
        action="store_true",
        help="also ask the model the questions alone, so that it knows better when to ask experts",
    )
    p.add_argument(
        "--paths",
        action="store_true",
        help="also learn which paths of --graph matter, and how to phrase them",
    )
    prefect_option(p)


def evaluate(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that measures."""
    what = "Measure answers on a benchmark, with simple baselines beside them."
    p = command(commands, shared, "evaluate", module, what)
    p.add_argument("questions", metavar="FILE_OR_FOLDER", help="a file, or a folder of files")
    p.add_argument(
        "--format",
        required=True,
        metavar="NAME",
        help="metaqa, hotpotqa, boolq, mirage, jsonl …; an unknown name lists all",
    )
    p.add_argument("--graph", metavar="NAME", help="ask all questions of this graph")
    p.add_argument("--route", default="auto", metavar="NAME", help="the route to measure (auto)")
    _expert_options(p)
    p.add_argument(
        "--limit", type=positive, metavar="N", help="use the first N of a seeded shuffle"
    )
    p.add_argument(
        "--no-learn",
        dest="learn",
        action="store_false",
        help="learn nothing and measure on all questions",
    )
    p.add_argument("--zero-shot", action="store_true", help="measure before learning, too")
    p.add_argument(
        "--baselines",
        metavar="NAMES",
        help="bm25,embedding,spe (the default; at most 2000 questions) or none; with a model also "
        "model,generated_knowledge,recitation,generate_then_read,retrieve_then_read",
    )
    p.add_argument("--out", metavar="FILE", help="write every answer and its figures to this file")
    model_options(p)
    prefect_option(p)
    measured_gate_options(p)
    _studies(p)


def _studies(p: argparse.ArgumentParser) -> None:
    """Accept options that left, so that `evaluate` can name the command that replaces them."""
    for name in STUDIES:
        if name in ("knowledge", "arms"):
            p.add_argument(f"--{name}", action="store_true", help=argparse.SUPPRESS)
        else:
            p.add_argument(f"--{name}", nargs="?", const="", help=argparse.SUPPRESS)
