"""Keep answers in the live records, which SQL can read, and in a file of answers."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from schemas.answers import Answer, Gating
from schemas.errors import NotFoundError, UsageError
from schemas.operations import AnswerRecord
from tasks.ask.route import QuestionHints
from tasks.paths.bandit.bandit import Outcome, give_feedback
from tasks.progress import Report
from tasks.questions.question import BenchmarkQuestion
from warehouse.home import Home
from warehouse.live import record

if TYPE_CHECKING:
    from tasks.ask.asker import Asker

ANSWERS_A_RECORD = 100
_SAME = (AnswerRecord.model_fields.keys() & Answer.model_fields.keys()) - {"evidence", "way"}
ESCAPED = {
    end: f"\\u{end:04x}" for end in (0x85, 0x2028, 0x2029)
}  # some readers take them for line ends


def record_answers(home: Home, *answers: Answer) -> None:
    """Record answers with their decisions; raises PermissionError if the home is read-only."""
    decisions = [decision for answer in answers for decision in answer.decisions]
    record(home.live, *map(_row, answers), *decisions)


def _row(answer: Answer) -> AnswerRecord:
    gating = answer.gating or Gating()
    return AnswerRecord(
        **{name: getattr(answer, name) for name in _SAME},
        **gating.model_dump(include={"task", "gate", "budget", "level", "retrieve"}),
        retrieve_cause=gating.cause,
        evidence=f"[{','.join(e.model_dump_json() for e in answer.evidence)}]",
        way=answer.way.model_dump_json() if answer.way else None,
        cost=answer.usage.cost,
        tokens=answer.usage.tokens_in + answer.usage.tokens_out,
        asked_at=datetime.now(UTC),
    )


def check_answers_file(out: Path, questions: Path) -> None:
    """Raise UsageError unless answers may be written to `out`, which holds no asked questions."""
    if not out.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {out.absolute().parent} for the answers.")
    replaces = out.exists() and questions.resolve() in (out.resolve(), *out.resolve().parents)
    if replaces or out.is_dir():
        raise UsageError(f"{out} holds questions or is a folder; name a file for the answers.")


def answer_file(
    asker: "Asker",
    questions: Sequence[BenchmarkQuestion],
    out: Path,
    keep: Callable[..., None],
    report: Report,
) -> int:
    """Answer questions into a file, one line per question as in `ask --json`, with its id.

    The file is written completely or, if the work ends early, not at all; `keep` receives answers
    as they come. Returns how many questions have an answer.
    """
    aside = out.with_name(f".{out.name}.part")
    answered, done = 0, 0
    try:
        with aside.open("w", encoding="utf-8") as file:
            for start in range(0, len(questions), ANSWERS_A_RECORD):
                batch = questions[start : start + ANSWERS_A_RECORD]
                hints = [QuestionHints(q.task, q.popularity, q.choices) for q in batch]
                answers = asker.answer_all([question.question for question in batch], hints)
                file.writelines(map(_line, batch, answers))
                keep(*answers)
                answered += sum(answer.answerable for answer in answers)
                done += len(batch)
                report("answer", done, len(questions))
        aside.replace(out)
    finally:
        aside.unlink(missing_ok=True)
    return answered


def _line(question: BenchmarkQuestion, answer: Answer) -> str:
    row = {"id": question.id, **answer.model_dump(mode="json")}
    return f"{json.dumps(row, ensure_ascii=False).translate(ESCAPED)}\n"


def note_feedback(home: Home, question_id: str, correct: float, words: str | None) -> Outcome:
    """Keep how right an answer was, 0 to 1, and the asker's words; return the bandit's outcome.

    That is `unknown` if no bandit chose how the question was answered, and `repeated` for a second
    feedback, which the bandit ignores. Raises NotFoundError for an unknown question.
    """
    answers = home.live.table(AnswerRecord)
    rows = answers.filter(pc.equal(answers["question_id"], question_id)).to_pylist()
    if not rows:
        raise NotFoundError(
            f'No question has the id {question_id!r}. `almanac sql "select question_id, question '
            'from answers order by asked_at desc limit 10"` shows the last ones.'
        )
    outcome = give_feedback(home.live, question_id, correct)
    comment = f"{correct:g}" if words is None else f"{correct:g}: {words}"
    judged = {"feedback": comment, "judged_at": datetime.now(UTC)}
    record(home.live, AnswerRecord(**{**rows[-1], **judged}))
    return outcome
