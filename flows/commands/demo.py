"""`almanac demo`: refreshes from the sample corpus, then shows tables and asks questions.

With --expert it also trains an expert on a sample graph and asks it alone.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from flows import terminal
from flows.commands.ask import ask, show_answer
from flows.commands.refresh import show_report
from flows.expert_jobs import TrainExperts
from flows.home import edition_of, home_of, settings_of
from flows.jobs import ImportGraph, RefreshKnowledge
from flows.orchestration import run_job
from schemas.errors import UsageError
from tasks.ask.route import AskOptions
from tasks.experts.training.plan import TrainingPlan
from warehouse.home import Home
from warehouse.sql_session import run_sql

DEMO_HOME = "demo-home"
EXPERT = "moons"  # the sample graph, and the expert that is trained on it
EXPERT_MINUTES = 1.0
EXPERT_QUESTION = "Who discovered Io?"
# One hop, two hops across documents, and Chinese.
QUESTIONS = ("one-01", "two-03", "zh-one-01")
LOOKS = {
    "Entities that many documents mention": (
        "select name, kind, documents, mentions from entities "
        "where kind <> 'unknown' order by documents desc, mentions desc, name limit 8"
    ),
    "Facts of the best supported relations": (
        "select head, relation, tail, support, round(confidence, 2) as confidence "
        "from asserted_triples order by support desc, confidence desc, triple_id limit 8"
    ),
    "Facts with measured values": (
        "select head, relation, number, unit, round(confidence, 2) as confidence "
        "from asserted_triples where value_type = 'quantity' "
        "order by confidence desc, triple_id limit 6"
    ),
    "Facts that disagree": (
        "select head, relation, tail, uri from conflicts order by head, relation, tail limit 6"
    ),
}


def run(arguments: argparse.Namespace) -> int:
    """Refresh from the sample corpus, show parts of the tables and ask three questions."""
    arguments.home = arguments.home or DEMO_HOME
    examples = _examples(arguments.examples)
    home = home_of(arguments)
    job = RefreshKnowledge.from_arguments(
        arguments, sources=[str(examples / "corpus")], settings=settings_of(home)
    )
    report = run_job(job, arguments)
    questions = _questions(examples)
    answers = [ask(home, question) for question in questions]
    trained = _train_expert(home, examples, arguments) if arguments.expert else None
    if trained is not None:
        answers.append(ask(home, EXPERT_QUESTION, AskOptions(expert=EXPERT)))
    if arguments.json:
        shown = [answer.model_dump(mode="json") for answer in answers]
        expert = {} if trained is None else {"expert": trained}
        terminal.show_json({"refresh": report, **expert, "answers": shown})
        return 0
    show_report(report)
    _look_around(home)
    for place, answer in enumerate(answers):
        of_expert = place == len(questions)
        option = f" --expert {EXPERT}" if of_expert else ""
        quoted = json.dumps(answer.question, ensure_ascii=False)
        terminal.show(f"\n$ almanac ask {quoted}{option}")
        show_answer(answer, explain=of_expert)
    terminal.show(
        f"\nThe almanac is in {home.path}. Ask and query it yourself, for example:\n"
        f'  almanac --home {home.path} ask "Who designed the ship Fram?"\n'
        f'  almanac --home {home.path} sql "select * from entities limit 10"'
    )
    return 0


def _train_expert(home: Home, examples: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Import the sample graph and train an expert on it for a minute; return its summary."""
    settings = settings_of(home)
    graph = examples / "graphs" / f"{EXPERT}.tsv"
    run_job(
        ImportGraph.from_arguments(arguments, source=str(graph), name=EXPERT, settings=settings),
        arguments,
    )
    plan = TrainingPlan(minutes=EXPERT_MINUTES)
    job = TrainExperts.from_arguments(arguments, names=[EXPERT], settings=settings, plan=plan)
    trained: dict[str, Any] = run_job(job, arguments)["experts"][0]
    return trained


def _examples(given: str | None) -> Path:
    """Return the folder with the sample corpus: the given one, or that of the checkout."""
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "examples"
    if not (folder / "corpus").is_dir():
        raise UsageError(f"There is no corpus in {folder}; name its folder with --examples.")
    return folder


def _questions(examples: Path) -> list[str]:
    rows: list[dict[str, Any]] = [
        json.loads(line)
        for line in (examples / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    by_id = {row["id"]: str(row["question"]) for row in rows}
    return [by_id[wanted] for wanted in QUESTIONS]


def _look_around(home: Home) -> None:
    edition = edition_of(home, None)
    for title, query in LOOKS.items():
        result = run_sql(edition.database, {}, query)
        rows = list(result.rows())
        terminal.show(f"\n{title}:{'' if rows else ' none.'}")
        if rows:
            terminal.table(result.columns, rows)
