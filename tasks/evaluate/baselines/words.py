"""Words of questions, names and relations, as the baselines compare them."""

import re
from functools import lru_cache

from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.stems import stems_of

_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_/.\-]+")


@lru_cache(maxsize=1 << 17)
def words(text: str) -> tuple[str, ...]:
    """Return the stemmed words of a text without stop words; Chinese is segmented."""
    plain = text.replace("_", " ")
    return tuple(
        stem
        for start, end, stem in stems_of(plain)
        if plain[start:end].lower() not in FUNCTION_WORDS
    )


@lru_cache(maxsize=1 << 16)
def relation_words(relation: str) -> frozenset[str]:
    """Return the words of a relation's name, stop words included, however they are joined."""
    return frozenset(stem for _, _, stem in stems_of(relation_phrase(relation)))


def relation_phrase(relation: str) -> str:
    """Return a relation's name as words separated by spaces."""
    return _PARTS.sub(" ", relation).strip() or relation


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the Jaccard index of two sets of words; 0 if both are empty."""
    return len(left & right) / len(left | right) if left | right else 0.0
