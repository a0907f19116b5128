"""What a call showed to a model: its sentences, the names in them, and whom a sentence is about.

All passages of a call are evidence for its facts, since a pronoun in one is often understood from
another. What a sentence leaves out is only ever filled in from the call's own text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any

from tasks.extract.by_model.amounts import Amounts, amounts_of, numbers_in, without_numbers
from tasks.extract.by_model.located import Searchable, Span
from tasks.extract.by_model.passages import PassageRow, described, numbered, readable
from tasks.extract.extracted import Extracted, evidence_columns
from tasks.models.prompts.replies import EntityReply, Extraction
from tasks.text.english_words import is_word
from tasks.text.function_words import FUNCTION_WORDS, POSSESSIVES
from tasks.text.languages import word_set
from tasks.text.names import is_pronoun, normalise_name
from tasks.text.sentences import sentences
from tasks.text.stems import stems_of

MOST_PLACES = 20  # occurrences of one name noted per passage
LOOKED_BACK = 4  # sentences before a pronoun in which its referent may stand
_NUMBERS = re.compile(r"[\s\d,;、\[\]–-]+")
_RUN = re.compile(r"(\d+)(?:\s?[–-]\s?(\d+))?")
_LETTER = re.compile(r"[^\W\d_]")
_CAPITALISED_WORD = re.compile(r"\b[A-Z]\w{3,}")
_CAPITALISED = re.compile(r"(?<![\w.])[A-Z][a-z]+\b")
MOST_CITED = 12  # units of one fact; a reply that cites more cites nothing in particular
_SMALL_WORDS = FUNCTION_WORDS | {"per"}  # 80 euros per year are 80 euros a year
_UNIT = re.compile(r"[;；]\s*")  # parts of a sentence with subjects of their own

# Pronouns by what they may mean. Those of objects never mean what the same clause has as subject.
_MEANT = {
    "person": word_set("he him his himself 他 她 他们 她们"),
    "thing": word_set("it its itself which 它 它们 其 该 此"),
    # Ships and countries are "she".
    "any": word_set("she her hers herself they them their theirs themselves this these both"),
    "author": word_set("i me my mine we us our ours 我 我们"),
}
_OBJECTS = word_set("him her them it me us")
_PRONOUN = re.compile(
    r"\b(?:"
    + "|".join(sorted(w for words in _MEANT.values() for w in words if w.isascii()))
    + r")\b|他们|她们|它们|我们|[他她它我]|其(?![中他实余它])|[该此](?!外|后|前|次|致)",
    re.IGNORECASE,
)
_MEANS = {word: kind for kind, words in _MEANT.items() for word in words}


@dataclass(slots=True)
class Entity:
    """Whom or what a reply means by a name, with the other names that it gives."""

    name: str
    kind: str = "unknown"
    names: list[str] = field(default_factory=list)

    def may_be(self, meant: str) -> bool:
        """Return whether a pronoun for a person, a thing or any of them may mean the entity."""
        if self.kind == "unknown" or meant in ("any", "author"):
            return True
        return (self.kind == "person") == (meant == "person")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of an entity in a passage."""

    start: int
    end: int
    name: str
    entity: Entity


class Evidence:
    """A passage that is searched for the names and quotes of a reply."""

    def __init__(self, row: PassageRow) -> None:
        self.row = row
        self.language = "zh" if row["language"] == "zh" else "en"
        self.given = readable(row)
        self.text = Searchable(self.given.text)
        self.extracted = Extracted(
            row["passage_id"], sentences=self.given.whole_sentences(self.language)
        )
        self.seen: set[tuple[str, ...]] = set()
        self.mentions: list[Mention] = []
        self.find = cache(self.text.find)  # a reply repeats the same quotes many times

    @cached_property
    def sentences(self) -> list[Span]:
        """The spans of the sentences."""
        return sentences(self.given.text, self.row["language"])

    def mark(self, entities: Iterable[Entity]) -> None:
        """Note where the entities are named, longer names first."""
        taken: set[int] = set()
        names = {name: entity for entity in entities for name in (entity.name, *entity.names)}
        for name in sorted(names, key=lambda name: -len(name)):
            for start, end in self.text.find_all_names(name, MOST_PLACES):
                if taken.isdisjoint(range(start, end)):
                    taken.update(range(start, end))
                    self.mentions.append(Mention(start, end, name, names[name]))
        self.mentions.sort(key=lambda mention: mention.start)

    def columns(self, span: Span, confidence: float) -> dict[str, Any]:
        """Return the columns of evidence for a span of the text given to the model."""
        return evidence_columns(self.given.in_source(*span), confidence)

    def named_in(self, start: int, end: int) -> list[Mention]:
        """Return the names between two places, in order."""
        first = bisect_right(self.mentions, start - 1, key=lambda mention: mention.start)
        last = bisect_right(self.mentions, end - 1, key=lambda mention: mention.start)
        return self.mentions[first:last]


@dataclass(frozen=True)
class Unit:
    """A sentence that a reply cites, or a part of it between semicolons."""

    passage: Evidence
    span: Span
    sentence: Span

    @cached_property
    def text(self) -> Searchable:
        """The words of the unit."""
        return Searchable(self.passage.given.text[self.span[0] : self.span[1]])

    @cached_property
    def mentions(self) -> list[Mention]:
        """The names in the unit."""
        return self.passage.named_in(*self.span)

    @property
    def amounts(self) -> Amounts:
        """The numbers and dates of the unit."""
        return amounts_of(self.text.text, self.passage.language)

    def place_of_words(self, words: str) -> Span | None:
        """Return where the unit has the numbers of some words, else its words, in the passage."""
        wanted = frozenset().union(*(meant for _, _, meant in numbers_in(words)))
        spans = [(a, b) for a, b, meant in numbers_in(self.text.text) if meant & wanted]
        if not wanted:
            meant = content(words)
            spans = [(a, b) for a, b, stem in stems_of(self.text.text) if stem in meant]
        if not spans:
            return None
        first = min(a for a, _ in spans)
        return first + self.span[0], max(b for a, b in spans) + self.span[0]

    def has_other_names(self, end: int) -> bool:
        """Return whether names stand before a place that are no entity's of the reply."""
        text = self.passage.given.text
        first = _LETTER.search(text, *self.span)
        return any(
            ((first and match.start() > first.start()) or not is_word(match[0].lower()))
            and not any(m.start <= match.start() < m.end for m in self.mentions)
            for match in _CAPITALISED.finditer(text, self.span[0], max(end, self.span[0]))
        )

    def pronouns(self) -> Iterator[tuple[int, str, str]]:
        """Yield the pronouns: place in the passage, word, and what they may mean."""
        for match in _PRONOUN.finditer(self.text.text):
            word = match[0].lower()
            yield self.span[0] + match.start(), word, _MEANS[word]


def cited_part(units: list[Unit]) -> tuple[Evidence, Span]:
    """Return the first cited passage, and from where to where it is cited."""
    inside = [unit.sentence for unit in units if unit.passage is units[0].passage]
    return units[0].passage, (min(inside)[0], max(end for _, end in inside))


@dataclass(frozen=True, slots=True)
class Stated:
    """What a fact says of one of its ends: the other, where that begins, and the fact's words."""

    other: Entity
    end: int | None
    words: str


class CallText:
    """All passages of a call, with the entities of its reply."""

    def __init__(self, rows: list[PassageRow], reply: Extraction) -> None:
        self.passages = [Evidence(row) for row in rows]
        about = described(rows[0])
        self.author = Searchable(about.get("Author", ""))
        self.date = about.get("Date", "")
        titles = dict.fromkeys(words for row in rows for words in (row["title"], row["headings"]))
        self.titles = Searchable("\n".join(titles))
        self.around = Searchable(f"{self.titles.text}\n{self.author.text}")
        self.entities: dict[str, Entity] = {}
        for row in reply.entities:
            self._add(row)
        for triple in reply.triples:
            self.entities.setdefault(normalise_name(triple.s), Entity(triple.s))
        known = list({id(entity): entity for entity in self.entities.values()}.values())
        for passage in self.passages:
            passage.mark(known)
        self._by_id = {passage.row["passage_id"]: passage for passage in self.passages}
        self.support = cache(self._support)
        self.units = cache(self._units)
        self.own_words = cache(self._own_words)

    def _add(self, row: EntityReply) -> None:
        entity = self.entities.setdefault(normalise_name(row.name), Entity(row.name, row.kind))
        for name in row.aliases:
            if name.strip() and not is_pronoun(name, "en"):
                entity.names.append(name)
                self.entities.setdefault(normalise_name(name), entity)

    def entity(self, name: str) -> Entity:
        """Return the entity that a name means; one without a row of its own has no other name."""
        return self.entities.get(normalise_name(name)) or Entity(name)

    # -- where something is said ------------------------------------------------------------

    def cited(self, where: str, given: "Shown") -> list[Unit]:
        """Return what a fact cites: `given` sentences by their numbers, or a quote.

        It is empty if there is no such sentence.
        """
        if not _NUMBERS.fullmatch(where):
            found = ((p, span) for p in self.passages if (span := p.find(where)))
            return [unit for passage, span in found for unit in self.units(passage, span)]
        units: list[Unit] = []
        for first, last in _RUN.findall(where):
            for passage_id, words in given[int(first[:6]) - 1 : int((last or first)[:6])]:
                passage = self._by_id[passage_id]
                if span := passage.find(words):
                    units += self.units(passage, span)
        return units[:MOST_CITED]

    def _units(self, passage: Evidence, span: Span) -> list[Unit]:
        units = []
        for start, end in [s for s in passage.sentences if s[0] < span[1] and s[1] > span[0]]:
            begin = start
            for cut in _UNIT.finditer(passage.given.text, start, end):
                units.append(Unit(passage, (begin, cut.start()), (start, end)))
                begin = cut.end()
            if begin < end:
                units.append(Unit(passage, (begin, end), (start, end)))
        return units

    # -- what is named ----------------------------------------------------------------------

    def _support(self, name: str) -> bool:
        """Return whether a name stands in the call, or its words do and a short name of it."""
        if self._stands(name):
            return True
        short = [other for other in self.entity(name).names if self._stands(other)]
        words = content(name)
        return bool(words) and words <= self.words and any(content(s) & words for s in short)

    def _stands(self, name: str) -> bool:
        if not normalise_name(name):
            return False
        texts = [*(passage.text for passage in self.passages), self.around]
        return any(text.find_name(name) for text in texts)

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of all words of the call, without those of numbers."""
        texts = [*(passage.text.text for passage in self.passages), self.around.text]
        return frozenset().union(*(content(without_numbers(text)) for text in texts))

    @cached_property
    def amounts(self) -> Amounts:
        """The numbers and dates of the whole call."""
        text = "\n".join([*(p.text.text for p in self.passages), self.around.text, self.date])
        return amounts_of(text, self.passages[0].language)

    @cached_property
    def own_dates(self) -> Amounts:
        """The dates in title, headings and metadata: those of the document."""
        return amounts_of(f"{self.around.text}\n{self.date}", self.passages[0].language)

    @cached_property
    def years(self) -> frozenset[int]:
        """The years that the call names, and those next to its document's date."""
        named = {int(n) for n in self.amounts.numbers if 1000 <= n <= 2100 and n == int(n)}
        year = int(self.date[:4]) if self.date[:4].isdigit() else None
        return frozenset(named | ({year - 1, year, year + 1} if year else set()))

    # -- whom a sentence is about -----------------------------------------------------------

    def place_of(self, entity: Entity, unit: Unit) -> Span | None:
        """Return where a unit names an entity, by a name that the reply gives for it."""
        for mention in unit.mentions:
            if mention.entity is entity:
                return mention.start, mention.end
        for name in (entity.name, *entity.names, *self.own_words(entity.name)):
            if at := unit.text.find_name(name):
                return at[0] + unit.span[0], at[1] + unit.span[0]
        return None

    def _own_words(self, name: str) -> list[str]:
        """Return the words of a name that no other entity's name has: "Marlow" of Edith Marlow."""
        words = _CAPITALISED_WORD.findall(name) if " " in name else []
        mine = self.entity(name)
        others = [other for other in self.entities.values() if other is not mine]
        return [
            word
            for word in words
            if not any(word in known for other in others for known in (other.name, *other.names))
        ]

    def is_meant(self, entity: Entity, unit: Unit, stated: "Stated") -> bool:
        """Return whether a unit that does not name an entity means it all the same.

        It may do so by a pronoun, or leave it out: as an item of a list does, a line below a
        heading, and many a Chinese clause.
        Then nothing that is no part of the fact may be named before the fact's other end.
        """
        if self.is_pronoun_for(entity, unit, stated):
            return True
        last = unit.span[1] if stated.end is None else stated.end
        if self._others(entity, unit, stated) or unit.has_other_names(last):
            return False
        if any(kind == "person" and place < last for place, _, kind in unit.pronouns()):
            return False
        return self._may_follow(entity, unit.span[0], "any", unit)

    def is_pronoun_for(self, entity: Entity, unit: Unit, stated: "Stated") -> bool:
        """Return whether a pronoun of a unit means an entity.

        "Her ship, the X, sank" says nothing about her.
        """
        others = self._others(entity, unit, stated)
        for place, word, meant in unit.pronouns():
            if word in POSSESSIVES and any(start > place for start in others):
                continue
            if meant == "author":
                is_meant = self._may_write(entity, unit)
            else:
                is_meant = (
                    entity.may_be(meant)
                    and self._is_free(place, word, meant, unit)
                    and self._may_follow(entity, place, meant, unit)
                )
            if is_meant:
                return True
        return False

    def _may_follow(self, entity: Entity, place: int, meant: str, unit: Unit) -> bool:
        return self._is_topic(entity, unit) or entity in self._antecedents(place, meant, unit)

    def _others(self, entity: Entity, unit: Unit, stated: "Stated") -> list[int]:
        """Return where a unit names anything else before the other end of a fact.

        What stands in the fact itself is nothing else, nor is a part of the entity's own name.
        """
        known = normalise_name(f"{entity.name} {stated.words}")
        last = unit.span[1] if stated.end is None else stated.end
        return [
            mention.start
            for mention in unit.mentions
            if mention.entity is not stated.other
            and mention.start < last
            and normalise_name(mention.name) not in known
        ]

    def _may_write(self, entity: Entity, unit: Unit) -> bool:
        """Return whether an entity may be the author; organisations and projects write as "we"."""
        if entity.kind != "person" and self._is_topic(entity, unit):
            return True
        names = (entity.name, *entity.names)
        return entity.kind == "organisation" or any(self.author.find_name(name) for name in names)

    def _is_free(self, place: int, word: str, meant: str, unit: Unit) -> bool:
        """Return whether a pronoun's referent stands before its clause."""
        return word in _OBJECTS or not any(
            mention.start < place and mention.entity.may_be(meant) for mention in unit.mentions
        )

    def _is_topic(self, entity: Entity, unit: Unit) -> bool:
        """Return whether title or headings name an entity, else the text begins with it."""
        if any(self.titles.find_name(name) for name in (entity.name, *entity.names)):
            return True
        if self._is_titled or self._first is None:
            return False
        passage, mention = self._first
        is_before = passage is not unit.passage or mention.start < unit.span[0]
        return mention.entity is entity and is_before

    @cached_property
    def _first(self) -> tuple[Evidence, Mention] | None:
        return next(((p, mention) for p in self.passages for mention in p.mentions), None)

    @cached_property
    def _is_titled(self) -> bool:
        """Whether title or headings name any entity of the reply."""
        return any(self.titles.find_name(name) for name in self.entities)

    def _antecedents(self, place: int, meant: str, unit: Unit) -> list[Entity]:
        """Return whom a pronoun may mean: who comes first in a sentence before it.

        That is the last sentence that names anybody who fits. If such a pronoun precedes the name
        there, the sentence before is looked at too, and so on. A pronoun that is no subject may
        mean anybody whom that sentence names.
        """
        found: list[Entity] = []
        passage = unit.passage
        earlier = [(s, min(e, place)) for s, e in passage.sentences if s < place]
        stretches = [(passage, span) for span in earlier]
        for other in self.passages[: self.passages.index(passage)][-1:]:
            stretches = [(other, span) for span in other.sentences] + stretches
        is_subject = not any(at < place for at, _, _ in unit.pronouns())
        for where, span in reversed(stretches[-LOOKED_BACK:]):
            fitting = [m for m in where.named_in(*span) if m.entity.may_be(meant)]
            if not fitting:
                continue
            found += [mention.entity for mention in fitting[: 1 if is_subject else None]]
            first = fitting[0]
            before = Unit(where, (span[0], first.start), span).pronouns()
            if not any(first.entity.may_be(kind) for _, _, kind in before):
                break
        return found


Shown = list[tuple[str, str]]  # passage and words of each numbered sentence


def shown(rows: Sequence[PassageRow]) -> Shown:
    """Return the sentences of a call in the order of their numbers."""
    return [(rows[place]["passage_id"], words) for place, words in numbered(rows)]


@lru_cache(maxsize=4096)
def content(words: str) -> frozenset[str]:
    """Return the stems of the words that mean something."""
    found = stems_of(words)
    return frozenset(stem for a, b, stem in found if words[a:b].lower() not in _SMALL_WORDS)
