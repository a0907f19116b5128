"""Scores relation paths for a question: a small model of two bags of n-grams.

The n-grams of the question and of the relation are summed to vectors; a hop's score is the product
of both, with a matrix for each place in a path. Added to this are scores of the words that question
and relation share, of the topic's features, and of the question with the whole path. What was
learned about a relation is weighted by the number of examples that meant it. The remaining weight
goes to what the relation's name shares with the question, and to whether the question has words
that do not occur in the examples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any
from zlib import crc32

import numpy as np
from safetensors.numpy import load_file, save

from tasks.graphs.graph import Graph
from tasks.programs.planner.features import (
    FEW,
    NAME_WEIGHTS,
    OVERLAPS,
    bags_in_a_row,
    content_features,
    name_features,
    overlap,
    question_features,
    relation_features,
)
from tasks.programs.planner.paths import Path
from tasks.programs.planner.topics import Topic

LONGEST = 3
PLACES = {(1, 0): 0, (2, 0): 1, (2, 1): 2, (3, 0): 3, (3, 1): 4, (3, 2): 5}
DIMENSIONS = 64
QUESTION_BUCKETS = 1 << 17
RELATION_BUCKETS = 1 << 15
PATH_BUCKETS = 1 << 14
TABLES = ("question", "relation", "path")  # a step touches few of their rows
LENGTH_BIAS = (0.0, -1.0, -2.0)  # first scores of paths of one, two and three hops
TRUST = ("unseen", "strange")  # weights used where the learned vectors are not trusted
NOTHING = np.zeros(0, np.int64)
Sums = Callable[[str, np.ndarray, np.ndarray], Any]
COLUMNS = ("readings", "hops", "lengths", "shared", "topics", "paths", "trusted", "unknown")


@dataclass
class Rows:
    """The candidates of one question as arrays that do not change while a model is fitted."""

    grams: list[np.ndarray]  # hashed n-grams of each reading of the question
    words: list[np.ndarray]  # hashed content words of each reading
    readings: np.ndarray  # int64 (candidates,)
    hops: np.ndarray  # int64 (candidates, 3): number of the hop, -1 for none
    lengths: np.ndarray  # int64 (candidates,)
    shared: np.ndarray  # float32 (candidates, 3 * OVERLAPS)
    topics: np.ndarray  # float32 (candidates, NAME_FEATURES)
    paths: np.ndarray  # int64 (candidates,)
    trusted: np.ndarray  # float32 (candidates, 3): 0 for a hop to be scored as one never learned
    unknown: np.ndarray  # float32 (candidates,): unknown share of content words

    def take(self, chosen: np.ndarray) -> "Rows":
        """Return the rows of some candidates."""
        parts = (getattr(self, name)[chosen] for name in COLUMNS)
        return Rows(self.grams, self.words, *parts)


@dataclass
class CandidateBatch:
    """The candidates of some questions; `question` is the place of each candidate's question."""

    rows: Rows  # all together; hops are places in `relations`
    question: np.ndarray  # int64 (candidates,)
    readings: tuple[np.ndarray, np.ndarray]  # n-grams of all readings, and where each begins
    relations: tuple[np.ndarray, np.ndarray]  # n-grams of the hops in this batch, likewise
    names: np.ndarray  # int64 (hops,): buckets of their whole names


class Encoding:
    """Turns candidates of one graph into arrays."""

    def __init__(self, graph: Graph, known: np.ndarray = NOTHING) -> None:
        """Number the hops of a graph, its relations in either direction, as 2 r + inverse.

        `known` are the n-grams that were learned from, int64, sorted.
        """
        self.graph = graph
        self._known = known
        self._bags: dict[int, np.ndarray] = {}
        self._paths: dict[Path, int] = {}

    def rows(self, candidates: Sequence[tuple[Topic, Path]]) -> Rows:
        """Return the candidates of one question, paths from readings of it, as arrays."""
        topics = list({id(topic): topic for topic, _ in candidates}.values())
        numbers = {id(topic): number for number, topic in enumerate(topics)}
        features = [name_features(topic, self.graph) for topic in topics]
        words = [content_features(topic.masked) for topic in topics]
        known = [share_known(w, self._known) if len(w) else 1.0 for w in words]
        readings = np.array([numbers[id(topic)] for topic, _ in candidates], np.int64)
        hops = np.full((len(candidates), LONGEST), -1, np.int64)
        shared = np.zeros((len(candidates), LONGEST, OVERLAPS), np.float32)
        for row, (topic, path) in enumerate(candidates):
            earlier: set[int] = set()
            for place, (relation, inverse) in enumerate(path):
                hops[row, place] = 2 * relation + inverse
                if relation not in earlier:  # words that occur once count for one hop
                    shared[row, place] = overlap(topic.masked, self.graph.relations[relation])
                earlier.add(relation)
        return Rows(
            grams=[question_features(topic.masked) for topic in topics],
            words=words,
            readings=readings,
            hops=hops,
            lengths=np.array([len(path) for _, path in candidates], np.int64),
            shared=shared.reshape(len(candidates), -1),
            topics=np.array(features, np.float32)[readings],
            paths=np.array([self._path(path) for _, path in candidates], np.int64),
            trusted=np.ones(hops.shape, np.float32),
            unknown=1 - np.array(known, np.float32)[readings],
        )

    def batch(self, questions: Sequence[Rows]) -> CandidateBatch:
        """Return the rows of some questions, none of them empty, as one batch."""
        grams = [bag for rows in questions for bag in rows.grams]
        firsts = np.cumsum([0, *(len(rows.grams) for rows in questions[:-1])])
        columns = {n: np.concatenate([getattr(rows, n) for rows in questions]) for n in COLUMNS}
        question = np.repeat(np.arange(len(questions)), [len(rows.paths) for rows in questions])
        columns["readings"] += firsts[question]
        hops = columns["hops"]
        used, hops[hops >= 0] = np.unique(hops[hops >= 0], return_inverse=True)
        question_grams, offsets = bags_in_a_row(grams)
        return CandidateBatch(
            rows=Rows(grams, [], **columns),
            question=question,
            readings=(question_grams % QUESTION_BUCKETS, offsets),
            relations=bags_in_a_row([self._bag(int(hop)) for hop in used]),
            names=np.array([self.name_bucket(int(hop)) for hop in used], np.int64),
        )

    def name_bucket(self, hop: int) -> int:
        """Return the bucket of a hop's whole name."""
        return int(self._bag(hop)[-1])

    def _bag(self, hop: int) -> np.ndarray:
        if hop not in self._bags:
            grams = relation_features(self.graph.relations[hop // 2], bool(hop % 2))
            self._bags[hop] = np.array(grams, np.int64) % RELATION_BUCKETS
        return self._bags[hop]

    def _path(self, path: Path) -> int:
        """Return the bucket of a path's whole name."""
        if path not in self._paths:
            hops = (("~" if inverse else "=") + self.graph.relations[r] for r, inverse in path)
            name = " ".join(hops).encode("utf-8", "surrogatepass")
            self._paths[path] = crc32(name) % PATH_BUCKETS
        return self._paths[path]


def share_known(grams: np.ndarray, known: np.ndarray) -> float:
    """Return the share of n-grams, at least one, that are among the known, sorted ones."""
    if not len(known):
        return 0.0
    places = np.searchsorted(known, grams).clip(max=len(known) - 1)
    return float((known[places] == grams).mean())


class WordModel:
    """Scores paths before anything was learned; scores are comparable within one question only.

    They depend on shared words, the topic's features, and the length of the path. `known` holds the
    n-grams of the questions that were learned from, int64, sorted; here none.
    """

    known = NOTHING

    def ranking(self, batch: CandidateBatch) -> np.ndarray:
        """Return the score of each candidate, float32 (candidates,)."""
        rows = batch.rows
        read, lengths = (np.array(weights, np.float32) for weights in (NAME_WEIGHTS, LENGTH_BIAS))
        scores: np.ndarray = rows.shared.sum(1) + rows.topics @ read + lengths[rows.lengths - 1]
        return scores

    def familiar(self, masked: str) -> float:
        """Return the share of a masked question's n-grams that were learned from, 0 to 1.

        If the share of its content words is lower, return that one: `when was X born` and `when was
        X released` differ in nothing else.
        """
        parts = (question_features(masked), content_features(masked))
        return min(share_known(part, self.known) for part in parts if len(part))


class LearnedModel(WordModel):
    """A model that was fitted: its weights by name, as arrays.

    `uses` holds the number of examples that meant each hop, float32 (RELATION_BUCKETS,), by the
    bucket of its name.
    """

    def __init__(self, weights: dict[str, Any], known: np.ndarray, uses: np.ndarray) -> None:
        """Store what was fitted; tables may be in half precision."""
        self.weights, self.known, self.uses = weights, known, uses

    def ranking(self, batch: CandidateBatch) -> np.ndarray:
        """Return the score of each candidate, float32 (candidates,)."""
        return np.asarray(self._scored(batch, np.asarray, self._sums), np.float32)

    def _scored(self, batch: CandidateBatch, as_: Callable[[Any], Any], sums: Sums) -> Any:
        """Return the scores as an array of the library of the weights: NumPy's or torch's.

        `as_` makes such an array; `sums` adds up the rows of a table for each bag of n-grams.
        """
        weights, rows, trust = self.weights, batch.rows, self.trust(batch)
        missing, lengths = 1 - trust, rows.lengths - 1
        questions = sums("question", *batch.readings) / 4.0  # about the root of their n-grams
        grams, offsets = batch.relations
        sizes = np.maximum(np.diff(offsets, append=len(grams)), 1).astype(np.float32)
        relations = sums("relation", grams, offsets) / as_(sizes)[:, None]
        strange = np.concatenate([missing, missing * rows.unknown[:, None]], 1)
        score = as_(rows.shared) @ weights["shared"]
        score = score + as_(rows.shared * missing.repeat(OVERLAPS, 1)) @ weights["unseen"]
        score = score + as_(strange) @ weights["strange"] + as_(rows.topics) @ weights["read"]
        score = score + weights["length_bias"][as_(lengths)]
        whole = sums("path", rows.paths, np.arange(len(rows.paths)))
        own = weights["length"][as_(lengths)] + whole * as_(trust.prod(1))[:, None]
        readings = as_(rows.readings)
        score = score + (questions[readings] * own).sum(1)
        turned = questions @ weights["place"]  # (places, readings, d)
        for hop in range(LONGEST):
            numbers = np.array([PLACES.get((length + 1, hop), 0) for length in range(LONGEST)])
            there = relations[as_(np.maximum(rows.hops[:, hop], 0))]
            by_hop = (turned[as_(numbers[lengths]), readings] * there).sum(1)
            score = score + by_hop * as_((rows.hops[:, hop] >= 0) * trust[:, hop])
        return score

    def _sums(self, name: str, grams: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return the sum of a table's rows for each bag of n-grams, float32 (bags, columns)."""
        table, sizes = self.weights[name], np.diff(offsets, append=len(grams))
        sums = np.zeros((len(offsets), table.shape[1]), np.float32)
        np.add.at(sums, np.repeat(np.arange(len(offsets)), sizes), table[grams].astype(np.float32))
        return sums

    def trust(self, batch: CandidateBatch) -> np.ndarray:
        """Return the weight of what was learned of each hop, float32 (candidates, 3), 0 to 1."""
        hops, uses = batch.rows.hops, self.uses[batch.names]
        trust = (uses / (uses + FEW))[np.maximum(hops, 0)] * batch.rows.trusted
        return np.where(hops < 0, np.float32(1), trust)

    def to_bytes(self) -> bytes:
        """Return the weights as safetensors in half precision."""
        halves = {name: weights.astype(np.float16) for name, weights in self.weights.items()}
        return save({**halves, "known": self.known, "uses": self.uses})

    @classmethod
    def load(cls, path: File) -> "LearnedModel":
        """Return the model whose weights are in a file."""
        loaded = load_file(path)
        known, uses = loaded.pop("known"), loaded.pop("uses")
        small = {name: w.astype(np.float32) for name, w in loaded.items() if name not in TABLES}
        return LearnedModel({**loaded, **small}, known, uses)


class PathModel(LearnedModel):
    """A model to be fitted: its weights are tensors, which start as the scores of `WordModel`."""

    def __init__(self, seed: int = 0) -> None:
        """Start with small random vectors."""
        import torch

        generator = torch.Generator().manual_seed(seed)

        def small(*shape: int, scale: float = 0.1) -> Any:
            return (torch.randn(*shape, generator=generator) * scale).requires_grad_()

        self.uses = np.zeros(RELATION_BUCKETS, np.float32)
        eye = torch.eye(DIMENSIONS).repeat(len(PLACES), 1, 1)
        self.weights: dict[str, Any] = {
            "question": torch.zeros(QUESTION_BUCKETS, DIMENSIONS).requires_grad_(),
            "relation": small(RELATION_BUCKETS, DIMENSIONS),
            "place": eye.requires_grad_(),
            "length": small(LONGEST, DIMENSIONS, scale=0.01),
            "length_bias": torch.tensor(LENGTH_BIAS).requires_grad_(),
            "path": small(PATH_BUCKETS, DIMENSIONS, scale=0.01),
            "shared": torch.ones(LONGEST * OVERLAPS).requires_grad_(),
            "unseen": torch.zeros(LONGEST * OVERLAPS).requires_grad_(),
            "strange": torch.zeros(LONGEST * 2).requires_grad_(),
            "read": torch.tensor(NAME_WEIGHTS).requires_grad_(),
        }

    def ranking(self, batch: CandidateBatch) -> np.ndarray:
        """Return the score of each candidate, float32 (candidates,)."""
        return self._as_arrays().ranking(batch)

    def scores(self, batch: CandidateBatch) -> Any:
        """Return the score of each candidate as a tensor (candidates,), to be fitted."""
        import torch
        from torch.nn.functional import embedding_bag

        def sums(name: str, *bags: np.ndarray) -> Any:
            inputs, offsets = map(torch.from_numpy, bags)
            return embedding_bag(inputs, self.weights[name], offsets, mode="sum", sparse=True)

        return self._scored(batch, torch.from_numpy, sums)

    def to_bytes(self) -> bytes:
        """Return the weights as safetensors in half precision."""
        return self._as_arrays().to_bytes()

    def _as_arrays(self) -> LearnedModel:
        arrays = {name: weights.detach().numpy() for name, weights in self.weights.items()}
        return LearnedModel(arrays, self.known, self.uses)
