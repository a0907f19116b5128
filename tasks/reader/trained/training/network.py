"""The network in training: MiniLM's upper layers, and where an answer starts and ends.

The first token's places stand for "these words do not answer it" (Devlin et al. 2019, SQuAD 2.0).
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tasks.models.encoders.minilm_graph import EPSILON, HEADS, LAYERS, WIDTH

BERT = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "output": "attention.output.dense", "output_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense", "narrow": "output.dense", "norm": "output.LayerNorm",
}  # fmt: skip


LOWER = 2  # layers that stay as packaged


class Layer(nn.Module):
    """A layer of BERT without dropout, which a single pass over the data does not need."""

    def __init__(self) -> None:
        """Make it without weights; they are loaded by name."""
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.output = nn.Linear(WIDTH, WIDTH)
        self.output_norm = nn.LayerNorm(WIDTH, EPSILON)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)

    def forward(self, states: Tensor, open_: Tensor) -> Tensor:
        """Return states (texts, tokens, width); `open_` (texts, 1, 1, tokens) bars padding."""
        texts, tokens, _ = states.shape
        query, key, value = (
            part(states).view(texts, tokens, HEADS, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=open_)
        seen = seen.transpose(1, 2).reshape(texts, tokens, WIDTH)
        states = self.output_norm(states + self.output(seen))
        return self.norm(states + self.narrow(functional.gelu(self.wide(states))))


class ReaderNetwork(nn.Module):
    """All layers of MiniLM, of which those above `LOWER` are tuned, and the two places."""

    def __init__(self, packaged: dict[str, np.ndarray]) -> None:
        """Start from the packaged weights."""
        super().__init__()
        self.words, self.places, self.kinds = (
            nn.Parameter(torch.tensor(packaged[f"embeddings.{name}_embeddings.weight"]), False)
            for name in ("word", "position", "token_type")
        )
        self.first_norm = nn.LayerNorm(WIDTH, EPSILON)
        for part in ("weight", "bias"):
            getattr(self.first_norm, part).data = torch.tensor(
                packaged[f"embeddings.LayerNorm.{part}"]
            )
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        for number, layer in enumerate(self.layers):
            for name, theirs in BERT.items():
                for part in ("weight", "bias"):
                    key = f"encoder.layer.{number}.{theirs}.{part}"
                    getattr(getattr(layer, name), part).data = torch.tensor(packaged[key])
        self.ends = nn.Linear(WIDTH, 2)
        for frozen in (self.first_norm, *self.layers[:LOWER]):
            frozen.requires_grad_(False)

    def forward(self, ids: Tensor, second: Tensor, real: Tensor, readable: Tensor) -> Tensor:
        """Return logits (2, texts, tokens) of start and end, -inf where no answer may be.

        `second` is 1 in the passage, `real` is false in padding.
        """
        open_ = real[:, None, None, :]
        with torch.no_grad():
            states = functional.embedding(ids, self.words) + functional.embedding(
                second, self.kinds
            )
            states = self.first_norm(states + self.places[: ids.shape[1]])
            for layer in self.layers[:LOWER]:
                states = layer(states, open_)
        for layer in self.layers[LOWER:]:
            states = layer(states, open_)
        logits = self.ends(states).float().permute(2, 0, 1)
        return logits.masked_fill(~readable, -1e9)
