"""The loop in which a loaded model writes: one token after another, for many prompts at once.

What comes next is for a chooser to decide: the likeliest token, one drawn with the row's own random
numbers (`Draw`), or the likeliest that a grammar allows (`tasks.models.constrained`).
`transformers.generate` draws all rows from one generator, and goes on computing rows that have
ended; here these leave the batch. The caches are those of the library.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from schemas.errors import AlmanacError
from tasks.models.loaded_model import LoadedModel


class Chooser(Protocol):
    """Decides how rows go on."""

    def __call__(self, logits: Any, rows: Sequence[int]) -> tuple[Any, Sequence[bool]]:
        """Return the next token of each of these rows of the batch, and whether it is the last.

        `logits` is a float32 tensor (rows, vocabulary), the tokens are a tensor (rows,).
        """


def decode(
    loaded: LoadedModel,
    prompts: Sequence[Sequence[int]],
    choose: Chooser,
    most: int,
    *,
    is_over: Callable[[], bool] = lambda: False,
    read: int = 0,
    cache: Any = None,
) -> list[list[int]]:
    """Return the tokens that follow each prompt, including the last one that a chooser chose.

    At most `most` tokens are written; all rows end when `is_over` returns true. `cache` has the
    states of the first `read` tokens, which all prompts share (`SharedPrefixes.begin`).
    """
    import torch

    written: list[list[int]] = [[] for _ in prompts]
    going = list(range(len(prompts)))
    with torch.inference_mode():
        batch = (_Encoded if loaded.sequence_to_sequence else _Continued)(
            loaded, prompts, read, cache
        )
        for _ in range(most):
            chosen, ended = choose(batch.logits(), going)
            for row, token in zip(going, chosen.tolist(), strict=True):
                written[row].append(token)
            if all(ended) or is_over():
                break
            keep = [place for place, end in enumerate(ended) if not end]
            if len(keep) < len(going):
                chosen = chosen[keep]
                batch.keep(torch.tensor(keep, device=chosen.device))
                going = [going[place] for place in keep]
            batch.add(chosen)
    return written


class _Continued:
    """The rows of a causal model, which continues its prompts."""

    def __init__(
        self, loaded: LoadedModel, prompts: Sequence[Sequence[int]], read: int, cache: Any
    ) -> None:
        import torch

        self._ids, mask = padded([prompt[read:] for prompt in prompts], loaded)
        self._mask = torch.cat([mask.new_ones((len(prompts), read)), mask], dim=1)
        self._forward, self._cache = loaded.model, cache
        known = inspect.signature(loaded.model.forward).parameters
        self._options: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in known else {}
        self._has_positions = "position_ids" in known

    def logits(self) -> Any:
        """Read the tokens that are new, and return the logits of the next."""
        if self._has_positions:
            places = (self._mask.cumsum(-1) - 1).clamp(min=0)
            self._options["position_ids"] = places[:, -self._ids.shape[1] :]
        out = self._forward(
            input_ids=self._ids,
            attention_mask=self._mask,
            past_key_values=self._cache,
            use_cache=True,
            **self._options,
        )
        self._cache = out.get("past_key_values")
        return out.logits[:, -1].float()

    def keep(self, rows: Any) -> None:
        """Remove all other rows."""
        self._ids, self._mask = self._ids[rows], self._mask[rows]
        if self._cache is not None:
            self._cache.reorder_cache(rows)

    def add(self, tokens: Any) -> None:
        """Append a token to each row; a model without a cache reads the whole text again."""
        import torch

        new = tokens[:, None]
        self._ids = new if self._cache is not None else torch.cat([self._ids, new], dim=1)
        self._mask = torch.cat([self._mask, self._mask.new_ones((len(new), 1))], dim=1)


class _Encoded:
    """The rows of a model with an encoder, which reads the prompts, and a decoder."""

    def __init__(
        self, loaded: LoadedModel, prompts: Sequence[Sequence[int]], read: int, cache: Any
    ) -> None:
        self._model, self._cache = loaded.model, cache
        ids, self._mask = padded(prompts, loaded)
        encoder = loaded.model.get_encoder()
        self._states = encoder(input_ids=ids, attention_mask=self._mask).last_hidden_state
        self._ids = ids.new_full((len(prompts), 1), loaded.model.config.decoder_start_token_id)

    def logits(self) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        out = self._model(
            encoder_outputs=BaseModelOutput(last_hidden_state=self._states),
            attention_mask=self._mask,
            decoder_input_ids=self._ids,
            past_key_values=self._cache,
            use_cache=True,
        )
        self._cache = out.past_key_values
        return out.logits[:, -1].float()

    def keep(self, rows: Any) -> None:
        self._mask, self._states = self._mask[rows], self._states[rows]
        self._cache.reorder_cache(rows)

    def add(self, tokens: Any) -> None:
        self._ids = tokens[:, None]


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


class Draw:
    """Draws each row's tokens with random numbers of its own, up to an end token.

    So a text does not depend on those in its batch. With a temperature of 0 it is the likeliest.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        noise: np.ndarray,
        temperature: float = 0.0,
        top_p: float = 1.0,
        least: int = 0,
    ) -> None:
        """Take `noise`, the random number in [0, 1) of each row and step.

        No text ends before it has `least` tokens.
        """
        import torch

        self._noise = torch.tensor(noise, dtype=torch.float64, device=loaded.device)
        self._ends = torch.tensor(loaded.ends, device=loaded.device)
        self._temperature, self._top_p, self._least = temperature, top_p, least
        self._step = 0

    def __call__(self, logits: Any, rows: Sequence[int]) -> tuple[Any, Sequence[bool]]:
        """Return the next tokens; AlmanacError if the model computes no probabilities."""
        import torch

        if not bool((logits < torch.inf).all()):  # NaN is not less than anything
            raise AlmanacError(
                "The model's weights, or what it computes with them, are no finite numbers. Train "
                "it again."
            )
        if self._step < self._least:
            logits[:, self._ends] = -torch.inf
        drawn = self._noise[list(rows), self._step]
        self._step += 1
        chosen = drawn_tokens(logits, drawn, self._temperature, self._top_p)
        return chosen, torch.isin(chosen, self._ends).tolist()


def drawn_tokens(logits: Any, drawn: Any, temperature: float, top_p: float) -> Any:
    """Return a token for each row of `logits`, drawn by inverse transform sampling.

    `drawn` has a random number in [0, 1) for each row. Only the most probable tokens that together
    have at least probability `top_p` can be drawn (nucleus sampling). With a temperature of 0 each
    token is the most probable one.
    """
    import torch

    if temperature == 0:
        return logits.argmax(-1)
    chances, order = torch.softmax(logits.double() / temperature, dim=-1).sort(
        dim=-1, descending=True, stable=True
    )
    sums = chances.cumsum(-1)
    kept = torch.where(sums - chances < top_p, chances, 0.0)
    sums = kept.cumsum(-1)
    place = (sums <= drawn[:, None] * sums[:, -1:]).sum(-1)
    last = (kept > 0).sum(-1) - 1
    return order.gather(-1, torch.minimum(place, last)[:, None])[:, 0]
