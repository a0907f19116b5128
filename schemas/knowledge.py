"""Entities and facts, resolved and deduplicated: the core of an edition."""

from datetime import date as calendar_date
from datetime import datetime
from typing import Literal

from pydantic import Field

from schemas.row import Row
from schemas.statements import MODALITY, POLARITY
from schemas.verdicts import CONFIDENCE

FactKind = Literal["triple", "description", "aspect", "alias"]

CORPUS = "corpus"  # the graph of the user's own texts

GRAPH = Field(description="The knowledge base; the user's own texts are `corpus`.")
BEST_DOCUMENT = Field(None, description="Document with the best mention; null for imported facts.")
BEST_PASSAGE = Field(None, description="Passage with the best mention.")
BEST_START = Field(None, description="First character of the best mention in its document.")
BEST_END = Field(None, description="One past its last character.")
SENSITIVITY = Field(
    None, description="`sensitive` if any text that it comes from is in a sensitive document."
)


class Entity(Row, table="entities", key=("entity_id",)):
    """A thing with a name: namesakes are separate entities, variant names belong to one."""

    entity_id: str = Field(description="Stable from edition to edition.")
    name: str = Field(description="Its most frequent full name.")
    kind: str = Field(description="person, place, organisation, work, event, thing … or unknown.")
    language: str = Field(description="Language of the name.")
    graph: str = GRAPH
    mentions: int = Field(
        description="How often it was read that a passage names it, at least once per document."
    )
    documents: int = Field(description="How many documents were read to name it.")
    description: str | None = Field(None, description="Its best description.")
    sensitivity: str | None = SENSITIVITY


class EntityRedirect(Row, table="entity_redirects", key=("old_entity_id",)):
    """An entity id from an earlier edition, with the entity that has replaced it."""

    old_entity_id: str = Field(description="An id that an earlier edition used.")
    entity_id: str = Field(description="The entity that it now refers to.")
    since: str = Field(description="The edition that redirected it.")


class Alias(Row, table="aliases", key=("alias", "entity_id")):
    """A name of an entity; the name in `entities` is among them."""

    alias: str = Field(description="The name as written.")
    entity_id: str = Field(description="The entity that it names.")
    weight: float = Field(description="Share of the alias' mentions that mean this entity, 0 to 1.")


class Relation(Row, table="relations", key=("relation", "graph")):
    """A predicate that relates heads to tails in one graph."""

    relation: str = Field(
        description="Its name: in the user's own texts the one for all wordings that mean it."
    )
    graph: str = GRAPH
    triples: int = Field(description="How many triples use it.")
    inverse: str | None = Field(None, description="How it reads from the tail, if that is known.")
    wordings: list[str] = Field(
        description="The wordings that state it from head to tail, the commonest first."
    )
    inverse_wordings: list[str] = Field(
        description="The wordings that state it from tail to head; their triples are turned round."
    )
    head_kind: str | None = Field(
        None, description="The commonest kind of its heads; null for imported graphs."
    )
    tail_kind: str | None = Field(
        None, description="The commonest kind of its tails, or their value type."
    )
    single_valued: bool = Field(description="Whether a head has one tail at a time.")
    example: str = Field(description="The best supported of these triples, in words.")


class Triple(Row, table="triples", key=("triple_id",)):
    """A fact (head, relation, tail), listed once however often it is stated."""

    triple_id: str = Field(
        description="Made from graph, head, relation and tail, and from how it is meant if it is "
        "not plainly asserted."
    )
    graph: str = GRAPH
    head_id: str = Field(description="The entity that the fact is about.")
    head: str = Field(description="Its name.")
    relation: str = Field(description="The relation, by its name in `relations`.")
    tail_id: str | None = Field(
        None,
        description="The entity at the other end; null for a value, unless a graph has 1999 or the "
        "like as an entity.",
    )
    tail: str = Field(description="Its name, or the value as written.")
    value_type: str = Field(description="entity, text, number, quantity, date or year.")
    number: float | None = Field(None, description="The tail's number, in `unit`.")
    unit: str | None = Field(None, description="The number's unit, in its common short form.")
    date: str | None = Field(None, description="The tail's date, ISO 8601, as stated, to the day.")
    date_exact: calendar_date | None = Field(
        None, description="The same as a date, where a day is stated."
    )
    valid_from: str | None = Field(None, description="Since when it holds, if the text says so.")
    valid_to: str | None = Field(None, description="Until when it holds, if the text says so.")
    polarity: str = POLARITY
    modality: str = MODALITY
    support: int = Field(description="Documents that state it; near duplicates count once.")
    mentions: int = Field(description="How often it is stated.")
    confidence: float = CONFIDENCE
    document_id: str | None = BEST_DOCUMENT
    passage_id: str | None = BEST_PASSAGE
    span_start: int | None = BEST_START
    span_end: int | None = BEST_END
    sensitivity: str | None = SENSITIVITY


class AssertedTriple(Triple, table="asserted_triples"):
    """The triples that are plainly asserted and not denied: what questions are answered from."""


class Mention(Row, table="mentions", key=("fact_kind", "fact_id", "document_id", "span_start")):
    """One place where a fact is stated."""

    fact_kind: FactKind = Field(description="triple, description, aspect or alias.")
    fact_id: str = Field(description="Its id in the table of that kind (alias: the entity's id).")
    stated: str | None = Field(
        None,
        description="As it was read: the wording of a triple's relation, which relates the tail to "
        "the head if it is one of the relation's `inverse_wordings`; `NAME = ALIAS` of an alias; "
        "else null.",
    )
    document_id: str = Field(description="The document that states it.")
    passage_id: str = Field(description="The passage within it.")
    span_start: int = Field(description="First character in the document's text.")
    span_end: int = Field(description="One past the last character.")
    engine: str = Field(description="The engine that extracted it.")
    prompt_sha: str = Field(description="Version of the prompt or of the rules.")
    confidence: float = CONFIDENCE
    engine_confidence: float = Field(
        description="The same before the verdicts of this home were counted."
    )
    extracted_at: datetime = Field(description="When (UTC).")


class EntityPassage(Row, table="entity_passages", key=("entity_id", "document_id", "passage_id")):
    """How often a passage mentions an entity: the links between passages and entities."""

    entity_id: str = Field(description="The entity.")
    document_id: str = Field(description="The document.")
    passage_id: str = Field(description="The passage.")
    times: int = Field(description="How often the passage names the entity or states its facts.")


class Theme(Row, table="themes", key=("theme_id",)):
    """A cluster of documents and entities that have much to do with each other."""

    theme_id: str = Field(description="Made from the ids of its documents.")
    name: str = Field(description="Its most central words and names.")
    language: str = Field(description="The commonest language of its documents.")
    documents: list[str] = Field(description="The ids of its documents, the most central first.")
    entities: list[str] = Field(
        description="The ids of its entities, the most central first, at most 50."
    )
    summary: str = Field(
        description="Titles of its documents, its most central entities with what they are, and "
        "central sentences."
    )
    sentences: list[str] = Field(description="These sentences, word for word.")
    sources: list[str] = Field(description="The document of each of these sentences.")
    starts: list[int] = Field(description="Where each begins there, in characters.")
    sensitivity: str | None = Field(
        None,
        description="`sensitive` if all of its documents are; else name, summary and sentences "
        "come from the others.",
    )


class Conflict(Row, table="conflicts", key=("head_id", "relation", "triple_id")):
    """Asserted triples of one head and relation whose tails disagree: only one can be true."""

    head_id: str = Field(description="The entity.")
    head: str = Field(description="Its name.")
    relation: str = Field(description="A relation that has one value at a time.")
    triple_id: str = Field(description="One of the triples that disagree.")
    tail: str = Field(description="Its tail.")
    support: int = Field(description="Documents that state it.")
    confidence: float = Field(description="Its confidence.")
    document_id: str | None = BEST_DOCUMENT
    uri: str | None = Field(None, description="The location of that document.")
    values: int = Field(description="How many tails disagree.")


class Misfit(Row, table="misfits", key=("triple_id",)):
    """A triple that does not fit the home's ontology."""

    triple_id: str = Field(description="Its id in `triples`, where it is unless it is left out.")
    reason: str = Field(
        description="What does not fit: relation (it is not listed), head, tail or unit (it is not "
        "of an allowed kind), or gazetteer (an end is not among its entities)."
    )
    left_out: bool = Field(description="Whether `mode: strict` keeps it out of `triples`.")
    head_id: str = Field(description="The entity that the fact is about.")
    head: str = Field(description="Its name.")
    relation: str = Field(description="The predicate.")
    tail_id: str | None = Field(None, description="The entity at the other end; null for a value.")
    tail: str = Field(description="Its name, or the value as written.")
    document_id: str | None = BEST_DOCUMENT
    passage_id: str | None = BEST_PASSAGE
    span_start: int | None = BEST_START
    span_end: int | None = BEST_END
    sensitivity: str | None = SENSITIVITY


class Description(Row, table="descriptions", key=("description_id",)):
    """One or two sentences that say what an entity is."""

    description_id: str = Field(description="Made from entity and text.")
    entity_id: str = Field(description="The entity described.")
    entity: str = Field(description="Its name.")
    text: str = Field(description="The description, in the passage's words.")
    document_id: str | None = BEST_DOCUMENT
    passage_id: str | None = BEST_PASSAGE
    span_start: int | None = BEST_START
    span_end: int | None = BEST_END
    confidence: float = CONFIDENCE
    graph: str = GRAPH
    sensitivity: str | None = SENSITIVITY


class Aspect(Row, table="aspects", key=("aspect_id",)):
    """A note on one aspect of an entity, with a question that it answers."""

    aspect_id: str = Field(description="Made from entity, aspect and text.")
    entity_id: str = Field(description="The entity.")
    entity: str = Field(description="Its name.")
    aspect: str = Field(description="The aspect that the note covers.")
    text: str = Field(description="The note, at most three sentences from the passage.")
    question: str = Field(description="A question that the note answers.")
    document_id: str | None = BEST_DOCUMENT
    passage_id: str | None = BEST_PASSAGE
    span_start: int | None = BEST_START
    span_end: int | None = BEST_END
    confidence: float = CONFIDENCE
    graph: str = GRAPH
    sensitivity: str | None = SENSITIVITY
