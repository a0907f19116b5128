"""Compute how well a question fits a node: by the words that they share."""

import re
from collections.abc import Iterable
from itertools import islice

from tasks.graphs.graph import Graph
from tasks.graphs.linking.descriptions import DescriptionIndex
from tasks.graphs.linking.spellings import han_pieces
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.question import LONGEST_QUESTION
from tasks.text.stems import stem
from tasks.text.words import words_outside_chinese

EDGES = 40  # per node and direction
LONGEST_DESCRIPTION = 600  # characters of a description
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
        texts = [self._descriptions.of(node)[:LONGEST_DESCRIPTION]] if self._descriptions else []
        if graph := self._graph:
            for edge in islice(graph.leaving(node), EDGES):
                texts += [_spaced(graph.relations[edge.relation]), graph.label(edge.tail)]
            for edge in islice(graph.entering(node), EDGES):
                texts += [_spaced(graph.relations[edge.relation]), graph.label(edge.head)]
        return content_stems(" ".join(texts))


def _spaced(relation: str) -> str:
    return _CAMEL.sub(" ", relation).replace("_", " ")
