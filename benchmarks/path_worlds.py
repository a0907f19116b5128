"""Graphs with vectors, and pairs of nodes to walk between, to measure the path policy on."""

import gzip
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path as File

import numpy as np

from tasks.graphs.graph import Graph
from tasks.paths.graph_vectors import GraphVectors, graph_vectors
from tasks.paths.path import Path, Step
from tasks.paths.policy.demonstrations import FAR, distances_between
from tasks.paths.policy.episodes import VectorGraph
from tasks.paths.policy.train import Episodes
from tasks.questions.formats.metaqa import read_metaqa
from tasks.questions.formats.pathquestion import read_pathquestion

SHARES = {"training": 0.5, "choosing": 0.2, "reporting": 0.3}


@dataclass(frozen=True, eq=False)
class World:
    """A graph with its vectors, and questions over it: pairs with gold paths, if there are any.

    `keys` has the name of each pair's group: no group is in two parts. `hops` are the questions'.
    """

    name: str
    place: VectorGraph
    vectors: GraphVectors
    pairs: Episodes
    gold: list[Path | None]
    keys: list[str]
    hops: int

    def rows(self, rows: np.ndarray) -> "World":
        """Return the world with some of its pairs."""
        pairs = self.pairs
        return replace(
            self,
            pairs=Episodes(pairs.sources[rows], pairs.targets[rows], pairs.contexts[rows]),
            gold=[self.gold[row] for row in rows],
            keys=[self.keys[row] for row in rows],
        )

    def part(self, name: str, seed: int, most: int | None = None) -> "World":
        """Return the seeded part of that name, or `most` of its pairs."""
        keys = sorted(set(self.keys))
        random = np.random.default_rng(seed)
        place = dict(
            zip((keys[n] for n in random.permutation(len(keys))), range(len(keys)), strict=True)
        )
        ends = np.cumsum(list(SHARES.values())) * len(keys)
        number = list(SHARES).index(name)
        parts = np.searchsorted(ends, [place[key] for key in self.keys], side="right")
        rows = random.permutation(np.flatnonzero(parts.clip(max=2) == number))
        return self.rows(np.sort(rows[:most]))

    @property
    def simple_gold(self) -> np.ndarray:
        """Which gold paths visit no node twice: bool."""
        return np.array(
            [path is not None and len(set(path.nodes)) == len(path.nodes) for path in self.gold]
        )

    @property
    def reachable(self) -> np.ndarray:
        """Which targets are other nodes than their sources and within reach: bool."""
        pairs = self.pairs
        far = distances_between(self.place, pairs.sources, pairs.targets, max(self.hops, 3))
        return (far > 0) & (far < FAR)


def pathquestion(folder: File, hops: int, cache: File, encoder: str, most: int) -> World:
    """Return PathQuestion's questions of two or three hops with their gold paths."""
    file = folder / f"PQ-{hops}H.txt.gz"
    graph = Graph.of(f"pathquestion-{hops}h", _triples(folder / f"{hops}H-kb.txt", "\t"))
    numbers = {graph.label(node): node for node in range(graph.nodes)}
    questions = read_pathquestion(file).questions
    gold: list[Path] = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            parts = line.rstrip("\n").split("\t")[-1].split("#<end>")[0].split("#")
            steps = [
                Step(graph.relation_numbers[relation], False, numbers[node])
                for relation, node in zip(parts[1::2], parts[2::2], strict=True)
            ]
            gold.append(Path(numbers[parts[0]], tuple(steps)))
    ends = np.array([[path.start, path.nodes[-1]] for path in gold], np.int32)
    texts, keys = [q.question for q in questions], [q.split_key for q in questions]
    name = f"pathquestion {hops}H"
    world = _world(name, graph, ends, texts, cache, encoder, gold, keys, hops)
    return world if most >= len(gold) else world.rows(np.arange(most))


def metaqa(folder: File, hops: int, cache: File, encoder: str, most: int) -> World:
    """Return MetaQA's questions, each with one of its answers as the target."""
    graph = Graph.of("metaqa", _triples(folder / "kb.txt.gz", "|"))
    numbers = {graph.label(node): node for node in range(graph.nodes)}
    random = np.random.default_rng(0)
    questions = [
        question
        for question in read_metaqa(folder / f"{hops}-hop").questions
        if question.topic in numbers and any(answer in numbers for answer in question.answers)
    ]
    questions = [questions[row] for row in random.permutation(len(questions))[:most]]
    ends = np.array(
        [
            [
                numbers[question.topic or ""],
                random.choice([numbers[a] for a in question.answers if a in numbers]),
            ]
            for question in questions
        ],
        np.int32,
    )
    texts, keys = [q.question for q in questions], [q.split_key for q in questions]
    return _world(f"metaqa {hops}-hop", graph, ends, texts, cache, encoder, None, keys, hops)


def random_pairs(name: str, file: File, cache: File, encoder: str, most: int) -> World:
    """Return a graph without questions, and random pairs two or three edges from each other.

    The text of a pair is the names of both nodes.
    """
    graph = Graph.of(name, _triples(file, "\t", relation_first=name == "conceptnet"))
    random, hops = np.random.default_rng(0), 3
    place = VectorGraph(graph, np.zeros((graph.nodes, 1)), np.zeros((len(graph.relations), 1)))
    targets = random.integers(graph.nodes, size=most).astype(np.int32)
    sources = targets.copy()
    for _ in range(hops):  # a random walk away from the target
        degrees = place.degrees[sources]
        rows, _, _, ends = place.edges_at(sources)
        firsts = degrees.cumsum() - degrees
        sources = ends[firsts + (random.random(most) * degrees).astype(int)]
    far = distances_between(place, sources, targets, hops)
    ends = np.stack([sources, targets], axis=1)[(far > 1) & (far < FAR)]
    texts = [f"{graph.label(a)} {graph.label(b)}" for a, b in ends]
    keys = [graph.label(b) for _, b in ends]
    return _world(name, graph, ends, texts, cache, encoder, None, keys, hops)


def _world(
    name: str,
    graph: Graph,
    ends: np.ndarray,
    texts: list[str],
    cache: File,
    encoder: str,
    gold: list[Path] | None,
    keys: list[str],
    hops: int,
) -> World:
    vectors = graph_vectors(graph, cache, encoder)
    contexts = vectors.encode(texts)
    pairs = Episodes(ends[:, 0].copy(), ends[:, 1].copy(), contexts)
    place = VectorGraph.of(graph, vectors)
    golds: list[Path | None] = [*gold] if gold else [None] * len(ends)
    return World(name, place, vectors, pairs, golds, keys, hops)


def _triples(
    file: File, separator: str, *, relation_first: bool = False
) -> Iterable[tuple[str, str, str]]:
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            first, second, third = line.rstrip("\n").split(separator)[:3]
            yield (second, first, third) if relation_first else (first, second, third)
