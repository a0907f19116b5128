"""Answers from the cells of tables and from labelled values: a value, not the row that holds it.

What a question asks of a name is compared with the relations around the entity, in the ways in
which search programs do (`tasks.programs.planner.wordings`). The reader of texts, for which the
records are put into words, must see an answer there, too: the same one if vectors alone found the
relation, which do not tell the designer from the owner.
"""

from collections.abc import Iterator
from dataclasses import asdict

from schemas.answers import Evidence
from tasks.ask.known_facts import linked_entities
from tasks.ask.route import Resources
from tasks.graphs.graph import Graph
from tasks.models.span_reader.reader import minilm_reader
from tasks.programs.knowledge_bases.edition_graph import EditionGraph
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact, Place
from tasks.programs.planner.endings import find_ending
from tasks.programs.planner.wordings import PROBABILITIES, Wordings
from tasks.programs.planner.writer import written_names
from tasks.reader.texts import ReaderAnswer
from tasks.retrieval.search import Searcher
from tasks.text.name_likeness import are_namesakes
from tasks.text.question import Question

MOST_FACTS = 400  # of one entity
MOST_READ = 60  # facts
MARKS = "`*_"  # around a cell that is code, bold or slanted
MOST_MARKS = 2 * len("***")
_WORDS = "select text[$first + 1 : $last] from documents where document_id = $document"
HOPELESS = -3.0  # margin below which no record answers
SURE = 0.5  # least probability that a name means an entity which does not bear it

Named = tuple[str, Fact]  # a record, and the name that the question gives its entity


class StatedValues:
    """Finds the values that the records of a corpus state."""

    def __init__(self, graph: EditionGraph, searcher: Searcher, resources: Resources) -> None:
        """Take the graph of the corpus, and the search over its passages and names."""
        self._graph, self._searcher = graph, searcher
        self._encoders, self._documents = resources.name_encoders, resources.documents
        self._con = resources.edition.connect()

    def records(self, question: Question) -> list[Named]:
        """Return the records of what a question names, the best supported first."""
        return [
            (name, fact)
            for name, entity in self._named(question)
            for fact in self._graph.get_entity_triples(entity)[:MOST_FACTS]
            if fact.place and self._is_record(fact, fact.place)
            if self._documents is None or fact.place.document_id in self._documents
        ]

    def answer(self, question: Question, records: list[Named]) -> ReaderAnswer:
        """Return the values of what a question asks for, the best supported first."""
        graph = Graph.of(self._graph.name, (_triple(name, fact) for name, fact in records))
        planned = Wordings(graph, (), *self._encoders, strict=True).best(question)
        if planned is None or len(planned.path) > 1:
            return ReaderAnswer()
        topic = planned.topic
        if find_ending(topic.masked, planned.path, planned.nodes, graph):  # programs compute it
            return ReaderAnswer()
        [(relation, inverse)] = planned.path
        stating = {
            fact.text: fact
            for name, fact in reversed(records)
            if (name, fact.relation, fact.inverse)
            == (topic.name, graph.relations[relation], inverse)
        }
        values = list(reversed(stating))
        if not _bears_out(question, records, values, planned.share):
            return ReaderAnswer()
        evidence = [_evidence(stating[value]) for value in values]
        return ReaderAnswer(values, evidence, probability=planned.share)

    def _is_record(self, fact: Fact, place: Place) -> bool:
        """Return whether a fact is a cell or a labelled value: its place holds nothing else."""
        tail = fact.entity.name if fact.inverse else fact.text
        more = place.span_end - place.span_start - len(tail)
        if fact.kind != "triple" or more > MOST_MARKS:
            return False
        return more <= 0 or self._words(place).strip(MARKS) == tail

    def _words(self, place: Place) -> str:
        at = {"document": place.document_id, "first": place.span_start, "last": place.span_end}
        return "".join(text for (text,) in self._con.execute(_WORDS, at).fetchall())

    def _named(self, question: Question) -> Iterator[tuple[str, EntityRef]]:
        """Yield the names in a question with the entities that they may mean."""
        linked = self._searcher.link(question)
        for name in linked:
            graphs = {self._graph.graph: self._graph}
            for _, entity in linked_entities(question, graphs, self._searcher, [name]):
                yield name.text, entity
        for written in written_names(question) if not linked else ():
            for candidate in self._graph.entity_linking(question.text, [written])[:1]:
                if candidate.score >= SURE and not are_namesakes(written, candidate.entity.name):
                    yield written, candidate.entity


def is_among(records: list[Named], place: Evidence) -> bool:
    """Return whether one of the records stands within a place."""
    return any(
        fact.place.document_id == place.document_id
        and place.span_start <= fact.place.span_start
        and fact.place.span_end <= place.span_end
        for _, fact in records
        if fact.place and place.span_start is not None and place.span_end is not None
    )


def _triple(name: str, fact: Fact) -> tuple[str, str, str]:
    head, tail = (fact.text, name) if fact.inverse else (name, fact.text)
    return head, fact.relation, tail


def _bears_out(
    question: Question, records: list[Named], values: list[str], probability: float
) -> bool:
    """Return whether the reader sees an answer in the records; for a near relation, the value."""
    sentence = "{0}的{1}是{2}。" if question.is_chinese else "The {1} of {0} is {2}. "
    if len(records) > MOST_READ:
        records = sorted(records, key=lambda record: record[1].text not in values)[:MOST_READ]
    triples = (_triple(name, fact) for name, fact in records)
    text = "".join(sentence.format(*triple) for triple in triples)
    best = next(iter(minilm_reader().read(question.text, [text])), None)
    if best is None or best.margin < HOPELESS:
        return False
    words = text[best.start : best.end]
    is_same = any(words in value or value in words for value in values)
    return probability >= PROBABILITIES["said"] or (is_same and best.margin > 0)


def _evidence(fact: Fact) -> Evidence:
    assert fact.place is not None
    text = f"{fact.entity.name} {fact.relation} {fact.text}"
    return Evidence(text=text, kind="triple", score=fact.confidence, **asdict(fact.place))
