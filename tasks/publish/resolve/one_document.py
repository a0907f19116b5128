"""Join the names in one document: spellings, short forms and stated aliases."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from sys import intern
from typing import Any

import pyarrow as pa

from tasks.publish.resolve.added_words import (
    KnownName,
    known_names,
    names_with_added_words,
    pieces_of_long_forms,
    pieces_of_names,
)
from tasks.publish.resolve.kinds import Believed, is_capitals
from tasks.publish.resolve.lives import joined, read_life
from tasks.publish.resolve.local_entities import KIND_NOTES, LocalEntity, Unit, kinds_clash
from tasks.publish.resolve.short_forms import (
    adds_role,
    forms_listed,
    gives_full_name,
    may_shorten,
    sense_of,
    short_forms,
)
from tasks.text.languages import HAN
from tasks.text.names import (
    disambiguator,
    gender_of_title,
    is_acronym_of,
    normalise_name,
    other_names_in,
)

TITLE_WEIGHT = 5
"""The weight of a kind from a document about the entity."""

_PHRASE = re.compile(r"[a-z]+\s")  # `in Philadelphia` is no name
_MAX_NAMES = 5_000  # names per document among which short forms are searched
Votes = dict[tuple[tuple[str, int], ...], Counter[str]]  # of kinds; most names share a few


def read_local(
    local: pa.Table, aliases: pa.Table, distinct_names: pa.Table | None = None
) -> list[LocalEntity]:
    """Return the local entities of all documents, sorted."""
    apart: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in distinct_names.to_pylist() if distinct_names else ():
        apart[row["document_id"]].append((row["name"], row["other"]))
    stated: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _Rows.sorted(aliases, "document_id", "name", "alias", "kind"):
        stated[row["document_id"]].append(row)
    rows = _Rows.sorted(local, "document_id", "name", "kind")
    for row in rows.of("document_id", "name", "kind"):
        base, note = disambiguator(row["name"])
        for other in other_names_in(base, note):
            stated[row["document_id"]].append(
                {"name": row["name"], "alias": other, "kind": row["kind"], "confidence": None}
            )
    believed = Believed(rows.of("name", "kind", "kind_stated", "mentions", "scored", "kind_scores"))
    rows = rows.with_kinds(believed)
    every_stated = [row for own in stated.values() for row in own]
    for row in every_stated:
        row["kind"] = believed.kind(row)
    spelt, places = known_names(rows.of("name", "kind", "mentions")), rows.of("name", "document_id")
    meant = names_with_added_words(spelt)
    wholes = pieces_of_names(spelt, places) | pieces_of_long_forms(spelt, places, every_stated)
    firsts = Counter(norm.partition(" ")[0] for norm in spelt if " " in norm)
    known = meant, wholes, firsts, _translations(every_stated)
    del spelt
    entities: list[LocalEntity] = []
    votes: Votes = {}
    for document, own in groupby(rows, key=lambda row: row["document_id"]):
        names = _DocumentNames(document, apart[document], votes)
        entities += _document(names, own, stated.pop(document, []), *known)
    for document in sorted(stated):
        names = _DocumentNames(document, [], votes)
        entities += _document(names, [], stated[document], *known)
    return sorted(entities, key=lambda entity: entity.key)


def _translations(stated: Iterable[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return the pairs of a name and an alias in another script that several documents state.

    Kinds are guessed differently in each script, so a clash of kinds says little against a pair.
    """
    pairs = Counter((row["name"], row["alias"]) for row in stated)
    return {
        pair
        for pair, documents in pairs.items()
        if documents > 1 and bool(HAN.search(pair[0])) != bool(HAN.search(pair[1]))
    }


@dataclass(frozen=True)
class _Rows:
    """The rows of a table as dicts, which exist only while they are read: they take much memory."""

    table: pa.Table

    @classmethod
    def sorted(cls, table: pa.Table, *columns: str) -> "_Rows":
        for place, name in enumerate(table.schema.names):
            if name in ("title", "context"):  # the names of a passage or document repeat them
                table = table.set_column(place, name, table[name].dictionary_encode())
        return cls(table.sort_by([(column, "ascending") for column in columns]))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.table.to_batches(max_chunksize=10_000):
            yield from batch.to_pylist()

    def of(self, *columns: str) -> "_Rows":
        return _Rows(
            self.table.select([name for name in columns if name in self.table.schema.names])
        )

    def with_kinds(self, believed: Believed) -> "_Rows":
        kinds = pa.array(map(believed.kind, self.of("name", "kind", "kind_stated")), pa.string())
        return _Rows(
            self.table.set_column(self.table.schema.get_field_index("kind"), "kind", kinds)
        )


def _document(
    builder: "_DocumentNames",
    rows: Iterable[dict[str, Any]],
    stated: list[dict[str, Any]],
    meant: dict[str, KnownName],
    wholes: dict[str, str],
    firsts: Counter[str],
    translations: set[tuple[str, str]],
) -> list[LocalEntity]:
    rows = list(rows)
    builder.capitals = _capitals_of_things(rows)
    for row in rows:
        builder.add(row)
    for row in stated:
        for name in (row["name"], row["alias"]):
            builder.touch(name, row["kind"])
    for name in sorted(builder.by_name.keys() & meant.keys()):
        builder.join_added(name, meant[name].name, meant[name].kind)
    for name in sorted(builder.by_name.keys() & wholes.keys()):
        builder.join_piece(name, wholes[name])
    builder.join_notes()
    for row in sorted(stated, key=lambda row: (-(row["confidence"] or 0), row["name"])):
        name, other = row["name"], row["alias"]
        # Else it is an alias of the added words.
        if name not in meant or name.endswith(meant[name].name):
            builder.join_alias(name, other, is_translation=(name, other) in translations)
    builder.join_short_forms(firsts)
    return builder.entities()


def _capitals_of_things(rows: Iterable[dict[str, Any]]) -> set[str]:
    """Return the name in capitals of something that is called like a person; of several, none.

    A document with several writes persons' names in capitals, too.
    """
    persons = {
        normalise_name(row["name"])
        for row in rows
        if row["kind"] == "person" and not is_capitals(row["name"])
    }
    found = {
        row["name"]
        for row in rows
        if is_capitals(row["name"])
        and row["kind"] not in ("person", "unknown")
        and normalise_name(row["name"]) in persons
    }
    return found if len(found) == 1 else set()


class _DocumentNames:
    """The names of one document while they are being joined."""

    def __init__(self, document: str, apart: list[tuple[str, str]], votes: Votes) -> None:
        self.document, self.votes = document, votes
        self.apart = apart
        self.capitals: set[str] = set()
        self.units: dict[tuple[str, str], Unit] = {}
        self.by_name: dict[str, Unit] = {}
        self.parents: dict[Unit, Unit] = {}
        self.addressed: list[tuple[Unit, str]] = []  # names with a title of a man or a woman
        self.contexts: dict[str, str] = {}  # names of one passage share its text

    def add(self, row: dict[str, Any]) -> None:
        unit = self.touch(row["name"], row["kind"], row["title"] or "", row["mentions"])
        unit.titled |= bool(row["as_title"])
        unit.laid_out |= bool(row.get("laid_out"))
        unit.kind_stated |= bool(row.get("kind_stated"))
        if unit.titled and row["mentions"]:
            unit.kinds[row["kind"]] += (TITLE_WEIGHT - 1) * row["mentions"]
        if row["mentions"]:
            offset = row.get("first_said") or 0
            known = unit.first_said if unit.context else offset
            unit.first_said = min(known, offset)
        unit.description = max(unit.description, row["description"] or "", key=len)
        context = row["context"] or ""
        unit.context = unit.context or self.contexts.setdefault(context, context)
        unit.life = joined([life for life in (unit.life, read_life(row)) if life])
        unit.language = intern(row["language"] or unit.language)

    def touch(self, name: str, kind: str, title: str = "", mentions: int = 0) -> Unit:
        norm, note = sense_of(name, kind)
        note = "thing" if name in self.capitals else note
        titled = False
        if title and norm:
            title_norm, title_note = sense_of(title, kind)
            titled = norm == title_norm and note in ("", title_note)
            note = note or (title_note if titled else "")
        unit = self.units.get((norm, note))
        if unit is None:
            unit = self.units[norm, note] = Unit(self.document, norm, note)
        unit.names[name] += mentions
        unit.kinds[intern(kind)] += mentions
        unit.titled |= titled
        gender = gender_of_title(name) if kind in ("person", "unknown") else None
        if gender:
            self.addressed.append((unit, gender))
        self.join(self.by_name.setdefault(name, unit), unit)
        return unit

    def find(self, unit: Unit) -> Unit:
        path = []
        while unit in self.parents:
            path.append(unit)
            unit = self.parents[unit]
        self.parents.update(dict.fromkeys(path, unit))
        return unit

    def join(self, one: Unit, other: Unit) -> None:
        root, leaf = self.find(one), self.find(other)
        if root is not leaf:
            self.parents[leaf] = root

    def join_added(self, name: str, meant: str, kind: str = "unknown") -> None:
        """Join a name that includes an added word with the name without it; drop its kinds."""
        whole, base = self.by_name[name], self.touch(meant, kind)
        if whole is not base:
            whole.added = whole.short = True
            whole.kinds = Counter({kind: whole.mentions})
            whole.titled, whole.description = False, ""
            if base.language == "und":  # the document has it only with the added word
                base.language = whole.language
            self.join(base, whole)

    def join_piece(self, name: str, whole: str) -> None:
        """Join a piece of a name with the whole name, whose mentions include the piece's."""
        self.join_added(name, whole)
        self.by_name[name].names = Counter(dict.fromkeys(self.by_name[name].names, 0))

    def join_notes(self) -> None:
        """Join a plain name with its namesake that has a note in the document, if there is one."""
        noted: dict[str, list[Unit]] = defaultdict(list)
        for (norm, note), unit in self.units.items():
            if note:
                noted[norm].append(unit)
        for norm, units in noted.items():
            plain = self.units.get((norm, ""))
            if plain is None or self._means_a_person(plain, units):
                continue
            units = [unit for unit in units if self.capitals.isdisjoint(unit.names)]
            if units := [unit for unit in units if not self._are_distinct(unit, plain)]:
                best = min(units, key=lambda u: (u.kind != plain.kind, not u.titled, u.key))
                self.join(best, plain)
                if best.note in KIND_NOTES:
                    plain.kinds = Counter({best.note: plain.mentions})

    def _means_a_person(self, plain: Unit, noted: list[Unit]) -> bool:
        """Tell whether a plain name is the surname of a person named before its namesakes."""
        if any(unit.note not in KIND_NOTES for unit in noted):
            return False
        persons = [
            unit.first_said
            for unit in self.units.values()
            if unit.kind == "person" and unit.norm.endswith(f" {plain.norm}")
        ]
        return bool(persons) and min(persons) < min(unit.first_said for unit in noted)

    def _contradicts(self, one: Unit, other: Unit) -> bool:
        """Tell whether joining two names would contradict a kind stated in a note, or a title."""
        for unit in self.units.values():
            if unit.note in KIND_NOTES:
                root = self.find(unit)
                for near, far in ((one, other), (other, one)):
                    if root is self.find(near) and kinds_clash(unit.note, far.kind, unit.norm):
                        return True
        genders = [(self.find(unit), gender) for unit, gender in self.addressed]
        own, others = (
            {gender for root, gender in genders if root is self.find(unit)} for unit in (one, other)
        )
        return bool(own and others) and own.isdisjoint(others)

    def _are_distinct(self, one: Unit, other: Unit) -> bool:
        roots = {self.find(one), self.find(other)}
        return any({self.find(self.by_name[name]) for name in pair} == roots for pair in self.apart)

    def join_alias(self, name: str, alias: str, *, is_translation: bool) -> None:
        full, short = self.by_name[name], self.by_name[alias]
        # An acronym's kind is a guess; Cambridge as an alias of the university is still the town.
        decisive = full.norm if is_acronym_of(alias, name) else short.norm
        clash = not is_translation and kinds_clash(full.kind, short.kind, decisive)
        if full is short or clash:
            return
        if self._is_shared(short.norm) and full.norm.endswith(f" {short.norm}"):
            return  # a passage states the alias of the one bearer that it mentions
        if self._contradicts(full, short):
            return
        if _PHRASE.match(alias) and not _PHRASE.match(name):
            return
        short.short, short.stated = not short.titled, True
        self.join(full, short)

    def _is_shared(self, surname: str) -> bool:
        """Tell whether several persons of the document have a surname."""
        persons = (unit for unit in self.units.values() if unit.kind == "person")
        bearers = {
            self.find(unit)
            for unit in persons
            if unit.norm.endswith(f" {surname}") and gives_full_name(unit)
        }
        return len(bearers) > 1

    def join_short_forms(self, firsts: Counter[str]) -> None:
        # Fuller names first: the spellings of one are joined before a surname looks for its bearer.
        units = sorted(self.units.values(), key=lambda u: (-u.norm.count(" "), u.key))[:_MAX_NAMES]
        fuller: dict[str, list[Unit]] = defaultdict(list)
        for unit in units:
            for form in short_forms(unit, firsts):
                fuller[form].append(unit)
        for unit in units:
            candidates = {u: None for form in forms_listed(unit) for u in fuller.get(form, ())}
            candidates.pop(unit, None)
            if candidates:
                self._join_to_unique(unit, list(candidates), firsts)

    def _join_to_unique(self, unit: Unit, candidates: list[Unit], firsts: Counter[str]) -> None:
        fits = [candidate for candidate in candidates if may_shorten(unit, candidate, firsts)]
        fits = named = [unit for unit in fits if gives_full_name(unit)] or fits
        roots = {self.find(candidate) for candidate in fits}
        if len(roots) > 1:
            fits = [candidate for candidate in fits if candidate.titled]
            roots = {self.find(candidate) for candidate in fits}
        if len(roots) > 1 or not roots:
            fits = self._introduced(unit, named)
            roots = {self.find(candidate) for candidate in fits}
        joinable = len(roots) == 1 and self.find(unit) not in roots
        if joinable and not (self._contradicts(fits[0], unit) or self._are_distinct(fits[0], unit)):
            longer = adds_role(fits[0], unit)
            unit.short, fits[0].short = not (unit.titled or longer), fits[0].short or longer
            if kinds_clash(unit.kind, fits[0].kind, unit.norm):
                unit.kinds = Counter({fits[0].kind: unit.mentions})
            self.join(fits[0], unit)

    def _introduced(self, short: Unit, persons: list[Unit]) -> list[Unit]:
        """Return the persons with this surname who are named before it first occurs alone."""
        before = [unit for unit in persons if unit.first_said < short.first_said]
        surname = " " not in short.norm and all(unit.kind == "person" for unit in before)
        return before if surname else []

    def entities(self) -> list[LocalEntity]:
        groups: dict[Unit, list[Unit]] = defaultdict(list)
        for unit in self.units.values():
            unit.kinds = self.votes.setdefault(tuple(unit.kinds.items()), unit.kinds)
            groups[self.find(unit)].append(unit)
        return [LocalEntity(units) for units in groups.values()]
