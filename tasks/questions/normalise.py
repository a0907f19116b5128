"""Normalise and compare answers: by name, or by words as SQuAD does."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from tasks.text.languages import HAN, HAN_CLASS

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_TOKEN = re.compile(rf"[{HAN_CLASS}]|[^\W_]+")


def same_name(text: str) -> str:
    """Return the form in which names are compared, without case, width and spacing."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return ("" if HAN.search(text) else " ").join(text.split())


def bare_words(text: str) -> str:
    """Return a text without case, punctuation and English articles (Rajpurkar et al. 2016).

    Chinese text also loses its spaces. If nothing is left, return `same_name`.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    kept = "".join(c for c in folded if unicodedata.category(c)[0] not in "PS")
    words = _ARTICLES.sub(" ", kept).split()
    return ("" if HAN.search(kept) else " ").join(words) or same_name(text)


def tokens(text: str) -> list[str]:
    """Return the words of a normalised text; each Chinese character is a word."""
    return _TOKEN.findall(bare_words(text)) or [bare_words(text)]


def contains(answer: str, gold: str) -> bool:
    """Return whether an answer contains a gold answer, as whole words unless it is Chinese."""
    words, wanted = bare_words(answer), bare_words(gold)
    return wanted in words if HAN.search(wanted) else f" {wanted} " in f" {words} "


def token_f1(answer: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall over words (Rajpurkar et al. 2016)."""
    given, expected = Counter(tokens(answer)), Counter(tokens(gold))
    shared = (given & expected).total()
    return 2 * shared / (given.total() + expected.total()) if shared else 0.0


def set_f1(answers: Sequence[str], gold: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall over answers, compared by name."""
    given, expected = {same_name(a) for a in answers}, {same_name(a) for a in gold}
    if not given and not expected:
        return 1.0
    return 2 * len(given & expected) / (len(given) + len(expected))
