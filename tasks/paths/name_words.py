"""The words of many names at once: the distinct words, and the words of each name.

Each distinct word is processed once, so that a computation over the words of millions of names is a
product of sparse arrays.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.text.function_words import ARTICLES, FUNCTION_WORDS, POSSESSIVES
from tasks.text.languages import word_set
from tasks.text.stems import stem

LONGEST_CONCEPT = 5  # words without determiners
_DETERMINERS = ARTICLES | POSSESSIVES | word_set("one some any s")
_BETWEEN_WORDS = r"[^\p{L}\p{N}]+"
_CHARACTERS = 400  # of a name; the rest of a longer one is ignored
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class NameWords:
    """The words of names: those of name n are `words[places[offsets[n]:offsets[n + 1]]]`."""

    words: list[str]  # distinct, in lower case
    places: np.ndarray  # int32 (all words,)
    offsets: np.ndarray  # int64 (names + 1,)

    @classmethod
    def of(cls, names: pa.Array | Iterable[str]) -> "NameWords":
        """Return the words of names: runs of letters and digits."""
        column = names if isinstance(names, pa.Array) else pa.array(list(names), pa.large_string())
        column = pc.utf8_slice_codeunits(column.cast(pa.large_string()), 0, _CHARACTERS)
        lists = pc.split_pattern_regex(pc.utf8_lower(column), _BETWEEN_WORDS)
        flat = pc.list_flatten(lists)
        names_of = pc.list_parent_indices(lists).to_numpy()
        there = pc.not_equal(flat, "")  # splitting leaves empty strings at the ends
        coded = flat.filter(there).dictionary_encode()
        counts = np.bincount(names_of[there.to_numpy(zero_copy_only=False)], minlength=len(column))
        offsets = np.concatenate([[0], counts.cumsum()]).astype(np.int64)
        return cls(coded.dictionary.to_pylist(), coded.indices.to_numpy(), offsets)

    def each(self, function: Callable[[str], int], dtype: type = np.uint64) -> np.ndarray:
        """Return the value of a function for each distinct word."""
        return np.fromiter(map(function, self.words), dtype, len(self.words))


def concept_keys(words: NameWords) -> tuple[np.ndarray, np.ndarray]:
    """Return the stem keys (uint64) and the numbers (int32) of names, sorted by key.

    Determiners are ignored, so that "go to the store" and "going to stores" have the same key.
    Names of function words alone, or of more than LONGEST_CONCEPT words, are left out.
    """
    hashes = words.each(stem_hash)[words.places]
    is_content = words.each(is_function_word, bool)[words.places] == 0
    names_of = np.repeat(np.arange(len(words.offsets) - 1), np.diff(words.offsets))
    counted = hashes != 0
    meant = np.bincount(names_of[is_content], minlength=len(words.offsets) - 1)
    hashes, names_of = hashes[counted], names_of[counted]
    counts = np.bincount(names_of, minlength=len(words.offsets) - 1)
    starts = counts.cumsum() - counts
    named = np.flatnonzero((meant > 0) & (counts <= LONGEST_CONCEPT))
    keys = np.zeros(len(named), np.uint64)
    for place in range(LONGEST_CONCEPT):
        longer = counts[named] > place
        keys[longer] = joined_key(keys[longer], hashes[starts[named[longer]] + place])
    order = np.argsort(keys, kind="stable")
    return keys[order], named[order].astype(np.int32)


def joined_key(before: np.ndarray, word: np.ndarray) -> np.ndarray:
    """Return the key of words followed by another, uint64; the key of no words is 0."""
    key: np.ndarray = before * _FACTOR + word
    return key


@lru_cache(maxsize=1 << 16)
def stem_hash(word: str) -> int:
    """Return a 64-bit hash of a word's stem, 0 for a determiner."""
    if word in _DETERMINERS:
        return 0
    return int.from_bytes(blake2b(stem(word).encode(), digest_size=8).digest(), "little") or 1


def is_function_word(word: str) -> bool:
    """Return whether an English word is a function word or a determiner."""
    return word in FUNCTION_WORDS or word in _DETERMINERS


def stems_key(hashes: list[int]) -> int:
    """Return the key of a run of words from their stems' hashes, 0 for determiners alone."""
    key = 0
    for word in filter(None, hashes):
        key = (key * int(_FACTOR) + word) & 0xFFFFFFFFFFFFFFFF
    return key
