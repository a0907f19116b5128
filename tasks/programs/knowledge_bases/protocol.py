"""The interface of every knowledge base, whatever it is built on (KnowledGPT, section 3.2.1).

The unified functions that programs call (`tasks.programs.functions`) are written once, on top of
the three functions here.
"""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EntityRef:
    """An entity of one knowledge base: its key there, and its name."""

    knowledge_base: str
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a name may mean; `score` says how likely, 0 to 1."""

    entity: EntityRef
    score: float
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """The place in a document that states a fact.

    `remembered` is the day on which the user had the document remembered, if it is known to be one.
    """

    document_id: str
    uri: str | None
    span_start: int
    span_end: int
    remembered: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A triple from an entity's point of view: a relation and its other end.

    `inverse` says that the entity is the tail of the triple and `value` its head. `value` is an
    entity, or the text of a value. An aspect is a fact whose relation is the aspect. A statement is
    a fact whose relation is its predicate; `words` is the whole statement, and `ends` are its
    subject and its complements. `time` says when a triple holds, if that is known: "until 2004".
    """

    entity: EntityRef
    relation: str
    value: EntityRef | str
    inverse: bool = False
    kind: str = "triple"  # triple, aspect or statement
    fact_id: str | None = None
    confidence: float = 1.0
    question: str = field(default="", compare=False)  # that an aspect answers
    place: Place | None = field(default=None, compare=False)
    time: str = field(default="", compare=False)
    words: str = field(default="", compare=False)
    ends: tuple[str, ...] = field(default=(), compare=False)

    @property
    def text(self) -> str:
        """The name or text at the other end."""
        return self.value.name if isinstance(self.value, EntityRef) else self.value


class KnowledgeBase(Protocol):
    """One knowledge base; messages contain its `name`, evidence its `graph`.

    `personal` says that names were not aligned when it was written: linking may return several
    entities, and all relations above a threshold count (the paper's variant for personal ones).
    """

    name: str
    graph: str
    personal: bool

    def entity_linking(self, query: str, aliases: list[str]) -> list[Candidate]:
        """Return the entities that the aliases may mean in a question, likeliest first."""
        ...

    def get_entity_info(self, entity: EntityRef) -> str:
        """Return an entity's description, empty if there is none."""
        ...

    def get_entity_triples(self, entity: EntityRef) -> list[Fact]:
        """Return all facts around an entity, including those of which it is the tail."""
        ...
