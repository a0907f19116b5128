"""The baselines for Thrust: a known column, random, always, never, BM25, Mahalanobis distance.

Two more gates learn from outcomes: seeds for which it is known whether knowledge helped.
"""

from collections import Counter
from hashlib import blake2b

import numpy as np

from tasks.gates.clusters import squared_distances
from tasks.gates.questions import GateQuestions
from tasks.text.words import words_in_chinese, words_outside_chinese

K1, B = 1.5, 0.75
BELIEVED = 10.0  # weight, in seeds, of the prior that all kinds of answers gain equally
STIFFNESS = 30.0  # penalty of the ridge regression, for vectors of mean square length one


class _Unlearned:
    """A gate that learns nothing from seeds."""

    needs: frozenset[str] = frozenset()

    def fit(self, seeds: GateQuestions, counted_as: int | None = None) -> None:
        """Learn nothing."""


class ColumnGate(_Unlearned):
    """Scores by a column of the questions, or by its negative if less is better.

    The entropy of the model's own answer is such a column.
    """

    def __init__(self, name: str, column: str, sign: float) -> None:
        """Read the column of this name; `sign` is 1 or -1."""
        self.name, self._column, self._sign = name, column, sign
        self.needs = frozenset({column})

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return the signed column; NaN where it is not known."""
        values: np.ndarray | None = getattr(questions, self._column)
        if values is None:
            return np.full(len(questions), np.nan)
        return self._sign * np.asarray(values, float)


class PopularityGate(ColumnGate):
    """Scores by how well known a question's subject is (Mallen et al. 2023)."""

    def __init__(self, popularity_of: str | None = None) -> None:
        """`popularity_of` names the graph to take popularity from; None if questions bring it."""
        super().__init__("popularity", "popularity", 1.0)
        self.popularity_of = popularity_of


class RandomGate(_Unlearned):
    """Scores at random, from 0 to 1; a question always gets the same score."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        """Take the seed of the scores."""
        self._key = seed.to_bytes(8, "little", signed=True)

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return scores that depend only on the questions' texts and the seed."""
        digests = [
            blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=self._key).digest()
            for text in questions.texts
        ]
        return np.array([int.from_bytes(digest, "little") for digest in digests], float) / 2.0**64


class ConstantGate(_Unlearned):
    """Always retrieves, with NaN as its score, or never, with infinity."""

    def __init__(self, name: str, value: float) -> None:
        """Take the score of all questions."""
        self.name, self._value = name, value

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return the same score for each question."""
        return np.full(len(questions), self._value)


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


# Thrust needs no outcomes. If a trial with and without knowledge yields some, the gates below show
# how good a gate can be that uses the same question, or the model's own answer to it.


class OwnAnswerGate:
    """Scores by the mean gain from knowledge among seeds with the same kind of own answer.

    Models prefer some answers and fall back on others if they do not know, so some kinds of answers
    are correct less often. The model must answer before the gate decides.
    """

    name = "own_answer"
    needs = frozenset({"answers", "gains"})

    def fit(self, seeds: GateQuestions, counted_as: int | None = None) -> None:
        """Compute the mean gain of each kind of answer, shrunk towards the overall mean."""
        gains, kinds = seeds.column("gains"), seeds.column("answers")
        self._mean = float(gains.mean())
        self._gains = {
            str(kind): float((gains[own].sum() + BELIEVED * self._mean) / (own.sum() + BELIEVED))
            for kind in np.unique(kinds)
            for own in [kinds == kind]
        }

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return minus the expected gain, (n,)."""
        kinds = questions.column("answers")
        return -np.array([self._gains.get(str(kind), self._mean) for kind in kinds], float)


class LearnedGate:
    """Scores by a ridge regression of the gain on the question's vector."""

    name = "learned"
    needs = frozenset({"vectors", "gains"})

    def fit(self, seeds: GateQuestions, counted_as: int | None = None) -> None:
        """Fit the regression to the seeds' gains."""
        from sklearn.linear_model import Ridge

        vectors, gains = seeds.column("vectors"), seeds.column("gains")
        self._middle, self._mean = vectors.mean(0), float(gains.mean())
        centred = vectors - self._middle
        scale = np.sqrt(np.mean(np.einsum("nh,nh->n", centred, centred))) or 1.0
        ridge = Ridge(STIFFNESS, fit_intercept=False).fit(centred / scale, gains - self._mean)
        self._slope = ridge.coef_ / scale

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return minus the expected gain, (n,)."""
        centred = questions.column("vectors") - self._middle
        scores: np.ndarray = -(self._mean + centred @ self._slope)
        return scores
