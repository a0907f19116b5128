"""The entities that a question may be about: its spans that are names in the graph."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.graphs.question_names import names_in
from tasks.text.english_words import noun_lemma
from tasks.text.question import Question, Span, name_spans

MOST_TOPICS = 12  # readings of one question
SLOT = "\u241e"  # replaces the topic
_MARKED = re.compile(r"\[([^\[\]]{1,400})\]")
_LEADING = re.compile(r"\A(?:the|a|an)\s+", re.IGNORECASE)
_TRAILING = re.compile(r"\s*['’]s\Z")
_OF_YEAR = re.compile(r"(?<=\d年)的")  # 2026年的预算 is what a head calls 2026年预算
_TITLE_MARKS = {("《", "》"), ("“", "”"), ("「", "」"), ('"', '"')}


@dataclass(frozen=True)
class Topic:
    """One reading of a question: a span of it as the name of some nodes.

    `name` is the nodes' label if all have the same, else the span; `masked` is the question with a
    slot in place of the span; `share` is the share of the question that the span covers; `quoted`
    tells whether title marks enclose the span.
    """

    name: str
    nodes: Nodes
    masked: str
    share: float
    quoted: bool


def topics_in(question: Question, graph: Graph) -> list[Topic]:
    """Return the readings of a question, longest names first.

    A name in [brackets] is the topic. Names within a longer name count only in Chinese, where words
    have no boundaries.
    """
    text = question.text
    marked = [m for m in _MARKED.finditer(text) if len(graph.bearers(m.group(1)))]
    if marked:
        return [_topic(text, m.span(), graph, marked=True) for m in marked]
    spans: list[Span] = []
    for start, end, *_ in names_in(question, graph).spans:
        if question.is_chinese:
            spans.append((start, end))
        elif not any(start >= a and end <= b for a, b in spans):
            spans.append(_shortest(text, start, end, graph))
        if len(spans) == MOST_TOPICS:
            break
    if not spans and not question.is_chinese:
        return list(_classes(text, graph))
    return [_topic(text, span, graph) for span in spans]


def _classes(text: str, graph: Graph) -> Iterator[Topic]:
    """Yield readings by names in the plural: `Which lakes are there?` is about `lake`."""
    for start, end in name_spans(text):
        *before, last = text[start:end].split()
        name = " ".join([*before, noun_lemma(last.lower())])
        nodes = graph.bearers(name)
        if len(nodes):
            masked = f"{text[:start]} {SLOT} {text[end:]}"
            share = (end - start) / max(len(text), 1)
            yield Topic(graph.label(nodes[0]), nodes, masked, share, quoted=False)
            return


def _shortest(text: str, start: int, end: int, graph: Graph) -> Span:
    """Return a name without an article and a genitive that make no difference: `the X 's` is `X`.

    A name that is exactly a node's label stays whole, such as `The Kid`.
    """
    nodes = graph.bearers(text[start:end])
    if graph.label(nodes[0]) == text[start:end]:
        return start, end
    for shorter in _LEADING.sub("", text[start:end]), _TRAILING.sub("", text[start:end]):
        if shorter != text[start:end] and shorter.strip():
            at = text.index(shorter, start)
            if np.array_equal(graph.bearers(shorter), nodes):
                return _shortest(text, at, at + len(shorter), graph)
    return start, end


def _topic(text: str, span: Span, graph: Graph, *, marked: bool = False) -> Topic:
    start, end = span
    name = text[start + 1 : end - 1] if marked else text[start:end]
    nodes = graph.bearers(name)
    labels = {graph.label(node) for node in nodes}
    return Topic(
        name=labels.pop() if len(labels) == 1 else name,
        nodes=nodes,
        masked=_OF_YEAR.sub("", f"{text[:start]} {SLOT} {text[end:]}"),
        share=(end - start) / max(len(text), 1),
        quoted=(text[start - 1 : start], text[end : end + 1]) in _TITLE_MARKS,
    )
