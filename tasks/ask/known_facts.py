"""The facts of the entities that a question names, as items of its context.

Facts of one entity and relation are one item, which lists all values: that is what questions about
numbers, lists and extremes need, and passages rarely have.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from schemas.answers import Evidence
from schemas.knowledge import CORPUS
from tasks.ask.context import Item
from tasks.graphs.question_names import names_in
from tasks.programs.knowledge_bases.edition_graph import EditionGraph
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact
from tasks.programs.messages import one_line
from tasks.programs.relation_matching import similarity, spelt_out
from tasks.retrieval.linked_names import LinkedName
from tasks.retrieval.search import Searcher
from tasks.text.question import Question

MOST_BEARERS = 2  # entities that a name may mean
MOST_ENTITIES = 6  # of a question
MOST_ITEMS = 15
LEAST_LIKE = 0.4  # of a fact of the corpus, whose passages are read as well
MOST_VALUES = 40  # of one relation that are listed
MOST_CITED = 5  # of these values, with their places
MOST_GROUPS = 400  # of one entity that are compared with the question
CONNECTS = 1.0  # added for a fact between two entities of the question

# An entity, a relation, and whether the entity is its tail; a fact that is no triple stands alone.
Group = tuple[EntityRef, str, bool, str | None]


def linked_entities(
    question: Question,
    graphs: Mapping[str, EditionGraph],
    searcher: Searcher | None,
    names: Sequence[LinkedName],
) -> list[tuple[EditionGraph, EntityRef]]:
    """Return the entities that a question names, by graph, at most `MOST_ENTITIES` of each."""
    linked: list[tuple[EditionGraph, EntityRef]] = []
    for graph in graphs.values():
        nodes = dict.fromkeys(_nodes(question, graph, searcher, names))
        refs = graph.refs(list(nodes)[:MOST_ENTITIES])
        linked += [(graph, ref) for ref in refs]
    return linked


def _nodes(
    question: Question,
    graph: EditionGraph,
    searcher: Searcher | None,
    names: Sequence[LinkedName],
) -> Iterator[int]:
    if graph.graph == CORPUS:
        for name in names if searcher else ():
            for bearer in name.bearers[:MOST_BEARERS]:
                node = graph.node_of(searcher.entity_id(bearer.entity)) if searcher else None
                if node is not None:
                    yield node
        return
    known = names_in(question, graph.arrays)
    for span in known.apart:
        yield from known.bearers(span)[:MOST_BEARERS].tolist()


def fact_items(question: Question, linked: Sequence[tuple[EditionGraph, EntityRef]]) -> list[Item]:
    """Return the facts around linked entities that are most like a question, best first."""
    by_graph: dict[str, tuple[EditionGraph, list[EntityRef]]] = {}
    for graph, entity in linked:
        by_graph.setdefault(graph.graph, (graph, []))[1].append(entity)
    named = {entity.name for _, entity in linked}
    scored: list[tuple[float, Item]] = []
    for graph, entities in by_graph.values():
        for group, facts in _groups(graph.facts_around(entities)).items():
            likeness = _likeness(question, group, facts, named)
            scored.append((likeness, _item(graph, group, facts)))
    scored.sort(key=lambda pair: -pair[0])
    return [
        item
        for likeness, item in scored[:MOST_ITEMS]
        if likeness >= LEAST_LIKE or item.evidence.graph != CORPUS
    ]


def _groups(around: Mapping[EntityRef, Iterable[Fact]]) -> dict[Group, list[Fact]]:
    groups: dict[Group, list[Fact]] = {}
    for entity, facts in around.items():
        counted = 0
        for fact in facts:
            alone = None if fact.kind == "triple" else fact.fact_id
            group = (entity, fact.relation, fact.inverse, alone)
            if group in groups or counted < MOST_GROUPS:
                counted += group not in groups
                groups.setdefault(group, []).append(fact)
    return groups


def _likeness(question: Question, group: Group, facts: Sequence[Fact], named: set[str]) -> float:
    """Return how well a relation matches the words of a question, more if both ends are named."""
    entity, relation, *_ = group
    content = set(question.content_words.split()) - set(entity.name.split())
    words = max((similarity(word, relation) for word in content), default=0.0)
    return words + CONNECTS * any(fact.text in named - {entity.name} for fact in facts)


def _item(graph: EditionGraph, group: Group, facts: Sequence[Fact]) -> Item:
    """Return an item; one with several values is cited by the places that state each."""
    entity, relation, inverse, _ = group
    by_value = {one_line(fact.text): fact for fact in reversed(facts)}
    values = list(reversed(by_value))
    shown = "; ".join(values[:MOST_VALUES])
    if len(values) > 1:
        disagree = graph.disagree(fact.fact_id for fact in facts)
        shown = f"{shown} ({'the sources disagree' if disagree else f'{len(values)} in all'})"
    text = _words(entity, relation, shown, inverse=inverse)
    if len(values) == 1:
        text = facts[0].words or text
        return Item(text, _evidence(graph, facts[0], text), "programs")
    stated = [
        _evidence(graph, fact, fact.words or _words(entity, relation, value, inverse=inverse))
        for value, fact in zip(values[:MOST_CITED], map(by_value.__getitem__, values), strict=False)
    ]
    whole = Evidence(text=text, kind=facts[0].kind, graph=graph.graph, score=stated[0].score)
    return Item(text, whole, "programs", stated_by=tuple(stated))


def _words(entity: EntityRef, relation: str, values: str, *, inverse: bool) -> str:
    name = one_line(entity.name)
    head, tail = (values, name) if inverse else (name, values)
    return f"{head}, {spelt_out(relation)}: {tail}"


def _evidence(graph: EditionGraph, fact: Fact, text: str) -> Evidence:
    place = asdict(fact.place) if fact.place else {}
    score = min(1.0, fact.confidence)
    return Evidence(text=text, kind=fact.kind, graph=graph.graph, score=score, **place)
