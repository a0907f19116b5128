"""Compute the similarity of two names: letters, words in any order, initials, rare words.

All names are in their normal form. Measures range from 0 to 1; `tasks.graphs.linking.link` weighs
them.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tasks.graphs.linking.spellings import short_forms
from tasks.text.languages import HAN

SAME_WORD = 0.75  # similarity from which two words count as spellings of one word
INITIAL = 0.6  # the similarity of a first letter and a word that it may stand for
MOST_TOKENS = 24  # tokens per name that are compared one by one
MEASURES = ("letters", "turned", "asked_found", "name_found", "shortened", "begins")


def likenesses(asked: str, names: Sequence[str], rarity: Callable[[str], float]) -> np.ndarray:
    """Return float64 (names, len(MEASURES)): the similarity of each name to `asked`.

    letters: edit similarity in which a swap counts once. turned: the same with sorted words.
    asked_found, name_found: the share of one name's words, weighed by `rarity` (0 to 1), that the
    other has in a similar spelling. shortened: one is an acronym or initials of the other.
    begins: one is a prefix of the other.
    """
    from rapidfuzz.process import cdist

    measures = np.zeros((len(names), len(MEASURES)))
    if not names:
        return measures
    measures[:, 0] = cdist([asked], names, scorer=_edits())[0]
    measures[:, 1] = cdist([_sorted(asked)], [_sorted(n) for n in names], scorer=_edits())[0]
    own, forms = tokens(asked), set(short_forms(asked))
    weights = {token: rarity(token) + 0.05 for token in own}
    for row, name in enumerate(names):
        theirs = tokens(name)
        measures[row, 2:4] = _shared(own, weights, theirs, rarity)
        measures[row, 4] = _shortened(name, asked, forms)
        measures[row, 5] = name.startswith(asked) or asked.startswith(name)
    return measures


@cache
def _edits() -> Any:
    from rapidfuzz.distance import OSA

    return OSA.normalized_similarity


def _sorted(name: str) -> str:
    return " ".join(sorted(name.split())) if " " in name else name


def tokens(name: str) -> list[str]:
    """Return the words of a name; each Chinese character is one, as Chinese names are short."""
    if not HAN.search(name):
        return name.split()[:MOST_TOKENS]
    characters = "".join(HAN.findall(name[: 2 * MOST_TOKENS]))
    return [*HAN.sub(" ", name).split(), *characters][:MOST_TOKENS]


def _shortened(name: str, asked: str, forms: set[str]) -> float:
    """Return 1 for an acronym or initials, 0.4 for one of two letters, 0 otherwise."""
    if name not in forms and (len(asked) > 24 or asked not in short_forms(name)):
        return 0.0
    return 1.0 if min(len(name), len(asked)) > 2 else 0.4


def _shared(
    asked: list[str], weights: dict[str, float], name: list[str], rarity: Callable[[str], float]
) -> tuple[float, float]:
    """Return the weighted share of each name's tokens that the other name has."""
    remaining, matched, shared = list(name), 0.0, 0.0
    for token in asked:
        best, other = _likest(token, remaining)
        if best:
            remaining.remove(other)
            matched += best * weights[token]
            shared += best * (rarity(other) + 0.05)
    total = shared + sum(rarity(other) + 0.05 for other in remaining)
    return matched / (sum(weights[token] for token in asked) or 1.0), shared / (total or 1.0)


def _likest(token: str, others: list[str]) -> tuple[float, str]:
    """Return the most similar of the other tokens, with its similarity first."""
    if token in others:
        return 1.0, token
    return max(((_same_word(token, other), other) for other in others), default=(0.0, ""))


def _same_word(one: str, other: str) -> float:
    """Return the similarity of two words, 0 below SAME_WORD; a letter may be an initial."""
    shorter, longer = sorted((len(one), len(other)))
    if shorter == 1:
        return INITIAL if one[0] == other[0] and one.isalpha() and other.isalpha() else 0.0
    if shorter < SAME_WORD * longer:
        return 0.0
    similarity = float(_edits()(one, other))
    return similarity if similarity >= SAME_WORD else 0.0
