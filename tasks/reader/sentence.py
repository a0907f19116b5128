"""A sentence that may hold an answer, from a passage or from extracted knowledge."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import NamedTuple

from schemas.answers import Evidence
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact, Place
from tasks.programs.knowledge_bases.statements import STATEMENT
from tasks.retrieval.linked_names import LinkedName
from tasks.text.languages import language_of
from tasks.text.names import normalise_name
from tasks.text.stems import stems_of, words_of
from tasks.text.values import Value, find_values


class StatedTriple(NamedTuple):
    """A triple that a sentence states."""

    head: str
    relation: str
    tail: str


@dataclass(eq=False)
class Sentence:
    """One sentence; positions count its own characters.

    `topic` is the id of its document, or of the entity that it was looked up for; `title` is the
    name of that topic, and `aliases` are its other names in normal form. A sentence of extracted
    knowledge has that `entity`, and the `fact` that it states, None for a description. `synonyms`
    are further stems that its words stand for, with their spans. `cut_chinese` is False if the
    question has no Chinese, so that Chinese need not be segmented.
    """

    topic: str
    title: str
    text: str
    names: list[LinkedName]
    triples: list[StatedTriple]
    place: Place | None = None
    entity: EntityRef | None = None
    fact: Fact | None = None
    aliases: frozenset[str] = frozenset()
    synonyms: list[tuple[int, int, str]] = field(default_factory=list)
    cut_chinese: bool = True

    @property
    def is_statement(self) -> bool:
        """Whether it is a clause in its own words."""
        return self.fact is not None and self.fact.kind == STATEMENT

    @cached_property
    def language(self) -> str:
        """The language, `en` or `zh`."""
        return language_of(self.text)

    @cached_property
    def words(self) -> list[tuple[int, int, str]]:
        """The stems of its words with their spans."""
        words = stems_of(self.text, cut_chinese=self.cut_chinese)
        return sorted([*words, *self.synonyms]) if self.synonyms else words

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(word for _, _, word in self.words)

    @cached_property
    def title_stems(self) -> frozenset[str]:
        """The stems of its title's words."""
        return self.stems_in(self.title)

    def stems_in(self, text: str) -> frozenset[str]:
        """Return the stems of the words of a text, cut as this sentence is."""
        return words_of(text, cut_chinese=self.cut_chinese)

    @cached_property
    def values(self) -> list[tuple[int, int, Value]]:
        """Its numbers, quantities and dates with their spans."""
        return find_values(self.text, self.language)

    @cached_property
    def _title_key(self) -> str:
        return normalise_name(self.title)

    def is_about(self, key: str) -> bool:
        """Return whether its topic has a name, given in normal form."""
        return key == self._title_key or key in self.aliases


def evidence_from(
    text: str, kind: str, place: Place | None, score: float, graph: str = "corpus"
) -> Evidence:
    """Return a supporting text as evidence, with the place where a document states it."""
    return Evidence(
        text=text,
        kind=kind,
        graph=graph,
        **(asdict(place) if place else {}),
        score=round(score, 4),
    )
