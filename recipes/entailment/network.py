"""The network in training: the reader's embeddings and lower layers, tuned upper layers, a verdict.

The verdict is read from the first token's state (Devlin et al. 2019, sentence pairs).
"""

from contextlib import nullcontext

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from recipes.reader.network import BERT, Layer
from tasks.models.encoders.minilm_graph import EPSILON, LAYERS, WIDTH
from tasks.models.encoders.stored_weights import OWN_WORDS
from tasks.models.entailment.entailment import VERDICT

LOWER = 3  # layers that stay as the reader has them


class ProcessorLayer(Layer):
    """A layer with attention in float32, which takes a processor a tenth of bfloat16's time."""

    def attend(self, query: Tensor, key: Tensor, value: Tensor, open_: Tensor) -> Tensor:
        """Return what each head sees (texts, heads, tokens, width of a head)."""
        with torch.autocast("cpu", enabled=False):
            seen = super().attend(query.float(), key.float(), value.float(), open_)
        return seen.to(query.dtype)


class EntailmentNetwork(nn.Module):
    """All layers of the reader, the first `LOWER` of them frozen, and an output layer."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        """Start from the weights of MiniLM and the reader, and trained ones if they are there."""
        super().__init__()
        words = [weights["embeddings.word_embeddings.weight"], weights[OWN_WORDS]]
        self.words, self.places, self.kinds = (
            nn.Parameter(torch.tensor(rows), False)
            for rows in (
                np.concatenate(words),
                weights["embeddings.position_embeddings.weight"],
                weights["embeddings.token_type_embeddings.weight"],
            )
        )
        self.first_norm = nn.LayerNorm(WIDTH, EPSILON)
        for part in ("weight", "bias"):
            getattr(self.first_norm, part).data = torch.tensor(
                weights[f"embeddings.LayerNorm.{part}"]
            )
        layers = [ProcessorLayer() for _ in range(LAYERS)]
        for number, layer in enumerate(layers):
            layer.load(weights, number)
        self.layers = nn.ModuleList(layers)
        self.verdict = nn.Linear(WIDTH, 3)
        if f"{VERDICT}.weight" in weights:
            self.verdict.weight.data = torch.tensor(weights[f"{VERDICT}.weight"])
            self.verdict.bias.data = torch.tensor(weights[f"{VERDICT}.bias"])
        for frozen in (self.first_norm, *self.layers[:LOWER]):
            frozen.requires_grad_(False)

    def forward(self, ids: Tensor, second: Tensor) -> Tensor:
        """Return logits (pairs, 3); id 0 is padding, `second` is 1 in the evidence."""
        open_ = (ids > 0)[:, None, None, :]
        with torch.no_grad():
            states = functional.embedding(ids, self.words) + functional.embedding(
                second, self.kinds
            )
            states = self.first_norm(states + self.places[: ids.shape[1]])
        for number, layer in enumerate(self.layers):
            with torch.no_grad() if number < LOWER else nullcontext():
                states = layer(states, open_)
        return self.verdict(states[:, 0]).float()

    def tuned(self) -> dict[str, np.ndarray]:
        """Return the tuned weights: layers by MiniLM's names, and the output layer."""
        kept = {f"{VERDICT}.weight": self.verdict.weight, f"{VERDICT}.bias": self.verdict.bias}
        for number, layer in enumerate(self.layers):
            for name, rows in layer.named_parameters() if number >= LOWER else ():
                part, kind = name.split(".")
                kept[f"encoder.layer.{number}.{BERT[part]}.{kind}"] = rows
        return {name: rows.detach().cpu().numpy().astype(np.float16) for name, rows in kept.items()}
