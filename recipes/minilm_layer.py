"""A layer of MiniLM in torch, for networks that tune some of its layers."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tasks.models.encoders.minilm_graph import EPSILON, HEADS, WIDTH

BERT = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "output": "attention.output.dense", "output_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense", "narrow": "output.dense", "norm": "output.LayerNorm",
}  # fmt: skip


class MiniLMLayer(nn.Module):
    """The parts of a layer; each network computes its own attention between `split` and `end`."""

    def __init__(self, dropout: float = 0.0) -> None:
        """Create the layer without trained weights; `load` sets them."""
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.output = nn.Linear(WIDTH, WIDTH)
        self.output_norm = nn.LayerNorm(WIDTH, EPSILON)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.dropout = nn.Dropout(dropout)

    def load(self, packaged: dict[str, np.ndarray], number: int) -> None:
        """Start from the packaged weights of the layer with this number."""
        for name, theirs in BERT.items():
            for part in ("weight", "bias"):
                key = f"encoder.layer.{number}.{theirs}.{part}"
                getattr(getattr(self, name), part).data = torch.tensor(packaged[key])

    def split(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query, key and value, each (texts, heads, tokens, width of a head)."""
        texts, tokens, _ = states.shape
        query, key, value = (
            part(states).view(texts, tokens, HEADS, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        return query, key, value

    def end(self, states: Tensor, seen: Tensor) -> Tensor:
        """Return the layer's output, given the states below it and what its heads computed."""
        seen = seen.transpose(1, 2).reshape(states.shape)
        states = self.output_norm(states + self.dropout(self.output(seen)))
        wide = functional.gelu(self.wide(states))
        result: Tensor = self.norm(states + self.dropout(self.narrow(wide)))
        return result
