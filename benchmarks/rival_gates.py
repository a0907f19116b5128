"""Two more baselines for Thrust that no user runs: BM25 over the seeds, and Mahalanobis distance.

On MIRAGE's outcomes they are no better than the gates of the product (`docs/benchmarks.md`,
Gates). The benchmarks of gates measure them beside the others.
"""

from collections import Counter

import numpy as np

from tasks.gates.calibrated import squared_distances
from tasks.gates.gate import GATES
from tasks.gates.questions import GateQuestions
from tasks.text.words import words_in_chinese, words_outside_chinese

K1, B = 1.5, 0.75


def add_rivals() -> None:
    """Let `make_gate` know these gates, too, in this process."""
    GATES.update({"bm25": BM25Gate, "mahalanobis": MahalanobisGate})


class BM25Gate:
    """Scores by the mean BM25 of a question over all seeds as documents (Thrust, section 4.3).

    The paper does not say whether a high or a low mean is hard; here a low mean is. The mean over
    documents is a sum over the question's words, so each word has one weight, computed once.
    """

    name = "bm25"
    needs: frozenset[str] = frozenset()

    def fit(self, seeds: GateQuestions, counted_as: int | None = None) -> None:
        """Compute the weight of each word of the seeds."""
        documents = [Counter(_words(text)) for text in seeds.texts]
        lengths = np.array([document.total() for document in documents], float)
        mean_length = max(lengths.mean(), 1.0)
        held = Counter(word for document in documents for word in document)
        weights: Counter[str] = Counter()
        for document, length in zip(documents, lengths, strict=True):
            norm = K1 * (1 - B + B * length / mean_length)
            for word, times in document.items():
                weights[word] += times * (K1 + 1) / (times + norm) / len(documents)
        whole = counted_as or len(documents)
        share = whole / len(documents)  # matters for words that nearly all seeds have
        rarity = {
            word: np.log1p((whole - n * share + 0.5) / (n * share + 0.5))
            for word, n in held.items()
        }
        self._weights = {word: rarity[word] * weight for word, weight in weights.items()}

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return each question's mean BM25 over the seeds."""
        words = map(_words, questions.texts)
        return np.array([sum(self._weights.get(w, 0.0) for w in own) for own in words], float)


def _words(text: str) -> list[str]:
    return f"{words_outside_chinese(text)} {words_in_chinese(text)}".split()


class MahalanobisGate:
    """Scores by the distance from the nearest class mean, with one covariance for all classes.

    The covariance is shrunk towards a sphere (Ledoit and Wolf), because seeds are fewer than the
    dimensions of their vectors.
    """

    name = "mahalanobis"
    needs = frozenset({"vectors"})

    def fit(self, seeds: GateQuestions, counted_as: int | None = None) -> None:
        """Compute the class means and the shared covariance of the seeds."""
        from sklearn.covariance import ledoit_wolf

        vectors = seeds.column("vectors")
        kinds = np.array(seeds.labels, dtype=object).astype(str)
        names, members = np.unique(kinds, return_inverse=True)
        means = np.array([vectors[members == number].mean(0) for number in range(len(names))])
        covariance, _ = ledoit_wolf(vectors - means[members], assume_centered=True)
        values, axes = np.linalg.eigh(covariance)
        floor = max(values.max(), 1e-12) * 1e-9  # equal seeds have no spread at all
        self._whitening = axes / np.sqrt(np.maximum(values, floor))
        self._means = means @ self._whitening

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return the negative squared Mahalanobis distance from the nearest class mean."""
        places = questions.column("vectors") @ self._whitening
        scores: np.ndarray = -squared_distances(places, self._means).min(1)
        return scores
