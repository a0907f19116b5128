"""Read answers from texts: networks predict where an answer starts and ends.

The logits are the mean of those of all networks of a reader (Lakshminarayanan et al. 2017). The
first one decides which windows the others read, too.
"""

import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from schemas.extras import E5_SMALL
from tasks.models.span_reader.networks import MiniLMNetwork, MultilingualNetwork, Network
from tasks.models.span_reader.windows import TextTokens, windows
from tasks.text.chinese_words import simplified
from tasks.text.languages import HAN

SHIPPED = Path(__file__).with_name("model")
FIRST, SECOND = SHIPPED / "first.safetensors", SHIPPED / "second.safetensors"
MULTILINGUAL = SHIPPED / "multilingual.safetensors"
HOPELESS = -3.0  # margin of the first network, below which the others do not read a window
WIDEST_GAP = 8.0  # between answers; a wider one makes no answer more probable
EACH = 3  # spans of a window that are kept


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


class TrainedReader:
    """Finds the answers to a question in texts."""

    def __init__(self, *networks: Network, card: Path | None = None) -> None:
        """Read with networks of the same pieces; a card has the weights of their probabilities."""
        self._networks = networks
        self._threads = min(os.cpu_count() or 1, 8)
        self._weights: dict[str, Any] = json.loads(card.read_text("utf-8")) if card else {}

    def read(self, question: str, texts: list[str]) -> list[Span]:
        """Return the likeliest spans of each text's windows, the best first."""
        question, *texts = _in_one_script(question, texts)
        pieces = self._networks[0].pieces
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
        """Return the networks' mean, or the first one's logits if it finds nothing."""
        first, *others = self._networks
        logits = first.logits(ids)
        margin = (logits[1:].max(axis=0) - logits[0]).sum()  # at most, as ends may be in disorder
        if not others or margin < HOPELESS:
            return logits
        mean: np.ndarray = np.mean([logits, *(other.logits(ids) for other in others)], axis=0)
        return mean


def _in_one_script(question: str, texts: list[str]) -> list[str]:
    """Return a question and texts, all simplified unless all that are Chinese are traditional.

    The networks read either script, but not a question in one and a text in the other.
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


def reader_beside(encoder: str) -> TrainedReader:
    """Return the reader of passages that an encoder of this name embeds.

    Facts, which are short, are read by `trained_reader` in all homes.
    """
    return multilingual_reader() if encoder == E5_SMALL else trained_reader()


@cache
def trained_reader() -> TrainedReader:
    """Return the reader on MiniLM, loaded once in a process."""
    card = SHIPPED / "reader.json"
    return TrainedReader(MiniLMNetwork(FIRST), MiniLMNetwork(SECOND), card=card)


@cache
def relation_reader() -> TrainedReader:
    """Return its first network alone, to whose margins an ontology's confidence is fitted."""
    return TrainedReader(MiniLMNetwork(FIRST), card=SHIPPED / "reader.json")


@cache
def multilingual_reader() -> TrainedReader:
    """Return the reader on multilingual-e5-small; AlmanacError where that is not installed."""
    return TrainedReader(MultilingualNetwork(MULTILINGUAL), card=MULTILINGUAL.with_suffix(".json"))
