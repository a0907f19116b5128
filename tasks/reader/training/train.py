"""Train the reader: `python -m tasks.reader.training.train OUT --data DATA --minutes 90`.

The learning rate decays to a fiftieth over the given time, so that a slow machine completes a
shorter training. A checkpoint is saved every few minutes; the same command resumes from it. The
tuned weights are in OUT/model.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed
import torch.multiprocessing
from safetensors.numpy import load_file, save_file
from torch import Tensor
from torch.nn import functional

from tasks.experts.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.encoders.minilm_graph import WORDS
from tasks.models.loaded_model import has_bfloat16
from tasks.models.span_reader.reader import OWN_WORDS, TrainedReader
from tasks.models.span_reader.windows import (
    CHARACTERS,
    SEP,
    Tokens,
    load_tokenizer,
    pair_ids,
    tokens_of,
    windows,
)
from tasks.reader.training.characters import first_vectors, missing_characters
from tasks.reader.training.examples import (
    Question,
    all_questions,
    draw_window,
    part_of,
)
from tasks.reader.training.network import ReaderNetwork
from tasks.reader.training.relations import MOST, relation_questions
from tasks.reader.training.score import measure
from tasks.text.languages import is_chinese

BATCH = 8  # in each process
CHARACTERS_FASTER = 5.0  # times the learning rate, as their initial vectors are rough
FIRST_WEIGHTS = "first_weights.safetensors"

Range = tuple[int, int]


@dataclass(slots=True)
class Item:
    """One question with one window, as tokens; first and last are 0 if there is no answer."""

    ids: list[int]
    second: int  # where the passage starts
    first: int
    last: int


class Corpus:
    """Questions of a part of the sets, tokenised once."""

    def __init__(self, rows: list[Question], folder: Path) -> None:
        """Tokenise questions and passages as the model in the folder knows them."""
        self.rows = rows
        contexts = sorted({row.context for row in rows})
        self.passages = dict(zip(contexts, tokens_of(contexts, folder), strict=True))
        questions = [row.question for row in rows]
        encodings = load_tokenizer(folder).encode_batch(questions, add_special_tokens=False)
        self.questions = [encoding.ids for encoding in encodings]
        self.beside = defaultdict(list)
        for context, title in sorted({(row.context, row.title) for row in rows}):
            self.beside[title].append(context)
        self.contexts = contexts

    def items(self, drawn: random.Random) -> Iterator[Item]:
        """Yield an item for each question in random order.

        For three in ten of the answered ones, another item has a window without the answer.
        """
        order = list(range(len(self.rows)))
        drawn.shuffle(order)
        for number in order:
            row = self.rows[number]
            passage = self.passages[row.context]
            if not row.answers:
                window = drawn.choice(windows(passage))
                yield self.item(number, passage, window, None)
                continue
            spans = drawn.choice(row.answers)
            held = draw_window(passage, spans, drawn)
            if held:
                yield self.item(number, passage, held[0], held[1:])
            if drawn.random() < 0.3:
                other = self._without(number, drawn)
                if other:
                    yield self.item(number, other[0], other[1], None)

    def _without(self, number: int, drawn: random.Random) -> Any:
        """Return, of the windows drawn, the one most like the question that has no answer."""
        row, words = self.rows[number], set(self.questions[number])
        texts = {row.context[start:end].lower() for start, end in row.answers}
        best, highest = None, -1
        pool = [
            row.context,
            *drawn.choices(self.beside[row.title], k=3),
            drawn.choice(self.contexts),
        ]
        for context in pool:
            passage = self.passages[context]
            for window in drawn.choices(windows(passage), k=2):
                begin, stop = passage.offsets[window[0]][0], passage.offsets[window[1] - 1][1]
                excerpt = context[begin:stop].lower()
                alike = len(words.intersection(passage.ids[slice(*window)]))
                if alike > highest and not any(text in excerpt for text in texts):
                    best, highest = (passage, window), alike
        return best

    def item(self, number: int, passage: Tokens, window: Range, answer: Range | None) -> Item:
        """Return a question with a window; the answer is its first and last token there."""
        ids = pair_ids(self.questions[number], passage, window)
        second = len(ids) - 1 - (window[1] - window[0])
        first, last = (answer[0] + second, answer[1] + second) if answer else (0, 0)
        return Item(ids, second, first, last)


def batches(corpus: Corpus, drawn: random.Random) -> Iterator[list[Item]]:
    """Yield batches of items of similar length, endlessly."""
    stream = itertools.chain.from_iterable(corpus.items(drawn) for _ in itertools.count())
    while True:
        pool = sorted(itertools.islice(stream, BATCH * 24), key=lambda item: len(item.ids))
        parts = [pool[start : start + BATCH] for start in range(0, len(pool), BATCH)]
        drawn.shuffle(parts)
        yield from parts


def tensors(items: list[Item]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return token ids, token types, the mask of real tokens, and where an answer may be."""
    longest = max(len(item.ids) for item in items)
    ids = np.zeros((len(items), longest), np.int64)
    second = np.zeros_like(ids)
    for row, item in enumerate(items):
        ids[row, : len(item.ids)] = item.ids
        second[row, item.second : len(item.ids)] = 1
    readable = (second == 1) & (ids != SEP)
    readable[:, 0] = True
    return tuple(map(torch.from_numpy, (ids, second, ids > 0, readable)))  # type: ignore[return-value]


def loss_of(network: ReaderNetwork, items: list[Item]) -> Tensor:
    """Return the mean loss of start and end."""
    with torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16()):
        logits = network(*tensors(items))
    first = torch.tensor([item.first for item in items])
    last = torch.tensor([item.last for item in items])
    return (
        functional.cross_entropy(logits[0], first) + functional.cross_entropy(logits[1], last)
    ) / 2


def prepare(folder: Path, rows: list[Question]) -> None:
    """Write the new characters of the Chinese texts, and their initial vectors."""
    folder.mkdir(exist_ok=True)
    packaged = load_file(str(minilm_folder() / "model.safetensors"))[WORDS]
    texts = sorted({row.context for row in rows if is_chinese(row.context)})
    (folder / CHARACTERS).write_text("")
    vocabulary = set(load_tokenizer(folder).get_vocab())
    load_tokenizer.cache_clear()
    characters = missing_characters(texts, vocabulary)
    (folder / CHARACTERS).write_text("\n".join(characters) + "\n", "utf-8")
    lines = [tokens.ids for tokens in tokens_of(texts, folder)]
    vectors = first_vectors(lines, packaged, len(characters))
    save_file({OWN_WORDS: vectors}, str(folder.parent / FIRST_WEIGHTS))


def go_on_from(start: Path, folder: Path) -> None:
    """Write the characters and weights of an earlier reader as the initial ones."""
    folder.mkdir(exist_ok=True)
    shutil.copy(start / CHARACTERS, folder)
    weights = load_file(str(start / "model.safetensors"))
    weights = {name: rows.astype(np.float32) for name, rows in weights.items()}
    save_file(weights, str(folder.parent / FIRST_WEIGHTS))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--squad", type=Path, help="train-v2.0.json of SQuAD, if at hand")
    parser.add_argument("--ontologies", type=Path, help="a set of Text2KGBench, if at hand")
    parser.add_argument("--relations", type=int, default=MOST, help="questions of relations")
    parser.add_argument("--start", type=Path, help="folder of an earlier reader to go on from")
    parser.add_argument("--rate", type=float, default=1.5e-4, help="learning rate at first")
    parser.add_argument("--seed", type=int, default=7, help="of the order of the questions")
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--workers", type=int, default=2, help="processes, which share each step")
    parser.add_argument("--each", type=int, default=40, help="questions of a set when measuring")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.start and not (options.out / FIRST_WEIGHTS).exists():
        go_on_from(options.start, options.out / "model")
    elif not (options.out / FIRST_WEIGHTS).exists():
        rows = all_questions(options.data, options.squad)
        prepare(options.out / "model", [row for row in rows if part_of(row.title) == "train"])
    with tempfile.TemporaryDirectory() as folder:
        meeting = str(Path(folder) / "meeting")
        torch.multiprocessing.spawn(work, (options, meeting), options.workers)


def work(rank: int, options: argparse.Namespace, meeting: str) -> None:
    """Train in one of several processes, each with one thread; the first saves and measures."""
    torch.set_num_threads(1)
    torch.manual_seed(7)
    torch.distributed.init_process_group(
        "gloo", f"file://{meeting}", timedelta(hours=1), options.workers, rank
    )
    rows = all_questions(options.data, options.squad)
    rows += relation_questions(options.data, options.ontologies, options.relations)
    model = options.out / "model"
    train = Corpus([row for row in rows if part_of(row.title) == "train"], model)
    choose = [row for row in rows if part_of(row.title) == "choose"]
    packaged = load_file(str(minilm_folder() / "model.safetensors"))
    network = ReaderNetwork(packaged | load_file(str(options.out / FIRST_WEIGHTS)))
    weights = {name: w for name, w in network.named_parameters() if w.requires_grad}
    tuned = list(weights.values())
    groups = [
        {"params": [weights["characters"]], "share": CHARACTERS_FASTER},
        {"params": [w for name, w in weights.items() if name != "characters"], "share": 1.0},
    ]
    optimizer = torch.optim.AdamW(groups, options.rate, (0.9, 0.98), weight_decay=0.01, fused=True)
    progress = load_checkpoint(options.out, weights, optimizer) or Progress()
    seconds, step = progress.seconds, progress.steps

    def note(**entry: Any) -> None:
        if rank == 0:
            with (options.out / "log.jsonl").open("a") as log:
                clock = time.strftime("%H:%M:%S")
                log.write(json.dumps({"time": clock, "step": step, **entry}) + "\n")

    def keep() -> None:
        if rank == 0:
            progress = Progress(steps=step, seconds=seconds)
            save_checkpoint(options.out, progress, weights, optimizer)

    def check(each: int) -> None:
        if rank == 0:
            save_file(network.tuned(), str(model / "model.safetensors"))
            note(**measure(TrainedReader(model), choose, each))

    note(train=len(train.rows), choose=len(choose), tuned=sum(w.numel() for w in tuned))
    budget, losses, saved, measured = options.minutes * 60, [], seconds, seconds
    before = time.monotonic()
    parent = os.getppid()
    for items in batches(train, random.Random(options.seed + step * options.workers + rank)):
        # Whoever started this may have been killed; nobody would wait for the end.
        if seconds >= budget or os.getppid() != parent:
            break
        rate = options.rate * min(1.0, (step + 1) / 100) * max(0.02, 1.0 - seconds / budget)
        for group in optimizer.param_groups:
            group["lr"] = rate * group["share"]
        loss = loss_of(network, items)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        step += 1
        now = time.monotonic()
        seconds, before = seconds + now - before, now
        seconds, shared = _average(tuned, seconds, loss.item())
        losses.append(shared)
        torch.nn.utils.clip_grad_norm_(tuned, 1.0)
        optimizer.step()
        if step % 20 == 0:
            note(
                minutes=round(seconds / 60, 1),
                loss=round(float(np.mean(losses)), 3),
                rate=round(rate, 7),
                read=step * BATCH * options.workers,
            )
            losses = []
        if seconds - saved > 180:
            keep()
            saved = seconds
        if seconds - measured > 1100:
            check(options.each)
            measured = seconds
    keep()
    check(options.each * 4)


def _average(weights: Sequence[Tensor], seconds: float, loss: float) -> tuple[float, float]:
    """Average gradients over the processes, and return the averages of the two numbers."""
    gradients = [w.grad for w in weights if w.grad is not None]
    flat = torch.cat([torch.tensor([seconds, loss]), *(g.reshape(-1) for g in gradients)])
    torch.distributed.all_reduce(flat)
    flat /= torch.distributed.get_world_size()
    start = 2
    for gradient in gradients:
        gradient.copy_(flat[start : start + gradient.numel()].view_as(gradient))
        start += gradient.numel()
    return float(flat[0]), float(flat[1])


if __name__ == "__main__":
    main()
