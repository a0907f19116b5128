"""The network in training: new characters, MiniLM's layers, and logits of start and end.

The first token's logits stand for "no answer in this window" (Devlin et al. 2019, SQuAD 2.0).
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tasks.models.encoders.minilm_graph import EPSILON, LAYERS, WIDTH
from tasks.models.encoders.minilm_layer import BERT, MiniLMLayer
from tasks.models.span_reader.reader import OWN_WORDS

LOWER = 1  # layers that stay as packaged


class Layer(MiniLMLayer):
    """A layer of MiniLM without dropout, which a single pass over the data does not need."""

    def forward(self, states: Tensor, open_: Tensor) -> Tensor:
        """Return states (texts, tokens, width); `open_` (texts, 1, 1, tokens) masks padding."""
        seen = functional.scaled_dot_product_attention(*self.split(states), attn_mask=open_)
        return self.end(states, seen)


class ReaderNetwork(nn.Module):
    """All layers of MiniLM, the first `LOWER` of them frozen, new characters, an output layer."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        """Start from the weights of MiniLM, characters (n, width) and, if present, output layer."""
        super().__init__()
        self.characters = nn.Parameter(torch.tensor(weights[OWN_WORDS]))
        self.words, self.places, self.kinds = (
            nn.Parameter(torch.tensor(weights[f"embeddings.{name}_embeddings.weight"]), False)
            for name in ("word", "position", "token_type")
        )
        self.first_norm = nn.LayerNorm(WIDTH, EPSILON)
        for part in ("weight", "bias"):
            getattr(self.first_norm, part).data = torch.tensor(
                weights[f"embeddings.LayerNorm.{part}"]
            )
        layers = [Layer() for _ in range(LAYERS)]
        for number, layer in enumerate(layers):
            layer.load(weights, number)
        self.layers = nn.ModuleList(layers)
        self.ends = nn.Linear(WIDTH, 2)
        if "ends.weight" in weights:
            self.ends.weight.data = torch.tensor(weights["ends.weight"])
            self.ends.bias.data = torch.tensor(weights["ends.bias"])
        for frozen in (self.first_norm, *self.layers[:LOWER]):
            frozen.requires_grad_(False)

    def forward(self, ids: Tensor, second: Tensor, real: Tensor, readable: Tensor) -> Tensor:
        """Return logits (2, texts, tokens) of start and end, -1e9 where no answer may be.

        `second` is 1 in the passage, `real` is false in padding.
        """
        open_ = real[:, None, None, :]
        words = torch.cat([self.words, self.characters])
        states = functional.embedding(ids, words) + functional.embedding(second, self.kinds)
        states = self.first_norm(states + self.places[: ids.shape[1]])
        for layer in self.layers:
            states = layer(states, open_)
        logits = self.ends(states).float().permute(2, 0, 1)
        return logits.masked_fill(~readable, -1e9)

    def tuned(self) -> dict[str, np.ndarray]:
        """Return the tuned weights as float16: layers by MiniLM's names, characters, output."""
        kept = {"ends.weight": self.ends.weight, "ends.bias": self.ends.bias}
        kept[OWN_WORDS] = self.characters
        for number, layer in enumerate(self.layers):
            for name, rows in layer.named_parameters() if number >= LOWER else ():
                part, kind = name.split(".")
                kept[f"encoder.layer.{number}.{BERT[part]}.{kind}"] = rows
        return {name: rows.detach().numpy().astype(np.float16) for name, rows in kept.items()}
