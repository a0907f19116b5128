"""Answers to a question from passages: the spans that the trained reader likes best, checked.

An answer has the form that the question asks for and says more than the question itself. It is as
likely as answers with such margins were right on questions kept back (`training/calibrate.py`).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.models.span_reader.reader import Span, TrainedReader
from tasks.models.span_reader.windows import without_markup
from tasks.text.expected_answer import ExpectedAnswer, asking_word
from tasks.text.question import Question
from tasks.text.stems import words_of
from tasks.text.values import find_values

MOST_ANSWERS = 8
LONGEST_QUANTITY = 4  # words
FEWEST_OF_REASON = 3  # words: no name alone tells why
LONE_GAP = 4.0  # of an answer beside which there is no other
_EDGES = " \t\n\"'“”‘’.,;:!?*_-–—|"
_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    r"|forty|fifty|sixty|hundreds?|thousands?|millions?|billions?|half|once|twice|thrice|no|none"
    r"|dozens?|single|quarter|third)\b",
    re.I,
)
_BARE = re.compile(r"[^\s\d]?[\d.,]+%?|\w+")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•·]|\d{1,3}[.)])[ \t]+(.+?)[ \t]*$", re.M)
_SEVERAL = re.compile(
    r"^\W*(?:(?:to|in|for)\s+)?(?:(?:what|which|name|list)(?:\s+[\w-]+)?\s+(?!is\b|was\b|has\b"
    r"|does\b|this\b|its\b)(?:are|were|[\w-]+[^s\W]s)|(?:who|where)\s+(?:are|were))\b",
    re.I,
)

Kinds = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """An answer, where it stands, and how likely it is right.

    `gap` is by how much its margin is above that of the best answer that says something else.
    """

    text: str
    span: Span
    gap: float = 0.0
    probability: float = 0.0


def find_answers(
    question: Question, texts: list[str], reader: TrainedReader, kinds_of: Kinds
) -> list[FoundAnswer]:
    """Return the answers that the texts give, best first; `kinds_of` says what a name may be.

    `texts` are the most alike first.
    """
    question_words = words_of(question.text, cut_chinese=False)
    word = asking_word(question.text)
    fewest = FEWEST_OF_REASON if word and word[1].lower() == "why" else 1
    best: dict[str, FoundAnswer] = {}
    for span in reader.read(question.text, texts):
        text = without_markup(texts[span.text][span.start : span.end]).strip(_EDGES)
        text = text + ")" if text.count("(") == text.count(")") + 1 else text
        words = words_of(text, cut_chinese=False)
        key = " ".join(sorted(words))
        if key in best or len(text.split()) < fewest or not words or words <= question_words:
            continue
        if fits(text, question.expected_answer, kinds_of):
            best[key] = FoundAnswer(text, span)
        if len(best) == MOST_ANSWERS:
            break
    return _with_probabilities(_with_unit(list(best.values()), question.expected_answer), reader)


def fits(text: str, expected: ExpectedAnswer, kinds_of: Kinds) -> bool:
    """Return whether a text has the form that is asked for."""
    if expected.form == "number":
        return bool(_FIGURE.search(text))
    if expected.form == "date":
        return (
            bool(re.search(r"\d", text))
            or any(value.is_date for _, _, value in find_values(text, "en"))
            or len(text.split()) > 2
        )
    if expected.form == "name" and expected.kinds:
        kinds = {kind for kind in kinds_of(text) if kind != "unknown"}
        return not kinds or bool(kinds & expected.kinds) or expected.kinds == {"place"}
    return True


def _with_probabilities(answers: list[FoundAnswer], reader: TrainedReader) -> list[FoundAnswer]:
    """Return answers with how likely each is, by its margin and that of the best other one."""
    rows = []
    for answer in answers:
        others = [other.span.margin for other in answers if not _alike(other, answer)]
        gap = answer.span.margin - max(others) if others else LONE_GAP
        probability = reader.probability(answer.span.margin, gap)
        rows.append(FoundAnswer(answer.text, answer.span, gap, probability))
    return rows


def _with_unit(answers: list[FoundAnswer], expected: ExpectedAnswer) -> list[FoundAnswer]:
    """Put a quantity that goes on from the best answer, a bare number, before it.

    `20 minutes` says more than `20`; where things are counted the number is enough.
    """
    bare = bool(answers) and _BARE.fullmatch(answers[0].text)
    if not bare or expected.form != "number" or expected.noun:
        return answers
    best = answers[0]
    for answer in answers[1:]:
        goes_on = answer.span.text == best.span.text and answer.span.start == best.span.start
        if goes_on and len(answer.text.split()) <= LONGEST_QUANTITY:
            return [answer, *(other for other in answers if other is not answer)]
    return answers


def _alike(first: FoundAnswer, second: FoundAnswer) -> bool:
    """Return whether answers say the same, or stand in each other."""
    left, right = first.text.lower(), second.text.lower()
    return left in right or right in left


def asks_for_several(question: str) -> bool:
    """Return whether a question asks for a list."""
    return bool(_SEVERAL.search(question))


def items_around(text: str, start: int) -> list[str]:
    """Return the items of the list in whose item a place stands; none if it stands in none."""
    items = list(_ITEM.finditer(text))
    at = next((n for n, item in enumerate(items) if item.start() <= start <= item.end()), None)
    if at is None:
        return []
    first, last = at, at
    while first and not text[items[first - 1].end() : items[first].start()].strip():
        first -= 1
    while last + 1 < len(items) and not text[items[last].end() : items[last + 1].start()].strip():
        last += 1
    return [without_markup(item[1]).strip(_EDGES) for item in items[first : last + 1]]
