"""The rules of a mapping, which turn records into entities, aliases and triples."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.graphs.formats.batch import RowBuffer
from tasks.graphs.formats.templates import Scope, Tables, fill, follow

Templates = str | list[str]


class RecordPart(BaseModel):
    """A part of a mapping file; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Matching(RecordPart):
    match: dict[str, re.Pattern[str]] = Field(
        {}, description="Applies where these paths match as a whole; named groups become fields."
    )


class EntityRule(_Matching):
    """An entity in a record; the first of several templates that can be filled is used."""

    key: Templates
    name: Templates | None = None
    kind: str | None = None
    description: Templates | None = None
    aliases: list[str] = []


class TripleRule(_Matching):
    """A triple in a record; `[head, relation, tail]` for short."""

    head: Templates
    relation: str
    tail: Templates
    value: bool = Field(False, description="Whether the tail is a value, not an entity.")

    @model_validator(mode="before")
    @classmethod
    def _from_three(cls, given: Any) -> Any:
        if isinstance(given, list) and len(given) == 3:
            return dict(zip(("head", "relation", "tail"), given, strict=True))
        return given


class RecordRule(_Matching):
    """The rows made from a record, and from the records inside it."""

    entities: list[EntityRule] = []
    triples: list[TripleRule] = []
    each: list["InnerRule"] = []

    @property
    def says_something(self) -> bool:
        """Whether the rule makes any rows."""
        return bool(self.entities or self.triples or self.each)


class InnerRule(RecordRule):
    """The records at a path of another record."""

    path: str


RecordRule.model_rebuild()


class RuleRows:
    """Applies a mapping's rules to records and collects the rows."""

    def __init__(self, tables: Tables, seen: set[str]) -> None:
        """Use these tables of the mapping; entities in `seen` are not described again."""
        self._tables, self._seen = tables, seen
        self.rows = RowBuffer()

    def apply(self, rule: RecordRule, scope: Scope, line: int) -> None:
        """Add the rows that a rule makes from a record."""
        inner = self._matched(rule, scope)
        if inner is None:
            return
        for entity in rule.entities:
            self._add_entity(entity, inner, line)
        for triple in rule.triples:
            self._add_triple(triple, inner, line)
        for deeper in rule.each:
            for key, record in children(follow(inner.record, deeper.path)):
                self.apply(deeper, Scope(record, key, inner), line)

    def _matched(self, rule: _Matching, scope: Scope) -> Scope | None:
        """Return the scope with the groups of a rule's patterns, None if a pattern does not fit."""
        groups: dict[str, str] = {}
        for path, pattern in rule.match.items():
            match = pattern.fullmatch(scope.find(path) or "")
            if not match:
                return None
            groups |= {name: text for name, text in match.groupdict().items() if text}
        record = scope.record
        fields = dict(record) if isinstance(record, Mapping) else {"$value": record}
        return Scope({**fields, **groups}, scope.key, scope.around)

    def _add_entity(self, rule: EntityRule, outer: Scope, line: int) -> None:
        scope = self._matched(rule, outer)
        key = fill(rule.key, scope, self._tables) if scope else None
        if scope is None or key is None:
            return
        name = fill(rule.name, scope, self._tables) if rule.name else None
        if key not in self._seen:
            self._seen.add(key)
            text = fill(rule.description, scope, self._tables) if rule.description else None
            row = {"entity": key, "name": name or key, "kind": rule.kind, "description": text}
            self.rows.entities.append((line, row))
        aliases = (fill(template, scope, self._tables) for template in rule.aliases)
        for alias in dict.fromkeys([name, *aliases]):
            if alias:
                self.rows.aliases.append((line, key, alias))

    def _add_triple(self, rule: TripleRule, outer: Scope, line: int) -> None:
        scope = self._matched(rule, outer)
        if scope is None:
            return
        parts = [fill(part, scope, self._tables) for part in (rule.head, rule.relation, rule.tail)]
        head, relation, tail = parts
        if head and relation and tail:
            self.rows.triples.append((line, head, relation, tail, rule.value, None, None))


def children(value: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield the items of a list or mapping with their keys; any other value is the only child."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        for item in value:
            yield None, item
    elif value is not None:
        yield None, value
