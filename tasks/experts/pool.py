"""Experts in memory, which write texts for many prompts at once.

A text depends only on the expert, the prompt, the seed and the number of the sample, not on the
other texts in its batch: each row has its own random numbers and is computed in float32, where
another order of summation hardly ever changes which token is drawn (`tasks.models.decoding`).
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from schemas.errors import UsageError
from tasks.experts.competence import (
    UNCALIBRATED,
    AskedOf,
    Certainty,
    Competence,
    commonest,
    features_of,
)
from tasks.experts.field import Field
from tasks.experts.knowledge import question_prompt
from tasks.experts.manifest import checked_manifest
from tasks.experts.training.tokens import TextTokenizer
from tasks.models.decoding import Draw, decode
from tasks.models.loaded_model import LoadedModel, load_model
from tasks.models.one_thread import one_thread
from tasks.text.question import Question

NEW_TOKENS = 100  # as in CooK's released code
TEMPERATURE = 1.0
ROWS = 32  # texts that are written at once
SMALL_BYTES = 64 << 20  # of weights
RESIDENT_BYTES = 8 << 30  # of weights; beyond that, the least recently used expert is unloaded


@dataclass(frozen=True, slots=True)
class OpenExpert:
    """An expert that may be asked: name, description, folder, and the SHA-256 of its manifest.

    `parent` is the expert whose field contains its own. It is asked in `languages`, or in any if
    they are unknown.
    """

    name: str
    description: str
    folder: Path
    sha256: str
    parent: str | None = None
    languages: tuple[str, ...] = ()

    def speaks(self, language: str) -> bool:
        """Return whether it may be asked in a language."""
        return not self.languages or language in self.languages


@dataclass(frozen=True, slots=True)
class LoadedExpert:
    """An expert's model in memory, and what it knows of itself: None if it was never checked."""

    model: LoadedModel
    competence: Competence | None
    names: Field | None

    @property
    def bytes(self) -> int:
        """The size of its weights."""
        return sum(weight.nbytes for weight in self.model.model.parameters())

    def certainty(self, question: Question, answers: Sequence[str]) -> Certainty:
        """Return how sure the answer is that most of its `answers` to a question give."""
        answer, agreement = commonest(answers)
        if self.competence is None or self.names is None:
            return Certainty(min(agreement, UNCALIBRATED), agreement >= UNCALIBRATED)
        span = self.names.subject(question)
        if span is None:
            return Certainty(0.0, is_enough=False)
        prompt = question_prompt(question.text, question.language)
        attempt = AskedOf(prompt, question.text[slice(*span)], answer, agreement)
        features = features_of(self.model, [attempt], self.competence.others)
        probability = float(self.competence.probability(features)[0])
        return Certainty(probability, probability >= self.competence.bound)


class ExpertPool:
    """Experts of any architecture; each is loaded when first asked and kept while memory allows."""

    def __init__(
        self,
        experts: Sequence[OpenExpert],
        *,
        device: str | None = None,
        resident_bytes: int = RESIDENT_BYTES,
    ) -> None:
        """Take the experts; none is loaded yet."""
        self._experts = {expert.name: expert for expert in experts}
        self._device, self._most = device, resident_bytes
        self._loaded: OrderedDict[str, LoadedExpert] = OrderedDict()

    def write(
        self,
        expert: str,
        prompts: Sequence[str],
        count: int = 1,
        seed: int = 0,
        *,
        max_new_tokens: int = NEW_TOKENS,
        temperature: float = TEMPERATURE,
    ) -> list[list[str]]:
        """Return `count` continuations of each prompt, without the prompt itself.

        A temperature of 0 means greedy decoding. A prompt that is too long for the context loses
        its beginning. Raises UsageError for an unknown expert or a wrong option, UnsafeExpertError
        if the expert's files are not those that were registered, AlmanacError if the model computes
        no probabilities.
        """
        if temperature < 0 or count < 0 or max_new_tokens < 1:
            raise UsageError("The temperature must be 0 or more, as the number of texts.")
        ready = self._ready(expert)
        loaded = ready.model
        encode = TextTokenizer.of(loaded.tokenizer)
        room = min(max_new_tokens, loaded.context - 1)
        tokens = [
            ids[:-1][-(loaded.context - room) :] for ids in encode(list(prompts))
        ] if prompts else []  # fmt: skip
        texts: list[list[str]] = [[""] * count for _ in prompts]
        jobs = [(prompt, sample) for prompt in range(len(prompts)) for sample in range(count)]
        jobs.sort(key=lambda job: len(tokens[job[0]]))  # rows of similar length need little padding
        for begin in range(0, len(jobs), ROWS):
            some = jobs[begin : begin + ROWS]
            noise = np.stack([row_noise(seed, prompts[p], s, room) for p, s in some])
            rows = [tokens[prompt] for prompt, _ in some]
            draw = Draw(loaded, noise, temperature)
            with _fair_share(ready):
                written = decode(loaded, rows, draw, room)
            for (prompt, sample), ids in zip(some, written, strict=True):
                ids = ids[:-1] if ids[-1] in loaded.ends else ids
                text = loaded.tokenizer.decode(ids, skip_special_tokens=True)
                texts[prompt][sample] = text.strip()
        return texts

    def model(self, expert: str) -> LoadedModel:
        """Return an expert's model, loaded; raises as `write` does."""
        return self._ready(expert).model

    def certainty(self, expert: str, question: Question, answers: Sequence[str]) -> Certainty:
        """Return how sure an expert's commonest answer to a question is; raises as `write` does."""
        ready = self._ready(expert)
        with _fair_share(ready):
            return ready.certainty(question, answers)

    def _ready(self, name: str) -> LoadedExpert:
        if name not in self._experts:
            known = ", ".join(self._experts) or "none"
            raise UsageError(f"There is no expert {name!r}; there are: {known}.")
        if name not in self._loaded:
            expert = self._experts[name]
            manifest = checked_manifest(expert.folder, expert.sha256)
            model = load_model(str(expert.folder), self._device, in_float32=True)
            names = Field.load(expert.folder)
            self._loaded[name] = LoadedExpert(model, manifest.competence, names)
        self._loaded.move_to_end(name)
        while len(self._loaded) > 1 and sum(e.bytes for e in self._loaded.values()) > self._most:
            self._loaded.popitem(last=False)
        return self._loaded[name]


def _fair_share(loaded: LoadedExpert) -> AbstractContextManager[None]:
    """Return the context in which a small model works: in one thread, as others would only wait."""
    return one_thread() if loaded.bytes < SMALL_BYTES else nullcontext()


def row_noise(seed: int, prompt: str, sample: int, steps: int) -> np.ndarray:
    """Return the random numbers of a row, one in [0, 1) for each token."""
    key = hashlib.sha256(f"{seed} {sample} {prompt}".encode()).digest()
    return np.random.default_rng(int.from_bytes(key[:16], "little")).random(steps)
