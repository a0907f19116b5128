"""A pair of evidence and claim with its verdict, and the half of a source that is kept aside."""

import hashlib
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["support", "refute", "unknown"]
VERDICTS: tuple[Verdict, ...] = ("support", "refute", "unknown")
LONGEST = 400  # characters of evidence


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, its evidence and the verdict.

    `made` names the way in which the pair was made; a `held_out` pair is not trained on.
    """

    evidence: str
    claim: str
    verdict: Verdict
    made: str
    held_out: bool


def in_reported_half(key: str) -> bool:
    """Tell whether an item belongs to the half of its data set that is only reported on."""
    return hashlib.sha1(key.encode(), usedforsecurity=False).digest()[0] % 2 == 1
