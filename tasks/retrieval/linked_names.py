"""Find entity names in a question or a text."""

import re
from dataclasses import dataclass
from functools import lru_cache

from tasks.retrieval.words import EntityNameIndex, Name
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import HAN
from tasks.text.names import normalise_name
from tasks.text.question import Question, Span, names_apart

_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class LinkedName:
    """A span of a text that equals a name, and the entities that bear the name."""

    start: int
    end: int
    text: str
    bearers: list[Name]


def link_names(question: Question, names: EntityNameIndex) -> list[LinkedName]:
    """Return the names in a question, longest first, none overlapping another.

    A lower-case word counts as a name only if the question has no other name. Names that were found
    before are reused.
    """
    return question.names_in(names, _find)


def _find(question: Question, names: EntityNameIndex) -> list[LinkedName]:
    text, spans = question.text, question.name_spans

    def name_at(span: Span) -> LinkedName | None:
        name = text[slice(*span)]
        bearers = _bearers(name, names)
        return LinkedName(*span, name, bearers) if bearers else None

    proper = (span for span in spans if _is_proper(text[slice(*span)]))
    return names_apart(proper, name_at) or names_apart(spans, name_at)


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
