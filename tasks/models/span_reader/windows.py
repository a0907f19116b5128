"""Windows of a text that are read together with a question: whole sentences, overlapping by half.

Training and reading cut texts in the same way.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import chain
from typing import Any

import numpy as np

from tasks.text.languages import language_of
from tasks.text.sentences import REFERENCES, sentences

WINDOW = 120  # tokens of a text
QUESTION = 40  # tokens of a question; the rest is not read
CLS, SEP = 101, 102
# Link targets, tags, Markdown signs, list markers and references are not read: they say nothing.
# All that is in a code span is its words.
_MARKUP = re.compile(
    r"(?P<tick>`{1,3})(?P<code>[^`\n]{1,300})(?P=tick)"
    r"|(?<=\])(?:\([^()\s]{0,300}(?:\s[^()]{0,80})?\)|\[[^\[\]\n]{1,100}\])"
    r"|</?[a-zA-Z][^<>]{0,200}>|\*\*+|`+"
    rf"|(?<=[.,;!?)\"”。，；！？）]){REFERENCES}+(?!\()"
    r"|^[ \t]*(?:[-*+•·]|:[ \t]*|\d{1,3}[.)])[ \t]",
    re.M,
)
_SIGNS = re.compile(rf"{_MARKUP.pattern}|[\[\]]|\\(?=\W)", re.M)
# Encoded files and rulers: no answer, which a window must hold whole, is so long a word.
_UNREADABLE = re.compile(r"[!-~]{300,}")


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tokens of a model: its tokeniser, the token that begins a text, and that which ends it.

    `before` is what a question begins with.
    """

    tokenizer: Any
    first: int = CLS
    separator: int = SEP
    before: str = ""

    def question(self, text: str) -> list[int]:
        """Return the ids of a question, as far as it is read."""
        encoding = self.tokenizer.encode(self.before + text, add_special_tokens=False)
        ids: list[int] = encoding.ids[:QUESTION]
        return ids

    def texts(self, texts: list[str]) -> list["TextTokens"]:
        """Return the tokens of texts."""
        encodings = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        return [_tokens(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]

    def pair(self, question: list[int], tokens: "TextTokens", window: tuple[int, int]) -> list[int]:
        """Return the ids of a question with a window of a text."""
        ids = tokens.ids[window[0] : window[1]]
        return [self.first, *question, self.separator, *ids, self.separator]


@dataclass(frozen=True, slots=True)
class TextTokens:
    """A text's token ids, their character offsets, and the tokens that start sentences."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    starts: list[int]


def without_markup(text: str, start: int = 0, end: int | None = None) -> str:
    """Return a span of a Markdown text without its markup, with characters for their entities."""
    end = len(text) if end is None else end
    first = text.rfind("\n", 0, start) + 1  # what is code is seen in the whole line
    words, place = "", start
    for begin, stop in _unread(_SIGNS, text[first : text.find("\n", end) + 1 or None]):
        words += text[place : min(first + begin, end)]
        place = max(place, first + stop)
    return unescape(words + text[place:end])


def _unread(marks: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of marks; of a code span those of its ticks."""
    for mark in marks.finditer(text):
        code = mark.span("code") if mark["code"] else mark.span()[1:] * 2
        yield mark.start(), code[0]
        yield code[1], mark.end()


def _tokens(text: str, encoding: Any) -> TextTokens:
    hidden = np.zeros(len(text) + 1, bool)
    encoded = (match.span() for match in _UNREADABLE.finditer(text))
    for start, end in chain(_unread(_MARKUP, text), encoded):
        hidden[start:end] = True
    ids, all_offsets = encoding.ids, encoding.offsets  # each access copies the list
    kept = [number for number, (start, _) in enumerate(all_offsets) if not hidden[start]]
    offsets = [all_offsets[number] for number in kept]
    begins = [start for start, _ in sentences(text, language_of(text))]
    sentence_of = np.searchsorted(begins, [start for start, _ in offsets], "right")
    starts = [0, *(np.flatnonzero(np.diff(sentence_of)) + 1).tolist()]
    return TextTokens([ids[number] for number in kept], offsets, starts)


def windows(tokens: TextTokens) -> list[tuple[int, int]]:
    """Return token ranges that keep each sentence whole, unless it is longer than a window."""
    length, begin, ranges = len(tokens.ids), 0, []
    while begin < length:
        stop = min(begin + WINDOW, length)
        inside = [start for start in tokens.starts if begin < start <= stop]
        if stop < length and inside:
            stop = inside[-1]
        ranges.append((begin, stop))
        if stop == length:
            break
        middle = (begin + stop) // 2
        begin = next((start for start in inside if start >= middle), stop - WINDOW // 4)
    return ranges
