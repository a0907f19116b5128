"""Bandit contexts: the reduced vector of a question, and features of its form.

A disjoint linear model of 768 dimensions would need far more rewards per arm than it ever gets, so
vectors are reduced to a few dimensions by the principal components of training questions.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import Any

import numpy as np

from schemas.errors import UsageError
from tasks.text.languages import is_chinese

REDUCED = 32  # dimensions of a reduced vector, if there are enough training questions
FEATURES = 9  # further dimensions, see `_features`
LONGEST, MOST_ITEMS = 500, 500  # characters, and items, that are scaled to 1


@dataclass(frozen=True, eq=False)
class AskedQuestion:
    """A question as a bandit sees it.

    `vector` is its encoding (h,); `score` is its gate score, None without a gate; `items` is the
    number of edges in its subgraph (P_sub), None if it is not known.
    """

    text: str
    vector: np.ndarray
    score: float | None = None
    items: int | None = None


@dataclass(frozen=True, eq=False)
class ContextEncoding:
    """Turns questions into contexts, for the vectors of one encoder.

    `mean` (h,) and `components` (k, h), float32, are from the vectors of the training questions;
    `score_mean` and `score_deviation` from the logarithms of their gate scores.
    """

    encoder: str
    mean: np.ndarray
    components: np.ndarray
    score_mean: float = 0.0
    score_deviation: float = 1.0

    @classmethod
    def fit(
        cls,
        encoder: str,
        vectors: np.ndarray,
        scores: Sequence[float | None] = (),
        dimensions: int = REDUCED,
    ) -> "ContextEncoding":
        """Return the encoding for training questions of vectors (n, h) and their gate scores.

        It has at most min(n - 1, h) components. The signs of components are fixed, so that equal
        questions give an equal encoding. Raises UsageError for fewer than two questions.
        """
        vectors = np.asarray(vectors, np.float64)
        if len(vectors) < 2 or not np.isfinite(vectors).all():
            raise UsageError("A bandit's contexts need the vectors of at least two questions.")
        mean = vectors.mean(0)
        _, _, components = np.linalg.svd(vectors - mean, full_matrices=False)
        components = components[: min(dimensions, len(vectors) - 1)]
        largest = components[np.arange(len(components)), np.abs(components).argmax(1)]
        components = components * np.sign(largest)[:, None]
        logs = np.log([s for s in scores if s is not None and np.isfinite(s) and s > 0])
        known = len(logs) > 1 and logs.std() > 0
        return cls(
            encoder,
            mean.astype(np.float32),
            components.astype(np.float32),
            float(logs.mean()) if known else 0.0,
            float(logs.std()) if known else 1.0,
        )

    @property
    def dimensions(self) -> int:
        """The length of a context."""
        return len(self.components) + FEATURES

    def contexts(self, questions: Sequence[AskedQuestion]) -> np.ndarray:
        """Return the contexts of questions, float64 (n, dimensions), rows of length one.

        Raises UsageError if a vector has another length than those of the training questions or is
        not finite.
        """
        if not questions:
            return np.empty((0, self.dimensions))
        if any(question.vector.shape != self.mean.shape for question in questions):
            raise UsageError(f"The bandit's questions must be encoded by {self.encoder}.")
        vectors = np.array([question.vector for question in questions], np.float64)
        if not np.isfinite(vectors).all():
            raise UsageError("A question's vector is not finite.")
        reduced = (vectors - self.mean) @ self.components.T
        lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
        reduced = np.divide(reduced, lengths, out=np.zeros_like(reduced), where=lengths > 1e-12)
        rows = np.hstack([reduced, [self._features(question) for question in questions]])
        contexts: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return contexts

    def _features(self, question: AskedQuestion) -> list[float]:
        """Return a constant and features of a question's form, score and items, from -1 to 1."""
        chinese = is_chinese(question.text)
        score, items = question.score, question.items
        scored = score is not None and not np.isnan(score) and score >= 0
        apart = 0.0
        if scored and score is not None:
            with np.errstate(divide="ignore"):
                apart = (np.log(np.float64(score)) - self.score_mean) / self.score_deviation
        return [
            1.0,
            _share(len(question.text), LONGEST),
            float(chinese),
            float(not chinese and question.text.isascii()),
            float(scored),
            float(np.tanh(apart)),
            float(items is not None),
            _share(items or 0, MOST_ITEMS),
            float(items == 0),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as JSON values."""
        return {
            "encoder": self.encoder,
            "mean": _text(self.mean),
            "components": _text(self.components),
            "score_mean": self.score_mean,
            "score_deviation": self.score_deviation,
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> "ContextEncoding":
        """Return the encoding that `to_dict` saved."""
        mean = _array(saved["mean"])
        components = _array(saved["components"]).reshape(-1, len(mean))
        return cls(
            saved["encoder"], mean, components, saved["score_mean"], saved["score_deviation"]
        )


def _share(count: int, most: int) -> float:
    """Return a count on a logarithmic scale from 0 to 1."""
    return min(1.0, log1p(count) / log1p(most))


def _text(array: np.ndarray) -> str:
    return b64encode(array.astype("<f4").tobytes()).decode()


def _array(text: str) -> np.ndarray:
    return np.frombuffer(b64decode(text), "<f4").astype(np.float32)
