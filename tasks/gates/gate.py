"""One interface for all gates: fit on seed questions, then score; a high score means "knows"."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from schemas.errors import UsageError
from tasks.gates.questions import GateQuestions
from tasks.gates.rival_gates import (
    BM25Gate,
    ColumnGate,
    ConstantGate,
    LearnedGate,
    MahalanobisGate,
    OwnAnswerGate,
    PopularityGate,
    RandomGate,
)
from tasks.gates.thrust import ThrustGate


class Gate(Protocol):
    """Scores how likely the model is to answer questions by itself.

    `needs` names the columns of the questions that the gate reads besides their texts. It reads
    `gains` only when it is fitted.
    """

    name: str
    needs: frozenset[str]

    def fit(self, seeds: GateQuestions, counted_as: int | None = None) -> None:
        """Fit the gate to seed questions of the task.

        Where `seeds` are only a part of the task's seeds, `counted_as` is the number of all of
        them: scores that grow with the number of seeds then have the scale of the whole.
        """
        ...

    def score(self, questions: GateQuestions) -> np.ndarray:
        """Return scores, float64 (n,); NaN if the gate has none, so that knowledge is retrieved."""
        ...


GATES: dict[str, Callable[..., Gate]] = {
    "thrust": ThrustGate,
    "bm25": BM25Gate,
    "mahalanobis": MahalanobisGate,
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
