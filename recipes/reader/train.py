"""Train the reader: `python -m recipes.reader.train OUT --minutes 8 --masked-minutes 2`.

OUT is what `recipes.reader.prepare` wrote. At first the reader fills in masked tokens of
plain texts, which teaches it the new characters; then it learns to answer. Learning rates decay to
nothing over the given minutes, so that a slower machine completes a shorter training: it was made
for a GPU, where it reads some thousand windows a second. The tuned weights are in OUT/model. With
`--masked-minutes 0` a second training starts from what the first one had filled in.
"""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from recipes.command import parser_of, run_command
from recipes.reader.network import MaskedWords, ReaderNetwork, reading_loss
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.encoders.stored_weights import load_weights, save_weights
from tasks.models.span_reader.windows import CLS, SEP

FIRST_WEIGHTS = "first_weights.safetensors"
OTHER_WINDOW = 0.5  # share of the answered questions that come with another window in an epoch
MASKED = 0.15  # share of tokens to fill in
MASK = 103  # the token in their place
LONGEST_TEXT = 128  # tokens of a plain text that are read together
POOL = 64  # batches that are drawn together and sorted by length
NOTED = 100  # steps between two lines of the log
CHECKED = 40  # batches of the validation questions


class Examples:
    """Questions and windows on a device, where batches are put together."""

    def __init__(
        self,
        arrays: dict[str, np.ndarray],
        device: torch.device,
        marks: tuple[int, int, int] = (CLS, SEP, 0),
    ) -> None:
        """Copy the arrays of `recipes.reader.prepare` to the device.

        `marks` are the tokens that begin a text, end it, and fill its row.
        """

        def put(rows: np.ndarray) -> Tensor:
            return torch.from_numpy(rows.astype(np.int64)).to(device)

        starts = np.cumsum(arrays["question_lengths"].astype(np.int64))
        self.device = device
        self.first, self.separator, self.padding = marks
        self.window_ids, self.sentences = put(arrays["window_ids"]), put(arrays["window_sentences"])
        self.window_starts = put(arrays["window_starts"])
        self.window_lengths = put(arrays["window_lengths"])
        self.question_ids = put(arrays["question_ids"])
        self.question_lengths = put(arrays["question_lengths"])
        self.question_starts = put(starts - arrays["question_lengths"])
        spans = arrays["item_spans"].astype(np.int64)
        self.spans = put(np.where(spans == 255, -1, spans))
        self.question, self.window = arrays["item_question"], arrays["item_window"]
        self.lengths = (
            arrays["question_lengths"][self.question].astype(np.int64)
            + arrays["window_lengths"][self.window]
            + 3
        )
        self.answered = (spans[:, 0, 0] != 255) & ~arrays["item_other"]
        self.other = arrays["item_other"]
        self.part = arrays["question_part"][self.question]
        self.set = arrays["question_set"][self.question]
        training = np.flatnonzero(self.part == "train")
        training = training[np.argsort(self.question[training], kind="stable")]
        firsts = np.flatnonzero(np.diff(self.question[training], prepend=-1))
        self._of_question = [rows.tolist() for rows in np.split(training, firsts[1:])]

    def batch(self, items: np.ndarray) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return ids, token types and sentences (items, tokens), and the answers' tokens."""
        question = torch.from_numpy(self.question[items]).to(self.device)
        window = torch.from_numpy(self.window[items]).to(self.device)
        longest = int(-(-self.lengths[items].max() // 8) * 8)
        places = torch.arange(longest, device=self.device)[None]
        length, inside = (
            self.question_lengths[question][:, None],
            self.window_lengths[window][:, None],
        )
        of_question = (places >= 1) & (places <= length)
        at = places - length - 2  # place in the window
        of_window = (at >= 0) & (at < inside)
        ids = torch.full((len(items), longest), self.padding, device=self.device)
        ids[:, 0] = self.first
        ids[(places == length + 1) | (at == inside)] = self.separator
        word = self.question_starts[question][:, None] + places - 1
        ids[of_question] = self.question_ids[word[of_question]]
        read = self.window_starts[window][:, None] + at
        ids[of_window] = self.window_ids[read[of_window]]
        sentences = torch.full_like(ids, -1)
        sentences[of_window] = self.sentences[read[of_window]]
        second = ((at >= 0) & (at <= inside)).long()
        spans = self.spans[torch.from_numpy(items).to(self.device)]
        spans = torch.where(spans >= 0, spans + length[:, :, None] + 2, spans)
        return ids, second, sentences, spans

    def epoch(
        self, drawn: random.Random, repeats: dict[str, int], others: float
    ) -> list[list[int]]:
        """Return the items of each question in an epoch, which are read together.

        A question comes with one of the windows of its passage, one with the answer if it has one,
        often also with a window that lacks it, and on average with `others` windows of other
        passages. Sets are repeated as often as `repeats` says.
        """
        together = []
        for items in self._of_question:
            name = str(self.set[items[0]])
            for _ in range(repeats.get(name, 1)):
                answered = [item for item in items if self.answered[item]]
                rest = [item for item in items if not self.answered[item] and not self.other[item]]
                chosen = [drawn.choice(answered or rest)]
                if answered and rest and drawn.random() < OTHER_WINDOW:
                    chosen.append(drawn.choice(rest))
                far = [item for item in items if self.other[item]]
                together.append(
                    chosen + drawn.sample(far, min(int(others + drawn.random()), len(far)))
                )
        drawn.shuffle(together)
        return together

    def batches(
        self, size: int, drawn: random.Random, repeats: dict[str, int], others: float
    ) -> Iterator[tuple[np.ndarray, Tensor]]:
        """Yield the items of `size` questions with windows of similar length, endlessly.

        With them comes the number of each item's question in the batch.
        """

        def longest(items: list[int]) -> int:
            return int(self.lengths[items].max())

        while True:
            epoch = self.epoch(drawn, repeats, others)
            for begin in range(0, len(epoch), size * POOL):
                pool = sorted(epoch[begin : begin + size * POOL], key=longest)
                cuts = list(range(0, len(pool), size))
                drawn.shuffle(cuts)
                for cut in cuts:
                    batch = pool[cut : cut + size]
                    numbers = np.repeat(np.arange(len(batch)), [len(items) for items in batch])
                    yield np.concatenate(batch), torch.from_numpy(numbers).to(self.device)


class Schedule:
    """The learning rate over a time: it rises for some steps, then falls to nothing."""

    def __init__(self, optimizer: torch.optim.Optimizer, minutes: float, warm: int = 200) -> None:
        """Start the clock."""
        self._optimizer, self._seconds, self._warm = optimizer, minutes * 60, warm
        self._peaks = [group["lr"] for group in optimizer.param_groups]
        self._began, self.step = time.monotonic(), 0

    def next(self) -> bool:
        """Set the rate of the next step; return False when the time is over."""
        used = (time.monotonic() - self._began) / max(self._seconds, 1e-9)
        share = min(1.0, (self.step + 1) / self._warm) * max(0.0, 1.0 - used)
        for group, peak in zip(self._optimizer.param_groups, self._peaks, strict=True):
            group["lr"] = peak * share
        self.step += 1
        return used < 1.0


class Trainer:
    """Trains a network, and notes how it goes."""

    def __init__(self, network: ReaderNetwork, log: Path, device: torch.device) -> None:
        """Train on a device, with notes in a file."""
        self._network, self._log, self._device = network.to(device), log, device
        self._on_gpu = device.type == "cuda"  # where half precision is faster

    def note(self, **entry: Any) -> None:
        """Write a line of the log, and print it."""
        line = json.dumps({"time": time.strftime("%H:%M:%S"), **entry})
        print(line, flush=True)
        with self._log.open("a") as log:
            log.write(line + "\n")

    def fill_in(self, texts: np.ndarray, minutes: float, rate: float, size: int) -> None:
        """Train on plain texts whose tokens are masked (Devlin et al. 2019)."""
        head = MaskedWords().to(self._device)
        optimizer = self._optimizer([*self._network.parameters(), *head.parameters()], rate)
        inside = LONGEST_TEXT - 2
        rows = texts[: len(texts) // inside * inside].astype(np.int64).reshape(-1, inside)
        rows = np.pad(rows, ((0, 0), (1, 1)), constant_values=((0, 0), (CLS, SEP)))
        source = torch.from_numpy(rows).to(self._device)
        schedule, losses = Schedule(optimizer, minutes), []
        words = len(self._network.vocabulary())
        while schedule.next():
            ids = source[torch.randint(len(source), (size,), device=self._device)]
            chosen = (torch.rand(ids.shape, device=self._device) < MASKED) & (ids != CLS)
            chosen &= ids != SEP
            replaced = torch.rand(ids.shape, device=self._device)
            other = torch.randint(1000, words, ids.shape, device=self._device)
            shown = torch.where(chosen & (replaced < 0.8), MASK, ids)
            shown = torch.where(chosen & (replaced > 0.9), other, shown)
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._on_gpu):
                states = self._network.states(shown, torch.zeros_like(shown))
                logits = head(states[chosen], self._network.vocabulary())
            loss = functional.cross_entropy(logits.float(), ids[chosen])
            self._step(optimizer, loss)
            losses.append(loss.detach())
            if schedule.step % NOTED == 0:
                self.note(masked=schedule.step * size, loss=_mean(losses))
                losses = []

    def learn_to_read(
        self,
        examples: Examples,
        minutes: float,
        rate: float,
        size: int,
        repeats: dict[str, int],
        others: float = 0,
    ) -> None:
        """Train on questions, each with windows of its passage and with `others`."""
        optimizer = self._optimizer(list(self._network.parameters()), rate)
        batches = examples.batches(size, random.Random(7), repeats, others)
        schedule, losses = Schedule(optimizer, minutes), []
        while schedule.next():
            items, questions = next(batches)
            ids, second, sentences, spans = examples.batch(items)
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._on_gpu):
                logits = self._network(ids, second)
            loss = reading_loss(logits, sentences, spans, questions).mean()
            self._step(optimizer, loss)
            losses.append(loss.detach())
            if schedule.step % NOTED == 0:
                self.note(questions=schedule.step * size, loss=_mean(losses))
                losses = []
            if schedule.step % (NOTED * 20) == 0:
                self.check(examples, size)
        self.check(examples, size)

    @torch.no_grad()
    def check(self, examples: Examples, size: int) -> None:
        """Note the loss on the questions that choose, by set."""
        items = np.flatnonzero((examples.part == "choose") & ~examples.other)
        items = np.random.default_rng(3).permutation(items)[: size * CHECKED]
        if not len(items):
            return
        self._network.eval()
        losses = []
        for begin in range(0, len(items), size):
            ids, second, sentences, spans = examples.batch(items[begin : begin + size])
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._on_gpu):
                logits = self._network(ids, second)
            losses.append(reading_loss(logits, sentences, spans).cpu())
        self._network.train()
        values, names = torch.cat(losses).numpy(), examples.set[items]
        self.note(choose={n: round(float(values[names == n].mean()), 3) for n in np.unique(names)})

    def _optimizer(self, weights: list[nn.Parameter], rate: float) -> torch.optim.Optimizer:
        tuned = [w for w in weights if w.requires_grad]
        return torch.optim.AdamW(tuned, rate, (0.9, 0.98), weight_decay=0.01, fused=True)

    def _step(self, optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        weights = [w for group in optimizer.param_groups for w in group["params"]]
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()


def _mean(losses: list[Tensor]) -> float:
    return round(float(torch.stack(losses).mean()), 3)


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=6.0, help="of learning to read")
    parser.add_argument("--masked-minutes", type=float, default=2.0, help="of filling in")
    parser.add_argument("--rate", type=float, default=2e-4, help="highest learning rate of reading")
    parser.add_argument("--masked-rate", type=float, default=5e-4, help="that of filling in")
    parser.add_argument("--batch", type=int, default=256, help="questions or texts in a step")
    parser.add_argument(
        "--others", type=float, default=0.0, help="other passages for a question, on average"
    )
    parser.add_argument("--start", type=Path, help="trained weights from which to go on")
    parser.add_argument(
        "--repeat", action="append", default=[], metavar="SET=N", help="times of a set per epoch"
    )
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(7)
    packaged = load_file(str(minilm_folder() / "model.safetensors"))
    first = load_file(str(options.out / FIRST_WEIGHTS))
    first = {name: rows.astype(np.float32) for name, rows in first.items()}
    started = load_weights(options.start) if options.start else {}
    network = ReaderNetwork(packaged | first | started)
    trainer = Trainer(network, options.out / "log.jsonl", device)
    texts = np.load(options.out / "texts.npz")["ids"]
    trainer.note(device=str(device), tokens=len(texts))
    if options.masked_minutes:
        trainer.fill_in(texts, options.masked_minutes, options.masked_rate, options.batch)
        save_file(network.tuned(), str(options.out / FIRST_WEIGHTS))
    examples = Examples(dict(np.load(options.out / "examples.npz")), device)
    repeats = {name: int(times) for name, times in (row.split("=") for row in options.repeat)}
    trainer.note(items=len(examples.question))
    trainer.learn_to_read(
        examples, options.minutes, options.rate, options.batch, repeats, options.others
    )
    save_weights(network.tuned(), options.out / "model" / "model.safetensors")


if __name__ == "__main__":
    run_command(main)
