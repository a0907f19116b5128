"""Estimate how likely it is that a name means any node of the graph.

A graph contains some name similar to almost any name. Whether the most similar one is meant depends
on how well the two agree, and on how far the next name is behind. This logistic regression is
fitted by `recipes/linking_acceptance.py` to names of which half mean a node, with and without a
text, in English and Chinese.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tasks.graphs.linking.likeness import tokens

# The ranking's log-odds of the best name; how far the next other name is behind; whether the asked
# name has the same normal form; the rarity (0 to 1) of the rarest word that the asked name lacks;
# and the logarithm of the number of names that count as the best one.
EVIDENCE = ("odds", "lead", "same", "lacking", "several")
WEIGHTS = np.array([0.589, 0.437, -3.446, -1.606, -0.708])
BIAS = -1.391
ACCEPTED = 0.2  # probability below which the name means no node
FARTHEST = 8.0  # log-odds: a larger lead is no further evidence


class Alike(NamedTuple):
    """The normal forms of an asked name and of a name in the graph that is like it."""

    asked: str
    name: str


class LinkEvidence(NamedTuple):
    """Float64 (len(EVIDENCE),), and which candidates bear a best name, bool (candidates,)."""

    values: np.ndarray
    bearers: np.ndarray


def gather(
    names: Sequence[Alike], odds: np.ndarray, rarity: Callable[[str], float]
) -> LinkEvidence:
    """Return the evidence for the best name, from at least one candidate and its log-odds.

    If the best name merely contains all words of the asked one, every other name that contains them
    counts as a best name, too: whether any Smith is meant is a different question from which one.
    """
    first = int(odds.argmax())
    asked, likest = names[first]
    bearers = np.array([alike.name == likest for alike in names])
    if asked != likest and _contains(names[first]):
        bearers |= np.array([alike.name != alike.asked and _contains(alike) for alike in names])
    lead = min(float(odds[first] - odds[~bearers].max(initial=-np.inf)), FARTHEST)
    own = tokens(asked)
    lacking = max((rarity(word) for word in tokens(likest) if word not in own), default=0.0)
    several = len({alike.name for alike, bears in zip(names, bearers, strict=True) if bears})
    values = [float(odds[first]), lead, asked == likest, lacking, np.log(several)]
    return LinkEvidence(np.array(values, np.float64), bearers)


def probability(values: np.ndarray) -> float:
    """Return the probability that a bearer of a best name is meant."""
    return float(1 / (1 + np.exp(-(values @ WEIGHTS + BIAS))))


def _contains(alike: Alike) -> bool:
    """Return whether a name has all words of the asked one."""
    return set(tokens(alike.asked)) <= set(tokens(alike.name))
