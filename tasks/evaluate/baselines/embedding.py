"""Triple embeddings: each triple is a document; the nearest one answers (KnowledGPT, section 4).

The answer is the end of the triple that the question does not name. For the next hop, the query is
the question followed by that answer.
"""

from collections.abc import Sequence
from itertools import islice

import numpy as np

from tasks.evaluate.answerer import BenchmarkAnswerer, Prediction
from tasks.evaluate.baselines.words import relation_phrase, words
from tasks.graphs.graph import Graph
from tasks.models.encoders.load import Encoder
from tasks.progress import Report, silent
from tasks.questions.question import BenchmarkQuestion

TRIPLES_AT_ONCE = 4096  # triples encoded at a time
BLOCK = 256  # questions compared at a time
COMPARED = 1 << 26  # similarities (questions times triples) held at a time
GROUP = 64  # triples per group, of which only the nearest is compared at first
NEAREST = 8  # candidates per hop; the first triple that is not used yet is taken


class EmbeddingAnswerer(BenchmarkAnswerer):
    """Answers with the triple whose vector is nearest to the question's."""

    name = "embedding"

    def __init__(self, graph: Graph, encoder: Encoder, report: Report = silent) -> None:
        """Encode all triples: 100,000 short ones take about 45 seconds on two idle cores.

        No triple is left out: encoding only those around the names in a question would do part of
        the retrieval that the baseline is measured on.
        """
        self._graph = graph
        self._encode = getattr(encoder, "encode_together", encoder.encode)
        self._tails = np.asarray(graph.out_tails)
        self._vectors = np.empty((len(self._tails), encoder.dimensions), np.float32)
        texts = (self._text(edge) for edge in range(len(self._tails)))
        for start in range(0, len(self._tails), TRIPLES_AT_ONCE):
            batch = list(islice(texts, TRIPLES_AT_ONCE))
            self._vectors[start : start + len(batch)] = self._encode(batch)
            report("embedding encodes", start + len(batch), len(self._tails))
        self._block = max(1, min(BLOCK, COMPARED // max(len(self._tails), 1)))

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return an answer to each question; the number of hops is taken from the data set."""
        predictions: list[Prediction] = []
        for start in range(0, len(questions), self._block):
            predictions += self._answer(questions[start : start + self._block])
        return predictions

    def _answer(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        used: list[list[int]] = [[] for _ in questions]
        results = [""] * len(questions)
        for hop in range(max(question.hops or 1 for question in questions)):
            asking = [n for n, q in enumerate(questions) if hop < (q.hops or 1)]
            queries = [f"{questions[n].question} {results[n]}".strip() for n in asking]
            likeness = self._encode(queries) @ self._vectors.T
            for n, nearest in zip(asking, highest(likeness, NEAREST), strict=True):
                fresh = [int(edge) for edge in nearest if edge not in used[n]]
                if fresh:
                    used[n].append(fresh[0])
                    results[n] = self._end_not_named(fresh[0], questions[n].question)
        return [
            Prediction([result] if result else [], retrieved=self._names(edges[-1:]))
            for result, edges in zip(results, used, strict=True)
        ]

    def _end_not_named(self, edge: int, question: str) -> str:
        head, tail = self._names([edge])
        wanted = set(words(question))
        shares = [len(wanted & set(words(end))) / max(len(words(end)), 1) for end in (head, tail)]
        return head if shares[1] > shares[0] else tail

    def _names(self, edges: Sequence[int]) -> tuple[str, ...]:
        ends = [(self._graph.heads[edge], self._tails[edge]) for edge in edges]
        return tuple(self._graph.label(node) for pair in ends for node in pair)

    def _text(self, edge: int) -> str:
        head, tail = self._names([edge])
        relation = self._graph.relations[int(self._graph.out_relations[edge])]
        return f"{head} {relation_phrase(relation)} {tail}"


def highest(scores: np.ndarray, count: int) -> np.ndarray:
    """Return the indexes of the highest scores of each row, highest first, (rows, count).

    The highest `count` of a row lie in the `count` groups with the highest maxima, so only those
    groups are sorted: this is exact, and several times as fast as a partition of the row.
    """
    rows, columns = scores.shape
    count = min(count, columns)
    if not count or not rows:
        return np.zeros((rows, count), np.int64)
    starts = np.arange(0, columns, GROUP)
    maxima = np.maximum.reduceat(scores, starts, axis=1)
    groups = np.argsort(-maxima, axis=1, kind="stable")[:, :count]
    places = (groups[:, :, None] * GROUP + np.arange(GROUP)).reshape(rows, -1)
    inside = np.take_along_axis(scores, np.minimum(places, columns - 1), 1)
    inside = np.where(places < columns, inside, -np.inf)
    order = np.argsort(-inside, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(places, order, 1)
