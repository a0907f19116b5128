"""The similarity of two names by their letters."""

import re
from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from tasks.text.languages import is_chinese
from tasks.text.names import normalise_name


def likest(name: str, others: Sequence[str]) -> float:
    """Return a name's similarity to the most similar of the others, 0 to 100."""
    return max(name_likeness(name, other) for other in others)


def are_namesakes(left: str, right: str) -> bool:
    """Return whether two names differ by a letter, not a doubled one, as those of two people do."""
    if OSA.distance(left, right, score_cutoff=1) != 1:
        return False
    a, b = (re.sub(r"(.)\1+", r"\1", normalise_name(name)) for name in (left, right))
    return " " in a and a.count(" ") == b.count(" ") and a != b


def name_likeness(left: str, right: str) -> float:
    """Return the edit similarity of two names, 0 to 100; 0 if they share no word.

    Chinese names must share two neighbouring characters. KnowledGPT's measure is 100 minus the
    Levenshtein distance; here the distance is relative to the length.
    """
    a, b = normalise_name(left), normalise_name(right)
    if a == b:
        return 100.0
    chinese = is_chinese(a) or is_chinese(b)
    left_parts, right_parts = (set(pairwise(name) if chinese else name.split()) for name in (a, b))
    return float(fuzz.ratio(a, b)) if left_parts & right_parts else 0.0
