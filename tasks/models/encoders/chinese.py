"""Encodes Chinese: MiniLM with vectors for Chinese characters and tuned upper layers.

How it was made is told in chinese_model/README.md.
"""

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from tasks.models.encoders.minilm import MAX_TOKENS, MiniLM, cached_file, checked_weights, opened
from tasks.models.encoders.minilm_graph import RECIPE, build_minilm_graph
from tasks.models.encoders.stored_weights import OWN_WORDS, load_weights
from tasks.models.encoders.vocabulary import CHINESE_MODEL, load_tokenizer, word_vectors

WEIGHTS = CHINESE_MODEL / "encoder.safetensors"


class ChineseMiniLM(MiniLM):
    """The shipped encoder of Chinese questions and passages."""

    def __init__(self) -> None:
        """Find the weights; graph and tokeniser are loaded at first use."""
        super().__init__()
        self._hash = hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()
        self.id = f"minilm-zh-{self._hash[:8]}-{RECIPE}"

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(MAX_TOKENS)

    @cached_property
    def _own_words(self) -> np.ndarray:
        return load_weights(WEIGHTS, {OWN_WORDS})[OWN_WORDS]

    @cached_property
    def _session(self) -> Any:
        def graph() -> bytes:
            packaged = load_file(str(checked_weights(self._folder)))
            return build_minilm_graph(packaged | load_weights(WEIGHTS))

        return opened(cached_file(f"minilm-zh-{self._hash[:16]}-{RECIPE}-layers.onnx", graph))

    def _words(self, ids: list[int]) -> np.ndarray:
        return word_vectors(ids, self._own_words)
