"""Thrust: how likely a model's own knowledge is to answer a question (Zhao et al. 2023, eq. 1)."""

from typing import Literal, get_args

import numpy as np

from tasks.gating.clusters import Clusters

Variant = Literal["full", "no_size", "no_direction", "no_distance", "cosine", "inertia"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
CLOSEST = 1e-8  # a question is never taken to be nearer to a centroid than this
CANCELLED = 1e-6  # of squares: below, a squared distance by the binomial formula is not exact
CHUNK_BYTES = 1 << 22  # of distances at once, so that they stay in the processor's cache


def thrust(vectors: np.ndarray, clusters: Clusters, variant: Variant = "full") -> np.ndarray:
    """Return the Thrust of questions (n, h) as float64 (n,); high means that the model knows.

    s(q) = ‖ 1/(N·K) Σ_l Σ_k |C_kl| / ‖d_kl(q)‖² · d_kl(q) / ‖d_kl(q)‖ ‖ with d_kl(q) = m_kl − q.
    N·K is the number of clusters, also where classes have different numbers of them. Units are
    1 / (unit of the vectors)², so scores of different encoders or tasks compare only after
    `normalised`.

    The variants are the ablations of the paper's Table 5, whose formulas it does not print:
    `no_size` counts each cluster once, `no_direction` adds Σ |C| / ‖d‖² as plain numbers,
    `no_distance` adds |C| d / ‖d‖, `cosine` measures the distance by 1 − cos(q, m), `inertia` puts
    the sum of the members' distances in the place of |C|. Vectors that are not finite give NaN.
    """
    if variant not in VARIANTS:
        raise ValueError(f"no variant {variant!r}; there are {', '.join(VARIANTS)}")
    questions = np.asarray(vectors, np.float64)
    # Differences are what counts; around the middle of the centroids they lose the fewest digits.
    middle = clusters.centroids.mean(0)
    moved = _Moved(clusters, clusters.centroids - middle, middle, variant)
    scores = np.empty(len(questions))
    rows = max(1, CHUNK_BYTES // (8 * (len(clusters) + questions.shape[-1])))
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(questions), rows):
            scores[start : start + rows] = moved.score(questions[start : start + rows])
    return np.where(np.isfinite(scores), scores, np.nan)


def normalised(scores: np.ndarray, clusters: Clusters) -> np.ndarray:
    """Return scores of the full formula as plain numbers, to compare encoders and tasks.

    They are multiplied by the mean squared distance of seeds from their centroids and divided by
    the mean size of a cluster, so that neither the scale of the vectors nor the number of seeds or
    clusters counts. The mean distance stands for the root mean square.
    """
    spread = clusters.inertias.sum() / clusters.sizes.sum()
    scaled: np.ndarray = scores * spread**2 * len(clusters) / clusters.sizes.sum()
    return scaled


class _Moved:
    """Clusters moved so that their middle is the origin, ready to score batches."""

    def __init__(
        self, clusters: Clusters, centroids: np.ndarray, middle: np.ndarray, variant: Variant
    ) -> None:
        self._centroids, self._middle, self._variant = centroids, middle, variant
        self._original = clusters.centroids
        self._squares = np.einsum("mh,mh->m", centroids, centroids)
        self._weights = {
            "no_size": np.ones(len(clusters)),
            "inertia": clusters.inertias,
        }.get(variant, clusters.sizes)

    def score(self, questions: np.ndarray) -> np.ndarray:
        """Return the scores of a batch (n, h) as (n,)."""
        places = questions - self._middle
        squared = self._squared_distances(places)
        near = squared < CLOSEST**2
        squared = np.maximum(squared, CLOSEST**2)
        if self._variant == "no_direction":
            return (self._weights / squared).mean(1)
        if self._variant == "no_distance":
            pull = self._weights / np.sqrt(squared)
        elif self._variant == "cosine":
            pull = self._weights / (self._cosine_distances(questions) ** 2 * np.sqrt(squared))
        else:
            pull = self._weights / (squared * np.sqrt(squared))
        # Σ w (m − q), without the array of all differences (n, m, h).
        pulled = pull @ self._centroids - pull.sum(1, keepdims=True) * places
        length = np.sqrt(np.einsum("nh,nh->n", pulled, pulled))
        # At a centroid the direction has no meaning but the pull is the strongest there can be.
        limit = (pull * np.sqrt(squared) * near).sum(1)
        return np.maximum(length, limit) / len(self._weights)

    def _squared_distances(self, places: np.ndarray) -> np.ndarray:
        own = np.einsum("nh,nh->n", places, places)[:, None]
        squared: np.ndarray = own + self._squares - 2 * (places @ self._centroids.T)
        rows, columns = np.nonzero(squared < CANCELLED * (own + self._squares))
        if len(rows):
            apart = places[rows] - self._centroids[columns]
            squared[rows, columns] = np.einsum("nh,nh->n", apart, apart)
        return squared

    def _cosine_distances(self, questions: np.ndarray) -> np.ndarray:
        lengths = np.linalg.norm(questions, axis=1)[:, None] * np.linalg.norm(
            self._original, axis=1
        )
        return np.maximum(1 - questions @ self._original.T / lengths, CLOSEST)
