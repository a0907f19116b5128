"""The network in training: multilingual-e5-small, spans of heads and tails, pairs, and cues."""

from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file
from torch import Tensor, nn
from torch.nn import functional

from recipes.passage_facts.relations import relation_names
from recipes.passage_facts.windows import LONGEST, PassageTokens, Span
from recipes.reader.multilingual import TunedNetwork
from recipes.reader.network import CLOSED, WIDTH
from tasks.models.encoders.e5 import e5_folder
from tasks.models.encoders.stored_weights import load_weights

SHARED = 64  # numbers by which the first and the last token of a span are compared
PAIR = 256  # numbers for a pair of a head and a tail
DISTANCES = 20  # sorts of distance between a head and a tail
PARTS = (
    "spans", "lengths", "edges", "head", "tail", "distance", "inner", "bound", "pair_norm", "link",
    "relation", "cue_of_pair", "cue_of_token",
)  # fmt: skip


class FactNetwork(TunedNetwork):
    """Finds heads and tails, which of them belong together, how, and the words that say so."""

    def __init__(self, weights: dict[str, np.ndarray], relations: int) -> None:
        """Start from the weights of an encoder, a reader or a trained network of this sort."""
        super().__init__(weights)
        self.ends.requires_grad_(False)
        self.add_parts(relations)
        for name, rows in self.named_parameters():
            if f"facts.{name}" in weights:
                rows.data = torch.from_numpy(weights[f"facts.{name}"])

    def add_parts(self, relations: int) -> None:
        """Add the layers that score spans, pairs, relations and cues, untrained."""
        self.spans = nn.Linear(WIDTH, 4 * SHARED)
        self.lengths = nn.Parameter(torch.zeros(2, LONGEST))
        self.edges = nn.Linear(WIDTH, 4)
        self.head, self.tail = nn.Linear(2 * WIDTH, PAIR), nn.Linear(2 * WIDTH, PAIR)
        self.distance = nn.Embedding(DISTANCES, PAIR)
        self.inner, self.bound = nn.Linear(PAIR, PAIR), nn.Linear(PAIR, PAIR)
        self.pair_norm = nn.LayerNorm(PAIR)
        self.link, self.relation = nn.Linear(PAIR, 1), nn.Linear(PAIR, relations)
        self.cue_of_pair, self.cue_of_token = (
            nn.Linear(PAIR, 2 * SHARED),
            nn.Linear(WIDTH, 2 * SHARED),
        )

    def span_scores(self, states: Tensor, allowed: Tensor) -> Tensor:
        """Return scores (texts, 2, tokens, tokens) of spans as heads and as tails.

        `allowed` (texts, tokens, tokens) is where a span may be.
        """
        texts, tokens, _ = states.shape
        first, last = self.spans(states).view(texts, tokens, 2, 2, SHARED).unbind(3)
        scores = torch.einsum("tiks,tjks->tkij", first, last) / SHARED**0.5
        start, end = self.edges(states).view(texts, tokens, 2, 2).unbind(3)
        scores = scores + start.permute(0, 2, 1)[..., None] + end.permute(0, 2, 1)[:, :, None]
        apart = (torch.arange(tokens)[None] - torch.arange(tokens)[:, None]).clamp(0, LONGEST - 1)
        scores = scores + self.lengths[:, apart]
        return scores.masked_fill(~allowed[:, None], CLOSED)

    def pairs(self, states: Tensor, heads: Tensor, tails: Tensor) -> Tensor:
        """Return vectors (pairs, PAIR) of heads (pairs, 2) and tails of one text's states."""
        head, tail = self.head(states[heads].flatten(1)), self.tail(states[tails].flatten(1))
        vectors = head + tail + self.distance(distances(heads[:, 0], tails[:, 0]))
        bound = self.bound(functional.gelu(head)) * functional.gelu(tail)
        return self.pair_norm(self.inner(functional.gelu(vectors)) + vectors + bound)

    def cue_scores(self, states: Tensor, pairs: Tensor) -> Tensor:
        """Return scores (2, pairs, tokens) of where the cue of each pair starts and ends."""
        of_pairs = self.cue_of_pair(pairs).view(-1, 2, SHARED)
        of_tokens = self.cue_of_token(states).view(-1, 2, SHARED)
        return torch.einsum("pks,tks->kpt", of_pairs, of_tokens) / SHARED**0.5

    def tuned(self) -> dict[str, np.ndarray]:
        """Return the tuned weights by their names in the encoder, and those of facts."""
        kept = {k: v for k, v in super().tuned().items() if not k.startswith("ends.")}
        for name, rows in self.named_parameters():
            if name.split(".")[0] in PARTS:
                kept[f"facts.{name}"] = rows.detach().float().numpy()
        return kept


def distances(heads: Tensor, tails: Tensor) -> Tensor:
    """Return the sort of distance, 0 to DISTANCES - 1, from first tokens of heads to of tails."""
    apart = tails - heads
    sort = torch.log2(apart.abs().float() + 1).round().long().clamp(max=DISTANCES // 2 - 1)
    return torch.where(apart >= 0, sort, DISTANCES // 2 + sort)


def allowed_spans(rows: list[PassageTokens], tokens: int) -> Tensor:
    """Return where a span may be (texts, tokens, tokens): within the title or the passage."""
    part = torch.full((len(rows), tokens), -1)
    for number, row in enumerate(rows):
        part[number, 1 : row.begin - 1] = 0
        part[number, row.begin : len(row.ids) - 1] = 1
    apart = torch.arange(tokens)[None] - torch.arange(tokens)[:, None]
    near = (apart >= 0) & (apart < LONGEST)
    return (part[:, :, None] == part[:, None]) & (part >= 0)[:, :, None] & near


def best_spans(scores: Tensor, most: int, least: float = CLOSED / 10) -> list[Span]:
    """Return the spans with the best scores (tokens, tokens), from `least` on, the best first."""
    values, places = scores.flatten().topk(min(most, scores.numel()))
    spans = (divmod(place, scores.shape[1]) for place in places.tolist())
    return [span for span, value in zip(spans, values.tolist(), strict=True) if value >= least]


def fact_network(weights: Path) -> FactNetwork:
    """Return the encoder with the tuned weights in a file, which may be a reader's."""
    encoder = load_file(str(e5_folder() / "model.safetensors"))
    return FactNetwork(encoder | load_weights(weights), len(relation_names()))
