"""Read answers from texts: networks predict where an answer starts and ends."""

import json
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tasks.models.encoders.e5 import e5_is_installed
from tasks.models.span_reader.networks import MiniLMNetwork, MultilingualNetwork, Network
from tasks.models.span_reader.windows import TextTokens, windows
from tasks.text.chinese_words import simplified
from tasks.text.code_lines import sentences_and_lines
from tasks.text.languages import HAN, language_of

SHIPPED = Path(__file__).with_name("model")
ON_MINILM = SHIPPED / "minilm.safetensors"
MULTILINGUAL = SHIPPED / "multilingual.safetensors"
WIDEST_GAP = 8.0  # between answers; a wider one makes no answer more probable
EACH = 3  # spans of a window that are kept
# The shares of `both_readers`; one pretrained on English alone cannot read across languages.
ACROSS = "across"
SHARES = {"en": (0.5, 0.5), "zh": (0.7, 0.3), ACROSS: (1.0, 0.0)}
UNSEEN = 4.0  # below its sentence's margin is that of a span which a network does not keep


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
        """Read with networks; a card has the weights of their probabilities."""
        self._networks = networks
        self._threads = min(os.cpu_count() or 1, 8)
        self._weights: dict[str, Any] = json.loads(card.read_text("utf-8")) if card else {}

    def read(self, question: str, texts: list[str]) -> list[Span]:
        """Return the likeliest spans of each text's windows, the best first.

        Margins are the means of those of all networks (Lakshminarayanan et al. 2017), by SHARES.
        """
        question, *texts = _in_one_script(question, texts)
        begins = [[start for start, _ in sentences_and_lines(text)] for text in texts]
        with ThreadPoolExecutor(self._threads) as pool:
            found = [_found(network, question, texts, begins, pool) for network in self._networks]
        spans = [
            Span(number, start, end, *margins)
            for number, text in enumerate(texts)
            for (start, end), margins in _together(
                [one[number] for one in found], self._shares(self.languages(question, text))
            ).items()
        ]
        return sorted(spans, key=lambda span: -span.margin)

    def languages(self, question: str, text: str) -> str:
        """Return how a text is read: in `en` or `zh`, or `across` them if the reader can."""
        language = language_of(question)
        is_across = language != language_of(text) and ACROSS in self._weights
        return ACROSS if is_across else language

    def _shares(self, languages: str) -> tuple[float, ...]:
        return SHARES[languages] if len(self._networks) > 1 else (1.0,)

    def worth(self, margin: float, covered: float, languages: str, unit: Unit) -> float:
        """Return the margin of an answer plus a bonus for its sentence.

        `languages` are those of the question and the text. `covered` is the share, 0 to 1, of the
        question's words that the sentence has with its title and headings.
        """
        bonus: float = self._weights[languages][unit]["covered"] * covered
        return margin + bonus

    def probability(self, worth: float, gap: float, languages: str, unit: Unit) -> float:
        """Return the probability that an answer is right, from its worth and its gap to the next.

        The weights are fitted to held-out questions in the languages.
        """
        weights = self._weights[languages][unit]
        value = weights["worth"] * worth + weights["gap"] * min(gap, WIDEST_GAP)
        return _logistic(value + weights["intercept"])

    def shares_of_sections(self, measures: Sequence[Sequence[float]]) -> list[float]:
        """Return the probabilities with which each section answers a question; one at most does.

        The measures of each are the log of the sum of its sentences' odds, the shares of the
        question's words that it covers with and by its title and headings, the cosine and a tenth
        of the rank of its text, and whether it has a list or code where the question asks for one.
        """
        weights = self._weights.get("sections")
        if not weights or not measures:
            return [0.0] * len(measures)
        values = np.array(measures) @ np.array(weights["measures"]) + weights["intercept"]
        shares: list[float] = np.exp(values - np.logaddexp.reduce([0.0, *values])).tolist()
        return shares


def _in_one_script(question: str, texts: list[str]) -> list[str]:
    """Return a question and texts, all simplified unless all that are Chinese are traditional.

    The networks read either script, but not a question in one and a text in the other.
    """
    written = [question, *texts]
    converted = [simplified(text) for text in written]
    chinese = [pair for pair in zip(written, converted, strict=True) if HAN.search(pair[0])]
    return written if all(text != plain for text, plain in chinese) else converted


@dataclass(frozen=True, slots=True)
class _Found:
    """What a network finds in a text: margins of spans, with their sentences, and of sentences."""

    spans: dict[tuple[int, int], tuple[float, int]]
    sentences: dict[int, float]


def _found(
    network: Network,
    question: str,
    texts: list[str],
    begins: list[list[int]],
    pool: ThreadPoolExecutor,
) -> list[_Found]:
    """Return what a network finds in each text, whose sentences begin at these characters."""
    pieces = network.pieces
    question_ids, tokens = pieces.question(question), pieces.texts(texts)
    parts = [(number, window) for number, t in enumerate(tokens) for window in windows(t)]
    parts.sort(key=lambda part: part[1][0] - part[1][1])  # so that no thread ends with a long one
    inputs = [pieces.pair(question_ids, tokens[number], window) for number, window in parts]
    found = [_Found({}, {}) for _ in texts]
    for (number, window), logits in zip(parts, pool.map(network.logits, inputs), strict=True):
        _note(found[number], tokens[number], window, logits, begins[number])
    return found


def _note(
    found: _Found,
    tokens: TextTokens,
    window: tuple[int, int],
    logits: np.ndarray,
    begins: list[int],
) -> None:
    """Note the likeliest spans of a window of a text, and all sentences and lines of code.

    Lines of code are one sentence to a network; a span counts for the line in which it starts.
    """
    first = len(logits) - 1 - (window[1] - window[0])  # token of the window's first
    start, end = logits[first:-1, 0], logits[first:-1, 1]
    pairs = start[:, None] + end[None, :] - logits[0].sum()
    pairs[np.tril_indices(len(pairs), -1)] = -math.inf
    joined = np.searchsorted(tokens.starts, np.arange(*window), side="right")
    pairs[joined[:, None] != joined[None, :]] = -math.inf
    offsets = tokens.offsets[slice(*window)]
    sentence = np.searchsorted(begins, [place for place, _ in offsets], side="right")
    for place in set(sentence.tolist()):
        margin = float(np.logaddexp.reduce(pairs[sentence == place], axis=None))
        found.sentences[place] = max(margin, found.sentences.get(place, -math.inf))
    for best in np.argsort(-pairs, axis=None)[:EACH]:
        row, column = divmod(int(best), len(pairs))
        span, margin = (offsets[row][0], offsets[column][1]), float(pairs[row, column])
        if margin > found.spans.get(span, (-math.inf, 0))[0]:
            found.spans[span] = margin, int(sentence[row])


def _together(
    found: list[_Found], shares: Sequence[float]
) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the spans of a text with their margins and those of their sentences, by all networks.

    A span's margin is that of its sentence and what it has less: `UNSEEN` for a network that does
    not have it among its likeliest. It is also below nothing for a sentence that one does not see.
    """
    together = {}
    for span, place in {span: at for one in found for span, (_, at) in one.spans.items()}.items():
        sentence = margin = 0.0
        for one, share in zip(found, shares, strict=True):
            whole = one.sentences.get(place, -UNSEEN)
            less = one.spans[span][0] - whole if span in one.spans else -UNSEEN
            sentence += share * whole
            margin += share * (whole + less)
        together[span] = margin, sentence
    return together


def _logistic(value: float) -> float:
    return round(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, value)))), 3)


def trained_reader() -> TrainedReader:
    """Return the reader of passages: both networks, or that on MiniLM alone without e5-small."""
    return both_readers() if e5_is_installed() else minilm_reader()


@cache
def both_readers() -> TrainedReader:
    """Return the reader with both networks; AlmanacError where one's encoder is not installed."""
    networks = MultilingualNetwork(MULTILINGUAL), MiniLMNetwork(ON_MINILM)
    return TrainedReader(*networks, card=SHIPPED / "both.json")


@cache
def minilm_reader() -> TrainedReader:
    """Return the reader on MiniLM alone, which reads facts: it learned from many relations.

    An ontology's confidence is fitted to its margins.
    """
    return TrainedReader(MiniLMNetwork(ON_MINILM), card=ON_MINILM.with_suffix(".json"))
