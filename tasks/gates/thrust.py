"""Thrust: how likely a model's own knowledge is to answer a question (Zhao et al. 2023, eq. 1)."""

from typing import Literal, get_args

import numpy as np

from schemas.errors import UsageError
from tasks.gates.clusters import SEED, Clusters, cluster, cluster_count
from tasks.gates.questions import GateQuestions

Variant = Literal["full", "no_size", "no_direction", "no_distance", "cosine", "inertia"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
CLOSEST = 1e-8  # least distance between a question and a centroid
CANCELLED = 1e-6  # share of the squares below which the binomial formula is not exact
CHUNK_BYTES = 1 << 22  # of question vectors per chunk, so that they stay in the processor's cache


def thrust(vectors: np.ndarray, clusters: Clusters, variant: Variant = "full") -> np.ndarray:
    """Return the Thrust of questions (n, h) as float64 (n,); high means that the model knows.

    s(q) = ‖ 1/(N·K) Σ_l Σ_k |C_kl| / ‖d_kl(q)‖² · d_kl(q) / ‖d_kl(q)‖ ‖ with d_kl(q) = m_kl − q.
    N·K is the number of clusters, even if classes have different numbers of them. The unit is
    1 / (unit of the vectors)², so scores from different encoders or tasks are comparable only when
    multiplied by `scale_of` their clusters.

    The variants are the ablations of the paper's Table 5, whose formulas it does not print:
    `no_size` counts each cluster once, `no_direction` adds |C| / ‖d‖² as plain numbers,
    `no_distance` adds |C| d / ‖d‖, `cosine` measures the distance by 1 − cos(q, m), `inertia` uses
    the sum of the members' distances instead of |C|. Vectors that are not finite give NaN.
    """
    if variant not in VARIANTS:
        raise ValueError(f"no variant {variant!r}; there are {', '.join(VARIANTS)}")
    pull = _Pull(clusters, variant)
    scores = np.empty(len(vectors))
    rows = max(1, CHUNK_BYTES // (8 * max(vectors.shape[-1], 1)))
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(vectors), rows):
            chunk = np.asarray(vectors[start : start + rows], np.float64)
            scores[start : start + rows] = pull.score(chunk)
    return np.where(np.isfinite(scores), scores, np.nan)


def scale_of(clusters: Clusters) -> float:
    """Return the factor that makes scores of the full formula comparable between tasks.

    It is the mean squared distance of seeds from their centroids over the mean size of a cluster,
    so that neither the scale of the vectors nor the number of seeds or clusters matters. The square
    of the mean distance stands in for the mean square.
    """
    spread = clusters.inertias.sum() / clusters.sizes.sum()
    return float(spread**2 * len(clusters) / clusters.sizes.sum())


class _Pull:
    """Computes the Thrust of questions from dot products.

    All terms follow from the products q·m: ‖m − q‖² = ‖m‖² − 2 q·m + ‖q‖², and with weights w the
    squared length of Σ w (m − q) is wᵀMMᵀw − 2 (Σ w) (w·Mq) + (Σ w)² ‖q‖². So questions are read
    once and no array of differences is needed. The few rows in which the sums cancel are recomputed
    from differences.
    """

    def __init__(self, clusters: Clusters, variant: Variant) -> None:
        self._centroids, self._variant = clusters.centroids, variant
        self._products = clusters.centroids @ clusters.centroids.T
        self._squares = np.diagonal(self._products)
        other = {"no_size": np.ones(len(clusters)), "inertia": clusters.inertias}
        self._weights = other.get(variant, clusters.sizes)

    def score(self, questions: np.ndarray) -> np.ndarray:
        """Return the scores of a batch (n, h) as (n,)."""
        products = (self._centroids @ questions.T).T
        own = np.einsum("nh,nh->n", questions, questions)
        squared = self._squared_distances(questions, products, own)
        near = squared < CLOSEST**2
        squared = np.maximum(squared, CLOSEST**2)
        if self._variant == "no_direction":
            return (self._weights / squared).mean(1)
        distances = np.sqrt(squared)
        if self._variant == "no_distance":
            weights = self._weights / distances
        elif self._variant == "cosine":
            lengths = np.sqrt(own)[:, None] * np.sqrt(self._squares)
            angles = np.maximum(1 - products / lengths, CLOSEST)
            weights = self._weights / (angles * angles * distances)
        else:
            weights = self._weights / (squared * distances)
        length = self._length(questions, products, own, weights)
        # At a centroid the direction is undefined, but the length is the greatest that is possible.
        if near.any():
            length = np.maximum(length, (weights * distances * near).sum(1))
        return length / len(self._weights)

    def _squared_distances(
        self, questions: np.ndarray, products: np.ndarray, own: np.ndarray
    ) -> np.ndarray:
        scale = own[:, None] + self._squares
        squared: np.ndarray = scale - 2 * products
        rows, columns = np.nonzero(squared < CANCELLED * scale)
        if len(rows):
            differences = questions[rows] - self._centroids[columns]
            squared[rows, columns] = np.einsum("nh,nh->n", differences, differences)
        return squared

    def _length(
        self, questions: np.ndarray, products: np.ndarray, own: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        total = weights.sum(1)
        squared = np.einsum("nm,nm->n", weights @ self._products, weights)
        scale = squared + total * total * own
        squared = scale - 2 * total * np.einsum("nm,nm->n", weights, products)
        rows = np.flatnonzero(squared < CANCELLED * scale)
        if len(rows):
            few = weights[rows]
            middles = few @ self._centroids / total[rows, None]
            differences = (middles - questions[rows]) * total[rows, None]
            squared[rows] = np.einsum("nh,nh->n", differences, differences)
        length: np.ndarray = np.sqrt(squared)
        return length


class ThrustGate:
    """Scores by equation (1), or by one of its ablations, over the vectors of an encoder."""

    name = "thrust"
    needs = frozenset({"vectors"})

    def __init__(
        self, variant: Variant = "full", clusters: int | None = None, seed: int = SEED
    ) -> None:
        """Use `clusters` clusters per class if given, else K = max(⌈|D|^(1/4)⌉, 3)."""
        if variant not in VARIANTS:
            raise UsageError(f"Thrust has no variant {variant!r}; it has {', '.join(VARIANTS)}.")
        self._variant, self._count, self._seed = variant, clusters, seed
        self.clusters: Clusters  # once it is fitted

    @classmethod
    def of(cls, clusters: Clusters, variant: Variant = "full") -> "ThrustGate":
        """Return a fitted gate with the given clusters."""
        gate = cls(variant)
        gate.clusters = clusters
        return gate

    def fit(self, seeds: GateQuestions, counted_as: int | None = None) -> None:
        """Cluster the seeds' vectors within each class."""
        whole = counted_as or len(seeds)
        fitted = cluster(
            seeds.column("vectors"), seeds.labels, self._count or cluster_count(whole), self._seed
        )
        share = whole / len(seeds)
        self.clusters = Clusters(
            fitted.centroids, fitted.sizes * share, fitted.inertias * share, fitted.labels
        )

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return each question's Thrust."""
        return thrust(questions.column("vectors"), self.clusters, self._variant)
