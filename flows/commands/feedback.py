"""`almanac feedback`: says how right an answer was."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, field_validator

from flows.jobs import Command, Runner, operand, option
from flows.terminal import Shown

LEARNED = {
    "counted": "Thanks. The bandit that chose how the graph was phrased has learned from it.",
    "repeated": "Thanks. It is kept; the bandit had learned from this question before.",
    "unknown": "Thanks. It is kept beside the answer.",
}
Share = Annotated[float, Field(ge=0, le=1)]


class Feedback(Command):
    """Say how right an answer was."""

    question_id: str = operand("QUESTION_ID", "The question id that `ask --explain` prints.")
    verdict: Share = operand("VERDICT", "right, wrong, or a share from 0 to 1.")
    words: str | None = option("WORDS", "A comment, kept beside the answer (none).", None)

    @field_validator("verdict", mode="before")
    @classmethod
    def _as_share(cls, verdict: str | float) -> float:
        try:
            return float({"right": 1.0, "wrong": 0.0}.get(str(verdict), verdict))
        except ValueError:
            raise ValueError(f"{verdict!r} is not right, wrong, or a share from 0 to 1") from None

    def work(self, runner: Runner) -> dict[str, Any]:
        """Record the feedback; return whether a bandit learned from it."""
        from tasks.ask.keep_answers import note_feedback

        outcome = note_feedback(self.place, self.question_id, self.verdict, self.words)
        return {"question_id": self.question_id, "bandit": outcome}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield thanks."""
        yield LEARNED[result["bandit"]]


COMMAND = Feedback
