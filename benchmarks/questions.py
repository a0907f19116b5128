"""The sample corpus' 40 questions: are they answered right, and are their documents found?

    python -m benchmarks.questions [--home demo-home]

A question is right if the answer contains one of the accepted ones, or, where the corpus has no
answer, if none is given. `found` is the share of questions whose documents are all among the first
eight that the search returns, by language: Chinese is found by its words and the graph alone unless
a multilingual encoder is configured.
"""

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import orjson

from benchmarks.results_file import write_results
from schemas.settings import Settings
from tasks.answer import Answerer
from tasks.embed import load_encoder
from tasks.refresh import refresh
from tasks.search import Searcher
from warehouse.editions import Edition
from warehouse.home import Home

EXAMPLES = Path(__file__).parents[1] / "examples"
FIRST = 8  # documents


def measure(edition: Edition) -> dict[str, Any]:
    """Return right answers by kind of question, and documents found by language."""
    lines = (EXAMPLES / "questions.jsonl").read_bytes().splitlines()
    answerer = Answerer(edition)
    searcher = Searcher(edition.path, load_encoder("minilm"), None)
    right: dict[str, list[bool]] = defaultdict(list)
    found: dict[str, list[bool]] = defaultdict(list)
    wrong = []
    for question in map(orjson.loads, lines):
        answer = answerer.answer(question["question"])
        said = (answer.answer or "").casefold() if answer.answerable else ""
        ok = any(a.casefold() in said for a in question["answers"]) or not (
            question["answers"] or said
        )
        right[question["task"]].append(ok)
        if not ok:
            wrong.append(f"{question['question']} -> {answer.answer}")
        if question.get("gold"):
            hits = searcher.passages(question["question"], 5 * FIRST)
            seen = list(dict.fromkeys(hit.fields["title"] for hit in hits))[:FIRST]
            found[question["language"]].append(set(question["gold"]) <= set(seen))
    return {
        "right": {task: f"{sum(oks)} of {len(oks)}" for task, oks in right.items()},
        "right_in_all": sum(sum(oks) for oks in right.values()),
        "questions": len(lines),
        "found": {
            language: {"share": round(sum(oks) / len(oks), 3), "questions": len(oks)}
            for language, oks in found.items()
        },
        "wrong": wrong,
    }


def main() -> None:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-questions-") as made:
        home = Home(arguments.home or Path(made))
        if not arguments.home:
            refresh(home, [str(EXAMPLES / "corpus")], Settings())
        with home.editions.reading() as edition:
            figures = measure(edition)
    write_results("questions", "python -m benchmarks.questions", figures)
    print(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode())


if __name__ == "__main__":
    main()
