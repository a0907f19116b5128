"""An answer to a question from what programs found for it, with or without a language model."""

from dataclasses import dataclass, field
from typing import Protocol

from schemas.answers import Evidence
from tasks.programs.search_program import ProgramSearch, Searched
from tasks.prompts.replies import AnswerReply


class Phraser(Protocol):
    """What phrases an answer from messages."""

    def phrase(self, question: str, knowledge: list[str]) -> AnswerReply | None:
        """Return an answer, None if there is none that can be used."""
        ...


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """An answer; its citations are the evidence, never words in its text."""

    answerable: bool
    answer: str | None = None
    answers: list[str] = field(default_factory=list)
    thought: str = ""
    program: str | None = None
    evidence: list[Evidence] = field(default_factory=list)
    searched: Searched = Searched()


def answer_by_program(
    question: str, search: ProgramSearch, phraser: Phraser | None = None
) -> ProgramAnswer:
    """Return the answer that programs lead to.

    Values that a program collected are the answer. Otherwise a phraser, where there is one, reads
    the messages; what it says without any knowledge counts if none was needed.
    """
    searched = search.search(question)
    answers = searched.answers
    if answers:
        return ProgramAnswer(
            True,
            answers[0],
            answers,
            searched.thought,
            searched.program,
            searched.evidence,
            searched,
        )
    said = phraser.phrase(question, searched.knowledge) if phraser else None
    answerable = said is not None and said.answerable == "yes" and bool(said.answer)
    if said is None or not answerable:
        return ProgramAnswer(False, thought=searched.thought, searched=searched)
    return ProgramAnswer(
        True,
        said.answer,
        [said.answer],
        said.thought,
        searched.program,
        searched.evidence,
        searched,
    )
