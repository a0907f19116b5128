"""Keep askers' feedback beside the answer, and reward the bandit that chose how to answer."""

import pyarrow.compute as pc

from schemas.errors import UsageError
from schemas.operations import AnswerRecord
from tasks.paths.bandit.bandit import Outcome, give_feedback
from warehouse.home import Home
from warehouse.live import record


def note_feedback(home: Home, question_id: str, correct: float, words: str | None) -> Outcome:
    """Keep how right an answer was, 0 to 1, and the asker's words; return the bandit's outcome.

    That is `unknown` if no bandit chose how the question was answered, and `repeated` for a second
    feedback, which the bandit ignores. Raises UsageError for an unknown question.
    """
    answers = home.live.table(AnswerRecord)
    rows = answers.filter(pc.equal(answers["question_id"], question_id)).to_pylist()
    if not rows:
        raise UsageError(
            f'No question has the id {question_id!r}. `almanac sql "select question_id, question '
            'from answers order by asked_at desc limit 10"` shows the last ones.'
        )
    outcome = give_feedback(home.live, question_id, correct)
    comment = f"{correct:g}" if words is None else f"{correct:g}: {words}"
    record(home.live, AnswerRecord(**{**rows[-1], "feedback": comment}))
    return outcome
