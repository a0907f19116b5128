"""The network in training: MiniLM's upper layers, and a head that names what relates two entities.

An entity is the log-sum-exp of its mentions, a pair is seen with the context that both attend to,
and a threshold of its own tells a pair that is not related (Zhou et al. 2021, ATLOP). A relation is
a vector made from its name and description, so that one without examples can be named.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tasks.extract.typed.features import FEATURES, pair_features
from tasks.extract.typed.model import LOWER
from tasks.models.encoders.minilm_graph import HEADS, LAYERS, WIDTH
from tasks.models.encoders.minilm_layer import MiniLMLayer

DROPOUT = 0.1
PAIR = 256  # numbers that describe a pair, and a relation


@dataclass(slots=True)
class Marked:
    """One text for the network: states below, token ranges of each entity's mentions, and pairs."""

    states: np.ndarray
    mentions: list[list[tuple[int, int]]]
    pairs: np.ndarray
    kinds: np.ndarray

    def member(self) -> Tensor:
        """Return (mentions, tokens): the share of each token in a mention's mean."""
        spans = [span for ranges in self.mentions for span in ranges]
        member = torch.zeros(len(spans), len(self.states))
        for row, (first, last) in enumerate(spans):
            member[row, first:last] = 1.0 / (last - first)
        return member


class Layer(MiniLMLayer):
    """A layer of MiniLM that also returns its attention."""

    def forward(self, states: Tensor, closed: Tensor) -> tuple[Tensor, Tensor]:
        """Return states, and attention (texts, heads, tokens, tokens); `closed` bars padding."""
        query, key, value = self.split(states)
        scores = query @ key.transpose(2, 3) / (WIDTH // HEADS) ** 0.5 + closed[:, None, None]
        attention = scores.softmax(-1)
        return self.end(states, attention @ value), attention


class TypedNetwork(nn.Module):
    """Upper layers, pair head and relation vectors."""

    def __init__(self, packaged: dict[str, np.ndarray], relations: int) -> None:
        """Start the layers from the packaged weights."""
        super().__init__()
        layers = [Layer(DROPOUT) for _ in range(LOWER, LAYERS)]
        for number, layer in enumerate(layers, LOWER):
            layer.load(packaged, number)
        self.layers = nn.ModuleList(layers)
        self.head, self.tail = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.head_context = nn.Linear(WIDTH, WIDTH, bias=False)
        self.tail_context = nn.Linear(WIDTH, WIDTH, bias=False)
        self.joint, self.pair = nn.Linear(3 * WIDTH, WIDTH), nn.Linear(WIDTH, PAIR)
        self.features = nn.Linear(FEATURES, WIDTH, bias=False)
        self.features.weight.data.zero_()
        self.relation = nn.Linear(WIDTH, PAIR + 1)  # and a bias
        self.own = nn.Parameter(torch.zeros(relations, PAIR + 1))
        self.threshold = nn.Parameter(torch.randn(PAIR) * 0.05)
        self.dropout = nn.Dropout(0.15)
        self.relation.bias.data[PAIR] = -3.0

    def encode(self, batch: list[Marked]) -> list[tuple[Tensor, Tensor]]:
        """Return each text's states, and how its mentions attend (heads, mentions, tokens)."""
        start = [torch.from_numpy(text.states) for text in batch]
        longest = max(map(len, start))
        states = torch.zeros(len(batch), longest, WIDTH)
        closed = torch.full((len(batch), longest), -1e9)
        for row, rows in enumerate(start):
            states[row, : len(rows)] = rows.float()
            closed[row, : len(rows)] = 0.0
        attention = states
        for layer in self.layers:
            states, attention = layer(states, closed)
        encoded = []
        for row, text in enumerate(batch):
            length = len(text.states)
            seen = text.member() @ attention[row, :, :length, :length]
            encoded.append((states[row, :length], seen))
        return encoded

    def forward(
        self, batch: list[Marked], encoded: list[tuple[Tensor, Tensor]] | None = None
    ) -> Tensor:
        """Return (pairs of all texts, 256)."""
        encoded = encoded or self.encode(batch)
        rows = zip(batch, encoded, strict=True)
        return torch.cat([self._pairs(text, *known) for text, known in rows])

    def _pairs(self, text: Marked, states: Tensor, seen: Tensor) -> Tensor:
        vectors = text.member() @ states  # (mentions, 384)
        entities, contexts, start = [], [], 0
        for entity in text.mentions:
            end = start + len(entity)
            entities.append(vectors[start:end].logsumexp(0))
            contexts.append(seen[:, start:end].mean(1))
            start = end
        whole, context = torch.stack(entities), torch.stack(contexts)  # (E, 384), (E, heads, L)
        heads, tails = torch.from_numpy(text.pairs[:, 0]), torch.from_numpy(text.pairs[:, 1])
        both = torch.einsum("phl,phl->pl", context[heads], context[tails])
        around = (both / (both.sum(1, keepdim=True) + 1e-6)) @ states
        head = torch.tanh(self.head(whole)[heads] + self.head_context(around))
        tail = torch.tanh(self.tail(whole)[tails] + self.tail_context(around))
        joint = self.dropout(torch.cat([head, tail, head * tail], 1))
        known = torch.from_numpy(pair_features(text.mentions, text.kinds, text.pairs))
        hidden = functional.gelu(self.joint(joint) + self.features(known))
        result: Tensor = self.pair(self.dropout(hidden))
        return result

    def scores(self, pairs: Tensor, meanings: Tensor, own: Tensor) -> Tensor:
        """Return (pairs, relations): how far a relation is above the pair's threshold.

        `meanings` are MiniLM's vectors of the relations; `own` (relations, 1) is 0 where a
        relation's own vector is to be left out, as that of an unseen one is missing.
        """
        vectors = self.relation(meanings) + self.own * own
        threshold = pairs @ self.threshold
        result: Tensor = pairs @ vectors[:, :PAIR].T + vectors[:, PAIR] - threshold[:, None]
        return result


def loss_of(scores: Tensor, holds: Tensor, fails: Tensor) -> Tensor:
    """Return the loss of adaptive thresholding per pair; the threshold's own score is 0.

    What holds competes with the threshold; the threshold competes with what is known to fail.
    """
    none = torch.zeros(len(scores), 1)
    above = torch.cat([scores.masked_fill(holds == 0, -1e9), none], 1)
    first = above.logsumexp(1, keepdim=True) - scores
    below = torch.cat([scores.masked_fill(fails == 0, -1e9), none], 1)
    result: Tensor = (first * holds).sum(1) + below.logsumexp(1)
    return result
