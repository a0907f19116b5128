"""Names within one document, and the local entities made from them."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tasks.extract.rules.confidence import is_common
from tasks.publish.resolve.lives import Life, joined

KIND_NOTES = frozenset({"person", "place", "organisation", "work", "event", "thing"})
"""Notes that only state a kind, with which an engine distinguishes a name from a surname."""


@dataclass(slots=True, eq=False)
class Unit:
    """One name in one document: the smallest unit that is assigned to an entity."""

    document: str
    norm: str
    note: str
    names: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    titled: bool = False
    description: str = ""
    context: str = ""
    language: str = "und"
    first_said: int = 0  # offset of the first mention in the document
    short: bool = False  # a short form of a fuller name in the same document
    stated: bool = False  # the document itself states the alias
    laid_out: bool = False  # a cell or label of the document
    kind_stated: bool = False  # the document states the kind or the name shows it
    added: bool = False  # another name with an added word that is not part of it
    life: Life | None = None

    @property
    def mentions(self) -> int:
        """The number of mentions in the document."""
        return sum(self.names.values())

    @property
    def key(self) -> tuple[str, str, str]:
        """The unit's identity and sort key."""
        return self.document, self.norm, self.note

    @property
    def kind(self) -> str:
        """The most frequent kind; unknown if there is none."""
        return voted_kind(self.kinds)


@dataclass(slots=True, eq=False)
class LocalEntity:
    """The names in one document that refer to the same entity."""

    units: list[Unit]
    main: Unit = field(init=False)
    kinds: Counter[str] = field(init=False)
    kind: str = field(init=False)
    mentions: int = field(init=False)
    note: str = field(init=False)
    titled: bool = field(init=False)
    description: str = field(init=False)
    context: str = field(init=False)
    life: Life | None = field(init=False)

    def __post_init__(self) -> None:
        """Derive the values that are used often."""
        if len(self.units) == 1:  # as most have, which takes a fifth of the time
            self._take(self.units[0])
            return
        self.units.sort(key=lambda unit: unit.key)
        self._take(min(self.units, key=_fullest_first))
        self.kinds = summed_kinds(self.units)
        self.kind = voted_kind(self.kinds)
        self.mentions = sum(unit.mentions for unit in self.units)
        self.titled = any(unit.titled for unit in self.units)
        ordered = [self.main, *self.units]
        self.description = next((u.description for u in ordered if u.description), "")
        self.context = next((u.context for u in ordered if u.context), "")
        self.life = joined([unit.life for unit in self.units if unit.life])

    def _take(self, unit: Unit) -> None:
        self.main, self.kinds, self.kind = unit, unit.kinds, unit.kind
        self.note = "" if unit.note in KIND_NOTES else unit.note
        self.mentions, self.titled, self.life = unit.mentions, unit.titled, unit.life
        self.description, self.context = unit.description, unit.context

    @property
    def firm(self) -> bool:
        """Whether its kind rests on more than a guess from a passing mention."""
        return bool(self.description or self.main.note or self.titled)

    @property
    def document(self) -> str:
        """The document."""
        return self.main.document

    @property
    def norm(self) -> str:
        """The normal form of its fullest name, by which namesakes elsewhere are found."""
        return self.main.norm

    @property
    def key(self) -> tuple[str, str, str]:
        """The local entity's identity and sort key."""
        return self.main.key


def voted_kind(kinds: Counter[str]) -> str:
    """Return the kind with the most votes; unknown only if there is no other."""
    if len(kinds) == 1:
        return next(iter(kinds))
    known = [(-votes, kind) for kind, votes in kinds.items() if kind != "unknown"]
    return min(known)[1] if known else "unknown"


def summed_kinds(units: list[Unit]) -> Counter[str]:
    """Return the votes of several names for kinds."""
    kinds: Counter[str] = Counter()
    for unit in units:
        kinds.update(unit.kinds)
    return kinds


def kinds_clash(one: str, other: str, name: str) -> bool:
    """Tell whether two kinds of one name imply two different entities.

    Place, organisation, thing, event and work are easily confused for a name of several words
    (`University of Strelsau`), which hardly ever has a namesake of another kind; thing and
    organisation for any name that is no common word, as a company is called like what it makes.
    """
    if one == other or "unknown" in (one, other):
        return False
    alike = " " in name or ({one, other} == {"thing", "organisation"} and not is_common(name))
    return "person" in (one, other) or not alike


def _fullest_first(unit: Unit) -> tuple[Any, ...]:
    return unit.short, not unit.titled, not unit.note, -unit.mentions, -len(unit.norm), unit.key
