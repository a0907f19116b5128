"""What is spoken of within one document: spellings, short forms and stated aliases put together."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pyarrow as pa

from tasks.names import MINOR_WORDS, disambiguator, is_acronym_of, normalise_name, strip_titles

TITLE_WEIGHT = 5
"""A kind seen in the document about the entity counts so many times."""

_LEGAL = frozenset(
    {"inc", "corp", "corporation", "company", "co", "ltd", "limited", "plc", "llc", "ag", "gmbh"}
    | {"sa", "nv", "incorporated", "group", "holdings"}
)
_PHRASE = re.compile(r"[a-z]+\s")  # `in Philadelphia` is no name
_REST = re.compile(r",| of | and ")  # of a person's name, what follows is about other things
_NAME_PARTS = re.compile(r"[\s·•・‧]+")
_MAX_PARTS = 6  # of a person's name
_MAX_NAMES = 5_000  # names of one document among which short forms are looked for


@dataclass(slots=True, eq=False)
class Unit:
    """One name in one document: the smallest thing that is assigned to an entity."""

    document: str
    norm: str
    note: str
    names: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    titled: bool = False
    description: str = ""
    context: str = ""
    language: str = "und"
    short: bool = False  # a shorter name of a fuller one in the same document
    stated: bool = False  # the document says that it is one

    @property
    def mentions(self) -> int:
        """How often the document says this name."""
        return sum(self.names.values())

    @property
    def key(self) -> tuple[str, str, str]:
        """The unit's identity, by which everything is sorted."""
        return self.document, self.norm, self.note

    @property
    def kind(self) -> str:
        """The kind most often seen, unknown if none is."""
        return voted_kind(self.kinds)


@dataclass(slots=True, eq=False)
class LocalEntity:
    """Names of one document that mean the same."""

    units: list[Unit]
    main: Unit = field(init=False)
    kinds: Counter[str] = field(init=False)
    kind: str = field(init=False)
    mentions: int = field(init=False)
    note: str = field(init=False)
    titled: bool = field(init=False)
    description: str = field(init=False)
    context: str = field(init=False)

    def __post_init__(self) -> None:
        """Derive what is asked often."""
        self.units.sort(key=lambda unit: unit.key)
        self.main = min(self.units, key=_fullest_first)
        self.kinds = self.main.kinds if len(self.units) == 1 else _summed(self.units)
        self.kind = voted_kind(self.kinds)
        self.mentions = sum(unit.mentions for unit in self.units)
        self.note = self.main.note
        self.titled = any(unit.titled for unit in self.units)
        ordered = [self.main, *self.units]
        self.description = next((u.description for u in ordered if u.description), "")
        self.context = next((u.context for u in ordered if u.context), "")

    @property
    def firm(self) -> bool:
        """Whether more than a guess from a passing mention says of what kind it is."""
        return bool(self.description or self.note or self.titled)

    @property
    def document(self) -> str:
        """The document."""
        return self.main.document

    @property
    def norm(self) -> str:
        """The normal form of the fullest name, under which namesakes elsewhere are looked for."""
        return self.main.norm

    @property
    def key(self) -> tuple[str, str, str]:
        """Identity, by which everything is sorted."""
        return self.main.key


def voted_kind(kinds: Counter[str]) -> str:
    """Return the kind with the most votes; unknown only if nothing else was said."""
    known = [(-votes, kind) for kind, votes in kinds.items() if kind != "unknown"]
    return min(known)[1] if known else "unknown"


def _summed(units: list[Unit]) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for unit in units:
        kinds.update(unit.kinds)
    return kinds


def kinds_clash(one: str, other: str, name: str) -> bool:
    """Tell whether two kinds of one name are of two things.

    Place, organisation, thing, event and work are easily taken for one another in a name of
    several words (`University of Cambridge`), which hardly ever has a namesake of another kind.
    """
    if one == other or "unknown" in (one, other):
        return False
    return "person" in (one, other) or " " not in name


def read_local(local: pa.Table, aliases: pa.Table) -> list[LocalEntity]:
    """Return the local entities of all documents, sorted."""
    stated: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _sorted_rows(aliases, ("document_id", "name", "alias", "kind")):
        stated[row["document_id"]].append(row)
    rows = _sorted_rows(local, ("document_id", "name", "kind"))
    found: list[LocalEntity] = []
    for document, own in groupby(rows, key=lambda row: row["document_id"]):
        found += _document(document, own, stated.pop(document, []))
    for document in sorted(stated):
        found += _document(document, [], stated[document])
    return sorted(found, key=lambda entity: entity.key)


def _sorted_rows(table: pa.Table, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    ordered = table.sort_by([(column, "ascending") for column in columns])
    for batch in ordered.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _document(
    document: str, rows: Iterable[dict[str, Any]], stated: list[dict[str, Any]]
) -> list[LocalEntity]:
    builder = _DocumentNames(document)
    for row in rows:
        builder.add(row)
    for row in stated:
        for name in (row["name"], row["alias"]):
            builder.touch(name, row["kind"])
    builder.join_notes()
    for row in sorted(stated, key=lambda row: (-(row["confidence"] or 0), row["name"])):
        builder.join_alias(row["name"], row["alias"])
    builder.join_short_forms()
    return builder.entities()


class _DocumentNames:
    """The names of one document while they are being joined."""

    def __init__(self, document: str) -> None:
        self.document = document
        self.units: dict[tuple[str, str], Unit] = {}
        self.by_name: dict[str, Unit] = {}
        self.parents: dict[Unit, Unit] = {}

    def add(self, row: dict[str, Any]) -> None:
        unit = self.touch(row["name"], row["kind"], row["title"] or "", row["mentions"])
        unit.titled |= bool(row["as_title"])
        if unit.titled and row["mentions"]:
            unit.kinds[row["kind"]] += (TITLE_WEIGHT - 1) * row["mentions"]
        unit.description = max(unit.description, row["description"] or "", key=len)
        unit.context = unit.context or row["context"] or ""
        unit.language = row["language"] or unit.language

    def touch(self, name: str, kind: str, title: str = "", mentions: int = 0) -> Unit:
        norm, note = _sense(name, kind)
        titled = False
        if title and norm:
            title_norm, title_note = _sense(title, kind)
            titled = norm == title_norm and note in ("", title_note)
            note = note or (title_note if titled else "")
        unit = self.units.get((norm, note))
        if unit is None:
            unit = self.units[norm, note] = Unit(self.document, norm, note)
        unit.names[name] += mentions
        unit.kinds[kind] += mentions
        unit.titled |= titled
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

    def join_notes(self) -> None:
        """A plain name means the namesake that the document names with a note, if there is one."""
        noted: dict[str, list[Unit]] = defaultdict(list)
        for (norm, note), unit in self.units.items():
            if note:
                noted[norm].append(unit)
        for norm, units in noted.items():
            plain = self.units.get((norm, ""))
            if plain is not None:
                best = min(units, key=lambda u: (u.kind != plain.kind, not u.titled, u.key))
                self.join(best, plain)

    def join_alias(self, name: str, alias: str) -> None:
        full, short = self.by_name[name], self.by_name[alias]
        # An acronym's kind is a guess; Cambridge, said to be the university, is still the town.
        telling = full.norm if is_acronym_of(alias, name) else short.norm
        if full is short or kinds_clash(full.kind, short.kind, telling):
            return
        if _PHRASE.match(alias) and not _PHRASE.match(name):
            return
        short.short, short.stated = not short.titled, True
        self.join(full, short)

    def join_short_forms(self) -> None:
        units = sorted(self.units.values(), key=lambda unit: unit.key)[:_MAX_NAMES]
        fuller: dict[str, list[Unit]] = defaultdict(list)
        for unit in units:
            for form in _short_forms(unit):
                fuller[form].append(unit)
        for unit in units:
            candidates = {u: None for form in _forms(unit) for u in fuller.get(form, ())}
            self._join_to_unique(unit, [u for u in candidates if u is not unit])

    def _join_to_unique(self, unit: Unit, candidates: list[Unit]) -> None:
        fits = [candidate for candidate in candidates if _may_shorten(unit, candidate)]
        roots = {self.find(candidate) for candidate in fits}
        if len(roots) > 1:
            fits = [candidate for candidate in fits if candidate.titled]
            roots = {self.find(candidate) for candidate in fits}
        if len(roots) == 1 and self.find(unit) not in roots:
            unit.short = not unit.titled
            self.join(fits[0], unit)

    def entities(self) -> list[LocalEntity]:
        groups: dict[Unit, list[Unit]] = defaultdict(list)
        for unit in self.units.values():
            groups[self.find(unit)].append(unit)
        return [LocalEntity(units) for units in groups.values()]


def _sense(name: str, kind: str) -> tuple[str, str]:
    """Return a name's normal form and its note: `Mercury (planet)`, `Cambridge, Massachusetts`."""
    base, note = disambiguator(name)
    if note and is_acronym_of(note, base):
        note = ""
    if not note and kind == "place" and base.count(", ") == 1:
        base, note = base.split(", ")
    if kind == "person":
        bare = strip_titles(base)
        base = bare if len(_parts(bare)) > 1 else base
    return normalise_name(base), normalise_name(note) if note else ""


def _parts(name: str) -> list[str]:
    return [part for part in _NAME_PARTS.split(name.strip()) if part]


def _usual_name(unit: Unit) -> str:
    return max(unit.names, key=lambda raw: (unit.names[raw], raw))


def _bare(unit: Unit) -> str:
    """Return a person's name as most often written: no form of address, note or dominion."""
    name, _ = disambiguator(_usual_name(unit))
    return strip_titles(_REST.split(name)[0] or name)


def _forms(unit: Unit) -> list[str]:
    """Return the normal forms under which a fuller name may list this name as its short form."""
    if unit.kind not in ("person", "unknown"):
        return [unit.norm]
    return sorted({unit.norm, normalise_name(_bare(unit))})


def _short_forms(unit: Unit) -> set[str]:
    """Return the normal forms by which the document may mean this name without saying so.

    Persons: any part of the name, without form of address. Others: the name without its legal form,
    its initials; the organisation that the document is about, by the beginning of its name.
    """
    forms: set[str] = set()
    words = unit.norm.split()
    if unit.kind == "person":
        parts = _parts(_bare(unit))[:_MAX_PARTS]
        ends = range(1, len(parts) + 1)
        some = {" ".join(parts[start:end]) for end in ends for start in range(end)}
        forms = {normalise_name(part) for part in some} if len(parts) > 1 else set()
        forms.add(normalise_name(_bare(unit)))
    elif len(words) > 1:
        heavy = [word for word in words if word not in MINOR_WORDS]
        forms = {without_legal_form(unit.norm)} | {
            "".join(word[0] for word in some) for some in (words, heavy)
        }
        if unit.titled and unit.kind == "organisation":
            forms.add(words[0])
    return forms - {unit.norm, ""}


def without_legal_form(norm: str) -> str:
    """Return a company's normal form without `inc`, `corporation` and the like."""
    words = norm.split()
    while len(words) > 1 and words[-1] in _LEGAL:
        words.pop()
    return " ".join(words)


def _may_shorten(short: Unit, full: Unit) -> bool:
    """Tell whether a name that equals a short form of another can mean it."""
    if kinds_clash(short.kind, full.kind, short.norm):
        return False
    if full.kind == "person":
        surname = normalise_name(_parts(_bare(full))[-1])
        return short.kind == "person" or surname in _forms(short)
    if short.norm == full.norm.split()[0] and full.titled:
        return short.kind == full.kind
    return short.norm == without_legal_form(full.norm) or is_acronym_of(
        _usual_name(short), _usual_name(full)
    )


def _fullest_first(unit: Unit) -> tuple[Any, ...]:
    return unit.short, not unit.titled, not unit.note, -unit.mentions, -len(unit.norm), unit.key
