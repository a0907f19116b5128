"""Decide the kinds of names: as texts state them, else as all mentions of a name make likely.

The embedded engine scores the kinds of each English mention (`tasks.extract.rules.kinds`).
The scores of all mentions of a name are pooled here, and the shares of the kinds are fitted to the
corpus: a manual is full of things, a chronicle of persons. A recogniser that gives no scores errs
much more in some corpora than in others, but it then also contradicts itself: at other mentions of
the same name it guesses another kind, or none.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tasks.extract.rules.kinds import GUESSED
from tasks.text.languages import is_chinese
from tasks.text.names import normalise_name

LEAST_PROBABILITY = 0.5
"""The least probability at which a pooled guess is accepted, chosen on names of judged corpora."""

LEAST_STATED = 0.001
"""The least pooled probability at which a kind that a text states is accepted for other mentions.

A misread clause may state that the United States are a person, which 200 mentions contradict.
"""

_GROWTH = 0.25  # the mean score is multiplied by the number of mentions to this power
_PRIOR_MENTIONS = 20  # the weight of the prior of equal shares, in names
_ROUNDS = 30
LEAST_AGREEMENT = 0.82
"""The least agreement at which guesses without scores are believed.

Of 30 guesses each for names of eight corpora, read one by one, .80 to .87 were right where this
agreement was .83 to .92 (press releases, a history book), and .03 to .47 where it was .44 to .79
(documentation, handbooks, minutes, a blog); for names of several words, .80 to .87 and .23 to .73.
"""
_PRIOR_NAMES = 20
_PRIOR_AGREEMENT = 0.87  # with the weight of that many names: guesses pass at first
Row = dict[str, Any]


class Believed:
    """Decides which guessed kinds are believed: by scores, else by how well the guesses agree.

    Agreement is measured separately for single words, several words, acronyms and Chinese names.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        """Take rows with `name`, `kind`, `kind_stated` (absent or null for a guess), `mentions`.

        They are read several times.

        `scored` is the number of mentions that have scores, `kind_scores` their sum by kind.
        """
        guesses: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for row in rows:
            if not row.get("kind_stated") and not row.get("scored"):
                votes = guesses[_shape(row["name"])][_spelling(row["name"])]
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
        """Return the kind of a row; `unknown` for a guess that is not believed.

        A kind that texts state of a name of several words overrides guesses elsewhere.
        """
        norm = _spelling(row["name"])
        if row.get("kind_stated"):
            return row["kind"]
        if stated := self._stated.get(norm) or self._likely.get(norm):
            return stated
        return "unknown" if _shape(row["name"]) in self._doubtful else row["kind"]


def is_capitals(name: str) -> bool:
    """Tell whether a name is one word in capitals."""
    return name.isupper() and len(name.split()) == 1


def _spelling(name: str) -> str:
    """Return what spellings of a name that vote together share; AMY may be none of the Amys."""
    return name if is_capitals(name) else normalise_name(name)


def _stated(rows: Iterable[Row], likely: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Return the kind that texts state of each name of several words.

    The statements must agree and must not contradict the other mentions, whose kinds have the
    probabilities `likely`.
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
    """Return the probabilities of the kinds of each name with scores."""
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(len(GUESSED)))
    scored: Counter[str] = Counter()
    for row in rows:
        if row.get("scored"):
            norm = _spelling(row["name"])
            sums[norm] += row["kind_scores"]
            scored[norm] += row["scored"]
    return likely_kinds(sums, scored)


def likely_kinds(
    sums: Mapping[str, np.ndarray], scored: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """Return the probabilities of each name's kinds from the sum and the number of its scores.

    The shares of kinds are fitted separately for Chinese names and for others: names in Latin
    letters in a Chinese manual are products, whatever else it is about.
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

    Mentions of one name are not independent, so the mean of their scores is used, with a weight
    that grows with their number. Scores assume that all kinds are equally frequent; expectation
    maximisation estimates their shares in the corpus (Saerens, Latinne and Decaestecker 2002),
    shrunk towards equal shares.
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
    """Return how often another mention of a name gets the same kind, averaged over names."""
    shares = [_PRIOR_NAMES * _PRIOR_AGREEMENT]
    for kinds in names.values():
        mentions = kinds.total()
        guessed = mentions - kinds["unknown"]
        if guessed and mentions > 1:
            pairs = sum(n * (n - 1) for kind, n in kinds.items() if kind != "unknown")
            shares.append(pairs / (guessed * (mentions - 1)))
    return sum(shares) / (_PRIOR_NAMES + len(shares) - 1)
