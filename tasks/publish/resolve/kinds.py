"""Which kinds of names to believe: those that a text states, and guesses where guesses agree.

A recogniser of names errs much more in some corpora than in others, and nobody tells it so. But it
then also contradicts itself: at other mentions of the same name it guesses another kind, or none.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from tasks.text.languages import is_chinese
from tasks.text.names import normalise_name

LEAST_AGREEMENT = 0.82
"""The agreement from which guesses are believed.

Of 30 guesses each for names of eight corpora, read one by one, .80 to .87 were right where this
agreement was .83 to .92 (press releases, a history book), and .03 to .47 where it was .44 to .79
(documentation, handbooks, minutes, a blog); for several words .80 to .87, and .23 to .73.
"""
_PRIOR_NAMES = 20
_PRIOR_AGREEMENT = 0.87  # of so many names, before anything is known: guesses just pass
Row = dict[str, Any]


class Believed:
    """Which guesses at kinds are believed: those for words, several words, acronyms, or Chinese."""

    def __init__(self, rows: list[Row]) -> None:
        """Judge by rows of names: `kind`, `kind_stated` (absent or null: a guess), `mentions`."""
        guesses: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for row in rows:
            if not row.get("kind_stated"):
                votes = guesses[_shape(row["name"])][normalise_name(row["name"])]
                votes[row["kind"]] += row["mentions"]
        self._stated = _stated(rows)
        agreement = {shape: _agreement(names) for shape, names in guesses.items()}
        self._doubtful = {shape for shape, share in agreement.items() if share < LEAST_AGREEMENT}

    def kind(self, row: Row) -> str:
        """Return the kind of a row, `unknown` for a guess that is not believed.

        What texts state of a name of several words, no guess elsewhere contradicts.
        """
        stated = None if row.get("kind_stated") else self._stated.get(normalise_name(row["name"]))
        if stated:
            return stated
        doubted = not row.get("kind_stated") and _shape(row["name"]) in self._doubtful
        return "unknown" if doubted else row["kind"]


def _stated(rows: Iterable[Row]) -> dict[str, str]:
    """Return the kind that texts state of each name of several words, if they agree."""
    stated: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.get("kind_stated") and row["kind"] != "unknown" and " " in row["name"]:
            stated[normalise_name(row["name"])].add(row["kind"])
    return {norm: kinds.pop() for norm, kinds in stated.items() if len(kinds) == 1}


def _shape(name: str) -> str:
    if is_chinese(name):
        return "Chinese"
    if name.isupper():
        return "acronym"
    return "words" if " " in name.strip() else "word"


def _agreement(names: dict[str, Counter[str]]) -> float:
    """Return how often another mention of a name gets the kind that one got, each name once."""
    shares = [_PRIOR_NAMES * _PRIOR_AGREEMENT]
    for kinds in names.values():
        mentions = kinds.total()
        guessed = mentions - kinds["unknown"]
        if guessed and mentions > 1:
            pairs = sum(n * (n - 1) for kind, n in kinds.items() if kind != "unknown")
            shares.append(pairs / (guessed * (mentions - 1)))
    return sum(shares) / (_PRIOR_NAMES + len(shares) - 1)
