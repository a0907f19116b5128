"""Tune multilingual-e5-small to read in Chinese and English: `python -m recipes.reader.multilingual
OUT --more recipes/written --minutes 50`.

The lower six layers stay as they are; the upper six learn, with two numbers for each token, where
an answer starts and ends. On one core with instructions for bfloat16 some thousand windows a minute
are read, so a training of an hour sees no question twice. Learning rates fall to nothing over the
given minutes. OUT/model/model.safetensors is written every few minutes, OUT/log.jsonl as it goes.
"""

import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file
from torch import Tensor, nn
from torch.nn import functional

from recipes.command import DATA, parser_of, run_command
from recipes.reader.examples import all_questions, part_of
from recipes.reader.network import CLOSED, Layer, ReaderNetwork, TunedLayers
from recipes.reader.prepare import (
    across_languages,
    examples,
    shortened,
    titled,
    with_other_names,
)
from recipes.reader.relations import relation_questions
from recipes.reader.train import Examples, Trainer
from tasks.models.encoders.e5 import e5_folder
from tasks.models.encoders.stored_weights import load_weights, save_weights
from tasks.models.span_reader.known_pieces import known_rows
from tasks.models.span_reader.networks import (
    E5_FIRST,
    E5_LAYERS,
    E5_PADDING,
    E5_SEPARATOR,
    e5_pieces,
)

KEPT_EVERY = 240.0  # seconds between two files of weights
LOWER = 6  # layers that stay as they are


class HalfLayer(Layer):
    """A layer in bfloat16, whose attention is written out: its gradient is faster so on a CPU."""

    def attend(self, query: Tensor, key: Tensor, value: Tensor, open_: Tensor) -> Tensor:
        """Return what each head sees (texts, heads, tokens, width of a head)."""
        likeness = query * query.shape[-1] ** -0.5 @ key.transpose(-1, -2)
        likeness = likeness.masked_fill(~open_, CLOSED)
        return likeness.softmax(-1, dtype=query.dtype) @ value


class TunedNetwork(ReaderNetwork):
    """All layers of multilingual-e5-small, the first `LOWER` of them frozen, an output layer."""

    tuned = TunedLayers.tuned  # it has no characters of its own

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        """Start from the weights of the encoder, and of an output layer if there is one."""
        layers = [HalfLayer() for _ in range(E5_LAYERS)]
        TunedLayers.__init__(self, weights, layers, LOWER, "ends", 2)  # none of MiniLM's parts
        self.layers.to(torch.bfloat16)
        words, places, kinds = (
            torch.from_numpy(weights[f"embeddings.{name}_embeddings.weight"])
            for name in ("word", "position", "token_type")
        )
        self.rows = words[torch.from_numpy(known_rows())]
        self.first_rows = (places.float() + kinds[0].float())[None]

    def states(self, ids: Tensor, second: Tensor) -> Tensor:
        """Return float32 states (texts, tokens, width); `second` is not used."""
        open_ = (ids != E5_PADDING)[:, None, None, :]
        states = functional.embedding(ids, self.rows).float()
        states = self.first_norm(states + self.first_rows[:, : ids.shape[1]]).to(torch.bfloat16)
        for layer in self.layers:
            states = layer(states, open_)
        return states.float()


class HalfTrainer(Trainer):
    """Trains weights in bfloat16 by exact copies of them, and keeps them every few minutes."""

    head_rate = 3.0  # of the output layer's learning rate to the others'

    def __init__(self, network: TunedNetwork, out: Path) -> None:
        """Train on this machine's CPU; weights and log go to a folder."""
        super().__init__(network, out / "log.jsonl", torch.device("cpu"))
        self._tuned, self._file = network.tuned, out / "model" / "model.safetensors"
        self._copies: list[tuple[nn.Parameter, Tensor]] = []
        self._kept = time.monotonic()

    def keep(self) -> None:
        """Write the weights as they are."""
        aside = self._file.with_suffix(".part")
        save_weights(self._tuned(), aside)
        aside.replace(self._file)
        self._kept = time.monotonic()

    def _optimizer(self, weights: Iterable[nn.Parameter], rate: float) -> torch.optim.Optimizer:
        tuned = [w for w in weights if w.requires_grad]
        self._copies = [(w, w.detach().float().clone()) for w in tuned]
        heads = [copy for w, copy in self._copies if w.dtype == torch.float32]
        layers = [copy for w, copy in self._copies if w.dtype != torch.float32]
        groups: list[dict[str, Any]] = [
            {"params": layers},
            {"params": heads, "lr": self.head_rate * rate},
        ]
        return torch.optim.AdamW(groups, rate, (0.9, 0.98), weight_decay=0.01, fused=True)

    def _step(self, optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
        loss.backward()
        for weight, copy in self._copies:
            copy.grad = None if weight.grad is None else weight.grad.float()
            weight.grad = None
        torch.nn.utils.clip_grad_norm_([copy for _, copy in self._copies], 1.0)
        optimizer.step()
        with torch.no_grad():
            for weight, copy in self._copies:
                weight.copy_(copy)
        if time.monotonic() - self._kept > KEPT_EVERY:
            self.keep()


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="folders of questions")
    parser.add_argument("--minutes", type=float, default=50.0)
    parser.add_argument("--rate", type=float, default=3e-4, help="highest learning rate")
    parser.add_argument("--batch", type=int, default=16, help="questions in a step")
    parser.add_argument("--relations", type=int, default=12_000, help="questions of relations")
    parser.add_argument("--threads", type=int, default=1, help="cores that train")
    parser.add_argument("--others", type=float, default=0.25, help="other passages for a question")
    parser.add_argument("--start", type=Path, help="trained weights from which to go on")
    parser.add_argument(
        "--repeat", action="append", default=[], metavar="SET=N", help="times of a set per epoch"
    )
    options = parser.parse_args()
    (options.out / "model").mkdir(parents=True, exist_ok=True)
    prepared = options.out / "examples.npz"
    if not prepared.exists():
        read = all_questions(DATA, options.more)
        read = [row for row in read if part_of(row.title) != "report"]
        read += across_languages(read)
        rows = [titled(row) for row in read + with_other_names(read, random.Random(7))]
        drawn = random.Random(11)
        rows += shortened(drawn.sample(read, len(read) // 2), drawn)
        rows += relation_questions(DATA, None, options.relations)
        arrays = examples(rows, e5_pieces())
        np.savez_compressed(prepared, allow_pickle=False, **arrays)
    torch.manual_seed(7)
    torch.set_num_threads(options.threads)
    started = load_weights(options.start) if options.start else {}
    network = TunedNetwork(load_file(str(e5_folder() / "model.safetensors")) | started)
    trainer = HalfTrainer(network, options.out)
    repeats = {name: int(times) for name, times in (row.split("=") for row in options.repeat)}
    questions = Examples(
        dict(np.load(prepared)), torch.device("cpu"), (E5_FIRST, E5_SEPARATOR, E5_PADDING)
    )
    trainer.note(items=len(questions.question))
    trainer.learn_to_read(
        questions, options.minutes, options.rate, options.batch, repeats, options.others
    )
    trainer.keep()


if __name__ == "__main__":
    run_command(main)
