"""Find foreign names in a Chinese text by the dots between their parts: 安东·契诃夫, 乔治·R·马丁.

No list has all characters that transliterate, so words with others belong to a name as well:
契诃夫 in 安东·契诃夫, but not 作家 in 作家安东·契诃夫.
"""

import re
from collections.abc import Iterator

from tasks.extract.rules.chinese.lexicon import TRANSLITERATION
from tasks.text.chinese_words import tag_of, word_spans_of
from tasks.text.languages import HAN_CLASS

_PART = f"[{TRANSLITERATION}]{{1,8}}(?:[-－][{TRANSLITERATION}]{{1,6}})?"
_TRANSLITERATED = re.compile(f"{_PART}(?:[·•・‧.．]{_PART})+(?<!于)")
_HAN_PART = f"[{HAN_CLASS}]{{1,8}}"
# Not "・", which separates the places of a journey.
_DOTTED = re.compile(f"({_HAN_PART})((?:[·•‧](?:{_HAN_PART}|[A-Z]))*)[·•‧]({_HAN_PART})")
_EVERYDAY = ("v", "u", "a", "d", "m", "p", "c")  # tags of 率, 等, 大, 都, 一, 于 and 和


def find_foreign_names(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the names; of two that overlap, the one to prefer comes first."""
    position = 0
    while match := _DOTTED.search(text, position):
        start = match.start(1) + _start(match[1])
        end = match.start(3) + _end(match[3])
        inner = re.findall(_HAN_PART, match[2])
        position = match.start(3)
        if start < match.end(1) and end > match.start(3) and all(map(_is_whole, inner)):
            yield start, end
            position = end
    for match in _TRANSLITERATED.finditer(text):
        yield match.span()


def _start(part: str) -> int:
    """Return where a name begins in the part before its first dot."""
    start = len(part) - _transliterated(part[::-1])
    for first, last in sorted(word_spans_of(part), reverse=True):
        if first < start <= last and _is_foreign(word := part[first:last]):
            start = first if tag_of(word) else first - _transliterated(part[:first][::-1])
    return start


def _end(part: str) -> int:
    """Return where a name ends in the part after its last dot."""
    end = _transliterated(part)
    for first, last in sorted(word_spans_of(part)):
        if first <= end < last and _is_foreign(word := part[first:last]):
            end = last if tag_of(word) else last + _transliterated(part[last:])
    return end - part[:end].endswith("于")


def _transliterated(part: str) -> int:
    """Return how many characters at the start of a text transliterate."""
    return len(part) - len(part.lstrip(TRANSLITERATION))


def _is_whole(part: str) -> bool:
    return _end(part) == len(part)


def _is_foreign(word: str) -> bool:
    """Return whether a word is a name that mostly transliterates.

    Of words that the dictionary lacks, such are 何塞 and 彭铁尔, but not 夏普写 and 加尼一比.
    """
    others = [at for at, character in enumerate(word) if character not in TRANSLITERATION]
    if tag := tag_of(word):
        return tag[0] == "n" and 2 * len(others) < len(word) + (tag != "n")
    inside = len(word) == 2 or others[0] not in (0, len(word) - 1)
    return len(others) == 1 and inside and tag_of(word[others[0]])[:1] not in _EVERYDAY
