"""Short answers in plain words from a loaded model, with its uncertainty about each token.

A model with a chat template gets a conversation; other causal models continue after `Answer:`; a
model with an encoder reads `question: … context: …`, as T5 did in training.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schemas.errors import UsageError
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
    import torch
    from transformers import LogitsProcessorList, StoppingCriteriaList

    ids, mask = padded(prompts, loaded)
    watch = _Watch(loaded, len(prompts), 1 if loaded.sequence_to_sequence else ids.shape[1])
    with torch.inference_mode():
        written = loaded.model.generate(
            input_ids=ids,
            attention_mask=mask,
            max_new_tokens=room,
            logits_processor=LogitsProcessorList([watch.measure]),
            stopping_criteria=StoppingCriteriaList(
                [lambda ids, scores, **_: watch.stops(ids, is_over())]
            ),
        )
    return watch.answers(written, room)


class _Watch:
    """The state of one batch: the measures of each token, and where answers end."""

    def __init__(self, loaded: LoadedModel, rows: int, begin: int) -> None:
        self._loaded, self._begin = loaded, begin
        self._ends: list[int | None] = [None] * rows  # tokens of the answer, once it has ended
        self._entropies: list[np.ndarray] = []
        self._highest: list[np.ndarray] = []

    def measure(self, input_ids: Any, scores: Any) -> Any:
        """Record entropy and highest log-probability of each row; return the scores unchanged."""
        import torch

        logs = torch.log_softmax(scores.float(), dim=-1)
        self._entropies.append(torch.special.entr(logs.exp()).sum(-1).double().cpu().numpy())
        self._highest.append(logs.amax(-1).double().cpu().numpy())
        return scores

    def stops(self, ids: Any, is_over: bool) -> Any:
        """Return for each row whether its answer has ended."""
        import torch

        for row, tokens in enumerate(ids[:, self._begin :].tolist()):
            if self._ends[row] is None and tokens and self._has_ended(tokens):
                self._ends[row] = len(tokens)
        ended = [is_over or end is not None for end in self._ends]
        return torch.tensor(ended, dtype=torch.bool, device=ids.device)

    def _has_ended(self, tokens: list[int]) -> bool:
        return tokens[-1] in self._loaded.ends or "\n" in self._text(tokens).lstrip()

    def _text(self, tokens: list[int]) -> str:
        return str(self._loaded.tokenizer.decode(tokens, skip_special_tokens=True))

    def answers(self, written: Any, room: int) -> list[Written]:
        """Return the answers contained in the model's output."""
        entropies, highest = np.array(self._entropies), np.array(self._highest)
        answers = []
        for row, tokens in enumerate(written[:, self._begin :].tolist()):
            end = self._ends[row]
            size = len(entropies) if end is None else end
            lines = self._text(tokens[:size]).strip().splitlines()
            text = lines[0].strip() if lines else ""
            finish = "stop" if end is not None else "length" if size >= room else "over"
            answers.append(Written(text, finish, highest[:size, row], entropies[:size, row]))
        return answers


def padded(prompts: Sequence[Sequence[int]], loaded: LoadedModel) -> tuple[Any, Any]:
    """Return prompts and mask as tensors; for causal models, padded on the left."""
    import torch

    longest = max(map(len, prompts))
    ids = torch.full((len(prompts), longest), loaded.padding)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        first = 0 if loaded.sequence_to_sequence else longest - len(prompt)
        ids[row, first : first + len(prompt)] = torch.tensor(prompt)
        mask[row, first : first + len(prompt)] = 1
    return ids.to(loaded.device), mask.to(loaded.device)
