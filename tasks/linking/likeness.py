"""How alike two names are, from 0 to 1: letters, words in any order, initials, parts of names."""

from functools import cache
from typing import Any

from tasks.linking.spellings import short_forms
from tasks.segment import HAN

SHORTENED = 0.85  # an acronym, or initials: another name may have the same
TWO_LETTERS = 0.6  # an acronym of two letters says little
PART = 0.85  # all words of the one are in the other
SAME_WORD = 0.75  # words at least so alike are taken for spellings of one
MOST_WORDS = 24  # of a name that are compared one by one


def likeness(asked: str, name: str) -> float:
    """Return how alike two normal forms are; 1 only where they are equal.

    The best of: the letters in order (edit distance, a swap counting once), the words in another
    order, a shortened form, and the words that both share, weighed by their length.
    """
    if asked == name:
        return 1.0
    if _shortened(asked, name) or _shortened(name, asked):
        return SHORTENED if min(len(asked), len(name)) > 2 else TWO_LETTERS
    if " " in asked or " " in name:
        turned = 0.97 * _edits(" ".join(sorted(asked.split())), " ".join(sorted(name.split())))
        shared = _shared_words(asked.split()[:MOST_WORDS], name.split()[:MOST_WORDS])
    else:
        turned, shared = 0.0, _shared_end(*sorted((asked, name), key=len))
    return min(0.99, max(_edits(asked, name), turned, shared))


def _shortened(short: str, long: str) -> bool:
    return len(short) < len(long) and short in short_forms(long)


@cache
def _distance() -> Any:
    from rapidfuzz.distance import OSA

    return OSA


def _edits(one: str, other: str) -> float:
    return float(_distance().normalized_similarity(one, other))


def _shared_end(short: str, long: str) -> float:
    """Return how much of a word, as of Chinese names, is the beginning or the end of another."""
    least = 2 if HAN.search(short) else 4
    if len(short) < least or not (long.startswith(short) or long.endswith(short)):
        return 0.0
    return PART * (0.7 + 0.3 * len(short) / len(long))


def _shared_words(asked: list[str], name: list[str]) -> float:
    """Return how much of the asked words is in the name, less so for what else the name has."""
    left, found, shared = list(name), 0.0, 0.0
    for word in asked:
        best, place = max(((_same(word, other), -at) for at, other in enumerate(left)))
        if best:
            other = left.pop(-place)
            found, shared = found + best * len(word), shared + best * len(other)
        if not left:
            break
    of_asked = found / sum(map(len, asked))
    of_name = shared / sum(map(len, name))
    return PART * of_asked**2 * (0.7 + 0.3 * of_name)


def _same(word: str, other: str) -> float:
    """Return how sure two words are spellings of one; an initial may stand for a word."""
    if word == other:
        return 1.0
    if len(word) == 1 or len(other) == 1:
        return 0.6 if word[0] == other[0] else 0.0
    alike = _edits(word, other)
    return alike if alike >= SAME_WORD else 0.0
