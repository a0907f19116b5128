"""How alike two descriptions are: by the encoder's vectors, or by their words without one."""

import re
from collections.abc import Callable, Iterable

import numpy as np

Encode = Callable[[list[str]], np.ndarray]

_WORD = re.compile(r"[^\W_]+")
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_EMPTY_WORDS = """
    a an the of in on at by for to from with as and or is are was were be been being it its this
    that which who whom whose he she they his her their one also known called has have had not
    first new most more many some other two into than between among during after before about
    的 了 在 是 和 与 為 为 于 於 一 个 個 位 名
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_MAX_CHARS = 400


def content_words(text: str, name: str = "") -> frozenset[str]:
    """Return the words of a description that say something, roughly stemmed; Chinese by pairs."""
    text = text[:_MAX_CHARS].casefold()
    words = set()
    for run in _CJK_RUN.findall(text):
        words |= {run[at : at + 2] for at in range(len(run) - 1)} or {run}
    words |= {_stem(word) for word in _WORD.findall(_CJK_RUN.sub(" ", text))}
    return frozenset(words - _EMPTY - {_stem(word) for word in name.casefold().split()})


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


class Likeness:
    """Compares descriptions of namesakes; texts are encoded together, each once.

    The thresholds were chosen on pairs of short descriptions from Wikidata and first sentences of
    Wikipedia articles (`benchmarks/resolution.py thresholds`).
    """

    def __init__(self, encode: Encode | None) -> None:
        """Compare by vectors of `encode`, by words if it is None."""
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

    def words_alike(self, one: str, other: str, name: str) -> float:
        """Return the share of the shorter text's words that the other has too, 0 to 1."""
        few, many = sorted((self._of(one, name), self._of(other, name)), key=len)
        return len(few & many) / len(few) if few else 0.0

    def alike(self, one: str, other: str, name: str) -> float:
        """Return the likeness, -1 to 1: a cosine where both are encoded, else by words."""
        first, second = self._vectors.get(one), self._vectors.get(other)
        if first is None or second is None:
            return self.words_alike(one, other, name)
        return float(first @ second)

    def differ(self, one: str, other: str, name: str, suspected: bool) -> bool:
        """Tell whether two descriptions of one name are of two things.

        `suspected`: the corpus itself shows that the name has several bearers.
        """
        if not one or not other or one == other:
            return False
        if one in self._vectors and other in self._vectors:
            return self.alike(one, other, name) < (0.5 if suspected else 0.3)
        return self.words_alike(one, other, name) <= (0.2 if suspected else 0.0)

    def _of(self, text: str, name: str) -> frozenset[str]:
        words = self._words.get((text, name))
        if words is None:
            words = self._words[text, name] = content_words(text, name)
        return words
