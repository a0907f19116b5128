"""Short answers in plain words from a loaded model, with its uncertainty about each token.

A model with a chat template gets a conversation; other causal models continue after `Answer:`; a
model with an encoder reads `question: … context: …`, as T5 did in training.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schemas.errors import UsageError
from tasks.models.decoding import decode
from tasks.models.loaded_model import LoadedModel

INSTRUCTION = "Answer the question in a few words, on one line, without explanations."
MOST_KNOWLEDGE = 480  # tokens (Thrust, section 4); the rest is cut off


def question_text(
    loaded: LoadedModel, question: str, knowledge: str | None = None
) -> tuple[str, bool]:
    """Return a question's prompt, and whether the tokeniser must add its special tokens to it."""
    known = _beginning(loaded, knowledge or "", MOST_KNOWLEDGE)
    if loaded.tokenizer.chat_template:
        user = f"{known}\n\n{question}" if known else question
        system = {"role": "system", "content": INSTRUCTION}
        return loaded.prompt_text([system, {"role": "user", "content": user}])
    question, known = loaded.harmless(question), loaded.harmless(known)
    if loaded.sequence_to_sequence:
        return f"question: {question}" + (f" context: {known}" if known else ""), True
    return (f"{known}\n\n" if known else "") + f"Question: {question}\nAnswer:", True


def question_tokens(
    loaded: LoadedModel, question: str, knowledge: str | None = None, room: int = 0
) -> list[int]:
    """Return a prompt's tokens, leaving `room` for an answer; UsageError if that is not possible.

    If the prompt is too long, a causal model loses its beginning, since the end of the question
    matters most; an encoder loses the end of the knowledge, but not its end token.
    """
    text, special = question_text(loaded, question, knowledge)
    if loaded.sequence_to_sequence:
        ids, most = token_ids(loaded, text, special), loaded.context
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]
    ids, most = prompt_ids(loaded, text, special), loaded.context - room
    if most < 1:
        raise UsageError(f"An answer of {room} tokens does not fit the model's context.")
    return ids[-most:]


def token_ids(loaded: LoadedModel, text: str, special: bool) -> list[int]:
    """Return a text's tokens, with or without the tokenizer's special tokens."""
    return list(loaded.tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"])


def prompt_ids(loaded: LoadedModel, text: str, special: bool) -> list[int]:
    """Return the tokens of a prompt to be continued, without an end token."""
    ids = token_ids(loaded, text, special)
    while special and len(ids) > 1 and ids[-1] in loaded.ends:
        ids.pop()
    return ids


def _beginning(loaded: LoadedModel, text: str, tokens: int) -> str:
    """Return the beginning of a text, with at most this number of tokens."""
    options: dict[str, Any] = {"add_special_tokens": False, "return_offsets_mapping": True}
    offsets = loaded.tokenizer(text, verbose=False, **options)["offset_mapping"]
    return text if len(offsets) <= tokens else text[: offsets[tokens][0]].rstrip()


ROOM = 30  # tokens of an answer (Thrust, section 4)


@dataclass(frozen=True, slots=True)
class Written:
    """An answer; its end token counts, so that it has at least one token.

    `entropies` has the entropy of each distribution that a token was chosen from,
    `log_probabilities` has that of each chosen token; both are float64, in nats.
    """

    text: str
    finish: str  # stop, length, or over (ended by `is_over`)
    log_probabilities: np.ndarray
    entropies: np.ndarray

    @property
    def tokens(self) -> int:
        """The number of tokens, including the end token."""
        return len(self.entropies)


def write_plainly(
    loaded: LoadedModel,
    prompts: Sequence[Sequence[int]],
    room: int = ROOM,
    is_over: Callable[[], bool] = lambda: False,
) -> list[Written]:
    """Return one answer to each prompt, generated as one batch.

    An answer ends with the model's end token, at the first line break after a word, after `room`
    tokens, or when `is_over` returns true.
    """
    watch = _Watch(loaded, len(prompts))
    written = decode(loaded, prompts, watch, room, is_over=is_over)
    return [watch.answer(row, tokens, room) for row, tokens in enumerate(written)]


class _Watch:
    """Chooses the likeliest tokens; records their measures, and which answers have ended."""

    def __init__(self, loaded: LoadedModel, rows: int) -> None:
        self._loaded = loaded
        self._tokens: list[list[int]] = [[] for _ in range(rows)]
        self._measures: list[list[tuple[float, float]]] = [[] for _ in range(rows)]
        self._ended = [False] * rows

    def __call__(self, logits: Any, rows: Sequence[int]) -> tuple[Any, Sequence[bool]]:
        """Return the next tokens, and which answers end with them."""
        import torch

        logs = torch.log_softmax(logits, dim=-1)
        entropies = torch.special.entr(logs.exp()).sum(-1).double().tolist()
        highest = logs.amax(-1).double().tolist()
        chosen = logits.argmax(-1)
        for row, token, *measures in zip(rows, chosen.tolist(), highest, entropies, strict=True):
            tokens = self._tokens[row]
            tokens.append(token)
            self._measures[row].append((measures[0], measures[1]))
            self._ended[row] = token in self._loaded.ends or "\n" in self._text(tokens).lstrip()
        return chosen, [self._ended[row] for row in rows]

    def _text(self, tokens: list[int]) -> str:
        return str(self._loaded.tokenizer.decode(tokens, skip_special_tokens=True))

    def answer(self, row: int, tokens: list[int], room: int) -> Written:
        """Return the answer that these tokens of a row are."""
        lines = self._text(tokens).strip().splitlines()
        text = lines[0].strip() if lines else ""
        finish = "stop" if self._ended[row] else "length" if len(tokens) >= room else "over"
        highest, entropies = np.array(self._measures[row]).T
        return Written(text, finish, highest, entropies)
