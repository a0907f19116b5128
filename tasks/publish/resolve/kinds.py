"""Which kinds names have: what texts state, else what all mentions of a name make likely.

The embedded engine scores the kinds of each English mention (`tasks.extract.rules.guessed_kinds`).
The scores of all mentions of a name are pooled here, and the shares of the kinds are fitted to the
corpus: a manual is full of things, a chronicle of persons. A recogniser that gives no scores errs
much more in some corpora than in others, but it then also contradicts itself: at other mentions of
the same name it guesses another kind, or none.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tasks.extract.rules.guessed_kinds import GUESSED
from tasks.text.languages import is_chinese
from tasks.text.names import normalise_name

LEAST_PROBABILITY = 0.5
"""The probability from which a pooled guess is a kind, chosen on names of judged corpora."""

LEAST_STATED = 0.001
"""The pooled probability from which a kind that a text states elsewhere is that of a name.

A clause that was read wrongly states that the United States are a person, which 200 mentions deny.
"""

_GROWTH = 0.25  # the power of the number of mentions that makes their mean score surer
_PRIOR_MENTIONS = 20  # the weight of equal shares of all kinds, in names
_ROUNDS = 30
LEAST_AGREEMENT = 0.82
"""The agreement from which guesses without scores are believed.

Of 30 guesses each for names of eight corpora, read one by one, .80 to .87 were right where this
agreement was .83 to .92 (press releases, a history book), and .03 to .47 where it was .44 to .79
(documentation, handbooks, minutes, a blog); for several words .80 to .87, and .23 to .73.
"""
_PRIOR_NAMES = 20
_PRIOR_AGREEMENT = 0.87  # of so many names, before anything is known: guesses just pass
Row = dict[str, Any]


class Believed:
    """Which guesses at kinds are believed: by scores, else by how well guesses agree.

    Agreement is that of words, several words, acronyms, or Chinese.
    """

    def __init__(self, rows: list[Row]) -> None:
        """Judge by rows of names: `kind`, `kind_stated` (absent or null: a guess), `mentions`.

        `scored` of these have scores, whose sums by kind are `kind_scores`.
        """
        guesses: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for row in rows:
            if not row.get("kind_stated") and not row.get("scored"):
                votes = guesses[_shape(row["name"])][normalise_name(row["name"])]
                votes[row["kind"]] += row["mentions"]
        likely = _likely(rows)
        self._stated = _stated(rows, likely)
        self._likely = {
            norm: GUESSED[row.argmax()] if row.max() >= LEAST_PROBABILITY else "unknown"
            for norm, row in likely.items()
        }
        agreement = {shape: _agreement(names) for shape, names in guesses.items()}
        self._doubtful = {shape for shape, share in agreement.items() if share < LEAST_AGREEMENT}

    def kind(self, row: Row) -> str:
        """Return the kind of a row, `unknown` for a guess that is not believed.

        What texts state of a name of several words, no guess elsewhere contradicts.
        """
        norm = normalise_name(row["name"])
        if row.get("kind_stated"):
            return row["kind"]
        if stated := self._stated.get(norm) or self._likely.get(norm):
            return stated
        return "unknown" if _shape(row["name"]) in self._doubtful else row["kind"]


def _stated(rows: Iterable[Row], likely: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Return the kind that texts state of each name of several words.

    They must agree, and the other mentions, whose kinds are `likely`, must not deny it.
    """
    stated: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.get("kind_stated") and row["kind"] != "unknown" and " " in row["name"]:
            stated[normalise_name(row["name"])].add(row["kind"])
    agreed = {norm: kinds.pop() for norm, kinds in stated.items() if len(kinds) == 1}
    return {
        norm: kind
        for norm, kind in agreed.items()
        if norm not in likely
        or kind not in GUESSED
        or likely[norm][GUESSED.index(kind)] >= LEAST_STATED
    }


def _likely(rows: Iterable[Row]) -> dict[str, np.ndarray]:
    """Return the probabilities of kinds of each name with scores."""
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(len(GUESSED)))
    scored: Counter[str] = Counter()
    for row in rows:
        if row.get("scored"):
            norm = normalise_name(row["name"])
            sums[norm] += row["kind_scores"]
            scored[norm] += row["scored"]
    return likely_kinds(sums, scored)


def likely_kinds(
    sums: Mapping[str, np.ndarray], scored: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """Return the probabilities of kinds of each name from its sum and number of scores.

    The shares are fitted to Chinese names and to others apart: what a Chinese manual writes in
    Latin letters are products, whatever else it is about.
    """
    likely: dict[str, np.ndarray] = {}
    for chinese in (False, True):
        names = [name for name in sums if is_chinese(name) == chinese]
        if names:
            counts = np.array([scored[name] for name in names])
            rows = pooled_kinds(np.array([sums[name] for name in names]), counts)
            likely |= dict(zip(names, rows, strict=True))
    return likely


def pooled_kinds(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return probabilities (names, kinds) from the sums of scores and numbers of mentions.

    Mentions of one name resemble each other, so that the mean of their scores counts, and counts
    more the more they are. Scores are made where all kinds are equally frequent; expectation
    maximisation finds the shares of the corpus (Saerens, Latinne and Decaestecker 2002), drawn to
    equal ones.
    """
    scores = sums * (counts ** (_GROWTH - 1.0))[:, None]
    likely = np.exp(scores - scores.max(1, keepdims=True))
    kinds = likely.shape[1]
    shares = np.full(kinds, 1 / kinds)
    for _ in range(_ROUNDS):
        fitted = likely * shares
        fitted /= fitted.sum(1, keepdims=True)
        shares = (fitted.sum(0) + _PRIOR_MENTIONS / kinds) / (len(likely) + _PRIOR_MENTIONS)
    return fitted


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
