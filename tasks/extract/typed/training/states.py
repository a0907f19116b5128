"""Examples with their states below the tuned layers, which are computed once per text."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from tasks.extract.typed.features import kind_number
from tasks.extract.typed.model import LONGEST, LOWER
from tasks.extract.typed.training.examples import Example
from tasks.extract.typed.training.network import Marked, TypedNetwork
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.encoders.minilm_graph import WORDS, build_states_graph

HIDDEN = 0.3  # share of the kinds that are hidden


def lower_states(texts: list[str], threads: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return float16 (tokens, 384) of each text, and where its tokens stand, int32 (tokens, 2)."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    weights = load_file(str(minilm_folder() / "model.safetensors"))
    graph = build_states_graph(weights, {"states": LOWER})
    session = InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.enable_truncation(LONGEST)
    tokenizer.no_padding()
    encodings = tokenizer.encode_batch(texts)

    def run(encoding: Any) -> np.ndarray:
        [states] = session.run(["states"], {"words": weights[WORDS][[encoding.ids]]})
        rows: np.ndarray = states[0].astype(np.float16)
        return rows

    with ThreadPoolExecutor(threads) as pool:
        states = list(pool.map(run, encodings))
    return states, [np.array(encoding.offsets, np.int32) for encoding in encodings]


def token_mentions(example: Example, offsets: np.ndarray) -> list[list[tuple[int, int]]]:
    """Return the token ranges of each entity's mentions; entities that were cut off have none."""
    entities = []
    for mentions in example.entities:
        ranges = []
        for start, end in mentions:
            inside = np.nonzero((offsets[:, 0] < end) & (offsets[:, 1] > start))[0]
            if len(inside):
                ranges.append((int(inside[0]), int(inside[-1]) + 1))
        entities.append(ranges)
    return entities


def pairs_of(example: Example, mentions: list[list[tuple[int, int]]], share: float) -> np.ndarray:
    """Return the pairs of an example to look at; of the unrelated ones a share."""
    there = [number for number, ranges in enumerate(mentions) if ranges]
    labelled = {(head, tail) for head, tail, _ in example.labels}
    if not example.whole:
        both = labelled | {(tail, head) for head, tail in labelled}
        chosen = [pair for pair in both if set(pair) <= set(there) and pair[0] != pair[1]]
    else:
        chosen = [
            (head, tail)
            for head in there
            for tail in there
            if head != tail and ((head, tail) in labelled or random.random() < share)
        ]
    return np.array(sorted(chosen), np.int64).reshape(-1, 2)


class Loaded:
    """Examples with their states and mentions."""

    def __init__(self, examples: list[Example], cache: Path | None, threads: int) -> None:
        """Compute the states below, or take those that were kept in `cache`."""
        if cache and (cache / "states.npy").exists():
            every = np.load(cache / "states.npy", mmap_mode="r")
            places, lengths = np.load(cache / "offsets.npy"), np.load(cache / "lengths.npy")
        else:
            states, offsets = lower_states([example.text for example in examples], threads)
            every, places = np.concatenate(states), np.concatenate(offsets)
            lengths = np.array([len(rows) for rows in states])
            if cache:
                cache.mkdir(parents=True, exist_ok=True)
                for name, array in (("states", every), ("offsets", places), ("lengths", lengths)):
                    np.save(cache / f"{name}.npy", array)
        ends = np.cumsum(lengths)
        self.examples, self._every = examples, every
        self._encoded: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._ranges = list(zip(ends - lengths, ends, strict=True))
        self.mentions = [
            token_mentions(example, places[start:end])
            for example, (start, end) in zip(examples, self._ranges, strict=True)
        ]

    def length(self, number: int) -> int:
        """Return how many tokens an example has."""
        start, end = self._ranges[number]
        return int(end - start)

    def encoded(
        self, network: TypedNetwork, numbers: list[int], rows: list[Marked], *, tuned: bool
    ) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return what the upper layers make of texts; before they are tuned this is kept."""
        if tuned:
            return network.encode(rows)
        new = [(n, row) for n, row in zip(numbers, rows, strict=True) if n not in self._encoded]
        if new:
            network.layers.eval()
            with torch.no_grad():
                for (n, _), both in zip(new, network.encode([r for _, r in new]), strict=True):
                    self._encoded[n] = both[0].half(), both[1].half()
            network.layers.train()
        return [(self._encoded[n][0].float(), self._encoded[n][1].float()) for n in numbers]

    def marked(self, number: int, share: float = 1.0) -> Marked:
        """Return one example for the network."""
        pairs = pairs_of(self.examples[number], self.mentions[number], share)
        # An entity that was cut off is in no pair; it needs a place all the same.
        mentions = [ranges or [(0, 1)] for ranges in self.mentions[number]]
        start, end = self._ranges[number]
        kinds = self._kinds(self.examples[number], hidden=share < 1.0)
        return Marked(np.array(self._every[start:end]), mentions, pairs, kinds)

    def _kinds(self, example: Example, *, hidden: bool) -> np.ndarray:
        """Return the kinds of the entities; in training some are hidden, as a refresh knows few."""
        kinds = np.zeros(len(example.entities), np.int64)
        for number, kind in enumerate(example.kinds):
            if not hidden or random.random() > HIDDEN:
                kinds[number] = kind_number(kind)
        return kinds
