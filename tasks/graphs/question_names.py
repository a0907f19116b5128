"""The names of a graph in a question: its spans that are names, and the nodes that bear them.

They are found once per question and graph, and kept with the question. The gate asks how well known
the subject is (`tasks.gates.subject_popularity`), a planner what the question may be about
(`tasks.programs.planner.topics`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.graphs.name_keys import name_keys, ranges_of
from tasks.text.function_words import ARTICLES, FUNCTION_WORDS
from tasks.text.names import MAX_NAME, other_genitive
from tasks.text.question import (
    LONGEST_GRAPH_NAME,
    Question,
    Span,
    name_spans,
    names_apart,
    word_spans,
)

_SENTENCE_ENDS = ".?!:;"
# Text between two capitalised words of one name.
_OF_ONE_NAME = re.compile(r"\s*(?:(?:of|the|a|an|de|la|du|von|van)\s+)*")


class NamedSpan(NamedTuple):
    """A span of a question that is a name, and the range of its bearers in `Graph.key_nodes`."""

    start: int
    end: int
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class QuestionNames:
    """The spans of a question that are names in a graph, longest first, also within each other."""

    question: Question
    graph: Graph
    spans: Sequence[NamedSpan]

    def bearers(self, name: NamedSpan) -> Nodes:
        """Return the nodes with a name, the likeliest first."""
        return self.graph.key_nodes[name.low : name.high]

    @cached_property
    def apart(self) -> list[NamedSpan]:
        """The names that do not overlap a longer one, longest first.

        Names that differ only in an article count once: of spans with the same end and the same
        nodes, the shortest is kept.
        """
        shortest = {(name.end, name.low): name for name in self.spans}.values()
        names = {(name.start, name.end): name for name in shortest}
        longest_first = sorted(names, key=lambda span: (span[0] - span[1], span[0]))
        return names_apart(longest_first, names.get)

    def subject(self, names: Sequence[NamedSpan]) -> NamedSpan | None:
        """Return which of these names is the subject of the question; None if none of them is.

        It is the longest name, or the first of the longest; the others say what is asked about it,
        or where. If words within a sentence are capitalised, only a whole capitalised name can be
        the subject: in `Who was the producer of Man of the Year?` neither `producer` nor `Man`.
        """
        if not self.question.is_chinese:
            names = [name for name in names if is_whole_name(self.question.text, name[:2])]
        return max(names, key=lambda name: (name.end - name.start, -name.start), default=None)


def names_in(question: Question, graph: Graph) -> QuestionNames:
    """Return the names of a graph in a question; those that were found before are reused."""
    return question.names_in(graph, _find)


def _find(question: Question, graph: Graph) -> QuestionNames:
    """Look all spans up at once; what is no "X of Y" in the graph may be a "Y's X"."""
    text = question.text
    spans = [
        span
        for span in name_spans(text, longest_chinese=LONGEST_GRAPH_NAME, shortest_chinese=1)
        if span[1] - span[0] <= MAX_NAME
    ]
    others = [(n, other) for n, span in enumerate(spans) if (other := _genitive(text, span))]
    keys = name_keys([*(text[slice(*span)] for span in spans), *(other for _, other in others)])
    low, high = ranges_of(graph.key_hashes, keys)
    for place, (n, _) in enumerate(others, len(spans)):
        if low[n] == high[n]:
            low[n], high[n] = low[place], high[place]
    known = np.flatnonzero(high[: len(spans)] > low[: len(spans)])
    named = [NamedSpan(*spans[n], int(low[n]), int(high[n])) for n in known]
    return QuestionNames(question, graph, named)


def _genitive(text: str, span: Span) -> str | None:
    name = text[slice(*span)]
    return other_genitive(name) if " of " in name or "'s " in name or "’s " in name else None


def _capitals(text: str) -> Iterator[Span]:
    """Yield capitalised words, except for articles and the first word of a sentence."""
    begins = True
    for start, end in word_spans(text):
        if not begins and text[start].isupper() and text[start:end].lower() not in ARTICLES:
            yield start, end
        begins = text[end : end + 1] in _SENTENCE_ENDS  # also at the very end


def _says_something(text: str, word: Span) -> bool:
    return text[slice(*word)].lower() not in FUNCTION_WORDS


def is_whole_name(text: str, name: Span) -> bool:
    """Return whether a name in an English question is capitalised and no part of a longer name.

    It always is if no word within the question's sentences is capitalised.
    """
    capitals = list(_capitals(text))
    if not any(_says_something(text, word) for word in capitals):
        return True
    start, end = name
    before = [word for word in capitals if word[1] <= start][-1:]
    after = [word for word in capitals if word[0] >= end][:1]
    within = [word for word in capitals if word[0] < end and start < word[1]]
    between = [text[last:start] for _, last in before]
    between += [text[end:first] for first, _ in after]
    return any(_says_something(text, word) for word in within) and not any(
        map(_OF_ONE_NAME.fullmatch, between)
    )
