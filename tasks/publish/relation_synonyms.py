"""Find verbs that mean the same relation, by their vectors and the ends that they relate.

Vectors alone take "bought" and "sold" for synonyms, so verbs are joined only if the words after
them are the same, the kinds of their ends agree, and the vocabulary does not keep them apart.
Either their vectors are as near as those of synonyms, or they are near and both verbs relate
several of the same pairs of ends.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.text.relations.vocabulary import are_apart

# Among the 900 commonest verbs of development corpora, 7 of the 9 pairs of different verbs with at
# least this likeness meant the same; from .7 to .8 about half did.
ALIKE = 0.8
NEAR = 0.6
SHARED_PAIRS = 3
SHARED_PART = 0.2  # least share of shared pairs in the triples of the rarer verb
LEAST_TRIPLES = 2
MOST_COMPARED = 2_000


@dataclass(frozen=True, slots=True)
class VerbUse:
    """A verb with the words after it, how often it is stated, and between what kinds."""

    verb: str
    rest: tuple[str, ...]
    end: str
    name: str  # in the past, as it is compared
    triples: int
    kinds: tuple[str, str]  # the commonest that are known; empty if none is


def join_synonyms(
    uses: Sequence[VerbUse],
    shared: Mapping[frozenset[int], int],
    encode: Callable[[list[str]], np.ndarray],
) -> dict[int, int]:
    """Return, for each use that means the same as a commoner one, the number of the commoner one.

    `shared` counts the pairs of ends that both of two uses, given by their numbers, relate.
    """
    order = [n for n, use in enumerate(uses) if use.triples >= LEAST_TRIPLES]
    order = sorted(order, key=lambda n: (-uses[n].triples, uses[n].name))[:MOST_COMPARED]
    if len(order) < 2:
        return {}
    vectors = encode([uses[n].name for n in order])
    likeness = vectors @ vectors.T
    joined: dict[int, int] = {}
    for row, number in enumerate(order):
        for column in np.argsort(-likeness[row, :row], kind="stable"):
            other = order[int(column)]
            pairs = shared.get(frozenset((number, other)), 0)
            often = pairs >= SHARED_PAIRS and pairs >= SHARED_PART * uses[number].triples
            if likeness[row, column] < (NEAR if often else ALIKE):
                continue
            if _may_join(uses[number], uses[other]):
                joined[number] = joined.get(other, other)
                break
    return joined


def _may_join(one: VerbUse, other: VerbUse) -> bool:
    if (one.rest, one.end) != (other.rest, other.end) or one.verb == other.verb:
        return False
    if are_apart(one.verb, other.verb) or _is_prefixed(one.verb, other.verb):
        return False
    return all(
        not kind or not known or kind == known
        for kind, known in zip(one.kinds, other.kinds, strict=True)
    )


def _is_prefixed(one: str, other: str) -> bool:
    """Tell whether one verb is the other with a prefix, such as "remarry" or "disconnect"."""
    return one.endswith(other) or other.endswith(one)
