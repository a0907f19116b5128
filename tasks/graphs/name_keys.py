"""Names as numbers: the 64-bit hash of a name's normal form, in sorted arrays."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from tasks.names import normalise_name


def name_key(name: str) -> np.uint64:
    """Return the hash of a name's normal form; a name without one is compared as it stands."""
    normal = normalise_name(name) or name
    digest = blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.frombuffer(digest, np.uint64)[0]


def sorted_keys(names: Iterable[tuple[str, int, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Return hashes (sorted) and nodes of (name, node, weight), once each, the weightiest first."""
    rows = list(names)
    hashes = np.array([name_key(name) for name, _, _ in rows], np.uint64)
    nodes = np.array([node for _, node, _ in rows], np.int32)
    weights = np.array([weight for _, _, weight in rows], np.float32)
    order = np.lexsort((nodes, -weights, hashes))
    hashes, nodes = hashes[order], nodes[order]
    # A name in two spellings of one normal form leads to its node once.
    pairs = np.stack([hashes, nodes.astype(np.uint64)], 1) if len(nodes) else np.zeros((0, 2))
    _, first = np.unique(pairs, axis=0, return_index=True)
    kept = np.sort(first)
    return hashes[kept], nodes[kept]
