"""How a model answers a question from texts, with or without choices: one prompt for all.

A small local model is not asked for JSON with a thought, because it would copy the examples there:
it continues the text after two examples, or takes the likeliest choice. The best text comes last,
next to the question, because such models attend most to what is near.
"""

import hashlib
import re
from collections.abc import Sequence

from tasks.experts.filters.selection import Encode
from tasks.experts.integrate.model_decider import one_line
from tasks.experts.integrate.own_answers import best_choice
from tasks.models.call import Request
from tasks.models.measures import MeasuredAnswer
from tasks.models.plain_answers import ROOM
from tasks.programs.written_program import Conversation
from tasks.text.question import LETTERS, Demonstration, Question, analyse, with_choices

# What may stand before the letter of a choice: "The correct answer is", "Option", "答案是".
_BEFORE = (
    r"(?i:\W*+(?:(?:the\s+)?(?:\w+\s+)?(?:answer|choice|option)\b\W*+"
    r"(?:is\b\W*+)?(?:(?:choice|option)\b\W*+)?"
    r"|(?:正确)?(?:答案|选项)[是为选]*+\W*+|[我应该]*+选择?\W*+))"
)
_LETTER = re.compile(rf"(?:{_BEFORE}|\W*+)([A-Z])\b\W*", re.IGNORECASE)
_LETTER_OF_TEXT = re.compile(
    rf"(?:{_BEFORE}[A-Z]\b[.:)\]、．：）]\s*|\W*[A-Z](?:[.:)\]]\s+|[、．：）]\s*))(?=\S)"
)
_FORMS = {
    "en": ("Knowledge: {}\n", "Question: {}\nAnswer:"),
    "zh": ("资料：{}\n", "问题：{}\n答案："),
}
# Names in examples are so well known that a model would not take them for the question's.
_SHOWN = {  # knowledge, question, answer
    "en": (
        ("Vienna lies on the Danube.", "Which river does Vienna lie on?", "the Danube"),
        ("Who wrote the novel Emma: Jane Austen", "Who wrote the novel Emma?", "Jane Austen"),
    ),
    "zh": (
        ("维也纳位于多瑙河畔。", "维也纳位于哪条河畔？", "多瑙河"),
        ("《红楼梦》的作者是谁：曹雪芹", "《红楼梦》的作者是谁？", "曹雪芹"),
    ),
}
_FORM_SHA = hashlib.sha256(f"{_FORMS}{_SHOWN}".encode()).hexdigest()[:16]
NO_QUESTION = "?"


def brief_request(
    question: Question,
    choices: Sequence[str],
    texts: Sequence[str],
    *,
    against_prior: bool = False,
    demonstrations: Sequence[Demonstration] = (),
) -> Request:
    """Return a request for a few words, or one of the choices; the best text comes first.

    Demonstrations stand in the place of the usual examples.

    `against_prior` ranks a choice by how much likelier the question and the texts make it
    (Holtzman et al. 2021), so that none wins because its words are common.
    """
    prior = None
    if against_prior and choices:
        prior = brief_request(analyse(NO_QUESTION), (), ()).user
    knowledge_form, question_form = _FORMS[question.language]
    shown = [
        f"{knowledge_form.format(known) if texts else ''}{question_form.format(about)} {answer}\n\n"
        for known, about, answer in _SHOWN[question.language]
    ]
    if demonstrations:
        shown = [
            f"{question_form.format(one_line(other.question))} {one_line(other.answer)}\n\n"
            for other in demonstrations
        ]
    known = "\n".join(map(one_line, reversed(texts)))
    own = question_form.format(one_line(question.text))
    if texts:
        own = f"{knowledge_form.format(known)}{own}"
    return Request(
        purpose="answer",
        prompt_sha=_FORM_SHA,
        system="",
        user="".join([*shown, own]),
        reply=MeasuredAnswer,
        most_tokens=ROOM,
        plain=True,
        continued=True,
        choices=tuple(map(one_line, choices)),
        unasked=prior,
    )


def phrased_answer(
    conversation: Conversation,
    question: Question,
    choices: Sequence[str],
    texts: Sequence[str],
    encode: Encode,
    *,
    against_prior: bool = False,
    demonstrations: Sequence[Demonstration] = (),
) -> str:
    """Return the model's answer from texts and its own knowledge; empty if it has none.

    `question` has no choices in its text; if there are `choices`, the answer is one of them, for a
    small local model by `against_prior` as in `brief_request`. `demonstrations` are shown before.
    """
    if conversation.model_is_small:
        request = brief_request(
            *(question, choices, texts),
            against_prior=against_prior,
            demonstrations=demonstrations,
        )
        measured = conversation.ask(request, MeasuredAnswer)
        words = measured.answer.strip() if measured else ""
        named = [choice for choice in choices if one_line(choice) == words]
        return named[0] if named else words
    complete = with_choices(question, choices)
    reply = conversation.phrase(complete, list(texts), demonstrations)
    if reply is None or reply.answerable == "no" or not reply.answer:
        return ""
    if not choices:
        return reply.answer
    words = without_letter(reply.answer, choices)
    return best_choice({words: 1.0}, choices, encode)


def without_letter(reply: str, choices: Sequence[str]) -> str:
    """Return the choice whose letter the reply names, else the reply without a leading letter.

    A choice may itself begin with a letter: `J. K. Moe`.
    """
    if reply in choices:
        return reply
    letter = _LETTER.fullmatch(reply)
    place = LETTERS.index(letter.group(1).upper()) if letter else -1
    if 0 <= place < len(choices):
        return choices[place]
    text = _LETTER_OF_TEXT.match(reply)
    return reply[text.end() :] if text else reply
