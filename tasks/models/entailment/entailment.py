"""Tells whether evidence supports a claim, contradicts it, or does not say.

MiniLM reads claim and evidence together. Its embeddings and lower layers are those of the span
reader, the upper ones were tuned by `recipes.entailment.train`; the card beside the weights states
data, figures and licence.
"""

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from tasks.models.encoders.minilm import cached_file, checked_weights, minilm_folder, opened
from tasks.models.encoders.minilm_graph import LAYERS, RECIPE, build_states_graph
from tasks.models.encoders.stored_weights import OWN_WORDS, load_weights
from tasks.models.encoders.vocabulary import load_tokenizer, word_vectors
from tasks.models.span_reader.reader import ON_MINILM
from tasks.models.span_reader.windows import CLS, SEP

WEIGHTS = Path(__file__).with_name("model") / "entailment.safetensors"
VERDICT = "verdict"  # the output layer
SUPPORT, REFUTE, UNKNOWN = range(3)  # its columns
CLAIM, EVIDENCE = 64, 176  # tokens that are read of either


class Entailment:
    """Judges pairs of evidence and claim, in English; each takes some milliseconds."""

    def __init__(self) -> None:
        """Load the weights and the graph, which takes a second the first time ever."""
        rows = load_weights(WEIGHTS, {f"{VERDICT}.weight", f"{VERDICT}.bias"})
        self._verdict, self._bias = rows[f"{VERDICT}.weight"].T, rows[f"{VERDICT}.bias"]
        self._own_words = load_weights(ON_MINILM, {OWN_WORDS})[OWN_WORDS]
        name = f"entailment-{entailment_id()}-{RECIPE}-layers.onnx"
        self._session = opened(cached_file(name, _graph))
        self._threads = min(os.cpu_count() or 1, 8)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return float64 (pairs, 3): support, refute, unknown of each (evidence, claim)."""
        with ThreadPoolExecutor(self._threads) as pool:
            logits = np.array(list(pool.map(self._logits, pair_ids(pairs)))).reshape(-1, 3)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        judged: np.ndarray = shares / shares.sum(axis=1, keepdims=True)
        return judged

    def _logits(self, ids: list[int]) -> np.ndarray:
        words = word_vectors(ids, self._own_words)[None]
        inputs = {"words": words, "ids": np.array([ids], np.int64)}
        first = self._session.run(["states"], inputs)[0][0, 0]
        logits: np.ndarray = first.astype(np.float64) @ self._verdict + self._bias
        return logits


def pair_ids(pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
    """Return the tokens of each (evidence, claim): the claim first, as the reader's question."""
    texts = [text for pair in pairs for text in pair]
    tokens = [e.ids for e in load_tokenizer().encode_batch(texts, add_special_tokens=False)]
    return [
        [CLS, *claim[:CLAIM], SEP, *evidence[:EVIDENCE], SEP]
        for evidence, claim in zip(tokens[::2], tokens[1::2], strict=True)
    ]


@cache
def entailment_id() -> str:
    """Return a name for the weights and those that they build on."""
    files = (ON_MINILM, WEIGHTS)
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _graph() -> bytes:
    packaged = load_file(str(checked_weights(minilm_folder())))
    rows = packaged | load_weights(ON_MINILM) | load_weights(WEIGHTS)
    return build_states_graph(rows, {"states": LAYERS}, pairs=True)


@cache
def shipped_entailment() -> Entailment:
    """Return the shipped model, loaded once in a process; AlmanacError without MiniLM's weights."""
    return Entailment()
