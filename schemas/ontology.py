"""An ontology: the kinds of entities and the relations that a home's users care about."""

from collections import Counter
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

VALUE_KINDS = ("date", "number", "quantity", "text")
"""What the tail of a relation may be, beside an entity: a year is a date, "3 km" a quantity."""
KINDS = ("person", "place", "organisation", "work", "event", "thing")
"""The kinds that extraction knows by itself."""
MOST_RELATIONS = 500
STRICT_CONFIDENCE = 0.3
ONTOLOGY_FILE = "ontology.yaml"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _as_list(value: Any) -> Any:
    """Let `domain: film` stand for a list of one, and `domain:` for an empty one."""
    if value in ("", None):
        return ()
    return (value,) if isinstance(value, str) else value


class OntologyKind(_Part):
    """A kind of entity: how texts call it, and what it is a kind of."""

    description: str = Field("", max_length=500, description="What belongs to it.")
    synonyms: tuple[str, ...] = Field((), description="Other nouns for it, in any language.")
    parent: str | None = Field(None, description="The more general kind.")

    @field_validator("synonyms", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return _as_list(value)


class OntologyRelation(_Part):
    """A relation: what it means, what it joins, and how texts word it."""

    description: str = Field("", max_length=500, description="What it says of its head.")
    domain: tuple[str, ...] = Field((), description="Kinds of the head; none allow every kind.")
    range: tuple[str, ...] = Field(
        (), description="Kinds of the tail, or date, number, quantity, text; none allow all."
    )
    inverse: str | None = Field(None, description="The name when read from tail to head.")
    wordings: tuple[str, ...] = Field((), description="Other words for it, in its direction.")
    single_valued: bool = Field(False, description="Whether a head has one tail at a time.")
    units: tuple[str, ...] = Field((), description="Units of its numbers; none allow all.")

    @field_validator("domain", "range", "wordings", "units", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return _as_list(value)


class Ontology(_Part):
    """`ontology.yaml` of a home.

    `open` only offers names; `warn` also lists the facts that do not fit in the table `misfits`;
    `strict` leaves them out of `triples`.
    """

    mode: Literal["open", "warn", "strict"] = "warn"
    kinds: dict[str, OntologyKind] = Field({}, description="Kinds by name.")
    relations: dict[str, OntologyRelation] = Field({}, description="Relations by name.")
    gazetteer: tuple[str, ...] = Field(
        (), description="Imported graphs; with some, facts are about their entities only."
    )
    min_confidence: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Facts with one of these relations are published from this confidence on; by "
        f"default {STRICT_CONFIDENCE} in mode strict, else `publish.min_confidence`.",
    )

    @field_validator("kinds", "relations", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        """Let a list of names, or a name without anything after it, stand for empty entries."""
        if isinstance(value, list):
            value = {name: {} for name in value}
        if isinstance(value, dict):
            return {name: ({} if entry in ("", None) else entry) for name, entry in value.items()}
        return value

    @field_validator("kinds", mode="before")
    @classmethod
    def _synonyms(cls, value: Any) -> Any:
        """Let a kind's list, or the text in its place, be its synonyms."""
        if not isinstance(value, dict):
            return value
        return {
            name: {"synonyms": entry} if isinstance(entry, list | tuple | str) else entry
            for name, entry in value.items()
        }

    @field_validator("gazetteer", mode="before")
    @classmethod
    def _graphs(cls, value: Any) -> Any:
        return _as_list(value)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        """Refuse unknown kinds, kinds that are their own ancestors, and doubtful wordings."""
        if len(self.relations) > MOST_RELATIONS:
            raise ValueError(f"it has {len(self.relations)} relations, more than {MOST_RELATIONS}")
        known = {*self.kinds, *KINDS}
        for name, kind in self.kinds.items():
            if kind.parent is not None and kind.parent not in known:
                raise ValueError(f"the parent of the kind {name}, {kind.parent}, is no kind")
            self._refuse_circle(name)
        for name, relation in self.relations.items():
            for place, allowed in (("domain", known), ("range", known | set(VALUE_KINDS))):
                for kind in getattr(relation, place):
                    if kind not in allowed:
                        raise ValueError(f"{kind}, in the {place} of {name}, is no kind")
        twice = [words for words, times in Counter(self._all_wordings()).items() if times > 1]
        if twice:
            raise ValueError(f"{twice[0]!r} words more than one relation")
        return self

    def _refuse_circle(self, kind: str) -> None:
        seen = [kind]
        while parent := self.kinds[seen[-1]].parent if seen[-1] in self.kinds else None:
            if parent in seen:
                raise ValueError(f"the kind {kind} is its own ancestor")
            seen.append(parent)

    def _all_wordings(self) -> list[str]:
        ways = [(name, *relation.wordings) for name, relation in self.relations.items()]
        inverses = {
            relation.inverse.casefold()
            for relation in self.relations.values()
            if relation.inverse and relation.inverse not in self.relations
        }
        return [*(words.casefold() for way in ways for words in dict.fromkeys(way)), *inverses]

    @cached_property
    def by_wording(self) -> dict[str, tuple[str, bool]]:
        """The relation that each wording names, and whether it is read from tail to head."""
        wordings: dict[str, tuple[str, bool]] = {}
        for name, relation in self.relations.items():
            for words in (name, *relation.wordings):
                wordings[words.casefold()] = (name, False)
        for name, relation in self.relations.items():
            if relation.inverse:
                wordings.setdefault(relation.inverse.casefold(), (name, True))
        return wordings

    def ancestors(self, kind: str) -> tuple[str, ...]:
        """Return the kind and the more general ones, from the nearest on."""
        line = [kind]
        while line[-1] in self.kinds and (parent := self.kinds[line[-1]].parent):
            line.append(parent)
        return tuple(line)

    def least_confidence(self, otherwise: float) -> float:
        """Return from which confidence on facts with its relations are published."""
        if self.min_confidence is not None:
            return self.min_confidence
        return STRICT_CONFIDENCE if self.mode == "strict" else otherwise

    def fits(self, kind: str, allowed: tuple[str, ...]) -> bool:
        """Return whether something of this kind may stand where only some kinds are allowed.

        What is unknown fits, and so does a kind that is more general than an allowed one, because
        neither tells that the thing is of another kind. Nor does `place` or `thing`, which may be
        a constellation or a species, where an allowed kind is below none of `KINDS`.
        """
        if not allowed or kind in ("", "unknown"):
            return True
        line = self.ancestors(kind)
        return any(
            want in line
            or kind in (above := self.ancestors(want))
            or (kind in ("place", "thing") and set(KINDS).isdisjoint(above))
            for want in allowed
        )
