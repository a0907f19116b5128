"""Answers by the model alone."""

import re
from collections.abc import Sequence

from tasks.ask.phrasing import brief_request, without_letter
from tasks.ask.route import AnswerRoute, OwnAnswer, QuestionState, Resources, RouteResult
from tasks.models.measures import MeasuredAnswer
from tasks.programs.written_program import Conversation
from tasks.text.question import Question, with_choices

# Short replies in which a model says in plain words that it has no answer.
_NO_ANSWER = re.compile(
    r"\W*(?:(?:sorry\W+)?i(?: do not| don['’]t| cannot| can['’]t| am not|['’]m not) (?:\w+ )?"
    r"(?:know|sure|certain|aware|able|have|answer|find|tell|say|determine|provide)\b.*|none|n/?a"
    r"|unknown|unclear|not (?:sure|known|applicable|specified)"
    r"|我?(?:不知道|不清楚|不确定|无法).*|未知)\W*",
    re.IGNORECASE | re.DOTALL,
)


class ModelRoute(AnswerRoute):
    """Answers by the model alone; without a model there is no answer."""

    def __init__(self, resources: Resources) -> None:
        """Open nothing: a question reaches the model through its conversation."""

    def answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return the model's answer, or the one that the gate has already asked for."""
        own, conversation = state.own_answer, state.conversation
        if own is None and conversation is not None:
            question = with_choices(question, state.hints.choices)
            own = own_answer(question, conversation, measured=conversation.model_is_small)
        return RouteResult("none", [own.words] if own and own.words else [])


def own_answer(question: Question, conversation: Conversation, *, measured: bool) -> OwnAnswer:
    """Return the model's own answer; if `measured`, a short one with its uncertainty."""
    if not measured:
        reply = conversation.phrase(question, [])
        return OwnAnswer((reply.answer or "") if reply and reply.answerable == "yes" else "")
    from tasks.gates.uncertainty import uncertainty_of, uncertainty_request

    measured_reply = conversation.ask(uncertainty_request(question.text), MeasuredAnswer)
    if measured_reply is None:
        return OwnAnswer()
    words = measured_reply.answer.strip()
    has_answer = not _NO_ANSWER.fullmatch(words)
    return OwnAnswer(words if has_answer else "", uncertainty_of(measured_reply))


def answer_alone(
    question: Question, choices: Sequence[str], conversation: Conversation
) -> tuple[str, float | None]:
    """Return the model's answer without knowledge, empty if there is none, and its surprise.

    A small model is not shown the choices, because the surprise of its free answer counts; of other
    models it is None.
    """
    if conversation.model_is_small:
        reply = conversation.ask(brief_request(question, (), ()), MeasuredAnswer)
        return (reply.answer.strip(), reply.surprise) if reply else ("", None)
    answer = own_answer(with_choices(question, choices), conversation, measured=False).words
    return (without_letter(answer, choices) if answer else "", None)
