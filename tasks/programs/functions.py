"""The functions that programs call, over one knowledge base (KnowledGPT, section 3.2).

Results are plain texts. `Functions` keeps every message, so that none is lost when a program fails,
and remembers which entities a returned text stood for: a later call with exactly that text refers
to those entities and to no others of the same name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.models.encoders.load import Encoder
from tasks.programs.entities import Chooser, Entities
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact, KnowledgeBase, Place
from tasks.programs.knowledge_bases.statements import STATEMENT
from tasks.programs.limits import SandboxError
from tasks.programs.messages import call_message, entity_words, facts_words, info_message, one_line
from tasks.programs.relation_matching import (
    MARGIN,
    Match,
    match_relations,
    nearest_relations,
    split_inverse,
)
from tasks.text.languages import is_chinese, language_of
from tasks.text.name_likeness import likest
from tasks.text.names import normalise_name
from tasks.text.sentences import sentences
from tasks.text.stems import words_of

MOST_ALIASES = 20  # per entity or relation
MOST_TEXTS = 20_000  # in one argument, if calls returned them
LONGEST_ALIAS = 2_000  # characters
MOST_MESSAGES = 5_000
MOST_KEPT = 30_000_000  # characters of arguments and messages in the records of one program
REFERENCE = 8  # characters that a fact or result counts for, of which records keep no copy
MOST_DESCRIBED = 10  # entities of one argument whose texts a call reads
LEAST_LIKENESS = 60.0  # of 100, between names, for `find_relationship`
LONGEST_READ = 20_000  # characters of a description


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """One call of a program: its arguments, and the sources of its result."""

    function: str
    entities: tuple[EntityRef, ...]
    facts: tuple[Fact, ...]  # those that the result was read from
    similarity: float  # of the matching relation or name, 0 to 1
    relations: tuple[str, ...] = ()  # around the entities
    description: str = ""  # a text that the result was read from
    results: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    place: Place | None = None  # of the description in a document

    @property
    def found(self) -> bool:
        """Whether the call returned facts, or the requested description."""
        return bool(self.facts) or (self.function == "get_entity_info" and bool(self.results))


class Functions:
    """`get_entity_info`, `find_entity_or_value` and `find_relationship` over a knowledge base."""

    def __init__(
        self,
        kb: KnowledgeBase,
        question: str,
        chooser: Chooser | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        """Make the functions for one run of a program; they remember what they returned."""
        self.messages: list[str] = []
        self.calls: list[FunctionCall] = []
        self._kept = 0  # characters in the records
        self._kb, self._encoder = kb, encoder
        # The relation that each wording of an edition expresses, including people's corrections.
        self._wordings: Mapping[str, tuple[str, bool]] = getattr(kb, "wordings", {})
        self._entities = Entities(kb, question, chooser)

    def callables(self) -> dict[str, Callable[..., Any]]:
        """Return the functions by the names that programs call them by."""
        return {
            "get_entity_info": self.get_entity_info,
            "find_entity_or_value": self.find_entity_or_value,
            "find_relationship": self.find_relationship,
        }

    def get_entity_info(self, entity_aliases: list[str]) -> tuple[str | None, str]:
        """Return an entity's description with its attributes, and the message."""
        call = "get_entity_info"
        aliases = self._read(entity_aliases, "entity_aliases")
        arguments = {"entity_aliases": aliases}
        entities = self._entities.link(aliases)
        texts = []
        for entity in entities[:MOST_DESCRIBED]:
            around = self._entities.around(entity)
            description = self._kb.get_entity_info(entity)
            if description or around:
                texts.append(entity_words(entity.name, description, around))
        if not texts:
            return None, self._record(call, arguments, _unknown(aliases), entities)
        text, message = "\n".join(texts), info_message(self._kb.name, " ".join(texts))
        return text, self._record(call, arguments, message, entities, (), 1.0, text, [text])

    def find_entity_or_value(
        self, entity_aliases: list[str], relation_aliases: list[str]
    ) -> tuple[list[str] | None, str]:
        """Return the entities or values to which the relation leads, and the message.

        If no relation matches, return the sentence of a description that mentions the relation, or
        else the whole description.
        """
        call = "find_entity_or_value"
        aliases = self._read(entity_aliases, "entity_aliases")
        wanted = self._read(relation_aliases, "relation_aliases")
        arguments = {"entity_aliases": aliases, "relation_aliases": wanted}
        entities = self._entities.link(aliases)
        if not entities:
            return None, self._record(call, arguments, _unknown(aliases))
        entities, facts, similarity = self._related(entities, wanted)
        if facts:
            results = self._entities.remember(facts)
            words = facts_words(facts)
            return results, self._record(
                call, arguments, words, entities, facts, similarity, results=results
            )
        for entity in entities[:MOST_DESCRIBED]:
            if description := self._kb.get_entity_info(entity):
                text = best_sentence(description, wanted) or description
                words = f"{one_line(entity.name)}: {one_line(text, 1_000)}"
                return [text], self._record(call, arguments, words, [entity], (), 0.5, text, [text])
        words = f"{one_line(entities[0].name)} has no such relation"
        return None, self._record(call, arguments, words, entities)

    def find_relationship(
        self, entity1_aliases: list[str], entity2_aliases: list[str]
    ) -> tuple[list[str] | None, str]:
        """Return the relations between two entities, in either direction, and the message."""
        call = "find_relationship"
        first = self._read(entity1_aliases, "entity1_aliases")
        second = self._read(entity2_aliases, "entity2_aliases")
        arguments = {"entity1_aliases": first, "entity2_aliases": second}
        described: list[tuple[EntityRef, list[str]]] = []
        for here, there in ((first, second), (second, first)):
            entities = self._entities.link(here)
            described += [(entity, there) for entity in entities[:MOST_DESCRIBED]]
            facts, likeness = self._leading_to(entities, there)
            if facts:
                relations = list(dict.fromkeys(fact.relation for fact in facts))
                return relations, self._record(
                    call, arguments, facts_words(facts), entities, facts, likeness / 100,
                    results=relations,
                )  # fmt: skip
        for entity, there in described:
            text = best_sentence(self._kb.get_entity_info(entity), there)
            if text:
                words = one_line(text)
                return [text], self._record(call, arguments, words, [entity], (), 0.5, text, [text])
        tried = [entity for entity, _ in described]
        return None, self._record(call, arguments, "no relation is known", tried)

    def _read(self, given: Any, name: str) -> list[str]:
        """Return an argument as texts, of which only a few may be new, not returned by a call."""
        aliases = read_aliases(given, name)
        self._kept += sum(map(len, aliases))
        if self._kept > MOST_KEPT:
            raise SandboxError(f"the calls hold more than {MOST_KEPT:,} characters in all")
        new = [alias for alias in aliases if not self._entities.remembered(alias)]
        if len(new) > MOST_ALIASES:
            raise SandboxError(f"{name} holds {len(new)} new names; {MOST_ALIASES} are the most")
        return aliases

    # -- relations ------------------------------------------------------------------------------

    def _related(
        self, entities: list[EntityRef], wanted: list[str]
    ) -> tuple[list[EntityRef], list[Fact], float]:
        """Return the entities with matching facts, the facts, and their best similarity.

        Entities that a call returned, and all entities of a personal knowledge base, are used
        together. If a name may mean several entities of a public knowledge base, only those with
        the best matching relation are used.
        """
        if self._kb.personal or self._entities.are_remembered(entities):
            return entities, *self._facts_of(entities, wanted)
        matches = [(entity, *self._facts_of([entity], wanted)) for entity in entities]
        best = max(similarity for _, _, similarity in matches)
        fitting = [match for match in matches if match[1] and match[2] >= best - MARGIN]
        facts = [fact for _, around, _ in fitting for fact in around]
        return [entity for entity, _, _ in fitting] or entities, facts, best

    def _facts_of(self, entities: list[EntityRef], wanted: list[str]) -> tuple[list[Fact], float]:
        """Return the facts with matching relations, forward ones first, and the best score.

        Statements count only where no other fact matches.
        """
        around = [fact for entity in entities for fact in self._entities.around(entity)]
        statements = [fact for fact in around if fact.kind == STATEMENT]
        facts = [fact for fact in around if fact.kind != STATEMENT]
        matching, best = self._matching(facts, wanted)
        return (matching, best) if matching else self._matching(statements, wanted)

    def _matching(self, around: list[Fact], wanted: list[str]) -> tuple[list[Fact], float]:
        arguments = [split_inverse(alias) for alias in wanted]
        either = [alias for alias, inverse in arguments if not inverse]
        heads = [alias for alias, inverse in arguments if inverse]
        for alias in list(either):
            if alias in self._wordings:
                name, turned_round = self._wordings[alias]
                (heads if turned_round else either).append(name)
        # "son" is "child of" from the other end, so that an alias is also compared with inverse
        # facts: first as the inverse of a relation of the vocabulary, then in either direction.
        ways: tuple[tuple[list[str], bool, bool | None], ...] = (
            (either, False, False),
            (heads, True, False),
            (either, True, True),
            (either, True, None),
        )
        for aliases, inverse, turned in ways:
            there = [fact for fact in around if fact.inverse is inverse]
            names = (name for fact in there for name in _names(fact))
            matches = match_relations(aliases, names, every=self._kb.personal, turned=turned)
            if matches:
                return _with_relations(there, matches)
        if self._encoder:  # vectors tell nothing of directions
            there = [fact for fact in around if not fact.inverse]
            names = (name for fact in there for name in _names(fact))
            matches = nearest_relations(either, names, self._encoder, every=self._kb.personal)
            if matches:
                return _with_relations(there, matches)
        return [], 0.0

    def _leading_to(
        self, entities: list[EntityRef], aliases: list[str]
    ) -> tuple[list[Fact], float]:
        """Return the facts of entities that lead to the most similar name, and its likeness."""
        meant = {entity for alias in aliases for entity in self._entities.remembered(alias)}
        bearers = {
            entity
            for entity in self._entities.link(aliases)
            if normalise_name(entity.name) in map(normalise_name, aliases)
        }
        meant |= bearers
        scored = [
            (fact, 100.0 if fact.value in meant else likest(fact.text, aliases))
            for entity in entities
            for fact in self._entities.around(entity)
            if fact.value in meant or not bearers or not isinstance(fact.value, EntityRef)
        ]
        best = max((score for _, score in scored), default=0.0)
        if best < LEAST_LIKENESS:
            return [], 0.0
        return [fact for fact, score in scored if score >= best], best

    # -- messages and records of calls -----------------------------------------------------------

    def _record(
        self,
        function: str,
        arguments: dict[str, list[str]],
        words: str,
        entities: Sequence[EntityRef] = (),
        facts: Sequence[Fact] = (),
        similarity: float = 0.0,
        description: str = "",
        results: Sequence[str] = (),
    ) -> str:
        """Keep a call with the sources of its results; return its message.

        `words` describes the result; the text about an entity is already a whole message.
        """
        relations = (name for entity in entities for name in self._entities.relations(entity))
        place_of = getattr(self._kb, "description_place", None) if description else None
        places = map(place_of, entities[:MOST_DESCRIBED]) if place_of else ()
        self.calls.append(
            FunctionCall(
                function,
                tuple(entities),
                tuple(facts),
                round(similarity, 4),
                tuple(dict.fromkeys(relations)),
                description,
                tuple(results),
                tuple(arguments.get("entity_aliases", ())),
                next(filter(None, places), None),
            )
        )
        described = function == "get_entity_info" and description
        message = words if described else call_message(self._kb.name, function, arguments, words)
        self._kept += len(message) + REFERENCE * (len(facts) + len(results))
        if len(self.messages) < MOST_MESSAGES:
            self.messages.append(message)
        return message


def read_aliases(given: Any, name: str) -> list[str]:
    """Return an argument as a list of texts; a single text counts as a list of one."""
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list | tuple):
        raise SandboxError(f"{name} must be a list of texts, not {type(given).__name__}")
    aliases = list(dict.fromkeys(text for text in given if isinstance(text, str) and text.strip()))
    if not aliases:
        raise SandboxError(f"{name} must hold at least one text")
    if len(aliases) > MOST_TEXTS:
        raise SandboxError(f"{name} holds {len(aliases)} texts; {MOST_TEXTS} are the most")
    if any(len(alias) > LONGEST_ALIAS for alias in aliases):
        raise SandboxError(f"{name} holds a text longer than {LONGEST_ALIAS} characters")
    return aliases


def _with_relations(facts: list[Fact], matches: list[Match]) -> tuple[list[Fact], float]:
    """Return the facts whose relations match, the most similar first, and the best similarity."""
    sure = {match.relation: match.similarity for match in matches}
    scored = [(max(sure.get(name, 0.0) for name in _names(fact)), fact) for fact in facts]
    scored = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return [fact for _, fact in scored], scored[0][0]


def _names(fact: Fact) -> tuple[str, ...]:
    """Return the names to compare with a relation alias, including an aspect's question."""
    return (fact.relation, fact.question) if fact.question else (fact.relation,)


def _unknown(aliases: list[str]) -> str:
    return f"{one_line(aliases[0])} is not known"


def best_sentence(description: str, aliases: Sequence[str]) -> str:
    """Return the sentence that shares the largest part of an alias's words; empty if none fits.

    At least half of the alias's words must be there.
    """
    text = description[:LONGEST_READ]
    wanted = [words for alias in aliases if (words := _words(alias))]
    best, most = "", 0.0
    for start, end in sentences(text, language_of(text)):
        sentence = text[start:end].strip()
        there = _words(sentence)
        score = max((len(words & there) / len(words) for words in wanted), default=0.0)
        if score > most and score >= 0.5:
            best, most = sentence, score
    return best


def _words(text: str) -> frozenset[str]:
    """Return the stems of a text's words; for Chinese, its pairs of characters."""
    if is_chinese(text):
        return frozenset(text[i : i + 2] for i in range(len(text) - 1)) or frozenset(text)
    return frozenset(words_of(text))
