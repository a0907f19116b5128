"""The network in training: the reader's embeddings and lower layers, tuned upper layers, a verdict.

The verdict is read from the first token's state (Devlin et al. 2019, sentence pairs).
"""

from contextlib import nullcontext

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from recipes.reader.network import Layer, TunedLayers
from tasks.models.encoders.minilm_graph import LAYERS
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


class EntailmentNetwork(TunedLayers):
    """All layers of the reader, the first `LOWER` of them frozen, and an output layer."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        """Start from the weights of MiniLM and the reader, and trained ones if they are there."""
        super().__init__(weights, [ProcessorLayer() for _ in range(LAYERS)], LOWER, VERDICT, 3)
        words = [weights["embeddings.word_embeddings.weight"], weights[OWN_WORDS]]
        self.words, self.places, self.kinds = (
            nn.Parameter(torch.tensor(rows), False)
            for rows in (
                np.concatenate(words),
                weights["embeddings.position_embeddings.weight"],
                weights["embeddings.token_type_embeddings.weight"],
            )
        )

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
        return self.ends(states[:, 0]).float()
