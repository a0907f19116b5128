"""Scores of typed relations between the entities of a text, by MiniLM with tuned upper layers.

The packaged and the tuned weights form one graph for ONNX Runtime; the layers that score pairs are
small enough for numpy. They mirror `training/network.py`.
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf

from tasks.extract.typed.features import kind_number, pair_features
from tasks.models.encoders.minilm import MiniLM, minilm_folder
from tasks.models.encoders.minilm_graph import HEADS, LAYERS, WIDTH, WORDS, build_states_graph

SHIPPED_MODEL = Path(__file__).with_name("model")
LOWER = 4  # layers with the packaged weights; the layers above are tuned
LAST = 5  # layers below the last one, whose attention weights the context of a pair
LONGEST = 512  # tokens that MiniLM can encode; the rest of a text is not read
Span = tuple[int, int]


class TypedModel:
    """Scores each of some relations for pairs of entities in a text."""

    def __init__(self, folder: Path = SHIPPED_MODEL) -> None:
        """Load the weights and build the graph, in about two seconds."""
        from onnxruntime import InferenceSession, SessionOptions
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        tuned = load_file(str(folder / "model.safetensors"))
        weights = load_file(str(minilm_folder() / "model.safetensors"))
        weights |= {name: rows.astype(np.float32) for name, rows in tuned.items()}
        self._weights = weights
        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        graph = build_states_graph(weights, {"below": LAST, "states": LAYERS})
        self._session: Any = InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()
        card = json.loads((folder / "relations.json").read_text("utf-8"))
        self.relations: list[str] = card["relations"]
        self._vectors = weights["vectors"]
        self._slope: float = card["slope"]
        self._intercepts: dict[str, float] = card["intercepts"]

    def scores(
        self,
        text: str,
        entities: list[list[Span]],
        kinds: list[str],
        pairs: np.ndarray,
        vectors: np.ndarray,
    ) -> np.ndarray:
        """Return float32 (pairs, relations): logits relative to the threshold of each pair.

        `entities` are the character spans of each entity's mentions, `kinds` the entities' kinds,
        `pairs` int64 (pairs, 2) the numbers of head and tail; `vectors` (relations, 257) come from
        `relation_vectors` or `own_vectors`. Pairs with an entity beyond 512 tokens score -inf.
        """
        encoding = self._tokenizer.encode(text)
        offsets = np.array(encoding.offsets)
        words = {"words": self._weights[WORDS][[encoding.ids]]}
        below, states = (rows[0] for rows in self._session.run(["below", "states"], words))
        ranges = [_token_ranges(mentions, offsets) for mentions in entities]
        missing = np.array([not rows for rows in ranges])
        spans = [span for rows in ranges for span in rows or [(0, 1)]]
        member = np.zeros((len(spans), len(states)), np.float32)
        for row, (first, last) in enumerate(spans):
            member[row, first:last] = 1.0 / (last - first)
        sizes = [len(rows) or 1 for rows in ranges]
        starts = np.cumsum([0, *sizes[:-1]])
        mentions = member @ states
        peak = np.maximum.reduceat(mentions, starts)
        summed = np.add.reduceat(np.exp(mentions - np.repeat(peak, sizes, axis=0)), starts)
        entity = peak + np.log(summed)
        seen = self._attention(below, spans, member)  # (heads, mentions, tokens)
        context = np.add.reduceat(seen, starts, axis=1) / np.array(sizes)[None, :, None]
        heads, tails = pairs.T
        both = np.einsum("hpl,hpl->pl", context[:, heads], context[:, tails], optimize=True)
        around = (both / (both.sum(1, keepdims=True) + 1e-6)) @ states
        head = np.tanh(self._linear("head", entity)[heads] + self._linear("head_context", around))
        tail = np.tanh(self._linear("tail", entity)[tails] + self._linear("tail_context", around))
        joint = self._linear("joint", np.concatenate([head, tail, head * tail], axis=1))
        numbers = np.array([kind_number(kind) for kind in kinds])
        known = pair_features([rows or [(0, 1)] for rows in ranges], numbers, pairs)
        pair = self._linear("pair", _gelu(joint + self._linear("features", known)))
        scores = pair @ vectors[:, :-1].T + vectors[:, -1]
        scores -= (pair @ self._weights["threshold"])[:, None]
        scores[missing[heads] | missing[tails]] = -math.inf
        result: np.ndarray = scores
        return result

    def probability(self, score: float, relation: str) -> float:
        """Return the probability that a relation holds, as calibrated on held-out texts.

        `relation` is the Wikidata property that the relation was trained as, or "" if it was not.
        """
        shift = self._intercepts.get(relation or "unseen", self._intercepts["any"])
        return round(1.0 / (1.0 + math.exp(-(self._slope * score + shift))), 3)

    def own_vectors(self) -> np.ndarray:
        """Return the vectors of the trained relations, in the order of `relations`."""
        return self._vectors

    def relation_vectors(self, descriptions: list[str]) -> np.ndarray:
        """Return the vectors of any relations, computed from their names or descriptions."""
        meanings = _packaged().encode(descriptions) * float(self._weights["scale"][0])
        result: np.ndarray = self._linear("relation", meanings)
        return result

    def _linear(self, name: str, rows: np.ndarray) -> np.ndarray:
        result: np.ndarray = rows @ self._weights[f"{name}.weight"].T
        bias = self._weights.get(f"{name}.bias")
        return result if bias is None else result + bias

    def _attention(self, below: np.ndarray, spans: list[Span], member: np.ndarray) -> np.ndarray:
        """Return the attention of mentions in the last layer, float32 (heads, mentions, tokens)."""
        prefix = f"encoder.layer.{LAYERS - 1}.attention.self"
        used = sorted({token for first, last in spans for token in range(first, last)})
        size = WIDTH // HEADS
        query = self._linear(f"{prefix}.query", below[used]).reshape(-1, HEADS, size)
        key = self._linear(f"{prefix}.key", below).reshape(-1, HEADS, size)
        logits = query.transpose(1, 0, 2) @ key.transpose(1, 2, 0) / math.sqrt(size)
        logits = np.exp(logits - logits.max(-1, keepdims=True))
        attention = logits / logits.sum(-1, keepdims=True)
        result: np.ndarray = member[:, used] @ attention
        return result


@cache
def typed_model() -> TypedModel:
    """Return the shipped model, loaded once in a process."""
    return TypedModel()


@cache
def _packaged() -> MiniLM:
    return MiniLM()


def _gelu(rows: np.ndarray) -> np.ndarray:
    result: np.ndarray = rows * 0.5 * (1.0 + erf(rows / math.sqrt(2.0)))
    return result


def _token_ranges(mentions: list[Span], offsets: np.ndarray) -> list[Span]:
    """Return the token ranges of the mentions within the text that was read."""
    ranges = []
    for start, end in mentions:
        inside = np.nonzero((offsets[:, 0] < end) & (offsets[:, 1] > start))[0]
        if len(inside):
            ranges.append((int(inside[0]), int(inside[-1]) + 1))
    return ranges
