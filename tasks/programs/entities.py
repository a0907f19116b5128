"""Links the texts in a program to entities, and remembers them from call to call."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from tasks.programs.knowledge_bases.protocol import Candidate, EntityRef, Fact, KnowledgeBase
from tasks.programs.messages import entity_words, one_line
from tasks.programs.relation_matching import INVERSE_OF
from tasks.text.names import normalise_name

MOST_ENTITIES = 10  # entities that a name may mean at once
MOST_REMEMBERED = 20_000  # entities per returned text or call
LEAST_CANDIDATE = 0.2  # score below which a candidate is dropped, unless namesakes share it
NEAR_CANDIDATE = 0.03  # candidates this close to the likeliest are also tried

LONGEST_CHOSEN = 100  # characters of a name that a chooser is asked about, not a sentence
MOST_CHOICES = 30  # names of one program that a chooser is asked about

# Returns those of the candidates that are meant, the likeliest first.
Chooser = Callable[[str, list[str], list[Candidate]], list[Candidate]]


class Entities:
    """Entities of one knowledge base, for one run of a program."""

    def __init__(self, kb: KnowledgeBase, question: str, chooser: Chooser | None) -> None:
        """Link within `kb`; without a chooser, the likeliest candidates are taken.

        So they are for further names, once it was asked about many: its calls may cost money.
        """
        self._kb, self._question, self._chooser = kb, question, chooser
        self._choices = 0
        self._meant: dict[str, dict[EntityRef, None]] = {}
        self._linked: dict[tuple[str, ...], list[EntityRef]] = {}
        self._relations: dict[EntityRef, tuple[str, ...]] = {}
        self._facts: dict[EntityRef, list[Fact]] = {}

    def link(self, aliases: list[str]) -> list[EntityRef]:
        """Return the entities that aliases mean: remembered ones, else those linked by name."""
        known = dict.fromkeys(entity for alias in aliases for entity in self.remembered(alias))
        if known:
            return list(known)[:MOST_REMEMBERED]
        names = tuple(aliases)
        if names not in self._linked:
            self._linked[names] = self._by_name(aliases)
        return self._linked[names]

    def remembered(self, text: str) -> list[EntityRef]:
        """Return the entities that a text stood for when it was returned."""
        return list(self._meant.get(text, ()))

    def are_remembered(self, entities: list[EntityRef]) -> bool:
        """Return whether all of these were returned by earlier calls."""
        return all(entity in self._meant.get(entity.name, ()) for entity in entities)

    def remember(self, facts: Iterable[Fact]) -> list[str]:
        """Return the distinct texts that facts lead to, and remember their entities."""
        results: dict[str, None] = {}
        for fact in facts:
            results[fact.text] = None
            if isinstance(fact.value, EntityRef):
                meant = self._meant.setdefault(fact.text, {})
                if len(meant) < MOST_REMEMBERED:
                    meant[fact.value] = None
        return list(results)

    def around(self, entity: EntityRef) -> list[Fact]:
        """Return the facts around an entity, which are queried once."""
        if entity not in self._facts:
            self._facts[entity] = self._kb.get_entity_triples(entity)
        return self._facts[entity]

    def relations(self, entity: EntityRef) -> tuple[str, ...]:
        """Return the relations around an entity, the inverse ones marked as in aliases."""
        if entity not in self._relations:
            pairs = dict.fromkeys((fact.inverse, fact.relation) for fact in self.around(entity))
            self._relations[entity] = tuple(
                f"{INVERSE_OF if inverse else ''}{relation}" for inverse, relation in pairs
            )
        return self._relations[entity]

    def _by_name(self, aliases: list[str]) -> list[EntityRef]:
        candidates = self._kb.entity_linking(self._question, aliases)
        best = max((candidate.score for candidate in candidates), default=0.0)
        near = [one for one in candidates if one.score >= best - NEAR_CANDIDATE]
        if sum(candidate.score for candidate in near) < LEAST_CANDIDATE:  # namesakes share a score
            return []
        offered = [one for one in candidates if one.score >= LEAST_CANDIDATE or one in near]
        if _is_plain(aliases, offered):
            return [offered[0].entity]
        is_name = any(len(alias) <= LONGEST_CHOSEN for alias in aliases)
        if self._chooser is not None and self._choices < MOST_CHOICES and is_name:
            self._choices += 1
            described = list(map(self._described, offered))
            chosen = self._chooser(self._question, aliases, described)
            most = len(chosen) if self._kb.personal else 1  # names there were not aligned
            return [candidate.entity for candidate in chosen[:most]]
        return list(dict.fromkeys(candidate.entity for candidate in near))[:MOST_ENTITIES]

    def _described(self, candidate: Candidate) -> Candidate:
        """Return a candidate with its facts behind its description."""
        entity, description = candidate.entity, candidate.description
        if description and hasattr(self._kb, "troubles"):  # a remote one: facts are a request
            return candidate
        words = entity_words(entity.name, description, self.around(entity))
        return replace(candidate, description=words.removeprefix(f"{one_line(entity.name)}: "))


def _is_plain(aliases: list[str], offered: list[Candidate]) -> bool:
    """Return whether there is one candidate and it bears one of the names, so that none chooses.

    A longer name around that one may mean something else: "Freddie Mercury" is no planet.
    """
    if len(offered) != 1:
        return False
    names = {normalise_name(name) for name in (offered[0].entity.name, *offered[0].aliases)}
    given = set(map(normalise_name, aliases))
    return bool(given & names) and not any(n in g for n in given & names for g in given - names)
