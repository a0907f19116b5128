"""Answers from the cells of tables and from labelled values: a value, not the row that holds it.

What a question asks of a name is compared with the relations around the entity, in the ways in
which search programs do (`tasks.programs.planner.wordings`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from schemas.answers import Evidence
from tasks.graphs.graph import Graph
from tasks.models.encoders.load import Encoder
from tasks.programs.knowledge_bases.edition_graph import EditionGraph
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact
from tasks.programs.planner.endings import find_ending
from tasks.programs.planner.wordings import Wordings
from tasks.programs.planner.writer import written_names
from tasks.reader.texts import ReaderAnswer
from tasks.retrieval.search import Searcher
from tasks.text.question import Question

MOST_BEARERS = 2  # entities that a name may mean
MOST_FACTS = 400  # of one entity
SURE = 0.5  # least probability that a name means an entity which does not bear it


class StatedValues:
    """Finds the values that the records of a corpus state."""

    def __init__(
        self,
        graph: EditionGraph,
        searcher: Searcher,
        english: Encoder | None,
        chinese: Encoder | None,
    ) -> None:
        """Take the graph of the corpus, and the search over its passages and names."""
        self._graph, self._searcher = graph, searcher
        self._encoders = english, chinese

    def answer(self, question: Question) -> ReaderAnswer:
        """Return the values of what a question asks for, the best supported first."""
        facts = [
            (name, fact)
            for name, entity in self._named(question)
            for fact in self._graph.get_entity_triples(entity)[:MOST_FACTS]
            if _is_record(fact)
        ]
        if not facts:
            return ReaderAnswer()
        graph = Graph.of(self._graph.name, (_triple(name, fact) for name, fact in facts))
        meant = Wordings(graph, (), *self._encoders).best(question)
        if meant is None or len(meant.planned.path) > 1:
            return ReaderAnswer()
        topic, [(relation, inverse)] = meant.planned.topic, meant.planned.path
        if find_ending(topic.masked, meant.planned.path, meant.planned.nodes, graph):
            return ReaderAnswer()
        stating = {
            fact.text: fact
            for name, fact in reversed(facts)
            if name == topic.name
            and fact.relation == graph.relations[relation]
            and fact.inverse == inverse
        }
        evidence = [_evidence(fact) for fact in reversed(stating.values())]
        return ReaderAnswer(list(reversed(stating)), evidence, probability=meant.probability)

    def _named(self, question: Question) -> Iterator[tuple[str, EntityRef]]:
        """Yield the names in a question with the entities that they may mean."""
        linked = self._searcher.link(question)
        for name in linked:
            nodes = (
                self._graph.node_of(self._searcher.entity_id(bearer.entity))
                for bearer in name.bearers[:MOST_BEARERS]
            )
            for entity in self._graph.refs([node for node in nodes if node is not None]):
                yield name.text, entity
        for name in written_names(question) if not linked else ():
            for candidate in self._graph.entity_linking(question.text, [name])[:1]:
                if candidate.score >= SURE:
                    yield name, candidate.entity


def _is_record(fact: Fact) -> bool:
    """Return whether a fact is a cell or a labelled value: all that its place holds is the value."""
    tail = fact.entity.name if fact.inverse else fact.text
    place = fact.place
    return place is not None and place.span_end - place.span_start == len(tail)


def _triple(name: str, fact: Fact) -> tuple[str, str, str]:
    head, tail = (fact.text, name) if fact.inverse else (name, fact.text)
    return head, fact.relation, tail


def _evidence(fact: Fact) -> Evidence:
    assert fact.place is not None
    text = f"{fact.entity.name} {fact.relation} {fact.text}"
    return Evidence(text=text, kind="triple", score=fact.confidence, **asdict(fact.place))
