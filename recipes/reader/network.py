"""The network in training: new characters, MiniLM's layers, and logits of start and end.

The first token's logits stand for "no answer in this window" (Devlin et al. 2019, SQuAD 2.0).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tasks.models.encoders.minilm_graph import EPSILON, HEADS, LAYERS, WIDTH
from tasks.models.encoders.stored_weights import OWN_WORDS

LOWER = 1  # layers that stay as packaged
DROPOUT = 0.1
CLOSED = -1e9  # logit where no answer may be

BERT = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "output": "attention.output.dense", "output_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense", "narrow": "output.dense", "norm": "output.LayerNorm",
}  # fmt: skip


class Layer(nn.Module):
    """A layer of MiniLM, which is tuned further."""

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

    def attend(self, query: Tensor, key: Tensor, value: Tensor, open_: Tensor) -> Tensor:
        """Return what each head sees (texts, heads, tokens, width of a head)."""
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=open_)

    def forward(self, states: Tensor, open_: Tensor) -> Tensor:
        """Return states (texts, tokens, width); `open_` (texts, 1, 1, tokens) masks padding."""
        texts, tokens, _ = states.shape
        query, key, value = (
            part(states).view(texts, tokens, HEADS, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        seen = self.attend(query, key, value, open_)
        seen = seen.transpose(1, 2).reshape(states.shape)
        states = self.output_norm(states + self.dropout(self.output(seen)))
        wide = functional.gelu(self.wide(states))
        result: Tensor = self.norm(states + self.dropout(self.narrow(wide)))
        return result


class TunedLayers(nn.Module):
    """The layers of an encoder, the first `lower` of them frozen, and an output layer."""

    def __init__(
        self, weights: dict[str, np.ndarray], layers: Sequence[Layer], lower: int, ends: str, n: int
    ) -> None:
        """Start from the weights of the encoder and, if present, of the output layer.

        `ends` is its name in the weights, `n` the numbers that it gives for each token.
        """
        super().__init__()
        self.first_norm = nn.LayerNorm(WIDTH, EPSILON)
        for part in ("weight", "bias"):
            rows = torch.tensor(weights[f"embeddings.LayerNorm.{part}"])
            getattr(self.first_norm, part).data = rows.float()
        for number, layer in enumerate(layers):
            layer.load(weights, number)
        self.layers = nn.ModuleList(layers)
        self.ends, self._ends, self._lower = nn.Linear(WIDTH, n), ends, lower
        if f"{ends}.weight" in weights:
            self.ends.weight.data = torch.tensor(weights[f"{ends}.weight"])
            self.ends.bias.data = torch.tensor(weights[f"{ends}.bias"])
        for frozen in (self.first_norm, *self.layers[:lower]):
            frozen.requires_grad_(False)

    def tuned(self) -> dict[str, np.ndarray]:
        """Return the tuned weights by their names in the encoder, and the output layer: float32."""
        kept = {f"{self._ends}.{part}": rows for part, rows in self.ends.named_parameters()}
        for number, layer in enumerate(self.layers):
            for name, rows in layer.named_parameters() if number >= self._lower else ():
                part, kind = name.split(".")
                kept[f"encoder.layer.{number}.{BERT[part]}.{kind}"] = rows
        return {name: rows.detach().float().cpu().numpy() for name, rows in kept.items()}


class ReaderNetwork(TunedLayers):
    """All layers of MiniLM, the first `LOWER` of them frozen, new characters, an output layer."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        """Start from the weights of MiniLM, characters (n, width) and, if present, output layer."""
        layers = [Layer(DROPOUT if number >= LOWER else 0.0) for number in range(LAYERS)]
        super().__init__(weights, layers, LOWER, "ends", 2)
        self.characters = nn.Parameter(torch.tensor(weights[OWN_WORDS]))
        self.words, self.places, self.kinds = (
            nn.Parameter(torch.tensor(weights[f"embeddings.{name}_embeddings.weight"]), False)
            for name in ("word", "position", "token_type")
        )

    def vocabulary(self) -> Tensor:
        """Return the vectors of the packaged words and of the new characters."""
        return torch.cat([self.words, self.characters])

    def states(self, ids: Tensor, second: Tensor) -> Tensor:
        """Return states (texts, tokens, width); id 0 is padding, `second` is 1 in the passage."""
        open_ = (ids > 0)[:, None, None, :]
        states = functional.embedding(ids, self.vocabulary())
        states = states + functional.embedding(second, self.kinds)
        states = self.first_norm(states + self.places[: ids.shape[1]])
        for layer in self.layers:
            states = layer(states, open_)
        return states

    def forward(self, ids: Tensor, second: Tensor) -> Tensor:
        """Return logits (2, texts, tokens) of start and end."""
        return self.ends(self.states(ids, second)).float().permute(2, 0, 1)

    def tuned(self) -> dict[str, np.ndarray]:
        """Return the tuned weights, with the characters."""
        return {**super().tuned(), OWN_WORDS: self.characters.detach().cpu().numpy()}


class MaskedWords(nn.Module):
    """Predicts masked tokens from states, with the vectors of words as output weights."""

    def __init__(self) -> None:
        """Create it without trained weights; only training needs it."""
        super().__init__()
        first, last = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.inner = nn.Sequential(first, nn.GELU(), nn.LayerNorm(WIDTH, EPSILON), last)

    def forward(self, states: Tensor, vocabulary: Tensor) -> Tensor:
        """Return logits (tokens, words) for states (tokens, width)."""
        return functional.linear(self.inner(states), vocabulary)


def reading_loss(
    logits: Tensor, sentences: Tensor, spans: Tensor, questions: Tensor | None = None
) -> Tensor:
    """Return the loss of each question: half of its answer, half of the answer's sentence.

    A softmax goes over "no answer" and all spans within a sentence, in all texts that a question
    is read with, so that it also learns which of them answers (compare Clark & Gardner 2018); as in
    reading, a span counts by its excess over "no answer" in its text. `sentences` (texts, tokens)
    numbers them from 0, -1 outside the passage; `spans` (texts, SPANS, 2) are the first and last
    tokens of right answers, -1 where there are fewer. Several answers are right together; so are
    all spans of a sentence that holds an answer. `questions` (texts,) numbers the texts' questions
    from 0; without it each text has its own.
    """
    start, end = logits
    none = start[:, 0] + end[:, 0]
    tokens = torch.arange(start.shape[1], device=start.device)
    rows = torch.arange(len(start), device=start.device)
    allowed = (tokens[:, None] <= tokens) & (sentences[:, :, None] == sentences[:, None, :])
    allowed &= (sentences >= 0)[:, :, None]
    pairs = (start[:, :, None] + end[:, None, :]).masked_fill(~allowed, CLOSED)
    by_start = pairs.logsumexp(2)
    first, last = spans.clamp(min=0).unbind(2)
    real = spans[:, :, 0] >= 0
    answers = pairs[rows[:, None], first, last].masked_fill(~real, CLOSED).logsumexp(1)
    right = (sentences[:, None, :] == sentences.gather(1, first)[:, :, None]) & real[:, :, None]
    sentence = by_start.masked_fill(~right.any(1), CLOSED).logsumexp(1)
    questions = rows if questions is None else questions
    same = torch.arange(int(questions[-1]) + 1, device=start.device)[:, None] == questions

    def in_all(values: Tensor) -> Tensor:
        return (values - none).expand(len(same), -1).masked_fill(~same, CLOSED).logsumexp(1)

    everything = functional.softplus(in_all(by_start.logsumexp(1)))
    answered = (same & real.any(1)).any(1)
    gained = torch.where(answered, (in_all(answers) + in_all(sentence)) / 2, 0.0)
    return everything - gained
