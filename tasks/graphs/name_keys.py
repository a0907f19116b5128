"""Names as numbers: the 64-bit hash of a name's normal form, in sorted arrays."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from tasks.names import normalise_name


def name_key(name: str) -> int:
    """Return the hash of a name's normal form; a name without one is compared as it stands."""
    normal = normalise_name(name) or name
    digest = blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def name_keys(names: Iterable[str]) -> np.ndarray:
    """Return the hash of each name, uint64 (names,)."""
    return np.fromiter(map(name_key, names), np.uint64)


def by_key(
    hashes: np.ndarray, nodes: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return hashes (sorted) and their nodes, the weightiest first, each pair once."""
    order = np.lexsort((nodes, -weights, hashes))
    hashes, nodes = hashes[order], nodes[order]
    # Two spellings of one normal form lead to their node once: equal pairs need not be neighbours.
    pairs = np.lexsort((np.arange(len(nodes)), nodes, hashes))
    same = np.zeros(len(nodes), bool)
    same[1:] = (np.diff(hashes[pairs]) == 0) & (np.diff(nodes[pairs]) == 0)
    kept = np.sort(pairs[~same])
    return hashes[kept], nodes[kept].astype(np.int32)
