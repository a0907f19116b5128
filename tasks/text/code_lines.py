"""The sentences of prose, and what ends without punctuation: lines of code, titles of boxes."""

import re
from collections.abc import Iterable, Iterator

from tasks.text.languages import FENCED, language_of
from tasks.text.sentences import sentences

# A block of code, or the line where a box begins or ends: ":::tip Pumps", "!!! note".
_APART = re.compile(
    rf"{FENCED.pattern}|^[ \t]*(?::{{3,}}|[!?]{{3}}\+?[ \t])[ \t]*[\w{{}}-]*(?P<title>[^\n]*)$",
    re.M | re.S,
)
_LINE = re.compile(r"\S[^\n]*")


def sentences_and_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a text's sentences, of its lines of code and of its boxes' titles."""
    language, place = language_of(text), 0
    for apart in _APART.finditer(text):
        yield from _moved(sentences(text[place : apart.start()], language), place)
        lines = apart.span("code" if apart["fence"] else "title")
        yield from (line.span() for line in _LINE.finditer(text, *lines))
        place = apart.end()
    yield from _moved(sentences(text[place:], language), place)


def _moved(spans: Iterable[tuple[int, int]], by: int) -> Iterator[tuple[int, int]]:
    return ((start + by, end + by) for start, end in spans)
