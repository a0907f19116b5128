"""Features of a claim and its evidence: words, names, numbers, dates, negation and opposites.

A verdict depends on these features whatever the subject is. The running time grows linearly with
the texts, which are cut to `LONGEST` words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from tasks.text.function_words import (
    CONTRACTED_NEGATIONS,
    FORMS_OF_BE,
    FORMS_OF_DO,
    FORMS_OF_HAVE,
    FUNCTION_WORDS,
    NEGATIONS,
)
from tasks.text.languages import HAN_OR_KANA_CLASS, word_set
from tasks.text.stems import stem
from tasks.text.values.english_numbers import ONES

LONGEST = 4_000  # words that are read of either text
DENIALS = word_set(
    "hardly barely fail fails failed failing refuse refuses refused unable incapable avoid avoids "
    "avoided lack lacks lacked deny denies denied refute refuted false myth untrue incorrect "
    "impossible"
)
NEGATIVE_WORDS = NEGATIONS | CONTRACTED_NEGATIONS | DENIALS
EXCLUSIVE = word_set("only solely exclusively just entirely all every always")
_LETTERS = rf"[^\W\d_{HAN_OR_KANA_CLASS}]+"
_TOKEN = re.compile(rf"\d+(?:[.,]\d+)*|[{HAN_OR_KANA_CLASS}]|{_LETTERS}(?:['’]{_LETTERS})*")
_TENSES = FORMS_OF_BE | FORMS_OF_HAVE | FORMS_OF_DO


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text, with the properties of each word."""

    spans: list[tuple[int, int]]
    plain: list[str]
    stems: list[str]
    named: list[bool]  # capitalised, and no function word at the start of a sentence
    number: list[bool]
    content: list[bool]


@lru_cache(maxsize=1)
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


@lru_cache(maxsize=256)
def words_in(text: str) -> Words:
    """Return the words of a text, of which a Chinese character is one.

    Numbers from zero to nineteen are digits, without commas.
    """
    spans, plain, named, number = [], [], [], []
    begins = True
    for match in list(_TOKEN.finditer(text))[:LONGEST]:
        word = match.group().replace("’", "'")
        gap = text[max(0, match.start() - 2) : match.start()]
        begins = begins or any(mark in gap for mark in '.!?\n"“')
        lower = word.lower()
        if lower.endswith("'s"):
            lower = lower[:-2]
        lower = str(ONES.get(lower, lower))
        is_number = lower[:1].isdigit()
        spans.append(match.span())
        plain.append(lower.replace(",", "") if is_number else lower)
        number.append(is_number)
        named.append(word[:1].isupper() and not (begins and lower in FUNCTION_WORDS))
        begins = False
    content = [
        w not in FUNCTION_WORDS and w not in NEGATIVE_WORDS and w not in _TENSES for w in plain
    ]
    stems = [w if n else stem(w) for w, n in zip(plain, number, strict=True)]
    return Words(spans, plain, stems, named, number, content)


WORD_FEATURES = (
    "claim words", "evidence words", "covered", "covered names", "covered numbers",
    "covered others", "missing names", "missing numbers", "missing others", "pairs covered",
    "run covered", "first names covered", "free names", "free numbers", "free others",
    "numbers conflict", "names conflict", "opposites", "opposites other way", "claim negated",
    "evidence negated", "negation differs", "claim exclusive", "evidence exclusive",
    "evidence covered", "last word covered", "near negation differs", "year conflict", "likeness",
)  # fmt: skip


def features(evidence: str, claim: str, likeness: float) -> np.ndarray:
    """Return the features (len(WORD_FEATURES)) of a claim and its evidence.

    `likeness` is the cosine of their vectors.
    """
    claim_words, shown = words_in(claim), words_in(evidence)
    known = set(shown.stems)
    own = set(claim_words.stems)
    names, numbers, others = _missing(claim_words, known)
    free_names, free_numbers, free_others = _missing(shown, own)
    clear = _opposites(claim_words, shown)
    claim_no, evidence_no = _negations(claim_words), _negations(shown)
    near = _negated_near(claim_words, shown)
    values = (
        np.log1p(sum(claim_words.content)),
        np.log1p(sum(shown.content)),
        _covered(claim_words, known, claim_words.content),
        _covered(claim_words, known, claim_words.named),
        _covered(claim_words, known, claim_words.number),
        _covered(claim_words, known, _neither(claim_words)),
        min(3, len(names)),
        min(3, len(numbers)),
        min(6, len(others)),
        _runs_covered(claim_words, shown, 2),
        _longest_run(claim_words, shown),
        _first_names(claim_words, known),
        min(4, len(free_names)),
        min(4, len(free_numbers)),
        min(10, len(free_others)) / 3,
        float(bool(numbers) and bool(free_numbers)),
        float(bool(names) and bool(free_names)),
        min(2, clear[0]),
        min(2, clear[1]),
        min(2, claim_no),
        min(2, evidence_no),
        float(bool(claim_no) != bool(evidence_no)),
        float(any(w in EXCLUSIVE for w in claim_words.plain)),
        float(any(w in EXCLUSIVE for w in shown.plain)),
        _covered(shown, own, shown.content),
        float(bool(claim_words.stems) and claim_words.stems[-1] in known),
        near,
        float(_years(claim_words) - known != set() and bool(_years(shown) - own)),
        likeness,
    )
    return np.array(values, np.float64)


SOFT_FEATURES = (
    "alike", "least alike", "second least", "missing alike", "missing names alike",
    "free alike", "free least alike", "evidence alike", "shared alike", "shared least alike",
)  # fmt: skip


def soft_features(said: Words, shown: Words, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return the features (len(SOFT_FEATURES)) from the cosines of contextual word vectors.

    `ours` (claim's words, h) and `theirs` (evidence's words, h) are rows of length one.
    """
    content = [n for n, c in enumerate(said.content) if c]
    other = [n for n, c in enumerate(shown.content) if c]
    if not content or not other:
        return np.zeros(len(SOFT_FEATURES))
    cosines = ours[content] @ theirs[other].T
    ours_known, known = {said.stems[n] for n in content}, {shown.stems[n] for n in other}
    missing = [r for r, n in enumerate(content) if said.stems[n] not in known]
    names = [r for r in missing if said.named[content[r]]]
    free = [c for c, n in enumerate(other) if shown.stems[n] not in ours_known]
    best = cosines.max(axis=1)
    least = np.sort(best)
    near_free = cosines[np.ix_(missing, free)].max(axis=1) if missing and free else np.zeros(1)
    same = np.array([[said.stems[n] == shown.stems[m] for m in other] for n in content], dtype=bool)
    shared = np.where(same, cosines, -1.0).max(axis=1)
    shared = shared[shared > -1.0] if same.any() else np.zeros(1)
    values = (
        best.mean(),
        least[0],
        least[min(1, len(least) - 1)],
        best[missing].mean() if missing else 1.0,
        best[names].mean() if names else 1.0,
        near_free.max(),
        near_free.min(),
        cosines.max(axis=0).mean(),
        shared.mean(),
        shared.min(),
    )
    return np.array(values, np.float64)


def word_vectors(words: Words, spans: list[tuple[int, int]], vectors: np.ndarray) -> np.ndarray:
    """Return (words, h): the normalised mean of the tokens within each word; zeros without any."""
    starts = {start: n for n, (start, _) in enumerate(words.spans)}
    result = np.zeros((len(words.plain), vectors.shape[-1]), np.float64)
    word = None
    for (start, end), vector in zip(spans, vectors, strict=True):
        word = starts.get(start, word) if end > start else None
        if word is not None and start < words.spans[word][1]:
            result[word] += vector
    lengths = np.linalg.norm(result, axis=1, keepdims=True)
    unit: np.ndarray = result / np.maximum(lengths, 1e-9)
    return unit


def _covered(words: Words, known: set[str], chosen: Sequence[bool]) -> float:
    wanted = [s for s, use in zip(words.stems, chosen, strict=True) if use]
    return sum(s in known for s in wanted) / len(wanted) if wanted else 1.0


def _neither(words: Words) -> list[bool]:
    return [
        c and not (n or d) for c, n, d in zip(words.content, words.named, words.number, strict=True)
    ]


def _missing(words: Words, known: set[str]) -> tuple[set[str], set[str], set[str]]:
    """Return the names, the numbers and the other content words that are not among the known."""
    names: set[str] = set()
    numbers: set[str] = set()
    others: set[str] = set()
    for place, word in enumerate(words.stems):
        if not words.content[place] or word in known:
            continue
        group = numbers if words.number[place] else names if words.named[place] else others
        group.add(word)
    return names, numbers, others


def copied_share(original: str, part: str) -> float:
    """Return the mean share of the word bigrams and trigrams of a text that its original has."""
    part_words, shown = words_in(part), words_in(original)
    return (_runs_covered(part_words, shown, 2) + _runs_covered(part_words, shown, 3)) / 2


def _runs_covered(said: Words, shown: Words, length: int) -> float:
    """Return the share of the claim's n-grams, of `length` words, that occur in the evidence."""
    ours, theirs = (
        list(zip(*(words.stems[start:] for start in range(length)), strict=False))
        for words in (said, shown)
    )
    known = set(theirs)
    return sum(run in known for run in ours) / len(ours) if ours else 1.0


def _longest_run(said: Words, shown: Words) -> float:
    """Return the longest run of words in both texts, as a share of the claim's words."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(shown.stems):
        places.setdefault(word, []).append(place)
    best, before = 0, dict[int, int]()
    for word in said.stems:
        before = {place: before.get(place - 1, 0) + 1 for place in places.get(word, ())}
        best = max(best, *before.values()) if before else best
    return best / len(said.stems) if said.stems else 1.0


def _first_names(said: Words, known: set[str]) -> float:
    """Return the share of the first two content words, mostly the subject, that are known."""
    wanted = [s for s, c in zip(said.stems, said.content, strict=True) if c][:2]
    return sum(s in known for s in wanted) / len(wanted) if wanted else 1.0


def _opposites(said: Words, shown: Words) -> tuple[int, int]:
    """Count, for each text, its words that the other text replaces by another of their family."""
    ours, theirs = set(said.plain), set(shown.plain)
    return _clashes(ours, theirs), _clashes(theirs, ours)


def _clashes(ours: set[str], theirs: set[str]) -> int:
    known = families()
    return sum(
        any(family & theirs - ours for family in known.get(word, ()))
        for word in ours - theirs
        if word in known
    )


def _negations(words: Words) -> int:
    return sum(word in NEGATIVE_WORDS or word.endswith("n't") for word in words.plain)


def _negated_near(said: Words, shown: Words) -> float:
    """Return the number of shared words that are negated in only one of the texts, at most three.

    A content word counts as negated if a negation is among the four words before it.
    """
    here, there = _negated_words(said), _negated_words(shown)
    shared = set(said.stems) & set(shown.stems)
    return float(min(3, len((here ^ there) & shared)))


def _negated_words(words: Words) -> set[str]:
    negated: set[str] = set()
    for place, word in enumerate(words.plain):
        if word in NEGATIVE_WORDS or word.endswith("n't"):
            reach = range(place + 1, min(len(words.plain), place + 5))
            negated |= {words.stems[n] for n in reach if words.content[n]}
    return negated


def _years(words: Words) -> set[str]:
    return {w for w in words.plain if len(w) == 4 and w.isdigit() and w[0] in "12"}
