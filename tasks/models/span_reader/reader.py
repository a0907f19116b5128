"""Read answers from texts: MiniLM with tuned layers predicts where an answer starts and ends.

The logits are the mean of those of all trained models in a folder (Lakshminarayanan et al. 2017).
The first model decides which windows the others read, too.
Packaged and tuned weights make a graph for ONNX Runtime, which mirrors
`recipes/reader/network.py`.
"""

import hashlib
import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors.numpy import load_file

from tasks.models.encoders.minilm import cached_file, checked_weights, minilm_folder, opened
from tasks.models.encoders.minilm_graph import LAYERS, RECIPE, WIDTH, build_states_graph
from tasks.models.encoders.stored_weights import OWN_WORDS, load_weights
from tasks.models.encoders.vocabulary import load_tokenizer, word_vectors
from tasks.models.span_reader.windows import Pieces, TextTokens, windows
from tasks.text.chinese_words import simplified
from tasks.text.languages import HAN

SHIPPED_MODEL = Path(__file__).with_name("model")
WIDEST_GAP = 8.0  # between answers; a wider one makes no answer more probable
EACH = 3  # spans of a window that are kept
HOPELESS = -3.0  # margin of the first model, below which the others do not read a window
OUTSIDE = {"ends.weight", "ends.bias", OWN_WORDS}  # weights that numpy applies, not the graph


@dataclass(frozen=True, slots=True)
class Span:
    """A span of characters of a text that may be the answer.

    It lies within a sentence. `margin` is the excess of its logits over those of "no answer" in
    its window, `sentence_margin` that of all spans of its sentence together.
    """

    text: int
    start: int
    end: int
    margin: float
    sentence_margin: float


Unit = Literal["words", "sentence"]
"""The unit of an answer: some words of a sentence, or the whole sentence."""


class _Model:
    """One trained model: its graph, its vectors of characters, and its output layer."""

    def __init__(self, file: Path) -> None:
        """Load the weights and the graph, which takes a second the first time ever."""
        rows = load_weights(file, OUTSIDE)
        self._ends, self._bias = rows["ends.weight"].T, rows["ends.bias"]
        self._own_words = rows.get(OWN_WORDS, np.zeros((1, WIDTH), np.float32))
        name = f"reader-{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}-{RECIPE}-layers.onnx"
        self._session = opened(cached_file(name, lambda: _graph(file)))

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


class TrainedReader:
    """Finds the answers to a question in texts."""

    def __init__(self, folder: Path = SHIPPED_MODEL, models: str = "*.safetensors") -> None:
        """Load the models in a folder whose names match, and the weights of their probabilities."""
        self._pieces = Pieces(load_tokenizer())
        self._models = [_Model(file) for file in sorted(folder.glob(models))]
        self._threads = min(os.cpu_count() or 1, 8)
        card = folder / "reader.json"
        known = json.loads(card.read_text("utf-8")) if card.exists() else {}
        self._weights: dict[str, Any] = known

    def read(self, question: str, texts: list[str]) -> list[Span]:
        """Return the likeliest spans of each text's windows, the best first."""
        question, *texts = _in_one_script(question, texts)
        pieces = self._pieces
        question_ids, tokens = pieces.question(question), pieces.texts(texts)
        parts = [(number, window) for number, t in enumerate(tokens) for window in windows(t)]
        parts.sort(
            key=lambda part: part[1][0] - part[1][1]
        )  # so that no thread ends with a long one
        inputs = [pieces.pair(question_ids, tokens[number], window) for number, window in parts]
        with ThreadPoolExecutor(self._threads) as pool:
            read = pool.map(self._logits, inputs)
            best: dict[tuple[int, int, int], Span] = {}
            for (number, window), logits in zip(parts, read, strict=True):
                for span in _spans(number, tokens[number], window, logits):
                    key = (span.text, span.start, span.end)
                    if key not in best or best[key].margin < span.margin:
                        best[key] = span
        return sorted(best.values(), key=lambda span: -span.margin)

    def worth(self, margin: float, covered: float, language: str, unit: Unit) -> float:
        """Return the margin of an answer plus a bonus for its sentence.

        `covered` is the share, 0 to 1, of the question's words that the sentence has with its title
        and headings.
        """
        bonus: float = self._weights[language][unit]["covered"] * covered
        return margin + bonus

    def probability(self, worth: float, gap: float, language: str, unit: Unit) -> float:
        """Return the probability that an answer is right, from its worth and its gap to the next.

        The weights are fitted to held-out questions in the language.
        """
        weights = self._weights[language][unit]
        value = weights["worth"] * worth + weights["gap"] * min(gap, WIDEST_GAP)
        return _logistic(value + weights["intercept"])

    def _logits(self, ids: list[int]) -> np.ndarray:
        """Return float32 (tokens, 2): the models' mean, or the first one's if it finds nothing."""
        first, *others = self._models
        logits = first.logits(ids)
        margin = (logits[1:].max(axis=0) - logits[0]).sum()  # at most, as ends may be in disorder
        if margin < HOPELESS:
            return logits
        mean: np.ndarray = np.mean([logits, *(model.logits(ids) for model in others)], axis=0)
        return mean


def _in_one_script(question: str, texts: list[str]) -> list[str]:
    """Return a question and texts, all simplified unless all that are Chinese are traditional.

    The models read either script, but not a question in one and a text in the other.
    """
    written = [question, *texts]
    converted = [simplified(text) for text in written]
    chinese = [pair for pair in zip(written, converted, strict=True) if HAN.search(pair[0])]
    return written if all(text != plain for text, plain in chinese) else converted


def _spans(
    number: int, tokens: TextTokens, window: tuple[int, int], logits: np.ndarray
) -> list[Span]:
    """Return the likeliest spans of a window of the text with this number."""
    first = len(logits) - 1 - (window[1] - window[0])  # token of the window's first
    start, end = logits[first:-1, 0], logits[first:-1, 1]
    pairs = start[:, None] + end[None, :] - logits[0].sum()
    pairs[np.tril_indices(len(pairs), -1)] = -math.inf
    sentence = np.searchsorted(tokens.starts, np.arange(*window), side="right")
    pairs[sentence[:, None] != sentence[None, :]] = -math.inf
    best = np.argsort(-pairs, axis=None)[:EACH]
    offsets = tokens.offsets
    together = {
        place: float(np.logaddexp.reduce(pairs[sentence == place], axis=None))
        for place in set(sentence[best // len(pairs)].tolist())
    }
    return [
        Span(
            number,
            offsets[window[0] + int(row)][0],
            offsets[window[0] + int(column)][1],
            float(pairs[row, column]),
            together[int(sentence[row])],
        )
        for row, column in zip(*np.unravel_index(best, pairs.shape), strict=True)
        if pairs[row, column] > -math.inf
    ]


def _logistic(value: float) -> float:
    return round(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, value)))), 3)


def _graph(file: Path) -> bytes:
    weights = load_file(str(checked_weights(minilm_folder()))) | load_weights(file)
    return build_states_graph(weights, {"states": LAYERS}, pairs=True)


@cache
def trained_reader() -> TrainedReader:
    """Return the shipped models, loaded once in a process."""
    return TrainedReader()


@cache
def relation_reader() -> TrainedReader:
    """Return the first shipped model alone, to whose margins an ontology's confidence is fitted."""
    return TrainedReader(models="first.safetensors")
