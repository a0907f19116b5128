"""`almanac answer`: a file of questions, an answer to each; no server is started."""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from flows import progress, terminal
from flows.commands.ask import keep
from flows.home import edition_of, home_of, settings_of
from schemas.answers import Answer
from schemas.errors import UsageError
from tasks.evaluation.formats import read_benchmark
from tasks.evaluation.question import BenchmarkQuestion
from tasks.extract_pending import Report
from warehouse.home import Home

BATCH = 100  # answers a record


def run(arguments: argparse.Namespace) -> int:
    """Answer the questions and write an object as `ask --json` prints it on each line."""
    home = home_of(arguments)
    questions = read_benchmark(Path(arguments.questions), "jsonl").questions
    out = Path(arguments.out)
    if not out.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {out.absolute().parent} for the answers.")
    with progress.shown() as report:
        answered = write_answers(home, questions, out, arguments.edition, report)
    if arguments.json:
        told = {"questions": len(questions), "answered": answered, "answers": str(out)}
        terminal.show_json(told)
    else:
        terminal.show(f"{answered} of {len(questions)} questions have an answer in {out}.")
    return 0


def write_answers(
    home: Home,
    questions: Sequence[BenchmarkQuestion],
    out: Path,
    edition_id: str | None,
    report: Report,
) -> int:
    """Write the answers, each with its question's id; return how many questions have one.

    The file is complete or, if the work ends early, not there; answers are recorded as they come.
    """
    aside = out.with_name(f".{out.name}.part")
    answered, done = 0, 0
    try:
        with aside.open("w", encoding="utf-8") as file:
            for batch in _answers(home, questions, edition_id):
                for question, answer in zip(questions[done : done + BATCH], batch, strict=True):
                    file.write(f"{_line(question, answer)}\n")
                keep(home, *batch)
                answered += sum(answer.answerable for answer in batch)
                done += len(batch)
                report("answer", done, len(questions))
        aside.replace(out)
    finally:
        aside.unlink(missing_ok=True)
    return answered


def _answers(
    home: Home, questions: Sequence[BenchmarkQuestion], edition_id: str | None
) -> Iterator[list[Answer]]:
    from tasks.answer import Answerer

    with edition_of(home, edition_id).pinned() as edition:
        answerer = Answerer(edition, settings_of(home).engine)
        for start in range(0, len(questions), BATCH):
            yield [answerer.answer(q.question) for q in questions[start : start + BATCH]]


def _line(question: BenchmarkQuestion, answer: Answer) -> str:
    row: dict[str, Any] = {"id": question.id, **answer.model_dump(mode="json")}
    return terminal.json_line(json.dumps(row, ensure_ascii=False))
