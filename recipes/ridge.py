"""Confidences from judged facts: ridge logistic regression, cross-validated over sentences."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from recipes.openie_scorer import OpenTuple

RIDGE = 8.0
RARE = 5
FOLDS = 10

Sample = tuple[str, OpenTuple, dict[str, float], bool]


def design(samples: list[Sample]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the names of features that occur often enough, their matrix, and the labels."""
    names, x = matrix([values for _, _, values, _ in samples], RARE)
    return names, x, np.array([right for *_, right in samples], float)


def matrix(samples: Sequence[Mapping[str, float]], rare: int) -> tuple[list[str], np.ndarray]:
    """Return the names of features that at least `rare` samples have, and their matrix."""
    counts = Counter(name for values in samples for name, value in values.items() if value)
    names = ["constant", *sorted(name for name, count in counts.items() if count >= rare)]
    rows = [[1.0, *(values.get(name, 0.0) for name in names[1:])] for values in samples]
    return names, np.array(rows)


def fit(
    x: np.ndarray, y: np.ndarray, ridge: float = RIDGE, start: np.ndarray | None = None
) -> np.ndarray:
    """Return ridge logistic weights by Newton's method; the intercept is not shrunk.

    `start` saves steps where weights of nearly the same rows are known.
    """
    weights = np.zeros(x.shape[1]) if start is None else start.copy()
    penalty = np.full(x.shape[1], ridge)
    penalty[0] = 1e-6
    for _ in range(30):
        p = predict(x, weights)
        gradient = x.T @ (y - p) - penalty * weights
        curvature = (x.T * (p * (1 - p))) @ x + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        weights += step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def predict(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the probabilities of rows under weights."""
    return 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))


def cross_validate(samples: list[Sample], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return each sample's probability under weights fitted without its fold of sentences."""
    place = {sentence: n for n, sentence in enumerate(dict.fromkeys(s[0] for s in samples))}
    order = np.random.default_rng(1).permutation(len(place))
    folds = np.array([order[place[s[0]]] % FOLDS for s in samples])
    out = np.zeros(len(samples))
    for fold in range(FOLDS):
        out[folds == fold] = predict(x[folds == fold], fit(x[folds != fold], y[folds != fold]))
    return out


def calibration_error(p: np.ndarray, y: np.ndarray, bins: int = 10) -> float:
    """Return the expected calibration error over bins of equal width."""
    which = np.minimum((p * bins).astype(int), bins - 1)
    gaps = [abs(p[which == b].sum() - y[which == b].sum()) for b in range(bins)]
    return float(sum(gaps) / len(p))
