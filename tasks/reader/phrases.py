"""Candidate phrases: spans of a sentence that have the form a question asks for."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

from tasks.reader.sentence import Sentence
from tasks.retrieval.linked_names import LinkedName
from tasks.text.expected_answer import ExpectedAnswer
from tasks.text.names import is_pronoun
from tasks.text.question import FUNCTION_WORDS

LONGEST_PHRASE = 120  # characters
BEFORE = 3  # words before a name that may hold a noun for its kind
WITH_NOUN = 0.9  # how well an end fits that has the noun that the question asks for
ORGANISATION_FITS = 0.85  # how well an organisation fits a question for a person
_LEAD = re.compile(r"^(?:from|since|until|in|on|by|before|after|of)\s+", re.I)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.I)
_OWNERS = frozenset({"our", "their", "his", "her", "its", "my", "your"})
_POSSESSIVE = re.compile(r"['’]s?$")
_FIGURES = re.compile(r"(?<![\w.-])\d{1,9}(?:[.,]\d{1,9})*(?!\w)")


class Entities(Protocol):
    """Looks up entities by row."""

    def kind_of(self, row: int) -> str:
        """Return the kind."""

    def description_of(self, row: int) -> str:
        """Return the description, empty if there is none."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A span of a sentence that may be the answer, and how well its form fits, 0 to 1."""

    text: str
    start: int
    end: int
    fit: float


def phrases_in(
    sentence: Sentence, expected: ExpectedAnswer, question_stems: Set[str], entities: Entities
) -> Iterator[Phrase]:
    """Yield the phrases of the expected form that say more than the question itself."""
    if expected.form == "date":
        phrases = _dates(sentence)
    elif expected.form == "number":
        phrases = _numbers(sentence, expected)
    elif expected.form == "name":
        phrases = _names(sentence, expected, entities)
    else:
        return
    for phrase in phrases:
        words = sentence.stems_in(phrase.text)
        if words and len(phrase.text) <= LONGEST_PHRASE and not words <= question_stems:
            yield phrase


def _dates(sentence: Sentence) -> Iterator[Phrase]:
    for start, end, value in sentence.values:
        if value.is_date:
            text = _LEAD.sub("", sentence.text[start:end])
            yield Phrase(text, end - len(text), end, 1.0)


def _numbers(sentence: Sentence, expected: ExpectedAnswer) -> Iterator[Phrase]:
    """Yield numbers with a fitting unit; if things are counted, counts of those things."""
    for start, end, value in sentence.values:
        if value.value_type not in ("number", "quantity"):
            continue
        if expected.units and value.unit not in expected.units:
            continue
        following = [word for place, _, word in sentence.words if start <= place][:5]
        if not expected.noun or expected.noun in following:
            exact = expected.noun or expected.units
            fit = 1.0 if exact else 0.8 if value.unit else 0.7
            yield Phrase(sentence.text[start:end].strip(), start, end, fit)
    if not expected.noun and not expected.units:
        for match in _FIGURES.finditer(sentence.text):
            if not any(start <= match.start() < end for start, end, _ in sentence.values):
                yield Phrase(match.group(), *match.span(), 0.8)


def _names(sentence: Sentence, expected: ExpectedAnswer, entities: Entities) -> Iterator[Phrase]:
    """Yield names of a fitting kind, then heads and tails of triples.

    If a kind is expected, these must have the noun that the question asks for.
    """
    for name in sentence.names:
        fit = _name_fit(name, sentence, expected, entities)
        if fit:
            bare = _ARTICLE.sub("", name.text)
            text, start = _POSSESSIVE.sub("", bare), name.end - len(bare)
            yield Phrase(text, start, start + len(text), fit)
    for triple in sentence.triples:
        for text in (triple.tail, triple.head):
            place = sentence.text.find(text)
            if not text or place < 0 or not _is_thing(text, sentence.language):
                continue
            fit = 0.0 if expected.kinds else 0.5 if expected.noun else 0.7
            named = text != text.lower() or sentence.language != "en"
            if named and expected.noun in sentence.stems_in(text):
                fit = WITH_NOUN
            if fit:
                bare = _ARTICLE.sub("", text)
                start = place + len(text) - len(bare)
                yield Phrase(bare, start, start + len(bare), fit)


def _is_thing(text: str, language: str) -> bool:
    """Return whether an end is a thing by its first word: no pronoun, clause or `through it`."""
    first = _ARTICLE.sub("", text).split(maxsplit=1)[0]
    opens = first == first.lower() and first in FUNCTION_WORDS and first not in _OWNERS
    return not is_pronoun(text, language) and not opens


def beside_name(sentence: Sentence, name: LinkedName) -> list[str]:
    """Return the words just before a name, as in `pop band Euphoria`, and the word after it."""
    before = [word for _, end, word in sentence.words if end <= name.start][-BEFORE:]
    after = [word for start, _, word in sentence.words if start >= name.end][:1]
    # `a country in the Caucasus` does not say what the Caucasus is.
    nouns = list(takewhile(lambda word: word not in FUNCTION_WORDS, reversed(before)))
    return [*nouns, *after]


def _name_fit(
    name: LinkedName, sentence: Sentence, expected: ExpectedAnswer, entities: Entities
) -> float:
    entity = name.bearers[0].entity
    kind = entities.kind_of(entity)
    has_noun = bool(expected.noun) and expected.noun in beside_name(sentence, name)
    if expected.kinds and kind not in expected.kinds:
        return 0.6 if kind == "unknown" or has_noun else 0.0
    if has_noun:
        return 1.0
    if not expected.noun:
        return ORGANISATION_FITS if kind == "organisation" and "person" in expected.kinds else 1.0
    description = sentence.stems_in(entities.description_of(entity))
    if expected.noun in description:
        return 1.0
    if description:
        return 0.55  # the description says that it is something else
    return 0.85 if expected.noun in sentence.stems else 0.75
