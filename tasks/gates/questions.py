"""Questions as columns: everything that a gate may read before it decides."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

NO_ANSWER = "none"
PLAIN_WORDS = frozenset({"yes", "no", "maybe", "true", "false"})
DUMMY = "all"  # the class of tasks without classes (Thrust, section 3)


@dataclass(frozen=True)
class GateQuestions:
    """`n` questions; a column that is not known is None.

    `labels` are the classes of seeds, one dummy class where the task has none. `vectors` is float64
    (n, h), from one encoder. `popularity` (n,) is how well known a question's subject is, NaN where
    unknown. `uncertainty` (n,) is the entropy of the model's own answer in nats per token.
    `answers` are the kinds of the model's own answers (`kind_of_answer`). `gains` (n,) is known for
    seeds only: how much better the model's answer with knowledge was than its own, -1 to 1.
    """

    texts: list[str]
    labels: list[str] = field(default_factory=list)
    vectors: np.ndarray | None = None
    popularity: np.ndarray | None = None
    uncertainty: np.ndarray | None = None
    answers: np.ndarray | None = None
    gains: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Give unlabelled questions the dummy class; raises ValueError if lengths differ."""
        if not self.labels:
            object.__setattr__(self, "labels", [DUMMY] * len(self.texts))
        for column in (self.labels, *self._columns()):
            if column is not None and len(column) != len(self.texts):
                raise ValueError(f"{len(column)} values for {len(self.texts)} questions")

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, places: Sequence[int] | np.ndarray) -> "GateQuestions":
        """Return the questions at these indices, in this order."""
        chosen = np.asarray(places, np.int64)
        return GateQuestions(
            [self.texts[place] for place in chosen],
            [self.labels[place] for place in chosen],
            *(None if column is None else column[chosen] for column in self._columns()),
        )

    def column(self, name: str) -> np.ndarray:
        """Return a column that a gate needs; raises ValueError if it is not known."""
        values: np.ndarray | None = getattr(self, name)
        if values is None:
            raise ValueError(f"the questions have no {name}, which the gate needs")
        return values

    def _columns(self) -> tuple[np.ndarray | None, ...]:
        return self.vectors, self.popularity, self.uncertainty, self.answers, self.gains


def kind_of_answer(answer: str | None, choices: Sequence[str] = ()) -> str:
    """Return the kind of an answer that a model gave by itself, as gates distinguish kinds.

    A choice of one word, such as yes or maybe, is a kind of its own; the kind of a longer choice is
    its letter. Free answers are all of one kind, except for the plainest words.
    """
    if not answer or not answer.strip():
        return NO_ANSWER
    words = answer.strip().strip(".").casefold()
    if not choices:
        return words if words in PLAIN_WORDS else "answered"
    for place, choice in enumerate(choices):
        letter = chr(ord("A") + place)
        if words in (letter.casefold(), choice.strip().casefold()):
            word = choice.strip().casefold()
            return word if word.isalpha() and len(word) > 1 else letter
    return NO_ANSWER
