"""Compute how well a question fits a node: by the words they share, and by meaning."""

import re
from collections.abc import Iterable
from itertools import islice

import numpy as np

from tasks.graphs.graph import Graph
from tasks.graphs.linking.descriptions import DescriptionIndex
from tasks.graphs.linking.spellings import han_pieces
from tasks.models.encoders.load import Encoder
from tasks.text.question import FUNCTION_WORDS, LONGEST_QUESTION
from tasks.text.stems import stem
from tasks.text.words import words_outside_chinese

EDGES = 40  # per node and direction
READ = 600  # characters of a description
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def content_stems(text: str) -> set[str]:
    """Return the stems of a text's content words; for Chinese, pairs of characters."""
    words = words_outside_chinese(text[:LONGEST_QUESTION]).split()
    stems = {stem(word) for word in words if word not in FUNCTION_WORDS and len(word) > 1}
    return stems.union(han_pieces(text))


class Context:
    """Compares the words of one question with descriptions and neighbours of nodes."""

    def __init__(
        self,
        question: str,
        aliases: Iterable[str],
        graph: Graph | None,
        descriptions: DescriptionIndex | None,
    ) -> None:
        """Use the words of the question except those of the aliases."""
        self._graph, self._descriptions = graph, descriptions
        own = set().union(*map(content_stems, aliases))
        rarity = descriptions.rarity if descriptions else lambda word: 0.5
        self._words = {word: rarity(word) for word in content_stems(question) - own}

    def __bool__(self) -> bool:
        """Return whether there is anything to compare."""
        return bool(self._words) and (self._graph is not None or self._descriptions is not None)

    def fit(self, node: int) -> float | None:
        """Return how well the question fits the node, 0 to 1; two rare shared words give 1.

        None if nothing is known about the node.
        """
        known = self._about(node)
        if not known:
            return None
        shared = sum(weight for word, weight in self._words.items() if word in known)
        return min(1.0, shared / 1.2)

    def _about(self, node: int) -> set[str]:
        texts = [self._descriptions.of(node)[:READ]] if self._descriptions else []
        if graph := self._graph:
            for edge in islice(graph.leaving(node), EDGES):
                texts += [_spaced(graph.relations[edge.relation]), graph.label(edge.tail)]
            for edge in islice(graph.entering(node), EDGES):
                texts += [_spaced(graph.relations[edge.relation]), graph.label(edge.head)]
        return content_stems(" ".join(texts))


def _spaced(relation: str) -> str:
    return _CAMEL.sub(" ", relation).replace("_", " ")


SHOWN = 300  # characters of a description
FACTS = 6  # per node without a description
KEPT = 20_000  # cached vectors of nodes


class Meaning:
    """Compares questions with nodes by vectors; each node's vector is cached."""

    def __init__(
        self, encoder: Encoder, graph: Graph | None, descriptions: DescriptionIndex | None
    ) -> None:
        """Use this encoder, which must know the questions' language."""
        self._encoder, self._graph, self._descriptions = encoder, graph, descriptions
        self._vectors: dict[int, np.ndarray] = {}

    def closeness(self, question: str, nodes: list[int]) -> np.ndarray:
        """Return float64 (nodes,): cosines of a question with nodes."""
        new = [node for node in nodes if node not in self._vectors]
        if len(self._vectors) + len(new) > KEPT:
            self._vectors.clear()
            new = nodes
        encoded = self._encoder.encode([question, *map(self._about, new)])
        self._vectors.update(zip(new, encoded[1:], strict=True))
        rows = np.array([self._vectors[node] for node in nodes], np.float64)
        cosines: np.ndarray = rows @ encoded[0].astype(np.float64)
        return cosines

    def _about(self, node: int) -> str:
        """Return the name of a node and its description, else some of its facts."""
        about = self._descriptions.of(node)[:SHOWN] if self._descriptions else ""
        if self._graph is None:
            return about
        graph = self._graph
        if not about:
            edges = islice(graph.leaving(node), FACTS)
            about = ", ".join(f"{graph.relations[e.relation]} {graph.label(e.tail)}" for e in edges)
        return f"{graph.label(node)}: {about}"
