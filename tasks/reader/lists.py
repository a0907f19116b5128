"""Lists in texts, and the questions that ask for them."""

import re

from schemas.answers import Evidence
from tasks.models.span_reader.windows import without_markup
from tasks.reader.answers import EDGES
from tasks.reader.texts import Source
from tasks.text.chinese_words import simplified
from tasks.text.english_words import is_plural
from tasks.text.function_words import ARTICLES, AUXILIARIES, DEMONSTRATIVES, POSSESSIVES, any_of

_ITEM = re.compile(
    r"^([ \t]*)(?:(?:[-*+•·]|(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])[ \t]+"
    r"|[(（](?:\d{1,3}|[a-z]|[ivx]{1,4}|[一二三四五六七八九十]{1,3})[)）][ \t]*"
    r"|(?:\d{1,3}|[一二三四五六七八九十]{1,3})、[ \t]*|[①-⑳][ \t]*)(.+?)[ \t]*$",
    re.M,
)
_NEXT = re.compile(r"[;；,，]\s*(?:and/or|and|or|以及|和|或者?)\s*$", re.I)
_NOUN_IN_S = r"(?!is\b|was\b|has\b|does\b|this\b|its\b)(?P<noun>[\w-]+s)\b"
_AUXILIARY = any_of(AUXILIARIES - {"is", "was"})
_DETERMINER = rf"(?:{any_of(ARTICLES | POSSESSIVES | DEMONSTRATIVES)})\b"
_OPENING = r"^\W*(?:(?:to|in|for)\s+)?"
_SEVERAL = re.compile(
    rf"{_OPENING}(?:(?:what|which|name|list)(?:\s+[\w-]+)?\s+(?:are|were)"
    r"|(?:who|where)\s+(?:are|were)|(?:what|which)\s+(?:two|three|four|five|six))\b"
    r"|哪[些几](?![天日年月])|哪[两二三四五六]|分别|有谁|(?:有些?|包[括含])(?:什么|谁)(?=\W*$)|分[为成](?:几|什么)",
    re.I,
)
_STEPS = re.compile(
    rf"{_OPENING}how\s+(?:do|can|could|should|would|must|to)\b"
    "|(?:怎么|怎样|如何)(?!样|的|回事)",
    re.I,
)
# These ask for a list if the noun is a plural.
_SEVERAL_IF_PLURAL = [
    re.compile(_OPENING + words, re.I)
    for words in (
        rf"(?:which|name|list)\s+{_NOUN_IN_S}",
        rf"what\s+{_NOUN_IN_S}\s+(?:{_AUXILIARY}|of)\b",
        # A verb in -s has an object: `Which company owns the harbour?`
        rf"(?:what|which|name|list)\s+[\w-]+\s+{_NOUN_IN_S}(?!\s+(?:{_DETERMINER}|(?-i:[A-Z])))",
    )
]


def asks_for_several(question: str) -> bool:
    """Return whether a question asks for a list."""
    found = (form.search(question) for form in _SEVERAL_IF_PLURAL)
    plural = any(match is not None and is_plural(match["noun"]) for match in found)
    return plural or bool(_SEVERAL.search(simplified(question)))


def asks_for_steps(question: str) -> bool:
    """Return whether a question asks how something is done, to which the items of a list answer."""
    return bool(_STEPS.search(simplified(question)))


def is_item(text: str, line: int) -> bool:
    """Return whether the line that begins at a position is an item of a list."""
    return _ITEM.match(text, line) is not None


def list_start(text: str, start: int) -> int | None:
    """Return where the list around a position begins, None if it is not in an item."""
    items = list(_ITEM.finditer(text))
    at = next((n for n, item in enumerate(items) if item.start() <= start <= item.end()), None)
    if at is None:
        return None
    first = at
    for number in range(at - 1, -1, -1):
        between = text[items[number].end() : items[number + 1].start()]
        if between.strip() or _depth(items[number]) < _depth(items[at]):
            break
        first = number if _depth(items[number]) == _depth(items[at]) else first
    return items[first].start()


def list_around(text: str, start: int) -> tuple[list[str], tuple[int, int]] | None:
    """Return the items of the list around a position, and its span; None if it is in no item."""
    first = list_start(text, start)
    if first is None:
        return None
    items, end = _list_at_start(text[first:])
    return items, (first, first + end)


def items_after(text: str) -> list[str]:
    """Return the items of the list with which a text begins, without the lists within items."""
    return _list_at_start(text)[0]


def _list_at_start(text: str) -> tuple[list[str], int]:
    items: list[str] = []
    depth, end = None, 0
    for item in _ITEM.finditer(text):
        depth = _depth(item) if depth is None else depth
        if text[end : item.start()].strip() or _depth(item) < depth:
            break
        if _depth(item) == depth:
            items.append(_NEXT.sub("", without_markup(item[2])).strip(EDGES))
        end = item.end()
    return items, end


def _depth(item: re.Match[str]) -> int:
    """Return how deep a list's item is nested; one column may align its number."""
    return len(item[1].expandtabs()) // 2


def list_place(place: Evidence, source: Source) -> tuple[str, int] | None:
    """Return the document and the character at which the list around a place begins, or None."""
    if place.document_id is None or place.span_start is None:
        return None
    text, start = source.around(place)
    begins = list_start(text, start)
    return None if begins is None else (place.document_id, place.span_start - start + begins)
