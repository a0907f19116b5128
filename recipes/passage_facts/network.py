"""The network in training: multilingual-e5-small, spans of heads and tails, pairs, and cues."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from recipes.reader.multilingual import LOWER, TunedNetwork
from recipes.reader.network import CLOSED, WIDTH
from tasks.models.span_reader.networks import E5_PADDING

SHARED = 64  # numbers by which the first and the last token of a span are compared
PAIR = 256  # numbers for a pair of a head and a tail
LONGEST = 48  # tokens of a span
DISTANCES = 20  # sorts of distance between a head and a tail


class FactNetwork(TunedNetwork):
    """Finds heads and tails, which of them belong together, how, and the words that say so."""

    def __init__(self, weights: dict[str, np.ndarray], relations: int) -> None:
        """Start from the weights of an encoder or a reader, for a number of relations."""
        super().__init__({k: v for k, v in weights.items() if not k.startswith("ends.")})
        self.add_heads(relations)

    @classmethod
    def heads_alone(cls, relations: int) -> "FactNetwork":
        """Return the layers for facts without those below them."""
        network = cls.__new__(cls)
        nn.Module.__init__(network)
        network.add_heads(relations)
        return network

    def add_heads(self, relations: int) -> None:
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

    def lower(self, ids: Tensor) -> Tensor:
        """Return the states (texts, tokens, width) after the layers that stay as they are."""
        open_ = (ids != E5_PADDING)[:, None, None, :]
        states = functional.embedding(ids, self.rows).float()
        states = self.first_norm(states + self.first_rows[:, : ids.shape[1]]).to(torch.bfloat16)
        for layer in self.layers[:LOWER]:
            states = layer(states, open_)
        return states

    def upper(self, states: Tensor, ids: Tensor) -> Tensor:
        """Return float32 states (texts, tokens, width) after the layers that learn."""
        open_ = (ids != E5_PADDING)[:, None, None, :]
        for layer in self.layers[LOWER:]:
            states = layer(states, open_)
        return states.float()

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
        asked = self.cue_of_pair(pairs).view(-1, 2, SHARED)
        given = self.cue_of_token(states).view(-1, 2, SHARED)
        return torch.einsum("pks,tks->kpt", asked, given) / SHARED**0.5

    def tuned(self) -> dict[str, np.ndarray]:
        """Return the tuned weights by their names in the encoder, and those of facts."""
        kept = {k: v for k, v in super().tuned().items() if not k.startswith("ends.")}
        for name, rows in self.named_parameters():
            if name.split(".")[0] in PARTS:
                kept[f"facts.{name}"] = rows.detach().float().numpy()
        return kept


PARTS = (
    "spans", "lengths", "edges", "head", "tail", "distance", "inner", "bound", "pair_norm", "link",
    "relation", "cue_of_pair", "cue_of_token",
)  # fmt: skip


def distances(heads: Tensor, tails: Tensor) -> Tensor:
    """Return the sort of distance, 0 to DISTANCES - 1, from first tokens of heads to of tails."""
    apart = tails - heads
    sort = torch.log2(apart.abs().float() + 1).round().long().clamp(max=DISTANCES // 2 - 1)
    return torch.where(apart >= 0, sort, DISTANCES // 2 + sort)
