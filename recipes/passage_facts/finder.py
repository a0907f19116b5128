"""Find the facts of a passage: heads, tails, which belong together, their relation and its words.

The network is multilingual-e5-small with tuned upper layers. It scores all spans as heads and as
tails by their first and last token (compare Yu et al. 2020; Su et al. 2022), the likely ones in
pairs, and for each pair the relation and the words of the text that express it.
"""

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import erf, expit

from recipes.passage_facts.windows import PassageTokens, passage_windows
from tasks.models.encoders.e5 import e5_layers, e5_words
from tasks.models.encoders.minilm import cached_file, opened
from tasks.models.encoders.minilm_graph import RECIPE, build_states_graph
from tasks.models.encoders.stored_weights import load_weights
from tasks.models.span_reader.known_pieces import known_rows
from tasks.models.span_reader.networks import E5_LAYERS

RELATIONS = Path(__file__).with_name("relations.toml")
SHARED = 64  # numbers by which the first and the last token of a span are compared
LONGEST = 48  # tokens of a span
DISTANCES = 20  # sorts of distance between a head and a tail
LIKELY = -2.0  # score from which a span is paired
HEADS, TAILS = 12, 24  # spans that are paired at most
LONGEST_CUE = 12  # tokens of the words of a relation
LEAST = 0.05  # probability of a fact that is kept
Span = tuple[int, int]  # tokens, the last one included


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact: spans of tokens, the probability that it is one, its relation and the words for it.

    `relation` is empty where no known one is likeliest; `cue` is None where no words say it.
    """

    head: Span
    tail: Span
    probability: float
    relation: str
    known: float
    cue: Span | None


class FactFinder:
    """The network with its layers for facts."""

    def __init__(self, file: Path) -> None:
        """Load the weights in a file; raise AlmanacError without the encoder."""
        rows = load_weights(file)
        self._parts = {k.removeprefix("facts."): v for k, v in rows.items() if "facts." in k}

        def graph() -> bytes:
            tuned = {k: v for k, v in rows.items() if not k.startswith("facts.")}
            return build_states_graph(e5_layers() | tuned, {"states": E5_LAYERS})

        version = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        self._session = opened(cached_file(f"facts-{version}-{RECIPE}-layers.onnx", graph))

    @classmethod
    def of_parts(cls, parts: dict[str, np.ndarray]) -> "FactFinder":
        """Return a finder with given layers for facts, which cannot read texts."""
        finder = cls.__new__(cls)
        finder._parts = parts
        return finder

    def read(self, title: str, text: str) -> Iterator[tuple[PassageTokens, list[FoundFact]]]:
        """Yield the windows of a passage with their facts, the most probable first."""
        for tokens in passage_windows(title, text):
            words = e5_words(known_rows()[tokens.ids].tolist())
            states = self._session.run(["states"], {"words": words[None]})[0][0]
            yield tokens, self._facts(states, tokens)

    def _facts(self, states: np.ndarray, tokens: PassageTokens) -> list[FoundFact]:
        scores = self._span_scores(states, tokens)
        heads, tails = _best(scores[0], HEADS), _best(scores[1], TAILS)
        pairs = [(head, tail) for head in heads for tail in tails if not _overlap(head, tail)]
        if not pairs:
            return []
        vectors = self._pairs(states, np.array(pairs))
        links = expit(self._layer("link", vectors)[:, 0])
        kept = np.flatnonzero(links >= LEAST)
        kept = kept[np.argsort(-links[kept], kind="stable")]
        relations = self._layer("relation", vectors[kept])
        relations = np.exp(relations - relations.max(1, keepdims=True))
        relations /= relations.sum(1, keepdims=True)
        cues = self._cues(states, vectors[kept])
        facts: list[FoundFact] = []
        for row, shares, cue in zip(kept, relations, cues, strict=True):
            head, tail = pairs[row]
            if any(_same(fact, head, tail) for fact in facts):
                continue
            best = int(shares.argmax())
            name = relation_names()[best]
            facts.append(FoundFact(head, tail, float(links[row]), name, float(shares[best]), cue))
        return facts

    def _layer(self, name: str, rows: np.ndarray) -> np.ndarray:
        values: np.ndarray = rows @ self._parts[f"{name}.weight"].T + self._parts[f"{name}.bias"]
        return values

    def _span_scores(self, states: np.ndarray, tokens: PassageTokens) -> np.ndarray:
        """Return scores (2, tokens, tokens) of spans as heads and as tails."""
        count = len(states)
        ends = self._layer("spans", states).reshape(count, 2, 2, SHARED)
        scores = np.einsum("iks,jks->kij", ends[:, :, 0], ends[:, :, 1]) / SHARED**0.5
        edges = self._layer("edges", states).reshape(count, 2, 2)
        scores += edges[:, :, 0].T[:, :, None] + edges[:, :, 1].T[:, None]
        apart = np.arange(count)[None] - np.arange(count)[:, None]
        scores += self._parts["lengths"][:, apart.clip(0, LONGEST - 1)]
        part = np.full(count, -1)
        part[1 : tokens.begin - 1], part[tokens.begin : count - 1] = 0, 1
        allowed = (part[:, None] == part[None]) & (part >= 0)[:, None]
        allowed &= (apart >= 0) & (apart < LONGEST)
        return np.where(allowed, scores, -np.inf)

    def _pairs(self, states: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Return vectors of pairs (pairs, 2, 2) of spans."""
        heads, tails = (states[pairs[:, side]].reshape(len(pairs), -1) for side in (0, 1))
        head, tail = self._layer("head", heads), self._layer("tail", tails)
        apart = pairs[:, 1, 0] - pairs[:, 0, 0]
        sort = np.rint(np.log2(np.abs(apart) + 1)).astype(int).clip(max=DISTANCES // 2 - 1)
        places = np.where(apart >= 0, sort, DISTANCES // 2 + sort)
        vectors = head + tail + self._parts["distance.weight"][places]
        bound = self._layer("bound", _gelu(head)) * _gelu(tail)
        vectors = self._layer("inner", _gelu(vectors)) + vectors + bound
        vectors -= vectors.mean(1, keepdims=True)
        vectors /= np.sqrt((vectors**2).mean(1, keepdims=True) + 1e-5)
        scaled: np.ndarray = (
            vectors * self._parts["pair_norm.weight"] + self._parts["pair_norm.bias"]
        )
        return scaled

    def _cues(self, states: np.ndarray, vectors: np.ndarray) -> list[Span | None]:
        """Return the span of the words that express each pair's relation, None for none."""
        asked = self._layer("cue_of_pair", vectors).reshape(-1, 2, SHARED)
        given = self._layer("cue_of_token", states).reshape(-1, 2, SHARED)
        starts, ends = np.einsum("pks,tks->kpt", asked, given) / SHARED**0.5
        spans: list[Span | None] = []
        for start, end in zip(starts, ends, strict=True):
            both = start[:, None] + end[None]
            apart = np.arange(len(start))[None] - np.arange(len(start))[:, None]
            both[(apart < 0) | (apart >= LONGEST_CUE)] = -np.inf
            first, last = divmod(int(both.argmax()), len(start))
            spans.append((first, last) if first else None)
        return spans


@cache
def relations() -> dict[str, str]:
    """Return the Chinese names of the relations that the network knows, by their English names."""
    names: dict[str, str] = tomllib.loads(RELATIONS.read_text(encoding="utf-8"))
    return names


@cache
def relation_names() -> list[str]:
    """Return what the numbers of the network's output layer mean, first that it is no known one."""
    return ["", *relations()]


def _gelu(values: np.ndarray) -> np.ndarray:
    bent: np.ndarray = values * (1 + erf(values / 2**0.5)) / 2
    return bent


def _best(scores: np.ndarray, most: int) -> list[Span]:
    """Return the likely spans of scores (tokens, tokens), the best first."""
    flat = scores.ravel()
    places = np.flatnonzero(flat >= LIKELY)
    places = places[np.argsort(-flat[places], kind="stable")][:most]
    return [(int(place) // len(scores), int(place) % len(scores)) for place in places]


def _overlap(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _same(fact: FoundFact, head: Span, tail: Span) -> bool:
    """Return whether a fact has nearly these spans."""
    return _overlap(fact.head, head) and _overlap(fact.tail, tail)
