"""Which parts of a sentence it does not assert, by the words that govern them.

A sentence is cut into segments at commas, conjunctions and relative pronouns. A word such as "not",
"allegedly" or 并非 makes the segment doubtful that it stands in; before "that …", also the clause
that follows. A condition, a question or a judgement on what is said (…的说法是错误的) makes all
doubtful that it governs. Facts are not taken from there, nor are answers, unless the question has
such a word itself.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from tasks.text.chinese_words import simplified
from tasks.text.languages import is_chinese

Span = tuple[int, int]  # first character, and one past the last

_QUOTED = re.compile("《[^》]*》|(?<=[“「])[^”」]*(?=[”」])")
_UNIT = re.compile(r";|, (?=(?:and|but|so|yet) )|[；。]")
_SEGMENT = re.compile(
    r"[,:()—–]|\b(?=(?:who|whom|whose|which|where|when|while|because|although|though|since|after"
    r"|before|until|that|and|but) )|[，：]",
    re.I,
)
_BRACKETED = re.compile(r"[(（][^()（）]*[)）]")
_CONTENT = re.compile(r"\W*that\b", re.I)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A part of a sentence that is not asserted: its characters, why, and the word that tells.

    `governed` tells whether words outside its clause decide, not a "not" of its own. `condition`
    has the characters of the condition on which it holds.
    """

    kind: str
    start: int
    end: int
    cue: Span
    governed: bool = True
    condition: Span = (0, 0)

    def holds(self, place: int) -> bool:
        """Return whether a character is in the part, but not in the word that tells."""
        return self.start <= place < self.end and not self.cue[0] <= place < self.cue[1]


@cache
def _patterns() -> dict[str, tuple[re.Pattern[str], list[tuple[str, str, re.Pattern[str]]]]]:
    """Return what means no doubt, and the kinds and scopes of doubt, each with its pattern."""
    read = tomllib.loads(Path(__file__).with_name("standing.toml").read_text("utf-8"))
    return {
        language: (
            re.compile("|".join(table["innocent"]), re.I | re.M),
            [
                (kind, scope, re.compile("|".join(words)))
                for kind, scopes in table["doubts"].items()
                for scope, words in scopes.items()
            ],
        )
        for language, table in read.items()
    }


@lru_cache(maxsize=1 << 12)
def doubts(sentence: str) -> tuple[Doubt, ...]:
    """Return the parts of an English or Chinese sentence that it does not assert."""
    innocent, kinds = _patterns()["zh" if is_chinese(sentence) else "en"]
    plain = simplified(sentence)
    for pattern in (_QUOTED, innocent):
        plain = pattern.sub(lambda match: "\x00" * len(match[0]), plain)
    found: list[Doubt] = []
    for kind, scope, pattern in kinds:
        for cue in pattern.finditer(plain):
            found += _governed(plain, kind, scope, cue)
    return tuple(found)


def _governed(plain: str, kind: str, scope: str, cue: re.Match[str]) -> Iterator[Doubt]:
    """Yield the parts that a word makes doubtful, by its scope."""
    place = cue.start()
    inside = (one.span() for one in _BRACKETED.finditer(plain) if one.start() < place < one.end())
    unit = next(inside, None) or _around(plain, place, _UNIT, (0, len(plain)))
    segment = _around(plain, place, _SEGMENT, unit)
    after = plain[cue.end() : segment[1]]
    if scope == "sentence":
        yield Doubt(kind, 0, len(plain), cue.span())
    elif scope == "after":
        yield Doubt(kind, cue.end(), unit[1], cue.span())
    elif scope == "phrase":
        end = next((i for i in range(cue.end(), unit[1]) if plain[i] in ",，"), unit[1])
        yield Doubt(kind, cue.end(), end, cue.span())
    elif scope == "onward":
        yield Doubt(kind, cue.start(), unit[1], cue.span(), condition=segment)
    elif scope == "condition":
        yield Doubt(kind, *unit, cue.span(), condition=segment)
    elif not re.search(r"\w", after) and plain[segment[1] : segment[1] + 1] == ",":
        yield Doubt(kind, *unit, cue.span())
    else:
        yield Doubt(kind, *segment, cue.span(), scope == "governing")
        if _CONTENT.match(plain, segment[1]):
            yield Doubt(kind, segment[1], unit[1], cue.span())


def segments(sentence: str) -> list[Span]:
    """Return the spans of a sentence's segments: its clauses, and the phrases between commas."""
    marks = [match.span() for match in _SEGMENT.finditer(sentence)]
    return list(pairwise([0, *(end for _, end in marks), len(sentence)]))


def _around(plain: str, place: int, mark: re.Pattern[str], within: Span) -> Span:
    """Return the span between two marks that holds a place."""
    start, end = within
    for match in mark.finditer(plain, start, end):
        if match.start() > place:
            return start, match.start()
        start = match.end()
    return start, end
