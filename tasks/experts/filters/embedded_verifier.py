"""The embedded verifier: a small network over features of how claim and evidence align.

`verifier.npz` was trained by `recipes.verifier.train`; the README beside it states
the data, the figures and the licence.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from tasks.experts.filters.alignment import (
    copied_share,
    features,
    soft_features,
    word_vectors,
    words_in,
)
from tasks.experts.filters.verifier import LONGEST, UNKNOWN
from tasks.models.encoders.minilm import MiniLM
from tasks.text.languages import is_chinese
from tasks.text.sentences import sentences

WEIGHTS = Path(__file__).with_name("verifier.npz")
MOST_SENTENCES = 1000  # that are read of a piece of evidence
TOGETHER = 2  # sentences of the evidence that are joined for a verdict
LONGEST_SENTENCE = 600  # characters


class EmbeddedVerifier:
    """Verifies English claims, at 35 to 80 pairs per second on two busy cores.

    Its features are those of English, so it leaves Chinese open.
    """

    def __init__(self) -> None:
        """Read the weights; MiniLM is loaded when it is first used."""
        with np.load(WEIGHTS, allow_pickle=False) as arrays:
            self._weights = {name: arrays[name].astype(np.float64) for name in arrays.files}
        digest = hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()
        self.id = f"embedded-{digest[:12]}"

    def verify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return float64 (pairs, 3): support, refute, unknown of each (evidence, claim).

        Only the two sentences of the evidence that share most words with the claim are read. The
        verdict is unknown if the claim or the evidence has no words or is Chinese.
        """
        read = readable(pairs)
        verdicts = np.zeros((len(pairs), 3))
        verdicts[:, UNKNOWN] = 1.0
        places = [n for n, pair in enumerate(read) if all(map(_is_legible, pair))]
        if places:
            rows = describe([read[place] for place in places], self._encoder)
            verdicts[places] = weigh(rows, self._weights)
        return verdicts

    def faithful(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return (pairs): the share of a sentence's bigrams and trigrams that its original has.

        On half of the articles of QAGS this agreed better with human judgements than the verdicts
        did, since most errors of summaries arise where they recombine words. A true paraphrase
        scores low.
        """
        return np.array(
            [copied_share(original[:LONGEST], part[:LONGEST]) for original, part in pairs]
        ).reshape(-1)

    @cached_property
    def _encoder(self) -> MiniLM:
        return MiniLM()


def _is_legible(text: str) -> bool:
    return bool(words_in(text).plain) and not is_chinese(text)


def readable(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs, cut to the telling part of the evidence and the start of the claim."""
    return [(telling_part(evidence, claim), claim[:LONGEST_SENTENCE]) for evidence, claim in pairs]


def describe(pairs: Sequence[tuple[str, str]], encoder: MiniLM) -> np.ndarray:
    """Return the features (pairs, n) that the network reads."""
    texts = sorted({text for pair in pairs for text in pair})
    read = dict(zip(texts, encoder.encode_tokens(texts), strict=True))
    rows = []
    for evidence, claim in pairs:
        shown, claim_words = words_in(evidence), words_in(claim)
        means = [read[text][1].mean(axis=0) for text in (evidence, claim)]
        likeness = float(means[0] @ means[1] / max(1e-9, np.prod(np.linalg.norm(means, axis=1))))
        vectors = [word_vectors(words_in(text), *read[text]) for text in (claim, evidence)]
        rows.append(
            np.concatenate(
                [features(evidence, claim, likeness), soft_features(claim_words, shown, *vectors)]
            )
        )
    return np.array(rows)


def weigh(rows: np.ndarray, weights: dict[str, np.ndarray]) -> np.ndarray:
    """Return probabilities (pairs, 3) by a network with one hidden layer and a temperature."""
    value = (rows - weights["mean"]) / weights["spread"]
    value = np.maximum(np.clip(value, -6, 6) @ weights["hidden"] + weights["hidden_bias"], 0)
    value = (value @ weights["out"] + weights["out_bias"]) / weights["temperature"]
    value = np.exp(value - value.max(axis=1, keepdims=True))
    shares: np.ndarray = value / value.sum(axis=1, keepdims=True)
    return shares


def telling_part(evidence: str, claim: str) -> str:
    """Return the sentences of the evidence, two at most, that cover most of the claim's words."""
    evidence = evidence[:LONGEST]
    spans = sentences(evidence)[:MOST_SENTENCES]
    parts = [evidence[a:b][:LONGEST_SENTENCE] for a, b in spans]
    if len(parts) <= 1:
        return "".join(parts)
    claim_words = words_in(claim[:LONGEST_SENTENCE])
    wanted = {s for s, c in zip(claim_words.stems, claim_words.content, strict=True) if c}
    known = [set(words_in(part).stems) for part in parts]
    chosen: list[int] = []
    for _ in range(TOGETHER):
        gains = [len(wanted & words) for words in known]
        best = max(range(len(parts)), key=gains.__getitem__)
        if chosen and not gains[best]:
            break
        chosen.append(best)
        wanted -= known[best]
    return " ".join(parts[place] for place in sorted(set(chosen)))
