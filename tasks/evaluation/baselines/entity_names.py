"""Names of a graph's entities in a question: its longest stretches that are a name."""

import re
from collections.abc import Iterator

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.question import FUNCTION_WORDS
from tasks.segment import is_chinese

LONGEST = 12  # words of a name
LONGEST_CHINESE = 30  # characters
_WORD = re.compile(r"\S+")
_EDGES = " \t?!.,;:\"“”‘’'`，。、；：？！《》「」『』"


def longest_names(graph: Graph, question: str, limit: int) -> Iterator[tuple[str, Nodes]]:
    """Yield stretches of a question that are names in the graph, longest first, none in another."""
    taken: list[tuple[int, int]] = []
    for start, end in _stretches(question):
        if any(start < e and s < end for s, e in taken):
            continue
        nodes = np.asarray(graph.named(question[start:end]))
        if len(nodes):
            taken.append((start, end))
            yield question[start:end], nodes
            if len(taken) == limit:
                return


def _stretches(question: str) -> Iterator[tuple[int, int]]:
    if is_chinese(question):
        for length in range(min(LONGEST_CHINESE, len(question)), 0, -1):
            for start in range(len(question) - length + 1):
                yield start, start + length
        return
    words = [match.span() for match in _WORD.finditer(question)]
    for count in range(min(LONGEST, len(words)), 0, -1):
        for first in range(len(words) - count + 1):
            start, end = words[first][0], words[first + count - 1][1]
            text = question[start:end]
            bare = text.strip(_EDGES)
            if bare != text and bare and bare.lower() not in FUNCTION_WORDS:
                inner = start + text.index(bare)
                yield inner, inner + len(bare)
            yield start, end
