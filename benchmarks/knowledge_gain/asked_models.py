"""Models that answer questions without and with a passage: local models and endpoints.

A local model selects choices by likelihood and generates open answers of at most 30 tokens; an
endpoint answers in words, from which its choice is determined (the paper's section 4). Both get at
most 480 tokens of a passage, and both see the choices after the question.
"""

import math
import re
import string
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from benchmarks.scored_model import ScoredModel
from schemas.errors import UsageError
from schemas.settings import EngineSettings
from tasks.ask.phrasing import without_letter
from tasks.models.plain_answers import MOST_KNOWLEDGE, Written
from tasks.models.tokens import estimate_tokens
from tasks.progress import Report, silent
from tasks.questions.normalise import bare_words, token_f1
from tasks.questions.question import BenchmarkQuestion
from warehouse.home import Home

ENDPOINT = "endpoint:"
_LETTER = re.compile(r"^\W*([A-Z])(?:[).:,]|\W*$)|\(([A-Z])\)|\banswer is:? ([A-Z])\b")
_WINDOW = 64  # open questions per call of a local model

Questions = Sequence[BenchmarkQuestion]
Passages = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """An answer and its entropy: over choices in nats, or in nats per token."""

    text: str
    uncertainty: float = math.nan  # unknown


class AskedModel(Protocol):
    """A model under measurement; `name` is its name in tables."""

    name: str

    def answers(
        self, questions: Questions, passages: Passages, report: Report = silent
    ) -> list[ModelAnswer]:
        """Return an answer to each question, given its passage if any; empty if there is none."""
        ...


def open_asked_model(name: str, settings: EngineSettings, home: Home, run_id: str) -> AskedModel:
    """Open a model by name: `endpoint:MODEL`, or a folder or a model of the hub, loaded at once.

    Raises UsageError if it is not available.
    """
    if not name.startswith(ENDPOINT):
        return LocalAsked(ScoredModel(settings.model.model_copy(update={"name": name})))
    model = settings.model.model_copy(update={"name": name.removeprefix(ENDPOINT)})
    engine = settings.model_copy(update={"engine": "openai", "model": model})
    return EndpointAsked(name, engine, home, run_id)


def model_of_settings(settings: EngineSettings) -> str:
    """Return the name under which the settings' model is opened; raises UsageError without one."""
    if settings.engine == "rules" or not settings.model.name:
        raise UsageError(
            "The settings name no model. Use --models with folders or names of models, or "
            "endpoint:NAME for a model at the endpoint."
        )
    return f"{ENDPOINT if settings.engine == 'openai' else ''}{settings.model.name}"


def with_choices(question: BenchmarkQuestion) -> str:
    """Return a question followed by its choices, each with a letter."""
    if not question.choices:
        return question.question
    lettered = zip(string.ascii_uppercase, question.choices, strict=False)
    return f"{question.question}\n{' '.join(f'({letter}) {choice}' for letter, choice in lettered)}"


def chosen(reply: str, choices: Sequence[str]) -> str:
    """Return the choice that an answer in words refers to; empty if it refers to none.

    It is the choice whose letter the answer gives, else the choice that it mentions first, else the
    choice with which it shares the most words.
    """
    whole = without_letter(reply.strip(), choices)
    if whole in choices:
        return whole
    letter = _LETTER.search(reply.strip())
    place = string.ascii_uppercase.find(letter[letter.lastindex or 0]) if letter else -1
    if 0 <= place < len(choices):
        return choices[place]
    bare = f" {bare_words(reply)} "
    named = [(bare.find(f" {bare_words(choice)} "), -len(choice), choice) for choice in choices]
    present = [match for match in named if match[0] >= 0]
    if present:
        return min(present)[2]
    shares = [token_f1(reply, choice) for choice in choices]
    return choices[shares.index(max(shares))] if max(shares, default=0) > 0 else ""


class LocalAsked:
    """A model in this process."""

    def __init__(self, model: ScoredModel) -> None:
        """Ask this model."""
        self._model = model
        self.name = Path(model.name).name if Path(model.name).is_dir() else model.name

    def answers(
        self, questions: Questions, passages: Passages, report: Report = silent
    ) -> list[ModelAnswer]:
        """Return the likeliest choices and written answers."""
        answers: list[ModelAnswer] = []
        for start in range(0, len(questions), _WINDOW):
            part = slice(start, start + _WINDOW)
            answers += self._window(questions[part], passages[part])
            report(self.name, len(answers), len(questions))
        return answers

    def _window(self, questions: Questions, passages: Passages) -> list[ModelAnswer]:
        both = list(zip(questions, passages, strict=True))
        free = [(question.question, passage) for question, passage in both if not question.choices]
        texts, given = [text for text, _ in free], [passage for _, passage in free]
        written = iter(self._model.generate(texts, given) if free else ())
        return [
            self._choose(question, passage) if question.choices else _written(next(written))
            for question, passage in both
        ]

    def _choose(self, question: BenchmarkQuestion, passage: str | None) -> ModelAnswer:
        likelihoods = self._model.choice_likelihoods(
            with_choices(question), question.choices, passage
        )
        shares = np.exp(likelihoods - likelihoods.max())
        shares = shares[shares > 0] / shares.sum()
        entropy = float(-(shares * np.log(shares)).sum())
        return ModelAnswer(question.choices[int(likelihoods.argmax())], entropy)


class EndpointAsked:
    """A model behind an endpoint; a question that it answered before is not asked again."""

    def __init__(self, name: str, settings: EngineSettings, home: Home, run_id: str) -> None:
        """Ask the model that the settings name."""
        self.name = name.removeprefix(ENDPOINT)
        self._settings, self._home, self._run_id = settings, home, run_id

    def answers(
        self, questions: Questions, passages: Passages, report: Report = silent
    ) -> list[ModelAnswer]:
        """Return the model's answers; for a question with choices, the choice that it refers to."""
        texts = [
            "\n\n".join([*([_beginning(passage)] if passage else []), with_choices(question)])
            for question, passage in zip(questions, passages, strict=True)
        ]
        replies = self._replies(list(dict.fromkeys(texts)), report)
        return [
            replace(replies[text], text=chosen(replies[text].text, question.choices))
            if question.choices
            else replies[text]
            for question, text in zip(questions, texts, strict=True)
        ]

    def _replies(self, texts: Sequence[str], report: Report) -> dict[str, ModelAnswer]:
        from tasks.gates.uncertainty import short_answers, uncertainty_of

        def count(done: int) -> None:
            report(self.name, done, len(texts))

        replies = short_answers(texts, self._settings, self._home, self._run_id, count)
        return {
            text: ModelAnswer(reply.answer if reply else "", uncertainty_of(reply))
            for text, reply in replies.items()
        }


def _written(answer: Written) -> ModelAnswer:
    return ModelAnswer(answer.text, float(answer.entropies.mean()))


def _beginning(passage: str) -> str:
    """Return a passage's beginning with about as many tokens as a local model gets."""
    if estimate_tokens(passage) <= MOST_KNOWLEDGE:
        return passage
    cut = bisect_right(
        range(len(passage)), MOST_KNOWLEDGE, key=lambda end: estimate_tokens(passage[:end])
    )
    return passage[: cut - 1].rsplit(" ", 1)[0]
