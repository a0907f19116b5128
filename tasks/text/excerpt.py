"""Excerpts of a text, with a mapping from each character back to its offset in the source."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tasks.text.sentences import sentences

ENDS_SENTENCE = re.compile(r"[.!?。！？；;:：][\"'”’»)\]]*\s*\Z")


class ExcerptPart(NamedTuple):
    """Words, and their offset in the source, or the offset at which they are inserted."""

    words: str
    source: int
    stands_there: bool = True


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text made of pieces of another, the source.

    Each of `pieces` has its offset in the excerpt, its offset in the source, and whether its
    characters are in the source; inserted words only have an offset there.
    """

    text: str
    pieces: tuple[tuple[int, int, bool], ...]

    @classmethod
    def of(cls, parts: Iterable[ExcerptPart]) -> "Excerpt":
        """Join parts of the source, and words inserted between them, to an excerpt."""
        words: list[str] = []
        pieces: list[tuple[int, int, bool]] = []
        length = 0
        for part in parts:
            if part.words:
                pieces.append((length, part.source, part.stands_there))
                words.append(part.words)
                length += len(part.words)
        return cls("".join(words), tuple(pieces) or ((0, 0, True),))

    @classmethod
    def whole(cls, text: str) -> "Excerpt":
        """Return a text as an excerpt of itself."""
        return cls(text, ((0, 0, True),))

    def in_source(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the source of a non-empty span of the excerpt."""
        first, last = self._source(start), self._source(end - 1)
        return first, max(last + 1, first)

    def stands_at(self, place: int) -> bool:
        """Return whether the character at an offset is in the source."""
        return self.pieces[self._piece(place)][2]

    def _source(self, place: int) -> int:
        begin, source, stands_there = self.pieces[self._piece(place)]
        return source + place - begin if stands_there else source

    def _piece(self, place: int) -> int:
        return bisect_right(self.pieces, place, key=lambda piece: piece[0]) - 1

    def whole_sentences(self, language: str) -> list[dict[str, int]]:
        """Return the spans in the source of the sentences that end with a punctuation mark."""
        spans = [
            self.in_source(start, end)
            for start, end in sentences(self.text, language)
            if ENDS_SENTENCE.search(self.text[start:end])
        ]
        return [{"start": start, "end": end} for start, end in spans]

    def parts(self, start: int, end: int, moved: int = 0) -> Iterator[ExcerptPart]:
        """Yield the parts of a span, with their offsets in the source shifted by `moved`."""
        for number in range(self._piece(start), len(self.pieces)):
            begin, source, stands_there = self.pieces[number]
            if begin >= end:
                break
            last = number + 1 == len(self.pieces)
            left = max(begin, start)
            right = min(len(self.text) if last else self.pieces[number + 1][0], end)
            source += left - begin if stands_there else 0
            yield ExcerptPart(self.text[left:right], source + moved, stands_there)

    def without(self, pattern: re.Pattern[str]) -> "Excerpt":
        """Return the excerpt without the matches of a pattern."""
        return self.replaced(pattern, lambda match: [])

    def inserted(
        self, pattern: re.Pattern[str], words_of: Callable[[re.Match[str]], str]
    ) -> "Excerpt":
        """Return the excerpt with other words in place of each match of a pattern."""

        def parts_of(match: re.Match[str]) -> Iterator[ExcerptPart]:
            yield ExcerptPart(words_of(match), self._source(match.start()), stands_there=False)

        return self._rewritten(pattern, parts_of)

    def replaced(
        self, pattern: re.Pattern[str], kept_of: Callable[[re.Match[str]], list[tuple[int, int]]]
    ) -> "Excerpt":
        """Return the excerpt with each match reduced to the spans that `kept_of` returns."""
        return self._rewritten(
            pattern, lambda match: (part for span in kept_of(match) for part in self.parts(*span))
        )

    def _rewritten(
        self, pattern: re.Pattern[str], parts_of: Callable[[re.Match[str]], Iterator[ExcerptPart]]
    ) -> "Excerpt":
        parts: list[ExcerptPart] = []
        place = 0
        for match in pattern.finditer(self.text):
            parts += (*self.parts(place, match.start()), *parts_of(match))
            place = match.end()
        return Excerpt.of([*parts, *self.parts(place, len(self.text))]) if place else self
