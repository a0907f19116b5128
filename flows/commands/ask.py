"""`almanac ask`: a question, an answer with its sources; no server is started."""

import argparse
from datetime import UTC, datetime

from flows import terminal
from flows.home import edition_of, home_of, settings_of
from schemas.answers import Answer, Evidence
from schemas.errors import UsageError
from schemas.operations import AnswerRecord
from warehouse.home import Home
from warehouse.live import record

MAX_QUESTION_CHARS = 2000
QUOTED_CHARS = 300


def run(arguments: argparse.Namespace) -> int:
    """Answer the question from the edition and keep a record of it."""
    home = home_of(arguments)
    question = arguments.question.strip()
    if not question or len(question) > MAX_QUESTION_CHARS:
        raise UsageError(f"A question has between 1 and {MAX_QUESTION_CHARS} characters.")
    answer = ask(home, question, arguments.edition)
    if arguments.json:
        terminal.show_json(answer.model_dump(mode="json"))
    else:
        show_answer(answer, explain=arguments.explain)
    return 0


def ask(home: Home, question: str, edition_id: str | None = None) -> Answer:
    """Return the answer to a question; it is among the live records from then on."""
    from tasks.answer import Answerer

    with edition_of(home, edition_id).pinned() as edition:
        answer = Answerer(edition, settings_of(home).engine).answer(question)
    keep(home, answer)
    return answer


def show_answer(answer: Answer, *, explain: bool = False) -> None:
    """Print the answer and where it comes from; `explain` adds what else was considered."""
    terminal.show(answer.answer or "The almanac does not know.")
    for evidence in answer.evidence:
        words = terminal.one_line(evidence.text)
        quoted = words if len(words) <= QUOTED_CHARS else words[:QUOTED_CHARS] + "…"
        terminal.show(f"  “{quoted}”")
        terminal.show(f"  — {_place(evidence)}")
    if explain:
        if len(answer.answers) > 1:
            terminal.show(f"  also possible: {'; '.join(answer.answers[1:])}")
        for evidence in answer.evidence:
            terminal.show(
                f"  {evidence.kind} of {evidence.document_id}, characters "
                f"{evidence.span_start} to {evidence.span_end}, score {evidence.score:.2f}"
            )
        terminal.show(
            f"  route {answer.route}, edition {answer.edition}, {answer.seconds:.2f} s, "
            f"{answer.usage.calls} model calls"
        )


def _place(evidence: Evidence) -> str:
    return terminal.one_line(evidence.uri or evidence.document_id or evidence.graph)


def keep(home: Home, *answers: Answer) -> None:
    """Put answers among the live records; who may only read the home is told that it cannot be."""
    try:
        record(home.live, *map(_row, answers))
    except PermissionError as error:
        terminal.say(f"The answer could not be recorded: {error}.")


def _row(answer: Answer) -> AnswerRecord:
    return AnswerRecord(
        **answer.model_dump(include={"question_id", "question", "answer", "answerable", "route"}),
        **answer.model_dump(include={"thrust", "program", "edition", "seconds"}),
        evidence=f"[{','.join(e.model_dump_json() for e in answer.evidence)}]",
        tokens=answer.usage.tokens_in + answer.usage.tokens_out,
        asked_at=datetime.now(UTC),
    )
