"""Log-likelihoods of given continuations under a loaded model, in nats.

Prompts of equal length share a forward pass. A prompt is read once for as many of its continuations
as fit into memory. Padding is placed only where the model cannot attend to it.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from schemas.errors import UsageError
from tasks.models.loaded_model import LoadedModel
from tasks.models.plain_answers import prompt_ids, token_ids
from tasks.models.shared_prefix import shared_length

ROOM = 1_024  # average number of tokens per prompt of a batch that must fit into memory
LOGITS_WEIGHT = 8  # memory of a token with logits, relative to one that is only read


@dataclass(frozen=True, slots=True)
class Choices:
    """A prompt and its possible continuations, which include any space after the prompt."""

    prompt: str
    continuations: Sequence[str]
    special: bool = False  # whether the tokenizer adds its special tokens to the prompt


def log_likelihoods(
    loaded: LoadedModel, questions: Sequence[Choices], batch: int = 8
) -> list[np.ndarray]:
    """Return float64 (continuations,) for each question: log p(continuation | prompt).

    It is the sum over the continuation's tokens; for a model with an encoder these include the end
    token, as in training. `batch` prompts of up to 1,024 tokens, or fewer that are longer, are
    processed at once. Raises UsageError if a continuation does not fit into the model's context.
    """
    if loaded.sequence_to_sequence:
        return [_by_decoder(loaded, question, batch) for question in questions]
    pieces = [
        piece
        for place, question in enumerate(questions)
        for piece in _pieces(loaded, question, place, batch)
    ]
    pieces.sort(key=lambda piece: (len(piece.prefix), piece.longest))
    likelihoods = [np.zeros(len(question.continuations)) for question in questions]
    for together in _batches(pieces, batch):
        rows = iter(_by_continuation(loaded, together))
        for piece in together:
            for row in piece.rows:
                likelihoods[piece.place][row.place] = next(rows)
    return likelihoods


@dataclass(frozen=True, slots=True)
class _Row:
    """A continuation's tokens; those before `start` belong to the end of the prompt."""

    place: int
    tokens: list[int]
    start: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """The tokens of a prompt and of as many of its continuations as fit into memory."""

    place: int
    prefix: list[int]
    rows: list[_Row]

    @property
    def longest(self) -> int:
        return max(len(row.tokens) for row in self.rows)

    @property
    def cost(self) -> int:
        return len(self.rows) * (len(self.prefix) + LOGITS_WEIGHT * self.longest)


def _pieces(loaded: LoadedModel, question: Choices, place: int, batch: int) -> Iterator[_Piece]:
    prompt = prompt_ids(loaded, question.prompt, question.special)
    wholes = [
        prompt_ids(loaded, question.prompt + text, question.special)
        for text in question.continuations
    ]
    if not wholes:
        return
    # A continuation may have merged with the prompt's last token, which is then scored too.
    starts = [shared_length(prompt, whole) for whole in wholes]
    if min(starts) == 0:  # a continuation has no token before it
        begin = loaded.tokenizer.bos_token_id
        wholes = [[loaded.ends[0] if begin is None else begin, *whole] for whole in wholes]
        starts = [1] * len(wholes)
    cut = min(starts)
    drop = max(max(map(len, wholes)) - loaded.context, 0)
    if drop >= cut:
        raise UsageError("A choice does not fit the model's context.")
    rows = [
        _Row(n, whole[cut:], start - cut)
        for n, (whole, start) in enumerate(zip(wholes, starts, strict=True))
    ]
    whole_piece = _Piece(place, wholes[0][drop:cut], rows)
    most = max(batch * ROOM * len(rows) // max(whole_piece.cost, 1), 1)
    for start in range(0, len(rows), most):
        yield _Piece(place, whole_piece.prefix, rows[start : start + most])


def _batches(pieces: Sequence[_Piece], batch: int) -> Iterator[list[_Piece]]:
    """Yield batches of pieces whose prompts have equal length and that fit into memory."""
    for _, alike in groupby(pieces, key=lambda piece: len(piece.prefix)):
        together: list[_Piece] = []
        for piece in alike:
            rows = sum(len(other.rows) for other in together) + len(piece.rows)
            cost = rows * (len(piece.prefix) + LOGITS_WEIGHT * piece.longest)
            if together and (len(together) == batch or cost > batch * ROOM):
                yield together
                together = []
            together.append(piece)
        if together:
            yield together


def _by_continuation(loaded: LoadedModel, pieces: Sequence[_Piece]) -> list[float]:
    """Score the rows of pieces, in order; padding is at the end, where it has no effect."""
    import torch

    model = loaded.model
    ids = torch.tensor([piece.prefix for piece in pieces], device=loaded.device)
    rows = [row for piece in pieces for row in piece.rows]
    owners = [n for n, piece in enumerate(pieces) for _ in piece.rows]
    which = torch.tensor(owners, device=loaded.device)
    longest = max(len(row.tokens) for row in rows)
    tokens = torch.full((len(rows), longest), loaded.padding)
    for n, row in enumerate(rows):
        tokens[n, : len(row.tokens)] = torch.tensor(row.tokens)
    tokens = tokens.to(loaded.device)
    known = inspect.signature(model.forward).parameters
    keep = {"logits_to_keep": 1} if "logits_to_keep" in known else {}
    with torch.inference_mode():
        read = model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=True, **keep)
        logs = _log_of(read.logits[:, -1:][which], tokens[:, :1])
        if longest > 1:
            cache = read.past_key_values
            cache.batch_select_indices(which)
            # The mask is all ones: a causal model's real tokens come before any padding.
            mask = ids.new_ones((len(rows), ids.shape[1] + longest - 1))
            out = model(input_ids=tokens[:, :-1], attention_mask=mask, past_key_values=cache)
            logs = np.concatenate([logs, _log_of(out.logits, tokens[:, 1:])], axis=1)
    return [float(logs[n, row.start : len(row.tokens)].sum()) for n, row in enumerate(rows)]


def _by_decoder(loaded: LoadedModel, question: Choices, batch: int) -> np.ndarray:
    """Score continuations as outputs of the decoder; the prompt is encoded once."""
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    model, end = loaded.model, loaded.ends[0]
    ids = token_ids(loaded, question.prompt, question.special)
    if len(ids) > loaded.context:
        ids = [*ids[: loaded.context - 1], ids[-1]]
    prompt = torch.tensor([ids], device=loaded.device)
    # With special tokens, since some decoders were trained to begin with one.
    targets = [token_ids(loaded, target, True) for target in question.continuations]
    targets = [target if target[-1:] == [end] else [*target, end] for target in targets]
    sums: list[float] = []
    with torch.inference_mode():
        states = model.get_encoder()(input_ids=prompt).last_hidden_state
        for first in range(0, len(targets), batch):
            part = targets[first : first + batch]
            labels = torch.full((len(part), max(map(len, part))), end)
            for row, target in enumerate(part):
                labels[row, : len(target)] = torch.tensor(target)
            labels = labels.to(loaded.device)
            start = torch.full_like(labels[:, :1], model.config.decoder_start_token_id)
            out = model(
                encoder_outputs=BaseModelOutput(last_hidden_state=states.expand(len(part), -1, -1)),
                attention_mask=torch.ones_like(prompt).expand(len(part), -1),
                decoder_input_ids=torch.cat([start, labels[:, :-1]], dim=1),
            )
            logs = _log_of(out.logits, labels)
            sums += [float(logs[row, : len(target)].sum()) for row, target in enumerate(part)]
    return np.array(sums)


def _log_of(logits: Any, tokens: Any) -> np.ndarray:
    """Return float64 (rows, tokens): the log-probabilities of tokens, by the logits before them."""
    logits = logits.float()
    chosen = logits.gather(-1, tokens.unsqueeze(-1)).squeeze(-1) - logits.logsumexp(-1)
    logs: np.ndarray = chosen.double().cpu().numpy()
    return logs
