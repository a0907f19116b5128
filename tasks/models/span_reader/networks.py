"""The networks of the reader: the logits with which an answer starts and ends at each token.

The first token stands for "these words do not answer it". Published and tuned weights make graphs
for ONNX Runtime, which mirror the networks of `recipes/reader`.
"""

import hashlib
from pathlib import Path
from typing import Protocol

import numpy as np
from safetensors.numpy import load_file

from tasks.models.encoders.e5 import e5_layers, e5_words
from tasks.models.encoders.minilm import cached_file, checked_weights, minilm_folder, opened
from tasks.models.encoders.minilm_graph import LAYERS, RECIPE, WIDTH, build_states_graph
from tasks.models.encoders.stored_weights import OWN_WORDS, load_weights
from tasks.models.encoders.vocabulary import load_tokenizer, word_vectors
from tasks.models.span_reader.known_pieces import known_rows, known_tokenizer
from tasks.models.span_reader.windows import Pieces

E5_LAYERS = 12
E5_FIRST, E5_PADDING, E5_SEPARATOR = 0, 1, 2  # tokens


class Network(Protocol):
    """A network that reads a question with a window of a text."""

    @property
    def pieces(self) -> Pieces:
        """The tokens that it reads."""
        ...

    def logits(self, ids: list[int]) -> np.ndarray:
        """Return float32 (tokens, 2): the logits of an answer's start and end."""
        ...


class MiniLMNetwork:
    """MiniLM with tuned layers and vectors of Chinese characters."""

    def __init__(self, file: Path) -> None:
        """Load tuned weights and the graph, which takes a second the first time ever."""
        rows = load_weights(file, {"ends.weight", "ends.bias", OWN_WORDS})
        self.pieces = Pieces(load_tokenizer())
        self._ends, self._bias = rows["ends.weight"].T, rows["ends.bias"]
        self._own_words = rows.get(OWN_WORDS, np.zeros((1, WIDTH), np.float32))

        def graph() -> bytes:
            weights = load_file(str(checked_weights(minilm_folder()))) | load_weights(file)
            return build_states_graph(weights, {"states": LAYERS}, pairs=True)

        self._session = opened(cached_file(f"{_name(file)}-layers.onnx", graph))

    def logits(self, ids: list[int]) -> np.ndarray:
        """Return float32 (tokens, 2): the logits of an answer's start and end."""
        logits: np.ndarray = self.states(ids) @ self._ends + self._bias
        return logits

    def states(self, ids: list[int]) -> np.ndarray:
        """Return float32 (tokens, 384): the last layer's state of each token."""
        words = word_vectors(ids, self._own_words)
        inputs = {"words": words[None], "ids": np.array([ids], np.int64)}
        states: np.ndarray = self._session.run(["states"], inputs)[0][0]
        return states


class MultilingualNetwork:
    """multilingual-e5-small, whose upper layers are tuned."""

    def __init__(self, file: Path) -> None:
        """Load tuned weights and the graph; AlmanacError without the encoder."""
        rows = load_weights(file, {"ends.weight", "ends.bias"})
        self.pieces = e5_pieces()
        self._ends, self._bias = rows["ends.weight"].T, rows["ends.bias"]

        def graph() -> bytes:
            return build_states_graph(e5_layers() | load_weights(file), {"states": E5_LAYERS})

        self._session = opened(cached_file(f"{_name(file)}-layers.onnx", graph))

    def logits(self, ids: list[int]) -> np.ndarray:
        """Return float32 (tokens, 2): the logits of an answer's start and end."""
        words = e5_words(known_rows()[ids].tolist())
        states = self._session.run(["states"], {"words": words[None]})[0][0]
        logits: np.ndarray = states @ self._ends + self._bias
        return logits


def e5_pieces() -> Pieces:
    """Return the encoder's known tokens; a question begins as those of the encoder's training."""
    return Pieces(known_tokenizer(), E5_FIRST, E5_SEPARATOR, "query: ")


def _name(file: Path) -> str:
    return f"reader-{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}-{RECIPE}"
