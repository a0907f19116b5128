"""Words and numbers that a claim may have in place of its own: another of a kind, or denied."""

import re
from functools import cache
from pathlib import Path
from random import Random


@cache
def families() -> dict[str, tuple[frozenset[str], ...]]:
    """Return the families of mutually exclusive words, by each of their members."""
    lines = Path(__file__).with_name("opposites.txt").read_text(encoding="utf-8").splitlines()
    families_of: dict[str, tuple[frozenset[str], ...]] = {}
    for line in lines:
        if line and not line.startswith("#"):
            family = frozenset(line.split())
            for word in family:
                families_of[word] = (*families_of.get(word, ()), family)
    return families_of


def other_number(answer: str, random: Random) -> str | None:
    """Return the answer with one of its numbers changed; None if it has none."""
    numbers = list(re.finditer(r"\d+", answer))
    if not numbers:
        return None
    chosen = random.choice(numbers)
    value, width = int(chosen.group()), len(chosen.group())
    step = random.choice([1, 2, 3, 5, 7, 10, 11, 20, 50, 100][: 4 + 2 * min(3, width)])
    changed = value - step if random.random() < 0.5 and value > step else value + step
    return answer[: chosen.start()] + str(changed).zfill(width) + answer[chosen.end() :]


def negated(claim: str, random: Random) -> str | None:
    """Return the claim with its first auxiliary negated, or None where there is none."""
    auxiliary = re.search(
        r"\b(is|are|was|were|can|could|will|would|did|does|do|has|have|had)\b", claim
    )
    if not auxiliary:
        return None
    word = auxiliary.group()
    ways = [f"{word} not", f"{word} never"]
    if word in ("is", "are", "was", "were"):
        ways += [f"{word}n't", f"{word} no longer"]
    return claim[: auxiliary.start()] + random.choice(ways) + claim[auxiliary.end() :]
