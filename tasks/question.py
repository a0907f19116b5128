"""What a question speaks of: its words that carry meaning, and the names in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.names import normalise_name
from tasks.segment import HAN, is_chinese
from tasks.word_search import Name, NameIndex

LONGEST_NAME = 16  # words
LONGEST_CHINESE_NAME = 14  # characters
MAX_QUESTION = 2000  # characters; the rest of a longer question is not looked at

_FUNCTION_WORDS = (
    "a an the of in on at to for from by with and or is are was were be been being do does did "
    "has have had who whom whose what which when where why how that this these those it its his "
    "hers her their he she they them there than then as into about both same also not no can "
    "could would will shall should may might must many much more most some any all each other "
    "i me my you your we us our if so such only very name called"
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_POSSESSIVE = re.compile(r"['’]s?$")
_TOKEN = re.compile(r"\S+")
_EDGES = " \t\n?!.,;:\"“”‘’'`，。、；：？！《》「」『』"
_BRACKETS = "（）()"


@dataclass(frozen=True, slots=True)
class LinkedName:
    """A stretch of the question that equals a name, and the entities that bear it."""

    start: int
    end: int
    text: str
    bearers: list[Name]


def content_words(question: str) -> str:
    """Return the question without English function words."""
    words = re.findall(r"\w+", question[:MAX_QUESTION])
    return " ".join(word for word in words if word.lower() not in FUNCTION_WORDS)


def link_names(question: str, names: NameIndex) -> list[LinkedName]:
    """Return the names in a question, longest first, none inside another.

    A word in lower case is taken for the name that it equals only if the question has no other.
    """
    question = question[:MAX_QUESTION]
    stretches = list(_chinese_stretches(question) if is_chinese(question) else _stretches(question))
    proper = [(start, end) for start, end in stretches if _is_proper(question[start:end])]
    return _linked(question, proper, names) or _linked(question, stretches, names)


def _linked(question: str, stretches: list[tuple[int, int]], names: NameIndex) -> list[LinkedName]:
    found: list[LinkedName] = []
    for start, end in stretches:
        if any(start < other.end and other.start < end for other in found):
            continue
        bearers = _bearers(question[start:end], names)
        if bearers:
            found.append(LinkedName(start, end, question[start:end], bearers))
    return found


def _bearers(text: str, names: NameIndex) -> list[Name]:
    for spelling in (text, _POSSESSIVE.sub("", text)):
        key = normalise_name(spelling)
        bearers = names.bearers(key) if key else []
        if bearers:
            return bearers
    return []


def _is_proper(text: str) -> bool:
    """Tell whether a stretch looks like a name by more than a function word in capitals."""
    words = [word for word in text.split() if word.lower() not in FUNCTION_WORDS]
    return bool(HAN.search(text)) or any(c.isupper() or c.isdigit() for w in words for c in w)


def _stretches(question: str) -> Iterator[tuple[int, int]]:
    """Yield runs of words that may be a name, longest first, then from the left."""
    tokens = [match.span() for match in _TOKEN.finditer(question)]
    for length in range(min(LONGEST_NAME, len(tokens)), 0, -1):
        for first in range(len(tokens) - length + 1):
            raw = question[tokens[first][0] : tokens[first + length - 1][1]]
            text = raw.strip(_EDGES)
            if text.count("(") != text.count(")"):
                text = text.strip("()")
            if text and not all(word.lower() in FUNCTION_WORDS for word in text.split()):
                start = tokens[first][0] + raw.index(text)
                yield start, start + len(text)


def _chinese_stretches(question: str) -> Iterator[tuple[int, int]]:
    for length in range(min(LONGEST_CHINESE_NAME, len(question)), 1, -1):
        for start in range(len(question) - length + 1):
            stretch = question[start : start + length]
            if stretch == stretch.strip(_EDGES + _BRACKETS):
                yield start, start + length
