"""Find entity names in a question or a text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from tasks.retrieval.words import EntityNameIndex, Name
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import HAN
from tasks.text.names import normalise_name
from tasks.text.question import Question, Span

_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class LinkedName:
    """A span of a text that equals a name, and the entities that bear the name."""

    start: int
    end: int
    text: str
    bearers: list[Name]


def link_names(question: Question, names: EntityNameIndex) -> list[LinkedName]:
    """Return the names in a question, longest first, none inside another.

    A lower-case word counts as a name only if the question has no other name.
    """
    text, spans = question.text, question.name_spans
    proper = (span for span in spans if _is_proper(text[slice(*span)]))
    return _linked(text, proper, names) or _linked(text, spans, names)


def _linked(text: str, spans: Iterable[Span], names: EntityNameIndex) -> list[LinkedName]:
    linked: list[LinkedName] = []
    for start, end in spans:
        if not any(start < other.end and other.start < end for other in linked):
            bearers = _bearers(text[start:end], names)
            if bearers:
                linked.append(LinkedName(start, end, text[start:end], bearers))
    return linked


def _bearers(text: str, names: EntityNameIndex) -> list[Name]:
    for spelling in dict.fromkeys((text, _POSSESSIVE.sub("", text))):
        key = normalise_name(spelling)
        bearers = names.bearers(key) if key else []
        if bearers:
            return bearers
    return []


def _is_proper(text: str) -> bool:
    """Tell whether a span looks like a name, not just like a capitalised function word."""
    return bool(HAN.search(text)) or any(map(_is_proper_word, text.split()))


@lru_cache(maxsize=1 << 14)  # a word occurs in many spans
def _is_proper_word(word: str) -> bool:
    return word.lower() not in FUNCTION_WORDS and any(c.isupper() or c.isdigit() for c in word)
