"""A language model in this process that scores given answers and generates short ones.

It may be a causal or a sequence-to-sequence model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schemas.errors import UsageError
from schemas.settings import ModelSettings
from tasks.models.likelihood import Choices, log_likelihoods
from tasks.models.loaded_model import LoadedModel, load_model
from tasks.models.plain_answers import (
    ROOM,
    Written,
    question_text,
    question_tokens,
    write_plainly,
)

MOST_CHOICES = 1_000
NOTHING_ASKED = "?"


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A question, its possible answers, and knowledge about it."""

    question: str
    choices: Sequence[str]
    knowledge: str | None = None


class ScoredModel:
    """A model that is loaded on creation; equal questions get equal figures."""

    def __init__(self, settings: ModelSettings) -> None:
        """Load the model that the settings name (`name`, `device`, `local_batch`).

        Raises UsageError if it cannot be loaded.
        """
        self.name = settings.name
        self._batch = settings.local_batch
        self.loaded: LoadedModel = load_model(settings.name, settings.device)

    def choice_likelihoods(
        self, question: str, choices: Sequence[str], knowledge: str | None = None
    ) -> np.ndarray:
        """Return float64 (choices,): the log-likelihood of each as the answer, in nats.

        The highest is the model's choice. A choice without words has minus infinity.
        """
        return self.likelihoods([ChoiceQuestion(question, choices, knowledge)])[0]

    def likelihoods(self, questions: Sequence[ChoiceQuestion]) -> list[np.ndarray]:
        """Return the log-likelihoods of the choices of each question, as `choice_likelihoods`."""
        for question in questions:
            if not 0 < len(question.choices) <= MOST_CHOICES:
                given = len(question.choices)
                raise UsageError(f"A question has 1 to {MOST_CHOICES} choices, not {given}.")
        likelihoods = log_likelihoods(
            self.loaded, [self._prompted(question) for question in questions], self._batch
        )
        return [
            np.where([not choice.strip() for choice in question.choices], -np.inf, logs)
            for question, logs in zip(questions, likelihoods, strict=True)
        ]

    def gains(self, questions: Sequence[ChoiceQuestion]) -> list[np.ndarray]:
        """Return by how much each question makes its choices likelier, in nats.

        That is log p(choice | question) - log p(choice | no question), the pointwise mutual
        information (Holtzman et al. 2021, equation 3): a choice does not win by its common words,
        nor lose by its length. A choice without words has minus infinity.
        """
        likelihoods = self.likelihoods(questions)
        choices = list(dict.fromkeys(choice for q in questions for choice in q.choices))
        neutral = self._prompted(ChoiceQuestion(NOTHING_ASKED, choices))
        [logs] = log_likelihoods(self.loaded, [neutral], self._batch)
        priors = dict(zip(choices, logs, strict=True))
        return [
            logs - [priors[choice] for choice in question.choices]
            for question, logs in zip(questions, likelihoods, strict=True)
        ]

    def _prompted(self, question: ChoiceQuestion) -> Choices:
        text, special = question_text(self.loaded, question.question, question.knowledge)
        joined = self.loaded.tokenizer.chat_template or self.loaded.sequence_to_sequence
        space = "" if joined else " "
        continuations = [space + self.loaded.harmless(choice) for choice in question.choices]
        return Choices(text, continuations, special)

    def generate(
        self,
        questions: Sequence[str],
        knowledge: Sequence[str | None] | None = None,
        room: int = ROOM,
    ) -> list[Written]:
        """Return a greedy one-line answer of at most `room` tokens to each question."""
        passages = list(knowledge) if knowledge is not None else [None] * len(questions)
        prompts = [
            question_tokens(self.loaded, question, passage, room)
            for question, passage in zip(questions, passages, strict=True)
        ]
        order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
        answers: dict[int, Written] = {}
        for start in range(0, len(order), self._batch):
            places = order[start : start + self._batch]
            written = write_plainly(self.loaded, [prompts[place] for place in places], room)
            answers.update(zip(places, written, strict=True))
        return [answers[place] for place in range(len(prompts))]
