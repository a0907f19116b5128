"""Join the runs of a line: raised digits are powers, `10^6`, unless they are the mark of a note."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

_DIGITS = re.compile(r"[-−+]?\d{1,4}")
_NOTES = re.compile(r"\d{1,3}(?:[,–-] ?\d{1,3})+")
_NUMBERED = re.compile(r"(\d{4}|\d[, ’]\d{3}|[.,;:!?。，；：！？”\"])$")  # never raised to a power
_WORD = re.compile(r"(?<!\d)(?<!\d )\b[^\W\d_]{4,}$")  # no unit
_NEAR = 40  # characters that tell a mark from a power


class Run(NamedTuple):
    """Words that are set alike: `height` is above 0 if they are raised, below if lowered."""

    words: str
    height: int = 0
    is_bold: bool = False


def joined(runs: Iterable[Run]) -> str:
    """Return runs as text; marks of notes are left out, since the notes are read as such."""
    text = ""
    for height, alike in groupby(runs, key=lambda run: run.height):
        words = "".join(run.words for run in alike)
        text += raised(text, words) if height > 0 else lowered(text, words) if height else words
    return text


def raised(before: str, words: str) -> str:
    """Return raised words as they follow a text: `^6` after `10`, nothing for a note's mark."""
    near, digits = before[-_NEAR:], words.strip()
    if (
        not near
        or near[-1].isspace()
        or not (_DIGITS.fullmatch(digits) or _NOTES.fullmatch(digits))
    ):
        return words
    first_note = digits == "1" and not near.endswith("10")
    if first_note or _NOTES.fullmatch(digits) or _NUMBERED.search(near) or _WORD.search(near):
        return words.replace(digits, "")
    return f"^{words}" if near[-1].isalnum() or near[-1] in ")]}" else words


def lowered(before: str, words: str) -> str:
    """Return lowered words as they follow a text: apart from a number by `_`."""
    return f"_{words}" if before[-1:].isdecimal() and words[:1].isdecimal() else words
