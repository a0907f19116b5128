"""Columns of questions with outcomes: models' scores on them without and with knowledge."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from random import Random

import numpy as np

from schemas.errors import UsageError
from tasks.gates.questions import DUMMY, GateQuestions, kind_of_answer
from tasks.questions.question import BenchmarkQuestion

SEED = 20242
OWN_COLUMNS = frozenset({"gains", "answers", "uncertainty"})  # columns that differ between models
FEWEST = 20  # questions per data set; fewer are not enough to fit and measure a gate


@dataclass(frozen=True)
class Outcomes:
    """`n` questions with the scores of `m` models, 0 to 1: `without` and `with_knowledge` (m, n).

    `datasets` (n,) names the data set of each question, or the task within it; a gate is fitted and
    scored within one of them. `answers` (m, n) are the kinds of the models' own answers and
    `uncertainty` (m, n) their entropies, NaN where unknown; either is None if all are unknown.
    """

    questions: GateQuestions
    datasets: np.ndarray
    models: tuple[str, ...]
    without: np.ndarray
    with_knowledge: np.ndarray
    answers: np.ndarray | None = None
    uncertainty: np.ndarray | None = None

    @property
    def gains(self) -> np.ndarray:
        """The gain of each model's score through knowledge, (m, n)."""
        return np.asarray(self.with_knowledge - self.without)

    def of_model(self, number: int) -> GateQuestions:
        """Return the questions with one model's gains, answers and uncertainty."""
        answers = None if self.answers is None else self.answers[number]
        uncertainty = None if self.uncertainty is None else self.uncertainty[number]
        return replace(
            self.questions, gains=self.gains[number], answers=answers, uncertainty=uncertainty
        )

    def with_vectors(self, vectors: np.ndarray) -> "Outcomes":
        """Return a copy with these vectors (n, h)."""
        return replace(self, questions=replace(self.questions, vectors=vectors))

    def each_dataset(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each data set's name and the indexes of its questions."""
        for name in sorted(set(self.datasets)):
            yield str(name), np.flatnonzero(self.datasets == name)


def outcomes_of(questions: Sequence[BenchmarkQuestion], *, choices: bool = False) -> Outcomes:
    """Return the questions that have outcomes of all models.

    With `choices`, a question's text includes its choices. Raises UsageError if no question has
    outcomes, or too few have.
    """
    known = [question for question in questions if question.outcomes]
    if not known:
        raise UsageError(
            "These questions have no outcomes of models without and with knowledge, so gates "
            "cannot be measured on them. Let models answer them both ways: in a checkout, "
            "`python -m benchmarks.knowledge_gain FILE --format NAME --home DIR --models MODEL "
            "--out OUTCOMES.jsonl`; then measure gates on OUTCOMES.jsonl with `--format jsonl`. Or "
            "take MIRAGE, whose file has them."
        )
    models = tuple(dict.fromkeys(model for q in known for model, _, _ in q.outcomes))
    figures = [{model: (a, b) for model, a, b in q.outcomes} for q in known]
    whole = [place for place, by_model in enumerate(figures) if len(by_model) == len(models)]
    sizes = Counter(_task(known[place]) for place in whole)
    whole = [place for place in whole if sizes[_task(known[place])] >= FEWEST]
    if not whole:
        raise UsageError(
            f"No data set has {FEWEST} questions with the outcomes of all models "
            f"({', '.join(models)}); measure gates on more questions."
        )
    kept = [known[place] for place in whole]
    table = np.array([[figures[place][model] for place in whole] for model in models], float)
    return Outcomes(
        _gate_questions(kept, choices=choices),
        np.array([_task(question) for question in kept], dtype=object),
        models,
        table[:, :, 0],
        table[:, :, 1],
        _own_answers(kept, models),
        _uncertainty(kept, models),
    )


def drawn(
    outcomes: Outcomes, places: np.ndarray, name: str, seeds: int, draw: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the indexes of a draw's seeds, and those of the rest, within one data set.

    At most half of the questions are seeds. Equal questions are on the same side.
    """
    texts = outcomes.questions.texts
    groups: dict[str, list[int]] = {}
    for place in places:
        groups.setdefault(texts[place], []).append(int(place))
    keys = sorted(groups)
    _random(name, draw).shuffle(keys)
    wanted = min(seeds, len(places) // 2)
    chosen: list[int] = []
    for key in keys:
        if len(chosen) + len(groups[key]) <= wanted:
            chosen += groups[key]
    fitted = np.array(sorted(chosen), np.int64)
    return fitted, np.setdiff1d(places, fitted)


def _random(name: str, draw: int) -> Random:
    """Return a generator that depends only on the data set's name and the draw."""
    text = f"{SEED}:{draw}:{name}".encode("utf-8", "surrogatepass")
    return Random(int.from_bytes(blake2b(text, digest_size=8).digest()))


def _uncertainty(
    questions: Sequence[BenchmarkQuestion], models: Sequence[str]
) -> np.ndarray | None:
    by_question = [dict(question.uncertainties) for question in questions]
    table = np.array([[row.get(model, np.nan) for row in by_question] for model in models], float)
    return None if np.isnan(table).all() else table


def _task(question: BenchmarkQuestion) -> str:
    return question.task or question.dataset


def _own_answers(
    questions: Sequence[BenchmarkQuestion], models: Sequence[str]
) -> np.ndarray | None:
    """Return the kinds of the models' own answers (m, n); None if any are not known."""
    answers = [dict(question.own_answers) for question in questions]
    if not all(model in row for row in answers for model in models):
        return None
    kinds = [
        [kind_of_answer(row[model], q.choices) for row, q in zip(answers, questions, strict=True)]
        for model in models
    ]
    return np.array(kinds, dtype=object)


def _gate_questions(questions: Sequence[BenchmarkQuestion], *, choices: bool) -> GateQuestions:
    popularity = [q.popularity for q in questions]
    return GateQuestions(
        ["\n".join((q.question, *(q.choices if choices else ()))) for q in questions],
        [q.label or DUMMY for q in questions],
        popularity=(
            None
            if all(value is None for value in popularity)
            else np.array([np.nan if value is None else value for value in popularity])
        ),
    )
