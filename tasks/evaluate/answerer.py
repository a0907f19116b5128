"""The interface of a system under measurement: it may learn, and it answers in batches."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from tasks.progress import Report, silent
from tasks.questions.question import BenchmarkQuestion
from warehouse.editions import Edition

Paths = tuple[tuple[str, ...], ...]  # each by its relations


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answers to a question, best first.

    `stages` says for each stage (program, answer) whether it succeeded; the stage `model` has not
    where the embedded reader answered instead of the model. `retrieved` has
    the names in the retrieved document, for baselines whose retrieval is measured. `coverage` is
    the share of the given texts' words that was extracted. `found` has the titles, uris and ids of
    the documents that search finds first, and `paths` the relations of the paths that a question
    may mean, the likeliest first. `tokens` are those of model calls.
    """

    answers: list[str] = field(default_factory=list)
    stages: dict[str, bool] = field(default_factory=dict)
    retrieved: tuple[str, ...] | None = None
    coverage: float | None = None
    found: frozenset[str] | None = None
    paths: Paths | None = None
    tokens: int = 0


class BenchmarkAnswerer(Protocol):
    """A system under measurement; `name` is what the tables call it."""

    name: str

    def learn(self, questions: Sequence[BenchmarkQuestion], report: Report = silent) -> None:
        """Learn from questions with their answers and report progress; by default, do nothing."""
        return

    @abstractmethod
    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return a prediction for each question, in order, without seeing gold answers."""


def without_gold(question: BenchmarkQuestion) -> BenchmarkQuestion:
    """Return a question with only the fields that a system may see.

    Its answers, path, type, label and knowledge, and the outcomes of other models, are removed.
    """
    return replace(
        question,
        answers=(),
        patterns=(),
        gold=(),
        exact=None,
        kind="",
        label=None,
        part="",
        split_key="",
        knowledge=None,
        outcomes=(),
        own_answers=(),
        uncertainties=(),
    )


System = Callable[[Edition], BenchmarkAnswerer]  # opens a system on an edition
