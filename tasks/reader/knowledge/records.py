"""Records: the known facts of an entity as sentences for the reader."""

from collections.abc import Iterator
from dataclasses import replace

from tasks.programs.knowledge_bases.protocol import EntityRef, Fact, Place
from tasks.reader.knowledge.corpus import CorpusKnowledge
from tasks.reader.sentence import Sentence, StatedTriple
from tasks.retrieval.linked_names import LinkedName
from tasks.retrieval.words import Name
from tasks.text.languages import language_of
from tasks.text.question import Question
from tasks.text.sentences import sentences
from tasks.text.words import WORD

MOST_FACTS = 200  # around one entity
LONGEST_TEXT = 4_000  # characters of a description or an aspect


def records_of(entity: EntityRef, knowledge: CorpusKnowledge) -> list[Sentence]:
    """Return an entity's description, aspects, triples and statements as sentences."""
    facts = knowledge.get_entity_triples(entity)[:MOST_FACTS]
    triples = [fact for fact in facts if fact.kind == "triple"]
    records = list(_from_text(entity, knowledge.get_entity_info(entity), None, triples, knowledge))
    for fact in facts:
        if fact.kind == "aspect":
            records += _from_text(entity, fact.text, fact, triples, knowledge)
    records += (_from_triple(entity, fact, knowledge) for fact in triples)
    records += (_from_statement(entity, fact, knowledge) for fact in facts if fact.words)
    knowledge.learn_kinds(name.bearers[0].entity for record in records for name in record.names)
    return records


def _from_text(
    entity: EntityRef,
    text: str,
    fact: Fact | None,
    triples: list[Fact],
    knowledge: CorpusKnowledge,
) -> Iterator[Sentence]:
    """Yield the sentences of a text about an entity, each with the triples that it states."""
    text = text[:LONGEST_TEXT]
    place = fact.place if fact else None
    inside = [triple for triple in triples if place is None or _within(triple.place, place)]
    for start, end in sentences(text, language_of(text)):
        sentence = text[start:end]
        if WORD.search(sentence):
            names = knowledge.names_in(sentence)
            stated = [t for t in inside if t.text in sentence or t.entity.name in sentence]
            yield _record(entity, sentence, names, stated, fact)


def _from_triple(entity: EntityRef, triple: Fact, knowledge: CorpusKnowledge) -> Sentence:
    ends = (triple.value, entity) if triple.inverse else (entity, triple.value)
    names: list[LinkedName] = []
    text = ""
    for part in (ends[0], triple.relation, ends[1]):
        at = len(text)
        if isinstance(part, EntityRef):
            text += part.name
            names.append(LinkedName(at, len(text), part.name, [Name(int(part.key), 1.0)]))
        else:
            text += part
            inside = knowledge.names_in(part) if part is not triple.relation else []
            names += (LinkedName(at + n.start, at + n.end, n.text, n.bearers) for n in inside)
        text += " "
    return _record(entity, text[:-1], names, [triple], triple)


def records_near(question: Question, knowledge: CorpusKnowledge) -> list[Sentence]:
    """Return what the passages most like a question state, also of things without a name."""
    return [
        replace(_from_statement(fact.entity, fact, knowledge), title=title)
        for title, fact in knowledge.statements_near(question)
    ]


def _from_statement(entity: EntityRef, fact: Fact, knowledge: CorpusKnowledge) -> Sentence:
    record = _record(entity, fact.words, knowledge.names_in(fact.words), [], fact)
    subject, *complements = fact.ends
    record.triples = [StatedTriple(subject, fact.relation, end) for end in complements[:1]]
    return record


def _record(
    entity: EntityRef, text: str, names: list[LinkedName], triples: list[Fact], fact: Fact | None
) -> Sentence:
    return Sentence(
        topic=entity.key,
        title=entity.name,
        text=text,
        names=names,
        triples=[_stated(triple) for triple in triples],
        place=fact.place if fact else None,
        entity=entity,
        fact=fact,
    )


def _stated(triple: Fact) -> StatedTriple:
    head, tail = triple.entity.name, triple.text
    head, tail = (tail, head) if triple.inverse else (head, tail)
    return StatedTriple(head, triple.relation, tail)


def _within(inner: Place | None, outer: Place) -> bool:
    return (
        inner is not None
        and inner.document_id == outer.document_id
        and outer.span_start <= inner.span_start < outer.span_end
    )
