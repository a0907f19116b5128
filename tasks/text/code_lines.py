"""The sentences of prose, and the lines of the code in it, which end without punctuation."""

import re
from collections.abc import Iterable, Iterator

from tasks.text.languages import FENCED, language_of
from tasks.text.sentences import sentences

_LINE = re.compile(r"\S[^\n]*")


def sentences_and_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a text's sentences and of its lines of code, in order."""
    language, place = language_of(text), 0
    for code in FENCED.finditer(text):
        yield from _moved(sentences(text[place : code.start()], language), place)
        yield from (line.span() for line in _LINE.finditer(text, *code.span("code")))
        place = code.end()
    yield from _moved(sentences(text[place:], language), place)


def _moved(spans: Iterable[tuple[int, int]], by: int) -> Iterator[tuple[int, int]]:
    return ((start + by, end + by) for start, end in spans)
