"""Group the bearers of one name across documents into the senses of the name."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tasks.extract.rules.confidence import is_common
from tasks.publish.resolve.likeness import SAME, Likeness, Profile
from tasks.publish.resolve.lives import Life, joined
from tasks.publish.resolve.local_entities import LocalEntity, kinds_clash, voted_kind
from tasks.text.chinese_words import tag_of
from tasks.text.languages import HAN

_MAX_SENSES = 32  # senses of one name with which a bearer is compared
_MANY = 3  # documents with a name from which its usual kind outweighs a rarer one
_MAX_DESCRIPTIONS = 8  # descriptions compared per sense


@dataclass(slots=True, eq=False)
class Sense:
    """Bearers of one name in several documents that are taken for one entity."""

    norm: str
    number: int
    members: list[LocalEntity] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    notes: frozenset[str] = frozenset()
    descriptions: list[str] = field(default_factory=list)
    life: Life | None = None
    mentions: int = 0
    kind: str = "unknown"
    firm: bool = False
    _documents: set[str] | None = None  # a set for each name of a corpus would take much memory

    @property
    def documents(self) -> set[str]:
        """The documents with one of the bearers."""
        if len(self.members) > 1 and self._documents is None:
            self._documents = {member.document for member in self.members}
        return self._documents or {member.document for member in self.members}

    @property
    def key(self) -> tuple[str, int]:
        """The sense's identity and sort key."""
        return self.norm, self.number

    def add(self, member: LocalEntity) -> None:
        """Add a bearer."""
        if self._documents is not None:
            self._documents.add(member.document)
        if self.members:
            self.kinds = self.kinds.copy() if len(self.members) == 1 else self.kinds
            self.kinds.update(member.kinds)
        else:
            self.kinds = member.kinds
        self.members.append(member)
        self.kind = voted_kind(self.kinds)
        self.mentions += member.mentions
        self.firm |= member.firm
        if member.life:
            self.life = joined([life for life in (self.life, member.life) if life])
        if member.note:
            self.notes |= {member.note}
        text = member.description
        if text and text not in self.descriptions and len(self.descriptions) < _MAX_DESCRIPTIONS:
            self.descriptions.append(text)


def find_senses(entities: list[LocalEntity], likeness: Likeness) -> dict[str, list[Sense]]:
    """Return the senses of every name; the texts needed are encoded in at most two calls."""
    blocks: dict[str, list[LocalEntity]] = defaultdict(list)
    for entity in entities:
        blocks[entity.norm].append(entity)
    likeness.prepare(_doubtful_descriptions(blocks))
    several = {
        norm: _Block(norm, block, likeness) for norm, block in blocks.items() if len(block) > 1
    }
    likeness.prepare(text for block in several.values() for text in block.doubtful_contexts())
    return {
        norm: several[norm].finish() if norm in several else [_only_sense(norm, block[0])]
        for norm, block in sorted(blocks.items())
    }


def _only_sense(norm: str, bearer: LocalEntity) -> Sense:
    sense = Sense(norm, 0)
    sense.add(bearer)
    return sense


def _doubtful_descriptions(blocks: dict[str, list[LocalEntity]]) -> set[str]:
    """Return the descriptions of names that have more than one."""
    texts: set[str] = set()
    for block in blocks.values():
        own = sorted({entity.description for entity in block if entity.description})
        if len(own) > 1:
            texts.update(_most_telling(own))
    return texts


def _most_telling(texts: list[str]) -> list[str]:
    return sorted(texts, key=lambda text: (-min(len(text), 200), text))[:_MAX_SENSES]


class _Block:
    """The bearers of one name while they are grouped into senses."""

    def __init__(self, norm: str, block: list[LocalEntity], likeness: Likeness) -> None:
        self.norm = norm
        self.likeness = likeness
        self.senses: list[Sense] = []
        notes = {entity.note for entity in block if entity.note}
        titled = sum(entity.titled for entity in block)
        self.suspected = bool(notes) or titled > 1
        ordered = sorted(block, key=_most_telling_first)
        self.waiting = [entity for entity in ordered if not entity.firm]
        for entity in ordered:
            if entity.firm:
                self._place(entity, _evidence(entity))

    def doubtful_contexts(self) -> list[str]:
        """Return the texts to encode in order to place passing mentions."""
        doubtful = [e.context for e in self.waiting if len(self._open_to(e, "")) != 1]
        if not self.senses or not doubtful:
            return []
        return doubtful + [text for sense in self.senses for text in sense.descriptions]

    def finish(self) -> list[Sense]:
        """Place the passing mentions and return the senses, largest first."""
        known: dict[Sense, Profile] = {}
        for entity in self.waiting:
            self._place_by_context(entity, known)
        self._absorb_rare()
        ordered = sorted(self.senses, key=lambda s: (-s.mentions, s.members[0].key))
        for number, sense in enumerate(ordered):
            sense.number = number
        return ordered

    def _absorb_rare(self) -> None:
        """Merge rare senses that rest on guessed kinds or passing remarks into the largest sense.

        If many documents use a name unexplained and few explain it, it is one entity to writers.
        """
        largest = max(self.senses, key=lambda s: (len(s.members), s.firm, -s.number))
        explained = sum(len(sense.members) for sense in self.senses) - len(self.waiting)
        many = len(self.waiting) >= max(_MANY, explained + 1)
        usual = many and not self.suspected and largest.kind != "person"
        for sense in self.senses[:]:
            few = 2 * len(sense.members) <= len(largest.members) >= _MANY
            remarked = not self.suspected and sense.kind in (largest.kind, "unknown")
            rare = few and (remarked or not sense.firm)
            if sense is largest or self._lived_apart(largest, sense, sense.descriptions):
                continue
            if rare or usual and remarked:
                self.senses.remove(sense)
                for member in sense.members:
                    largest.add(member)

    def _place(self, entity: LocalEntity, evidence: str) -> None:
        fits = self._open_to(entity, evidence)
        best = max(fits, key=lambda sense: self._rank(sense, entity, evidence), default=None)
        (best or self._new_sense()).add(entity)

    def _place_by_context(self, entity: LocalEntity, known: dict[Sense, Profile]) -> None:
        fits = self._open_to(entity, "") or self._open_to_mistaken(entity, known)
        if len(fits) < 2:
            (fits[0] if fits else self._new_sense()).add(entity)
            return
        self._learn(fits, known)
        profiles = [known[sense] for sense in fits]
        scores = self.likeness.fit(entity.context, profiles, self.norm)
        ranked = [
            (sense.kind == entity.kind != "unknown", score, sense.mentions, -sense.number)
            for sense, score in zip(fits, scores, strict=True)
        ]
        fits[ranked.index(max(ranked))].add(entity)

    def _open_to_mistaken(self, entity: LocalEntity, known: dict[Sense, Profile]) -> list[Sense]:
        """Return the senses that a passing mention may have although its kind differs.

        The kind of a passing mention is a guess. For a name of several words a wrong guess is more
        likely than a second bearer; a single word needs a context that fits.
        """
        elsewhere = [
            sense
            for sense in self.senses[:_MAX_SENSES]
            if entity.document not in sense.documents
            and not self._lived_apart(sense, entity, [entity.description])
        ]
        if " " in self.norm:
            return elsewhere
        firm = [sense for sense in elsewhere if sense.firm]
        self._learn(firm, known)
        return [s for s in firm if self.likeness.related(entity.context, known[s], self.norm)]

    def _learn(self, senses: list[Sense], known: dict[Sense, Profile]) -> None:
        for sense in senses:
            if sense not in known:
                texts = sense.descriptions + sorted(sense.notes)
                known[sense] = self.likeness.profile(texts, self.norm)

    def _new_sense(self) -> Sense:
        self.senses.append(Sense(self.norm, len(self.senses)))
        return self.senses[-1]

    def _open_to(self, entity: LocalEntity, evidence: str) -> list[Sense]:
        return [s for s in self.senses[:_MAX_SENSES] if not self._clash(s, entity, evidence)]

    def _clash(self, sense: Sense, entity: LocalEntity, evidence: str) -> bool:
        if entity.document in sense.documents:  # which keeps two things of this name apart
            return True
        if entity.note and sense.notes:
            return not _notes_agree(entity.note, sense.notes)
        if self._lived_apart(sense, entity, [entity.description]):
            return True
        texts = sense.descriptions or sorted(sense.notes)
        if kinds_clash(sense.kind, entity.kind, self.norm):
            alike = (self.likeness.alike(evidence, text, self.norm) for text in texts if evidence)
            return max(alike, default=0.0) < SAME
        if not evidence or not texts:
            return False
        if sense.kind == entity.kind == "person" and is_rare_full_name(self.norm):
            return False
        return all(self.likeness.differ(evidence, t, self.norm, self.suspected) for t in texts)

    def _lived_apart(self, sense: Sense, other: Sense | LocalEntity, texts: list[str]) -> bool:
        """Tell whether two bearers of the name are persons whose lives cannot be one.

        Dates that disagree suffice. Sources often err about a place, or state a wider one: there
        what else they tell must differ, too. One tie that both have makes them one person.
        """
        one, two = sense.life, other.life
        if not one or not two or not {sense.kind, other.kind} <= {"person", "unknown"}:
            return False
        if one.ties & two.ties or not (one.has_other_dates(two) or one.began_elsewhere(two)):
            return False
        if one.has_other_dates(two) or (one.ties and two.ties):
            return True
        pairs = [(text, known) for text in texts for known in sense.descriptions]
        return bool(pairs) and all(self.likeness.differ(*pair, self.norm, True) for pair in pairs)

    def _rank(self, sense: Sense, entity: LocalEntity, evidence: str) -> tuple[Any, ...]:
        texts = sense.descriptions + sorted(sense.notes)
        pairs = (self.likeness.alike(evidence, text, self.norm) for text in texts)
        same_note = bool(entity.note) and entity.note in sense.notes
        same_kind = sense.kind == entity.kind != "unknown"
        alike = round(max(pairs, default=0.0), 4)
        return same_note, same_kind, alike, sense.mentions, -sense.number


def is_rare_full_name(norm: str) -> bool:
    """Tell whether a person's name has several words, or in Chinese three characters, some rare.

    Two documents that have it mean one person, however differently they describe the person.
    """
    if HAN.search(norm) and " " not in norm:
        return len(norm) > 2 and not tag_of(norm) and not tag_of(norm[1:])
    words = norm.split()
    return len(words) > 1 and not all(len(word) == 1 or is_common(word) for word in words)


def _evidence(entity: LocalEntity) -> str:
    return entity.description or entity.note


def _notes_agree(note: str, notes: frozenset[str]) -> bool:
    words = set(note.split())
    return any(words & set(other.split()) for other in notes)


def _most_telling_first(entity: LocalEntity) -> tuple[Any, ...]:
    known = entity.kind != "unknown"
    return (
        not entity.note,
        not entity.titled,
        not entity.description,
        entity.life is None,
        not known,
        -entity.mentions,
        entity.key,
    )
