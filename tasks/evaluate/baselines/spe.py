"""Pairs of entity and relation, scored by strings and learned n-grams as in SPE.

Lai et al. (2016) won NLPCC-2016 with it. Among the entities that a question names and the relations
around them, it prefers the pair with the longest entity name and with the relation whose wording
matches the rest of the question, directly or as learned from questions with answers. Here every hop
is such a choice.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.evaluate.answerer import Prediction
from tasks.evaluate.baselines.words import relation_phrase
from tasks.graphs.graph import Graph, Nodes
from tasks.programs.planner.paths import Hop, Path, follow, hops_from, paths_from
from tasks.programs.planner.topics import topics_in
from tasks.progress import Report, silent
from tasks.questions.normalise import same_name, set_f1, tokens
from tasks.questions.question import BenchmarkQuestion
from tasks.text.question import analyse

BEARERS = 10  # entities with the same name that are tried
LEARNED_QUESTIONS = 1500  # per number of hops, because searching for paths takes time
LARGEST_FRONTIER = 5000  # nodes on the way of such a path
RIGHT = 0.99  # F1 of a path's end with the gold answers
SMOOTHING = 1.0  # an n-gram seen once says little

Grams = frozenset[str]
Key = tuple[int, int, str, bool]  # hops, hop, relation, direction


@dataclass(frozen=True, slots=True)
class _Chosen:
    score: float
    nodes: Nodes


class SPEAnswerer:
    """Answers with the best pair of entity and relation, hop by hop."""

    name = "spe"

    def __init__(self, graph: Graph) -> None:
        """Take the graph; nothing is learned yet."""
        self._graph = graph
        self._grams: dict[Key, Counter[str]] = defaultdict(Counter)
        self._background: Counter[str] = Counter()
        self._questions = 0

    def learn(self, questions: Sequence[BenchmarkQuestion], report: Report = silent) -> None:
        """Count n-grams together with the relations on paths from the topic to the answers."""
        by_hops: dict[int, list[BenchmarkQuestion]] = defaultdict(list)
        for question in questions:
            if question.answers:
                by_hops[question.hops or 1].append(question)
        lessons = [(q, n) for n, group in by_hops.items() for q in group[:LEARNED_QUESTIONS]]
        for number, (question, hops) in enumerate(lessons, 1):
            for topic in self._topics(question):
                path = self._path(topic, question.answers, hops)
                if path:
                    self._count(question, topic, path)
                    break
            report("spe learns", number, len(lessons))

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return an answer to each question; the number of hops is taken from the data set."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: BenchmarkQuestion) -> Prediction:
        best: _Chosen | None = None
        for topic in topics_in(analyse(question.question), self._graph):
            grams = grams_of(question.question, topic.name)
            for node in topic.nodes[:BEARERS]:
                end = self._walk(np.array([node], np.int32), grams, question.hops or 1)
                if end and (best is None or end.score + topic.share > best.score):
                    best = _Chosen(end.score + topic.share, end.nodes)
        return Prediction([self._graph.label(n) for n in best.nodes] if best else [])

    def _walk(self, nodes: Nodes, grams: Grams, hops: int) -> _Chosen | None:
        start, total = nodes, 0.0
        last: Hop | None = None
        for number in range(hops):
            back = (last[0], not last[1]) if last else None
            scored = [
                (self._score((hops, number), hop, grams, back=hop == back), hop)
                for hop in hops_from(self._graph, nodes)
            ]
            reached = (
                (score, hop, follow(self._graph, start, nodes, hop))
                for score, hop in sorted(scored, key=lambda pair: -pair[0])
            )
            best = next((step for step in reached if len(step[2])), None)
            if best is None:
                return None
            score, last, nodes = best
            total += score
        return _Chosen(total / hops, nodes)

    def _score(self, place: tuple[int, int], hop: Hop, grams: Grams, *, back: bool) -> float:
        """Return a relation's score; for a step straight back, only the learned score counts."""
        relation = self._graph.relations[hop[0]]
        learned = self._learned((*place, relation, hop[1]), grams)
        return learned + (0.0 if back else _shared(grams_of(relation_phrase(relation)), grams))

    def _learned(self, key: Key, grams: Grams) -> float:
        """Return how often a relation was right with these n-grams, weighted by their rarity."""
        weights = {
            gram: math.log(1 + self._questions / self._background[gram])
            for gram in grams
            if gram in self._background
        }
        seen = self._grams.get(key, Counter())
        shares = sum(w * seen[g] / (self._background[g] + SMOOTHING) for g, w in weights.items())
        return shares / sum(weights.values()) if weights else 0.0

    def _count(self, question: BenchmarkQuestion, topic: str, path: Path) -> None:
        grams = grams_of(question.question, topic)
        for hop, (relation, inverse) in enumerate(path):
            key = (len(path), hop, self._graph.relations[relation], inverse)
            self._grams[key].update(grams)
        self._background.update(grams)
        self._questions += 1

    def _topics(self, question: BenchmarkQuestion) -> list[str]:
        if question.topic:
            return [question.topic]
        return [topic.name for topic in topics_in(analyse(question.question), self._graph)]

    def _path(self, topic: str, answers: Sequence[str], hops: int) -> Path | None:
        """Return the relations that lead from the topic to exactly the answers."""
        gold = [same_name(answer) for answer in answers]
        for node in self._graph.named(topic)[:BEARERS]:
            start = np.array([node], np.int32)
            for path, nodes in paths_from(self._graph, start, hops, LARGEST_FRONTIER):
                if len(path) < hops or len(nodes) > 3 * len(gold):
                    continue
                names = [same_name(self._graph.label(n)) for n in nodes]
                if set_f1(names, gold) >= RIGHT:
                    return path
        return None


def grams_of(text: str, without: str = "") -> Grams:
    """Return a text's unigrams and bigrams of words or Chinese characters, without a name."""
    rest = text.replace(without, " # ", 1) if without else text
    units = tokens(rest)
    return frozenset(units) | {f"{a} {b}" for a, b in zip(units, units[1:], strict=False)}


def _shared(relation: Grams, question: Grams) -> float:
    return len(relation & question) / len(relation) if relation else 0.0
