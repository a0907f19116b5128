"""Estimate how likely a question means an entity that a service returned.

Services order their results by popularity. They compare neither the name with the name in the
question, nor the description with the question's words.
"""

from collections.abc import Iterable

from rapidfuzz import fuzz

from tasks.text.name_likeness import name_likeness
from tasks.text.names import normalise_name

NAME_SHARE, PLACE_SHARE, CONTEXT_SHARE = 0.6, 0.25, 0.15
SPELT_ALIKE = 80.0  # likeness, of 100, from which names need not share a word


def likelihood(
    query: str, aliases: Iterable[str], names: Iterable[str], place: int, description: str
) -> float:
    """Return the likelihood, 0 to 1, that the question means an entity.

    It combines the similarity of names, the entity's place in the service's order (from 0), and the
    words that its description shares with the question. It is 0 for a name that shares nothing with
    the aliases: a text that mentions a name is about somebody else.
    """
    wanted = {normalise_name(alias) for alias in aliases} - {""}
    known = {normalise_name(name) for name in names} - {""}
    likeness = max((_likeness(name, other) for name in wanted for other in known), default=0.0)
    context = _shared(_grams(query, wanted), _grams(description, wanted))
    return likeness * (NAME_SHARE + PLACE_SHARE / (1 + place) + CONTEXT_SHARE * context)


def _likeness(name: str, other: str) -> float:
    letters = fuzz.ratio(name, other)
    return (letters if letters >= SPELT_ALIKE else name_likeness(name, other)) / 100


def _grams(text: str, without: set[str]) -> set[str]:
    """Return the words of a text and the neighbouring pairs of its Chinese characters."""
    folded = normalise_name(text[:1_000])
    for name in without:
        folded = folded.replace(name, " ")
    grams = {word for word in folded.split() if len(word) > 3 and word.isascii()}
    pairs = zip(folded, folded[1:], strict=False)
    return grams | {a + b for a, b in pairs if not a.isascii() and not b.isascii()}


def _shared(question: set[str], description: set[str]) -> float:
    return min(len(question & description), 2) / 2
