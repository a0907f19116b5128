"""Identity and similarity of texts: content ids, tokens, MinHash and near duplicates."""

import hashlib
import re
import zlib
from typing import TYPE_CHECKING

import numpy as np

from tasks.text.languages import HAN_OR_KANA_CLASS

if TYPE_CHECKING:
    import pyarrow as pa

PERMUTATIONS = 64
NEAR = 0.85  # Jaccard similarity of shingle sets from which two texts are near duplicates
_BANDS, _ROWS = 7, 9  # of minima; the fewest expected errors at a similarity of NEAR - 0.1
_SHINGLE = 5  # words, or characters of a script without spaces
_AT_ONCE = 1024  # shingles per batch: their 64 hashes each fit in the processor's cache
_TOKEN = re.compile(rf"[{HAN_OR_KANA_CLASS}]|[^\W{HAN_OR_KANA_CLASS}]+")
_RANDOM = np.random.Generator(np.random.PCG64(20261120))
_FACTORS = _RANDOM.integers(1, 2**63, PERMUTATIONS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_SHIFTS = _RANDOM.integers(0, 2**63, PERMUTATIONS, dtype=np.uint64)
_POWERS = _RANDOM.integers(1, 2**63, _SHINGLE, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def content_id(title: str, text: str) -> str:
    """Return the identity of a text under its title: a SHA-256, 64 hexadecimal digits."""
    return hashlib.sha256(f"{title}\x1f{text}".encode()).hexdigest()


def has_words(text: str) -> bool:
    """Tell whether a text has at least one word."""
    return _TOKEN.search(text) is not None


def tokens_of(text: str) -> list[str]:
    """Return the words of a text in lower case; each Chinese or Japanese character is one."""
    return _TOKEN.findall(text.lower())


def minhash(tokens: list[str]) -> bytes:
    """Return 64 little-endian uint32 minima over the 5-token shingles (Broder 1997)."""
    shingles = _shingles(tokens)
    if not len(shingles):
        return np.full(PERMUTATIONS, 2**32 - 1, dtype="<u4").tobytes()
    minima = np.full(PERMUTATIONS, 2**64 - 1, dtype=np.uint64)
    for start in range(0, len(shingles), _AT_ONCE):
        part = shingles[start : start + _AT_ONCE]
        hashed = _FACTORS[:, None] * part + _SHIFTS[:, None]
        minima = np.minimum(minima, hashed.min(axis=1))
    return (minima >> np.uint64(32)).astype("<u4").tobytes()


def with_a_common_band(sketches: "pa.ChunkedArray") -> np.ndarray:
    """Return bool (texts,): whether another text may share a band of minima with each.

    Only these can be near duplicates; in most corpora they are few.
    """
    minima = np.frombuffer(b"".join(sketches.to_pylist()), "<u4").reshape(-1, PERMUTATIONS)
    shared = np.zeros(len(minima), bool)
    for start in range(0, _BANDS * _ROWS, _ROWS):
        # Unequal bands with equal sums by chance are told apart later.
        sums = (minima[:, start : start + _ROWS] * _FACTORS[:_ROWS]).sum(1, dtype=np.uint64)
        _, places, times = np.unique(sums, return_inverse=True, return_counts=True)
        shared |= times[places] > 1
    return shared


def near_duplicates(contents: "pa.Table") -> dict[str, str]:
    """Map each near duplicate to the earliest text that it nearly repeats.

    `contents` has content_id, text and minhash, earliest text first. Candidates share a band of
    minima (Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, 3.4); each is verified on
    its shingles. datasketch does the same, but loads SciPy and Redis for it: a second per build.
    """
    with_band: dict[tuple[int, bytes], list[int]] = {}
    ids, width = contents["content_id"].to_pylist(), _ROWS * 4  # bytes
    repeated: dict[str, str] = {}
    for place, sketch in enumerate(contents["minhash"].to_pylist()):
        bands = [(n, sketch[n * width : (n + 1) * width]) for n in range(_BANDS)]
        for other in sorted({other for band in bands for other in with_band.get(band, ())}):
            if _is_near(contents, place, other):
                repeated[ids[place]] = ids[other]
                break
        else:
            for band in bands:
                with_band.setdefault(band, []).append(place)
    return repeated


def _is_near(contents: "pa.Table", place: int, other: int) -> bool:
    minima = [np.frombuffer(contents["minhash"][p].as_py(), dtype="<u4") for p in (place, other)]
    # 64 minima estimate the similarity to within about 0.05, so only close pairs are verified.
    if np.mean(minima[0] == minima[1]) < NEAR - 0.15:
        return False
    mine, theirs = (_shingles(tokens_of(contents["text"][p].as_py())) for p in (place, other))
    shared = len(np.intersect1d(mine, theirs, assume_unique=True))
    return bool(shared >= NEAR * (len(mine) + len(theirs) - shared))


def _shingles(tokens: list[str]) -> np.ndarray:
    """Return the distinct hashes of all runs of five tokens; a shorter text is one run."""
    known: dict[str, int] = {}
    for token in tokens:
        if token not in known:
            known[token] = zlib.crc32(token.encode())
    hashes = np.array([known[token] for token in tokens], dtype=np.uint64)
    width = min(_SHINGLE, len(hashes))
    if not width:
        return hashes
    count = len(hashes) - width + 1
    mixed = np.zeros(count, dtype=np.uint64)
    for offset in range(width):
        mixed += (hashes[offset : offset + count] + np.uint64(offset + 1)) * _POWERS[offset]
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return np.unique(mixed)
