"""Train the encoder of Chinese: `python -m recipes.reader.train_encoder OUT
[--more FOLDER ...] [--minutes 40]`.

It starts from the packaged MiniLM with the vectors of Chinese characters that the reader learned,
and learns that a question lies near the passage that answers it: in each batch a softmax over all
passages, among them for each question one that resembles it but does not answer it (Karpukhin et
al. 2020). The weights are in OUT/encoder.safetensors, and OUT/log.jsonl tells how the questions
that choose are found.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file
from torch import Tensor
from torch.nn import functional

from recipes.command import DATA, parser_of, run_command
from recipes.reader.examples import Question, all_questions
from recipes.reader.network import ReaderNetwork
from recipes.reader.prepare import examples, titled
from recipes.reader.train import Schedule, Trainer
from tasks.models.encoders.hidden_states import pool
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.encoders.stored_weights import OWN_WORDS, load_weights, save_weights
from tasks.models.encoders.vocabulary import load_tokenizer
from tasks.models.span_reader.reader import ON_MINILM
from tasks.models.span_reader.windows import CLS, SEP, Pieces
from tasks.text.languages import is_chinese

CHARACTERS = ON_MINILM
TEMPERATURE = 0.05  # by which cosines are divided, as in Sentence-BERT's in-batch softmax
NOTED = 50  # steps between two lines of the log
CHECKED = 600  # questions that choose


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, the windows that answer it, all of its own passage, and others that resemble it.

    Windows are numbers of token lists in `Pairs`. `part` says what the question is used for.
    """

    question: list[int]
    answering: list[int]
    own: frozenset[int]
    others: list[int]
    part: str
    dataset: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """Questions with an answer, and the token ids of all windows of their passages."""

    pairs: list[Pair]
    windows: list[list[int]]

    @classmethod
    def of(cls, rows: Sequence[Question]) -> "Pairs":
        """Cut the passages of questions into windows, and find those like a question."""
        arrays = examples([titled(row) for row in rows], Pieces(load_tokenizer()))

        def cut(kind: str) -> list[list[int]]:
            ids, lengths = arrays[f"{kind}_ids"], arrays[f"{kind}_lengths"].astype(np.int64)
            return [part.tolist() for part in np.split(ids, np.cumsum(lengths)[:-1])]

        questions = cut("question")
        of_question: dict[int, list[int]] = {}
        for item, question in enumerate(arrays["item_question"].tolist()):
            of_question.setdefault(question, []).append(item)
        answers = arrays["item_spans"][:, 0, 0] != 255
        window, other = arrays["item_window"].tolist(), arrays["item_other"]
        pairs = [
            Pair(
                questions[number],
                [window[item] for item in items if answers[item]],
                frozenset(window[item] for item in items if not other[item]),
                [window[item] for item in items if other[item]],
                str(arrays["question_part"][number]),
                str(arrays["question_set"][number]),
            )
            for number, items in of_question.items()
        ]
        return cls([pair for pair in pairs if pair.answering and pair.others], cut("window"))

    def batches(
        self, size: int, drawn: random.Random, repeats: dict[str, int]
    ) -> Iterator[list[Pair]]:
        """Yield the pairs that train, endlessly; sets are repeated as often as `repeats` says."""
        training = [
            pair
            for pair in self.pairs
            for _ in range(repeats.get(pair.dataset, 1) if pair.part == "train" else 0)
        ]
        while True:
            drawn.shuffle(training)
            for begin in range(0, len(training) - size + 1, size):
                yield training[begin : begin + size]


class EncoderTrainer(Trainer):
    """Trains a network to encode questions and passages, and notes how it goes."""

    def vectors(self, texts: Sequence[list[int]]) -> Tensor:
        """Return (texts, width) of length one: the mean of the last states of all tokens."""
        longest = max(map(len, texts)) + 2
        rows = [[CLS, *ids, SEP] + [0] * (longest - len(ids) - 2) for ids in texts]
        ids = torch.tensor(rows, device=self._device)
        states = self._network.states(ids, torch.zeros_like(ids))
        return functional.normalize(pool(states, ids > 0, "mean"), dim=1)

    def learn(
        self, pairs: Pairs, minutes: float, rate: float, size: int, repeats: dict[str, int]
    ) -> None:
        """Train on batches of `size` questions."""
        optimizer = self._optimizer(list(self._network.parameters()), rate)
        drawn = random.Random(7)
        batches = pairs.batches(size, drawn, repeats)
        schedule, losses = Schedule(optimizer, minutes), []
        while schedule.next():
            loss = self.loss(pairs, next(batches), drawn)
            self._step(optimizer, loss)
            losses.append(float(loss.detach()))
            if schedule.step % NOTED == 0:
                self.note(step=schedule.step, loss=round(sum(losses) / len(losses), 3))
                losses = []

    def loss(self, pairs: Pairs, batch: list[Pair], drawn: random.Random) -> Tensor:
        """Return the loss of questions among all passages of a batch, and of the reverse.

        Other windows of a question's own passage are neither right nor wrong.
        """
        right = [drawn.choice(pair.answering) for pair in batch]
        passages = right + [drawn.choice(pair.others) for pair in batch]
        questions = self.vectors([pair.question for pair in batch])
        found = self.vectors([pairs.windows[number] for number in passages])
        logits = questions @ found.T / TEMPERATURE
        own = [
            [number in pair.own and place != row for place, number in enumerate(passages)]
            for row, pair in enumerate(batch)
        ]
        logits = logits.masked_fill(torch.tensor(own, device=self._device), -torch.inf)
        target = torch.arange(len(batch), device=self._device)
        reverse = functional.cross_entropy(logits[:, : len(batch)].T, target)
        return functional.cross_entropy(logits, target) + reverse / 2

    @torch.no_grad()
    def found(self, pairs: Pairs, size: int) -> dict[str, float]:
        """Return how often a right window is the first, and among the first five, of all.

        These are the windows of all passages of questions that choose.
        """
        self._network.eval()
        chosen = [pair for pair in pairs.pairs if pair.part == "choose"][:CHECKED]
        numbers = sorted(
            {number for pair in chosen for number in pair.own}
            | {number for pair in chosen for number in pair.others}
        )

        def encoded(texts: list[list[int]]) -> Tensor:
            parts = [self.vectors(texts[at : at + size]) for at in range(0, len(texts), size)]
            return torch.cat(parts)

        passages = encoded([pairs.windows[number] for number in numbers])
        likeness = encoded([pair.question for pair in chosen]) @ passages.T
        ranked = likeness.topk(min(5, len(numbers))).indices.tolist()
        right = [
            [numbers[place] in pair.answering for place in places]
            for places, pair in zip(ranked, chosen, strict=True)
        ]
        self._network.train()
        return {
            "first": sum(row[0] for row in right) / len(right),
            "five": sum(map(any, right)) / len(right),
        }


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="folders of questions")
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--rate", type=float, default=1e-4, help="highest learning rate")
    parser.add_argument("--batch", type=int, default=32, help="questions in a step")
    parser.add_argument(
        "--repeat", action="append", default=[], metavar="SET=N", help="times of a set per epoch"
    )
    options = parser.parse_args()
    repeats = {name: int(times) for name, times in (row.split("=") for row in options.repeat)}
    options.out.mkdir(parents=True, exist_ok=True)
    rows = [row for row in all_questions(DATA, options.more) if row.answers]
    pairs = Pairs.of([row for row in rows if is_chinese(row.question)])
    packaged = load_file(str(minilm_folder() / "model.safetensors"))
    torch.manual_seed(7)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = ReaderNetwork(packaged | load_weights(CHARACTERS, {OWN_WORDS}))
    trainer = EncoderTrainer(network, options.out / "log.jsonl", device)
    trainer.note(questions=len(pairs.pairs), passages=len(pairs.windows))
    trainer.note(**trainer.found(pairs, options.batch))
    trainer.learn(pairs, options.minutes, options.rate, options.batch, repeats)
    trainer.note(**trainer.found(pairs, options.batch))
    save_weights(network.tuned(), options.out / "encoder.safetensors")


if __name__ == "__main__":
    run_command(main)
