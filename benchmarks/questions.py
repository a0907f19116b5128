"""The sample corpus' 40 questions: are they answered right, and are their documents found?

    python -m benchmarks.questions [--home demo-home]

A question is right if the answer contains one of the accepted ones, or, where the corpus has no
answer, if none is given. `text` reads passages; `knowledge` answers from what was extracted alone:
triples, statements, descriptions, aspects and aliases, looked up by programs. `found` is the share
of questions whose documents are all among the first eight that the search returns, by language:
Chinese is found by its words and the graph alone unless a multilingual encoder is configured.
"""

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from benchmarks.command import parser_of, report, run_command
from schemas.knowledge import CORPUS
from schemas.settings import Settings
from tasks.models.encoders.load import load_encoder
from tasks.programs.knowledge_bases.edition_graph import edition_graphs
from tasks.reader.knowledge_reader import KnowledgeReader
from tasks.reader.passage_reader import PassageReader
from tasks.refresh import refresh
from tasks.retrieval.search import Searcher
from tasks.text.question import analyse
from warehouse.editions import Edition
from warehouse.home import Home

EXAMPLES = Path(__file__).parents[1] / "examples"
FIRST = 8  # documents
Question = dict[str, Any]


def measure(edition: Edition) -> dict[str, Any]:
    """Return right answers by route and kind of question, and documents found by language."""
    lines = (EXAMPLES / "questions.jsonl").read_bytes().splitlines()
    questions = [orjson.loads(line) for line in lines]
    text = PassageReader(edition)
    knowledge = KnowledgeReader(edition_graphs(edition)[CORPUS], edition)
    return {
        "questions": len(questions),
        "text": _right(questions, lambda question: text.answer(analyse(question)).answers),
        "knowledge": _right(
            questions, lambda question: knowledge.answer(analyse(question)).answers
        ),
        "found": _found(questions, edition),
    }


def _right(questions: list[Question], answers: Callable[[str], list[str]]) -> dict[str, Any]:
    right: dict[str, list[bool]] = defaultdict(list)
    wrong = []
    began = time.perf_counter()
    for question in questions:
        answer = (answers(question["question"]) or [""])[0]
        accepted = (a.casefold() in answer.casefold() for a in question["answers"])
        ok = any(accepted) if question["answers"] else not answer
        right[question["task"]].append(ok)
        if not ok:
            wrong.append(f"{question['question']} -> {answer or None}")
    seconds = time.perf_counter() - began
    return {
        "right": {task: f"{sum(oks)} of {len(oks)}" for task, oks in right.items()},
        "right_in_all": sum(sum(oks) for oks in right.values()),
        "seconds_a_question": round(seconds / len(questions), 3),
        "wrong": wrong,
    }


def _found(questions: list[Question], edition: Edition) -> dict[str, Any]:
    searcher = Searcher(edition.path, load_encoder("minilm"), None)
    found: dict[str, list[bool]] = defaultdict(list)
    for question in questions:
        if question.get("gold"):
            hits = searcher.passages(analyse(question["question"]), 5 * FIRST)
            seen = list(dict.fromkeys(hit.fields["title"] for hit in hits))[:FIRST]
            found[question["language"]].append(set(question["gold"]) <= set(seen))
    return {
        language: {"share": round(sum(oks) / len(oks), 3), "questions": len(oks)}
        for language, oks in found.items()
    }


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-questions-") as made:
        home = Home(arguments.home or Path(made))
        if not arguments.home:
            refresh(home, [str(EXAMPLES / "corpus")], Settings())
        with home.editions.reading() as edition:
            figures = measure(edition)
    report("questions", figures)


if __name__ == "__main__":
    run_command(main)
