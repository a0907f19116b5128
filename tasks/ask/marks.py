"""Finds what may cite sources in an answer, and the numbers that only order its list."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LABEL = r"(?:sources?|来源|资料)\s*"
_DASH = r"\s*\]?[–—~-]\[?\s*"
_NUMBERS = rf"(\d{{1,4}}(?:(?:\s*(?:[,，、;；&]|and|和)\s*|{_DASH})\d{{1,4}})*)"
# [2], [2, 3], [2-4], [2]-[4], [^2], [source 2], [[2]](#s2), ［2］, 【2†source】; not (2).
BRACKET = re.compile(
    rf"(?<!\s)\s*+(?:[\[［【]{{1,2}}\s*(?:{_LABEL}|\^)?{_NUMBERS}(?:(?::\d+)?†[^\]］】\n]{{0,40}})?"
    rf"\s*[\]］】]{{1,2}}(?:\((?:#|https?:)[^()\s]{{0,200}}\))?|[(（]\s*{_LABEL}{_NUMBERS}\s*[)）])",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"(\d+)(?:{_DASH}(\d+))?")
LONGEST_RANGE = 20  # sources that one mark cites
FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(`++)[^\n]*?(?<!`)\1(?!`)")
_ORDINAL = re.compile(
    r"(?:^|(?<=[\n;；:：,，.。!?！？\]］】]))[^\S\n]*+[-*_#> ]*+"
    r"(?:(?:step|stage|point|步骤|第)\s*+)?(\d{1,2})(?:[.)）、．:：步](?=[^\d\n])|[*_]+[.):：])|[(（](\d{1,2})[)）]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mark:
    """Numbers in brackets within a text, with the space before them."""

    start: int
    end: int
    numbers: tuple[int, ...]


def numbered_brackets(text: str) -> Iterator[Mark]:
    """Yield all brackets with numbers that do not stand in code; `[2-4]` has three of them."""
    code = [match.span() for pattern in (FENCED, _INLINE) for match in pattern.finditer(text)]
    for match in BRACKET.finditer(text):
        if not any(start < match.end() <= end for start, end in code):
            numbers = tuple(_listed(match[1] or match[2]))
            yield Mark(match.start(), match.end(), tuple(dict.fromkeys(numbers)))


def _listed(words: str) -> Iterator[int]:
    for match in _RANGE.finditer(words):
        first, last = int(match[1]), int(match[2] or match[1])
        yield from range(first, last + 1) if last - first in range(LONGEST_RANGE) else (first, last)


def without_ordinals(text: str) -> str:
    """Return a text with blanks for the numbers of its list: "1. …", "2) …", "Step 3: …", "(4)".

    These count from 1; any other number may be a claim.
    """
    last = 0
    for match in _ORDINAL.finditer(text):
        number = int(match[1] or match[2])
        if number in (1, last + 1):
            last = number
            text = text[: match.start()] + " " * len(match.group()) + text[match.end() :]
    return text
