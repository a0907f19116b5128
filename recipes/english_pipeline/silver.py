"""Silver data: sentences labelled by the teacher, and the word vectors it has for them."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from recipes.english_pipeline.sentences import AnnotatedSentence
from recipes.english_pipeline.teacher import (
    LAYERS,
    NAME_TAGS,
    Encoder,
    Labels,
    Teacher,
    batches,
    collate,
)
from recipes.english_pipeline.trees import best_tree

log = logging.getLogger(__name__)


def label(
    model: Teacher,
    encode: Encoder,
    labels: Labels,
    sentences: list[AnnotatedSentence],
    vectors: "WordVectors",
    pieces: int = 4000,
) -> list[AnnotatedSentence]:
    """Fill every layer that a sentence lacks as the teacher would, and count its words' vectors."""
    items = encode(sentences)
    done: list[AnnotatedSentence] = list(sentences)
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        for turn, group in enumerate(batches(items, pieces, None)):
            batch = collate([items[i] for i in group])
            scores = model(batch)
            names = model.name_heads[0](scores["words"]).float().argmax(-1).numpy()
            layers = {n: scores[n].float().argmax(-1).numpy() for n in LAYERS}
            arcs = scores["heads"].double().numpy()
            trees = np.zeros(batch["mask"].shape, dtype=np.int64)
            for row, i in enumerate(group):
                n = len(sentences[i].words)
                trees[row, :n] = best_tree(arcs[row, :n, : n + 1])
            deps = model.relations(scores, torch.from_numpy(trees)).float().argmax(-1).numpy()
            states = scores["words"].float().numpy()
            for row, i in enumerate(group):
                n = len(sentences[i].words)
                numbers = {k: v[row, :n] for k, v in layers.items()} | {"deps": deps[row, :n]}
                done[i] = _complete(sentences[i], numbers, trees[row, :n], names[row, :n], labels)
                vectors.add(sentences[i].words, states[row, :n])
            if turn % 50 == 0:
                log.info("labelled batch %d", turn)
    return done


def _complete(
    sentence: AnnotatedSentence,
    numbers: dict[str, NDArray[np.int64]],
    tree: NDArray[np.int64],
    names: NDArray[np.int64],
    labels: Labels,
) -> AnnotatedSentence:
    given: dict[str, Any] = {}
    if sentence.heads is None:
        for layer, values in numbers.items():
            inventory = getattr(labels, layer)
            given[layer] = tuple(inventory[v] for v in values)
        given["heads"] = tuple(i if h == 0 else int(h) - 1 for i, h in enumerate(tree))
        given["deps"] = tuple(
            "ROOT" if h == 0 else ("dep" if d == "ROOT" else d)
            for h, d in zip(tree, given["deps"], strict=True)
        )
    if sentence.names is None:
        given["names"] = tuple(repair_names([NAME_TAGS[v] for v in names]))
    return replace(sentence, **given)


def repair_names(tags: list[str]) -> Iterator[str]:
    """Open a name wherever an inside tag follows nothing it could continue."""
    previous = "O"
    for tag in tags:
        if tag.startswith("I-") and previous[2:] != tag[2:]:
            tag = "B-" + tag[2:]
        yield tag
        previous = tag


class WordVectors:
    """Means of the teacher's contextual vectors by surface form."""

    def __init__(self, width: int = 384) -> None:
        """Start with no words."""
        self.counts: Counter[str] = Counter()
        self.rows: dict[str, int] = {}
        self.sums = np.zeros((1024, width), dtype=np.float32)

    def add(self, words: Iterable[str], states: NDArray[np.float32]) -> None:
        """Count one vector for each word."""
        for word, state in zip(words, states, strict=True):
            row = self.rows.setdefault(word, len(self.rows))
            if row == len(self.sums):
                self.sums = np.concatenate([self.sums, np.zeros_like(self.sums)])
            self.sums[row] += state
            self.counts[word] += 1

    def reduced(self, most: int, dimensions: int, least: int = 2) -> dict[str, NDArray[np.float32]]:
        """Return vectors of the `most` frequent forms: principal components of unit variance."""
        words = [w for w, c in self.counts.most_common(most) if c >= least]
        matrix = np.stack([self.sums[self.rows[w]] / self.counts[w] for w in words])
        matrix -= matrix.mean(0)
        _, _, directions = np.linalg.svd(matrix, full_matrices=False)
        small = matrix @ directions[:dimensions].T
        small = small / small.std()
        return dict(zip(words, small.astype(np.float32), strict=True))
