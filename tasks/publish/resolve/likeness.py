"""The similarity of descriptions: by the encoder's vectors, or by words if there is no encoder."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from tasks.text.english_words import is_plural
from tasks.text.function_words import MODALS
from tasks.text.languages import HAN_OR_KANA_CLASS, word_set

Encode = Callable[[list[str]], np.ndarray]

_WORD = re.compile(r"[^\W_]+")
_CJK_RUN = re.compile(f"[{HAN_OR_KANA_CLASS}]+")
_EMPTY_WORDS = """
    a an the of in on at by for to from with as and or is are was were be been being it its this
    that which who whom whose he she they his her their one also known called has have had not
    first new most more many some other two into than between among during after before about
    的 了 在 是 和 与 為 为 于 於 一 个 個 位 名
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_OF_YEAR = re.compile(r"(?:^|\b(?:an?|the) )((?:1[5-9]|20)\d\d)\b(?! [-–])", re.IGNORECASE)
_IN_PASSING = re.compile(
    r"^\W*(?:he|she|it|they|his|her|its|their)\b|^.{0,60}\b(?:he|she|they) (?:is|was|had|has)\b",
    re.IGNORECASE,
)
_NO_COPULA = MODALS | word_set("and or has had")
_MAX_CHARS = 400
REMEMBERED = 20_000  # texts whose words are kept

DIFFER_BY_VECTORS = (0.6, 0.9)
"""Similarities below these mean two things: in general, and for names with several known bearers.

Descriptions of one thing (Wikidata's beside the first sentence of Wikipedia's article) fall below
them in 0 and 4 % of cases, those of namesakes in 56 and 76 % (`benchmarks/resolution.py`).
"""
DIFFER_BY_WORDS = (0.2, 0.7)
"""The same without an encoder: 0 and 1 %, 43 and 70 %."""
RELATED = 0.25
"""The cosine below which a passage and a description are about different things."""
SAME = 1.1
"""The similarity of descriptions above which different kinds are taken for a mistake."""


def content_words(text: str, name: str = "") -> frozenset[str]:
    """Return a description's content words, roughly stemmed; for Chinese, pairs of characters."""
    text = text[:_MAX_CHARS].casefold()
    words = set()
    for run in _CJK_RUN.findall(text):
        words |= {run[at : at + 2] for at in range(len(run) - 1)} or {run}
    words |= {_stem(word) for word in _WORD.findall(_CJK_RUN.sub(" ", text))}
    return frozenset(words - _EMPTY - {_stem(word) for word in name.casefold().split()})


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and is_plural(word) else word


class Profile(NamedTuple):
    """The words and vectors that describe one bearer of a name."""

    words: frozenset[str]
    vectors: np.ndarray | None


class Likeness:
    """Compares descriptions of namesakes; texts are encoded together, each once."""

    def __init__(self, encode: Encode | None) -> None:
        """Compare by vectors from `encode`, or by words if it is None."""
        self._encode = encode
        self._vectors: dict[str, np.ndarray] = {}
        self._words: dict[tuple[str, str], frozenset[str]] = {}

    def prepare(self, texts: Iterable[str]) -> None:
        """Encode the texts that are not yet encoded, in one call."""
        if self._encode is None:
            return
        fresh = sorted({text for text in texts if text} - self._vectors.keys())
        if fresh:
            vectors = np.asarray(self._encode(fresh), dtype=np.float32)
            self._vectors.update(zip(fresh, vectors, strict=True))

    def alike(self, one: str, other: str, name: str) -> float:
        """Return the similarity, -1 to 2: cosine plus word overlap, or twice the word overlap."""
        words = self._words_alike(one, other, name)
        first, second = self._vectors.get(one), self._vectors.get(other)
        if first is None or second is None:
            return 2 * words
        return words + float(first @ second)

    def differ(self, one: str, other: str, name: str, suspected: bool) -> bool:
        """Tell whether two descriptions of one name describe different things.

        `suspected`: the corpus itself shows that the name has several bearers.
        """
        if not one or not other or one == other:
            return False
        if suspected and _years_differ(one, other):
            return True
        if any(self._tells_little(text, name, suspected) for text in (one, other)):
            return False
        encoded = one in self._vectors and other in self._vectors
        least, least_suspected = DIFFER_BY_VECTORS if encoded else DIFFER_BY_WORDS
        return self.alike(one, other, name) < (least_suspected if suspected else least)

    def _tells_little(self, text: str, name: str, suspected: bool) -> bool:
        """Tell whether a text is not a definition, but a single word or a passing remark."""
        if not suspected and len(self._of(text, name)) < 2 or _IN_PASSING.search(text):
            return True
        after = text.casefold().removeprefix("the ").removeprefix(name.casefold()).split(None, 1)
        return len(after) > 0 and after[0] in _NO_COPULA

    def profile(self, texts: list[str], name: str) -> Profile:
        """Return the profile of one bearer of a name, for `fit`."""
        words = frozenset().union(*(self._of(text, name) for text in texts))
        near = [v for v in map(self._vectors.get, texts) if v is not None]
        return Profile(words, np.stack(near) if near else None)

    def fit(self, context: str, bearers: list[Profile], name: str) -> list[float]:
        """Return how well the context of a name fits the profile of each of its bearers."""
        words = self._of(context, name)
        here = self._vectors.get(context)
        scores = []
        for known in bearers:
            score = len(known.words & words) / (1 + len(known.words)) ** 0.5
            if here is not None and known.vectors is not None:
                score += float((known.vectors @ here).max())
            scores.append(round(score, 4))
        return scores

    def related(self, context: str, known: Profile, name: str) -> bool:
        """Tell whether the context of a name may be about a bearer, regardless of kinds."""
        here = self._vectors.get(context)
        if here is None or known.vectors is None:
            return bool(known.words & self._of(context, name))
        return float((known.vectors @ here).max()) >= RELATED

    def _words_alike(self, one: str, other: str, name: str) -> float:
        """Return the share of the shorter text's words that the other one has too, 0 to 1."""
        few, many = sorted((self._of(one, name), self._of(other, name)), key=len)
        return len(few & many) / len(few) if few else 0.0

    def _of(self, text: str, name: str) -> frozenset[str]:
        words = self._words.get((text, name))
        if words is None:
            if len(self._words) >= REMEMBERED:
                self._words.clear()
            words = self._words[text, name] = content_words(text, name)
        return words


def _years_differ(one: str, other: str) -> bool:
    """Tell whether both texts name a year, as in `a 1940 film`, and the years differ."""
    years = [set(_OF_YEAR.findall(text[:_MAX_CHARS])) for text in (one, other)]
    return all(years) and not years[0] & years[1]
