"""Which of the entities that a path leads to are of the class that a question asks for.

A graph says an entity's class by a relation (`instance of`), by its kind, or in its name: Mell
Island is an island, 玉河 a 河.
"""

from dataclasses import dataclass

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.programs.relation_matching import spelt_out
from tasks.text.languages import is_chinese, word_set
from tasks.text.stems import english_stem

MOST = 200  # entities whose classes are compared
_RELATIONS = frozenset(
    {"instance of", "is a", "is an", "type", "a", "rdf type", "kind", "category", "class"}
) | word_set("类别 类型 种类 类 分类 属于")
_PEOPLE = word_set("person people persons human humans 人 人物")


@dataclass(frozen=True, slots=True)
class Members:
    """The relation by which a graph says classes, and the labels of those that are asked for."""

    relation: str
    classes: tuple[str, ...]


def members_of(graph: Graph, nodes: Nodes, noun: str) -> tuple[Nodes, Members | None] | None:
    """Return those of the nodes that a noun names, and how a program tells them from the others.

    None if the graph says it of none, or of too few what they are. Nothing need say that they are
    people.
    """
    if not len(nodes) or len(nodes) > MOST:
        return None
    called_so = np.array([_is_called(graph, int(node), noun) for node in nodes])
    best: tuple[Nodes, Members | None] | None = (nodes, None) if called_so.all() else None
    for number, name in enumerate(graph.relations) if best is None else ():
        if spelt_out(name) not in _RELATIONS:
            continue
        classes = [
            [graph.label(end) for end in graph.step(np.array([node], np.int32), number)]
            for node in nodes
        ]
        meant = {label for labels in classes for label in labels if _names(noun, label)}
        is_member = np.array([not meant.isdisjoint(labels) for labels in classes])
        is_known = np.array([bool(labels) for labels in classes])
        if noun in _PEOPLE and (is_member | ~is_known).all():
            best = nodes, None
        elif (
            is_member.any()
            and 2 * is_known.sum() >= len(nodes)
            and not (called_so & ~is_member).any()
        ):
            members = None if is_member.all() else Members(name, tuple(sorted(meant)))
            best = nodes[is_member], members
    if best is None and noun in _PEOPLE and not any(map(graph.kind, nodes)):
        return nodes, None
    return best


def has_classes(graph: Graph, nodes: Nodes) -> bool:
    """Return whether a graph says of any of the nodes, by a relation or a kind, what it is."""
    relations = (n for n, name in enumerate(graph.relations) if spelt_out(name) in _RELATIONS)
    return any(map(graph.kind, nodes)) or any(len(graph.step(nodes, n)) for n in relations)


def _is_called(graph: Graph, node: int, noun: str) -> bool:
    """Tell whether the kind of a node, or the end of its name, is a noun."""
    return _names(noun, graph.kind(node)) or _names(noun, graph.label(node))


def _names(noun: str, label: str) -> bool:
    """Tell whether a noun names a class: `language` a programming language, 河流 a 河."""
    if is_chinese(label):
        return len(label) > 0 and (label.endswith(noun) or noun.endswith(label))
    if noun in _PEOPLE:
        return label.lower() in _PEOPLE
    words, ends = ([english_stem(word) for word in text.lower().split()] for text in (noun, label))
    return bool(words) and ends[-len(words) :] == words
