"""Reuse of a local model's keys and values for the prefix that prompts of one purpose share.

Instructions and examples come first in every prompt and are most of it. Their keys and values are
kept, so that the model reads only the rest of each further prompt.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from tasks.models.loaded_model import LoadedModel

LEAST = 64  # tokens; a shorter prefix is read again
MOST_KEPT = 4  # prefixes


@dataclass(slots=True)
class _Beginning:
    """A prefix of earlier prompts, and the model's states for some of its first tokens."""

    tokens: list[int]
    states: list[tuple[Any, Any]] = field(default_factory=list)  # keys and values by layer

    @property
    def read(self) -> int:
        """The number of tokens whose states are kept."""
        return int(self.states[0][0].shape[2]) if self.states else 0


class SharedPrefixes:
    """Keeps the states that a causal model computed for the last few prompt prefixes."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded = loaded
        self._usable = not loaded.sequence_to_sequence
        self._kept: OrderedDict[tuple[int, ...], _Beginning] = OrderedDict()

    def clear(self) -> None:
        """Release all states."""
        self._kept.clear()

    def begin(self, prompts: Sequence[list[int]]) -> tuple[int, Any]:
        """Return the length of the shared prefix that need not be read, and a cache of its states.

        The cache has a row per prompt. The result is (0, None) if the prompts share too little with
        each other and with earlier ones, or if the model's cache is not one of keys and values of
        all tokens.
        """
        first = prompts[0]
        common = min((shared_length(first, prompt) for prompt in prompts[1:]), default=len(first))
        common = min(common, min(map(len, prompts)) - 1)  # a model must read something
        if not self._usable or common < LEAST:
            return 0, None
        key = tuple(first[:LEAST])
        known = self._kept.get(key)
        if known is None:
            self._keep(key, _Beginning(first[:common]))
            if len(prompts) == 1:  # where the shared part ends is not known yet
                return 0, None
        beginning = self._kept[key]
        self._kept.move_to_end(key)
        beginning.tokens = beginning.tokens[: shared_length(beginning.tokens, first[:common])]
        size = len(beginning.tokens)
        if beginning.read < size:
            beginning.states = self._read(beginning.tokens)
        if not beginning.states:
            return 0, None
        return size, _rows(beginning.states, size, len(prompts))

    def _keep(self, key: tuple[int, ...], beginning: _Beginning) -> None:
        self._kept[key] = beginning
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def _read(self, tokens: list[int]) -> list[tuple[Any, Any]]:
        import torch
        from transformers.cache_utils import DynamicCache, DynamicLayer

        ids = torch.tensor([tokens], device=self._loaded.device)
        with torch.inference_mode():
            cache = self._loaded.model(input_ids=ids, use_cache=True).past_key_values
        whole = type(cache) is DynamicCache
        if not whole or any(type(layer) is not DynamicLayer for layer in cache.layers):
            self._usable = False
            return []
        return [(layer.keys, layer.values) for layer in cache.layers]


def _rows(states: Sequence[tuple[Any, Any]], size: int, rows: int) -> Any:
    """Return a cache that holds the states of the first `size` tokens in each row."""
    from transformers.cache_utils import DynamicCache

    cache = DynamicCache()
    for layer, pair in enumerate(states):
        keys, values = (part[:, :, :size].expand(rows, -1, -1, -1) for part in pair)
        cache.update(keys, values, layer)
    return cache


def shared_length(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the length of the common beginning of two sequences."""
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
