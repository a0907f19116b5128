"""Analyse a question once: its language, words, names, values and expected answer.

All time is linear in the question's length or bounded by `LONGEST_QUESTION`, since questions are
untrusted. Costly properties are computed on first use and cached.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

from schemas.errors import UsageError
from tasks.text.expected_answer import ExpectedAnswer, expected_answer
from tasks.text.freshness import wanted_now
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import is_chinese, language_of
from tasks.text.values import Value, find_values
from tasks.text.words import in_plain_letters

LONGEST_QUESTION = 2000  # characters; the rest of a longer question is ignored
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of choices
LONGEST_NAME = 16  # words
LONGEST_CHINESE_NAME = 14  # characters, where a word in Latin letters or a number counts as one
LONGEST_GRAPH_NAME = 60  # of a Chinese name in an imported graph, counted in the same way

Span = tuple[int, int]  # first character, and one past the last
Index = TypeVar("Index", bound=Hashable)
Name = TypeVar("Name")
Names = TypeVar("Names")

_WORD = re.compile(r"\S+")
_EDGES = " \t\n?!.,;:\"“”‘’'`，。、；：？！《》「」『』[]"
_BRACKET = re.compile("[()（）]")
_POSSESSIVE = re.compile(r"['’]s$")
_CONTRACTED = re.compile(r"\b(wh(?:at|o|ere|en|y|ich)|how)['’]s\b", re.I)
_CHINESE_UNIT = re.compile(r"(?s:[A-Za-zÀ-ɏ]+|\d+|.)")
_WORD_INSIDE = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A question with its right answer, which a model is shown before another question."""

    question: str
    answer: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """The analysis of a question from its words alone; created by `analyse`."""

    text: str
    asked_on: date = field(default_factory=lambda: datetime.now(UTC).date())
    _names: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def names_in(self, index: "Index", find: "Callable[[Question, Index], Names]") -> "Names":
        """Return the known names that `find` finds in it by an index; an index is asked once."""
        if index not in self._names:
            self._names[index] = find(self, index)
        names: Names = self._names[index]
        return names

    @cached_property
    def language(self) -> str:
        """The language it is asked in, `en` or `zh`."""
        return language_of(self.text)

    @property
    def is_chinese(self) -> bool:
        """Whether it is asked in Chinese."""
        return self.language == "zh"

    @cached_property
    def content_words(self) -> str:
        """Its words without English function words, separated by spaces."""
        return content_words(self.text)

    @cached_property
    def name_spans(self) -> tuple[Span, ...]:
        """The spans that may be names (see `name_spans`)."""
        return tuple(name_spans(self.text))

    @cached_property
    def values(self) -> list[tuple[int, int, Value]]:
        """Its numbers, quantities and dates with their spans."""
        return find_values(self.text, self.language)

    @cached_property
    def expected_answer(self) -> ExpectedAnswer:
        """The form of answer that it asks for."""
        return expected_answer(self.text)

    @cached_property
    def current_words(self) -> str | None:
        """The words that make it time-sensitive; None if it is not."""
        return wanted_now(self.text, self.asked_on)


def checked_question(question: str) -> str:
    """Return the question without surrounding space; UsageError if it is no text of that length.

    It is empty without a letter that can be seen. Lone surrogates become question marks, since no
    table can hold them.
    """
    if not isinstance(question, str):
        raise UsageError(f"A question is a text, not {type(question).__name__}.")
    question = question.strip().encode("utf-8", "replace").decode()
    if not any(map(str.isprintable, "".join(question.split()))) or len(question) > LONGEST_QUESTION:
        raise UsageError(f"A question has between 1 and {LONGEST_QUESTION} characters.")
    return question


def analyse(text: str) -> Question:
    """Return the analysis of a question's first `LONGEST_QUESTION` characters, in plain letters.

    Lone surrogates, as from undecodable bytes, become question marks; `What's` becomes `What is`.
    """
    whole = _CONTRACTED.sub(r"\1 is", in_plain_letters(text[:LONGEST_QUESTION]))
    plain = whole[:LONGEST_QUESTION]
    return Question(plain.encode("utf-8", "replace").decode())


def with_choices(question: Question, choices: Sequence[str]) -> Question:
    """Return a question with its choices in the text; without choices, the question itself."""
    if not choices:
        return question
    listed = "; ".join(
        f"{letter}. {' '.join(choice.split())}"
        for letter, choice in zip(LETTERS, choices, strict=False)
    )
    before = "选项：" if question.is_chinese else "Choices: "
    return analyse(f"{question.text}\n{before}{listed}")


def content_words(text: str) -> str:
    """Return a text's words without English function words and possessive endings."""
    words = (_POSSESSIVE.sub("", word) for word in _WORD_INSIDE.findall(text[:LONGEST_QUESTION]))
    return " ".join(word for word in words if word.lower().replace("’", "'") not in FUNCTION_WORDS)


def word_spans(text: str) -> Iterator[Span]:
    """Yield the spans of words, without punctuation around them."""
    for match in _WORD.finditer(text):
        word = match.group()
        start = match.start() + len(word) - len(word.lstrip(_EDGES))
        end = match.end() - len(word) + len(word.rstrip(_EDGES))
        if start < end:
            yield start, end


def name_spans(
    text: str, *, longest_chinese: int = LONGEST_CHINESE_NAME, shortest_chinese: int = 2
) -> Iterator[Span]:
    """Yield the spans of a text that may be names, the longest first, then from the left.

    In English these are runs of up to `LONGEST_NAME` words that are not all function words, without
    punctuation around them; a span that ends in 's is yielded again without it. In Chinese, which
    does not separate words, they are all runs of characters between the two lengths, where a word
    in Latin letters or a number is whole and counts as one.
    """
    if is_chinese(text):
        return _runs_of_characters(text, longest_chinese, shortest_chinese)
    return _runs_of_words(text)


def names_apart(spans: Iterable[Span], name_at: Callable[[Span], Name | None]) -> list[Name]:
    """Return the names at spans, which come longest first, without those that overlap a longer one.

    `name_at` looks a span up in an index and returns None if it is no name there.
    """
    found: list[Name] = []
    taken: set[int] = set()
    for start, end in spans:
        if start in taken or end - 1 in taken:  # names found before are no shorter
            continue
        name = name_at((start, end))
        if name is not None:
            taken.update(range(start, end))
            found.append(name)
    return found


def _runs_of_words(text: str) -> Iterator[Span]:
    words = list(word_spans(text))
    is_content = [text[start:end].lower() not in FUNCTION_WORDS for start, end in words]
    before = [0, *accumulate(is_content)]  # the number of content words before each word
    possessive = [_POSSESSIVE.search(text, start, end) is not None for start, end in words]
    brackets = _BRACKET.search(text) is not None
    for length in range(min(LONGEST_NAME, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            if before[first] == before[first + length]:
                continue
            start, end = words[first][0], words[first + length - 1][1]
            if brackets:
                start, end = _without_lone_brackets(text, start, end)
            if start < end:
                yield start, end
                if possessive[first + length - 1]:
                    yield start, end - 2


def _runs_of_characters(text: str, longest: int, shortest: int) -> Iterator[Span]:
    brackets = _BRACKET.search(text) is not None
    edge = [character in _EDGES for character in text]
    units = [match.span() for match in _CHINESE_UNIT.finditer(text)]
    for length in range(min(longest, len(units)), 0, -1):
        for first in range(len(units) - length + 1):
            start, end = units[first][0], units[first + length - 1][1]
            if edge[start] or edge[end - 1] or end - start < shortest:
                continue
            if not brackets or _without_lone_brackets(text, start, end) == (start, end):
                yield start, end


def _without_lone_brackets(text: str, start: int, end: int) -> Span:
    """Return a span without brackets at its ends if one of them is unpaired."""
    for opening, closing in ("()", "（）"):
        if text.count(opening, start, end) != text.count(closing, start, end):
            bare = text[start:end].strip(opening + closing).strip()
            start = text.find(bare, start)
            end = start + len(bare)
    return start, end
