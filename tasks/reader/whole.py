"""Complete an answer that is only a part of a name, a quantity or an enumeration."""

import re
from collections.abc import Sequence

from tasks.retrieval.linked_names import LinkedName
from tasks.text.chinese_words import word_spans_of
from tasks.text.languages import HAN, language_of
from tasks.text.names import normalise_name
from tasks.text.question import Question, Span
from tasks.text.values import find_values

_JOIN = (
    r"\s*(?:(?:(?<!\d),|,(?!\d))(?:\s*(?:(?:and|or)\b|&))?|\b(?:and|or)\b|&|、|以及|和|与|及)"
    r"\s*(?:the\s+)?"
)
_AFTER = re.compile(_JOIN, re.I)
_BEFORE = re.compile(_JOIN + r"\Z", re.I)
_LEAD = re.compile(r"^(?:from|since|until|in|on|by|before|after|of|at|for)\s+", re.I)
_PLACE = re.compile(r"(?:in|on|at|to|from|near)\s+(?:the\s+)?|the\s+", re.I)
_CODE = re.compile(r"`[^`\n]+`")
_YEAR = re.compile(r"\byear\b|年", re.I)


def whole_span(question: Question, sentence: str, span: Span, names: Sequence[LinkedName]) -> Span:
    """Return the span of an answer within its sentence, extended to a complete answer.

    A part of a quantity, of a date, of a known name or of code is extended to the whole of it, and
    a name to the names that it is coordinated with.
    """
    expected = question.expected_answer
    if expected.form in ("number", "date"):
        return _value_span(question, sentence, span)
    spans = [(name.start, name.end) for name in names]
    codes = (code.span() for code in _CODE.finditer(sentence))
    for code in codes:
        if code[0] <= span[0] and span[1] <= code[1]:
            return code
    holding = [name for name in spans if name[0] <= span[0] and span[1] <= name[1]]
    if not holding:
        place = _PLACE.match(sentence, *span) if "place" in expected.kinds else None
        return (place.end(), span[1]) if place else span
    return _enumerated(sentence, max(holding, key=lambda name: name[1] - name[0]), spans, question)


def _value_span(question: Question, sentence: str, span: Span) -> Span:
    dated = question.expected_answer.form == "date"
    whole_date = dated and not _YEAR.search(question.text)
    values = [
        (start + (lead.end() if (lead := _LEAD.match(sentence[start:end])) else 0), end, value)
        for start, end, value in find_values(sentence, language_of(sentence))
    ]
    for start, end, value in values:
        if start <= span[0] and span[1] <= end and (whole_date or not value.is_date):
            return start, end
    dates = [(a, b) for a, b, value in values if value.is_date and span[0] <= a and b <= span[1]]
    return dates[0] if dated and len(dates) == 1 else span


def and_others(given: list[str], values: list[str], question: Question) -> list[str]:
    """Return answers with the further values of their relation, if names are asked for."""
    if question.expected_answer.form != "name":
        return given
    words = question.text.casefold()
    known = " ".join(map(normalise_name, given))
    more = [
        value
        for value in values
        if normalise_name(value) not in known and value.casefold() not in words
    ]
    return given + more


def apart(given: list[str]) -> list[str]:
    """Return answers with enumerations split into their items."""
    items = []
    for text in given:
        words = word_spans_of(text) if HAN.search(text) else frozenset()
        start = 0
        for join in _AFTER.finditer(text):
            # 和, 与 and 及 are also parts of names.
            if join.group() not in ("和", "与", "及") or join.span() in words:
                items.append(text[start : join.start()])
                start = join.end()
        items.append(text[start:])
    return [item.strip() for item in items if item.strip()]


def _enumerated(sentence: str, span: Span, names: list[Span], question: Question) -> Span:
    start, end = span
    while True:
        after = _AFTER.match(sentence, end)
        following = [name for name in names if after and name[0] == after.end()]
        before = _BEFORE.search(sentence, 0, start)
        leading = [name for name in names if before and name[1] == before.start()]
        if following and not _asked(sentence[slice(*following[0])], question):
            end = following[0][1]
        elif leading and not _asked(sentence[slice(*leading[0])], question):
            start = leading[0][0]
        else:
            return start, end


def _asked(name: str, question: Question) -> bool:
    return name.casefold() in question.text.casefold()
