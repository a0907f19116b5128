"""The tokens of a passage and its title, read together."""

import re
from bisect import bisect_right
from dataclasses import dataclass

from tasks.models.span_reader.networks import e5_pieces

TITLE = 24  # tokens of a title that are read
TOKENS = 320  # of a title and a passage that are read together
NOWHERE = (0, 0)
LONGEST = 48  # tokens of a span
Span = tuple[int, int]  # tokens, the last one included


@dataclass(frozen=True, slots=True)
class PassageTokens:
    """Token ids of a title and a passage, and where in them each token stands.

    `offsets` are characters of the title for the tokens before `begin`, then of the passage; tokens
    that only mark where one of both begins or ends have an empty one.
    """

    title: str
    text: str
    ids: list[int]
    offsets: list[tuple[int, int]]
    begin: int

    def in_title(self, span: Span) -> bool:
        """Return whether a span of tokens is in the title."""
        return span[0] < self.begin

    def characters(self, span: Span) -> tuple[int, int]:
        """Return the characters of a span of tokens, in the title or in the passage."""
        return self.offsets[span[0]][0], self.offsets[span[1]][1]

    def words(self, span: Span) -> str:
        """Return the words of a span of tokens."""
        start, end = self.characters(span)
        return (self.title if self.in_title(span) else self.text)[start:end]

    def places(self, words: str) -> list[Span]:
        """Return the spans of tokens that are these words, those of the passage first."""
        if not words.strip():
            return []
        found = []
        for text, first, stop in (
            (self.text, self.begin, len(self.ids) - 1),
            (self.title, 1, self.begin - 1),
        ):
            starts = [start for start, _ in self.offsets[first:stop]]
            for match in re.finditer(re.escape(words.strip()), text):
                low = bisect_right(starts, match.start()) - 1
                high = bisect_right(starts, match.end() - 1) - 1
                if low < 0 or self.offsets[first + low][1] <= match.start():
                    low += 1
                whole = high >= 0 and self.offsets[first + high][1] >= match.end()
                if low <= high and whole:
                    found.append((first + low, first + high))
        return found


def passage_windows(title: str, text: str) -> list[PassageTokens]:
    """Return the tokens of a title with each window of a passage: whole sentences, if they fit."""
    pieces = e5_pieces()
    named, read = pieces.texts([title, text])
    names = named.ids[:TITLE]
    room, begin, found = TOKENS - len(names) - 3, 0, []
    while begin < len(read.ids):
        stop = min(begin + room, len(read.ids))
        inside = [start for start in read.starts if begin < start <= stop]
        if stop < len(read.ids) and inside:
            stop = inside[-1]
        ids = [pieces.first, *names, pieces.separator, *read.ids[begin:stop], pieces.separator]
        offsets = [NOWHERE, *named.offsets[:TITLE], NOWHERE, *read.offsets[begin:stop], NOWHERE]
        found.append(PassageTokens(title, text, ids, offsets, len(names) + 2))
        begin = stop
    return found
