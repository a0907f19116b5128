"""Clusters of seeds by k-means within each class (Thrust, section 3)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 3  # clusters per class, if it has as many distinct questions
SEED = 42  # as in the released code


@dataclass(frozen=True)
class Clusters:
    """`m` clusters: `centroids` float64 (m, h), `sizes` and `inertias` float64 (m,), `labels` (m,).

    A size is the number of a cluster's members, an inertia the sum of their distances from the
    centroid, which the released code uses instead of the size.
    """

    centroids: np.ndarray
    sizes: np.ndarray
    inertias: np.ndarray
    labels: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of clusters of all classes together."""
        return len(self.sizes)


def cluster_count(questions: int) -> int:
    """Return K = max(⌈|D|^(1/4)⌉, 3) for |D| seed questions (the paper's footnote)."""
    count = FEWEST
    while count**4 < questions:
        count += 1
    return count


def cluster(
    vectors: np.ndarray, labels: Sequence[str], count: int | None = None, seed: int = SEED
) -> Clusters:
    """Return the clusters of vectors (n, h), `count` per class, by default `cluster_count(n)`.

    A class has at most as many clusters as distinct vectors. Equal seeds give equal clusters, bit
    for bit. Raises ValueError if there are no vectors or if some are not finite.
    """
    vectors = np.asarray(vectors, np.float64)
    if not len(vectors) or not np.isfinite(vectors).all():
        raise ValueError("clusters need at least one vector, and finite ones")
    count = count or cluster_count(len(vectors))
    kinds = np.array(labels, dtype=object).astype(str)
    clusters = [
        (label, *part)
        for label in sorted(set(kinds))
        for part in _within(vectors[kinds == label], count, seed)
    ]
    names, centroids, sizes, inertias = zip(*clusters, strict=True)
    return Clusters(np.array(centroids), np.array(sizes), np.array(inertias), names)


def _within(vectors: np.ndarray, count: int, seed: int) -> list[tuple[np.ndarray, float, float]]:
    """Return the centroid, size and inertia of each cluster of one class."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    count = min(count, len(np.unique(vectors, axis=0)))
    # Threads would add distances in varying order, so that runs would differ in the last bits.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # near-duplicates may leave fewer clusters than requested
        members = KMeans(count, random_state=seed, n_init=10).fit_predict(vectors)
    parts = []
    for number in np.unique(members):
        own = vectors[members == number]
        centre = own.mean(0)
        distances = np.linalg.norm(own - centre, axis=1)
        parts.append((centre, float(len(own)), float(distances.sum())))
    return parts
