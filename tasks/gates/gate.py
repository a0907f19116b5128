"""One interface for all gates: fit on seed questions, then score; a high score means "knows".

Beside Thrust (`tasks/gates/thrust.py`) there are a known column, random, always and never, and two
gates that learn from outcomes: seeds for which it is known whether knowledge helped.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from schemas.errors import UsageError
from tasks.gates.questions import GateQuestions
from tasks.gates.thrust import ThrustGate

BELIEVED = 10.0  # weight, in seeds, of the prior that all kinds of answers gain equally
STIFFNESS = 30.0  # penalty of the ridge regression, for vectors of mean square length one


class Gate(Protocol):
    """Scores how likely the model is to answer questions by itself.

    `needs` names the columns of the questions that the gate reads besides their texts. It reads
    `gains` only when it is fitted.
    """

    name: str
    needs: frozenset[str] = frozenset()

    def fit(self, seeds: GateQuestions, counted_as: int | None = None) -> None:
        """Fit the gate to seed questions of the task; by default, learn nothing.

        Where `seeds` are only a part of the task's seeds, `counted_as` is the number of all of
        them: scores that grow with the number of seeds then have the scale of the whole.
        """
        return

    @abstractmethod
    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return scores, float64 (n,); NaN if the gate has none, so that knowledge is retrieved."""


class ColumnGate(Gate):
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


class RandomGate(Gate):
    """Scores at random, from 0 to 1; a question always gets the same score."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._key = seed.to_bytes(8, "little", signed=True)

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return scores that depend only on the questions' texts and the seed."""
        digests = [
            blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=self._key).digest()
            for text in questions.texts
        ]
        return np.array([int.from_bytes(digest, "little") for digest in digests], float) / 2.0**64


class ConstantGate(Gate):
    """Always retrieves, with NaN as its score, or never, with infinity."""

    def __init__(self, name: str, value: float) -> None:
        self.name, self._value = name, value

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return the same score for each question."""
        return np.full(len(questions), self._value)


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


GATES: dict[str, Callable[..., Gate]] = {
    "thrust": ThrustGate,
    "popularity": PopularityGate,
    "entropy": partial(ColumnGate, "entropy", "uncertainty", -1.0),
    "own_answer": OwnAnswerGate,
    "learned": LearnedGate,
    "random": RandomGate,
    "always": partial(ConstantGate, "always", np.nan),
    "never": partial(ConstantGate, "never", np.inf),
}


def make_gate(name: str, **options: Any) -> Gate:
    """Return an unfitted gate; raises UsageError for an unknown name or option."""
    if name not in GATES:
        raise UsageError(f"There is no gate {name!r}. The gates: {', '.join(GATES)}.")
    try:
        return GATES[name](**options)
    except TypeError as error:
        raise UsageError(f"The gate {name} has no such option: {', '.join(options)}.") from error
