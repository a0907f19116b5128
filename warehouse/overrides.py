"""User corrections: recorded in the journal, applied in every later edition, revocable."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from schemas.documents import Document
from schemas.errors import UsageError
from schemas.knowledge import (
    CORPUS,
    Alias,
    Aspect,
    Description,
    Entity,
    EntityRedirect,
    Relation,
    Triple,
)
from schemas.observations import Override
from schemas.operations import Run
from schemas.row import Row
from schemas.statements import Statement
from warehouse.editions import Edition
from warehouse.home import Home

MOST_SHOWN = 3  # facts of an entity
FACTS: tuple[tuple[type[Row], str], ...] = (
    (Triple, "triple_id"),
    (Statement, "statement_id"),
    (Description, "description_id"),
    (Aspect, "aspect_id"),
)


def make_override(
    home: Home,
    edition: Edition,
    action: str,
    subject: str,
    object_: str | None = None,
    reason: str | None = None,
    name: str | None = None,
    *,
    inverse: bool | None = None,
) -> Override:
    """Journal a correction and return it.

    Entities may be given by id or by a unique name; `name` is the new name of a merged entity.
    For a relation's wording, `object_` is the relation that it expresses, or None if the wording is
    a relation of its own; `inverse` is true if the wording's subject is the relation's tail. Raises
    UsageError if the edition lacks the subject of the correction.
    """
    if name is not None and not name.strip():
        raise UsageError("The name that stays must not be empty.")
    if action in ("merge", "split"):
        subject = find_entity(edition, subject)
    if action == "merge":
        object_ = find_entity(edition, object_ or "")
        if object_ == subject:
            raise UsageError("These two are already one entity.")
    _check(home, edition, action, subject)
    override = Override(
        override_id=uuid4().hex,
        action=action,  # pydantic checks it
        subject=subject,
        object=object_,
        name=name.strip() if name else None,
        inverse=inverse,
        reason=reason,
        made_at=datetime.now(UTC),
    )
    home.journal.append({Override: Override.to_table([override])})
    return override


def overrides_in_force(home: Home) -> list[dict[str, Any]]:
    """Return the corrections that have not been withdrawn, oldest first."""
    return in_force(home.journal.table(Override))


def in_force(overrides: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of corrections that have not been withdrawn, in their order."""
    rows = overrides.to_pylist()
    withdrawn = {row["subject"] for row in rows if row["action"] == "withdraw"}
    return [
        row for row in rows if row["action"] != "withdraw" and row["override_id"] not in withdrawn
    ]


def concerns(edition: Edition, correction: Mapping[str, Any]) -> bool:
    """Return whether an edition holds all things, documents and facts that a correction names."""
    action, subject, other = (correction[name] for name in ("action", "subject", "object"))
    if action == "relation":
        return _states(edition, subject)
    if action == "exclude":
        return _has(edition, Document, "document_id", subject)
    if action == "reject":
        return any(_has(edition, row, key, subject) for row, key in FACTS)
    if action == "split" and not _has(edition, Alias, "alias", other):
        return _has(edition, Document, "document_id", other)
    return all(
        _has(edition, Entity, "entity_id", one)
        or _has(edition, EntityRedirect, "old_entity_id", one)
        for one in ([subject, other] if action == "merge" else [subject])
    )


def find_entity(edition: Edition, wanted: str) -> str:
    """Return the id of the entity with this id or unique name; raise UsageError otherwise."""
    entities = edition.table(Entity).select(["entity_id", "name", "kind", "description"])
    if pc.any(pc.equal(entities["entity_id"], wanted)).as_py():
        return wanted
    redirects = edition.table(EntityRedirect)
    moved = redirects.filter(pc.equal(redirects["old_entity_id"], wanted))
    if len(moved):
        return str(moved["entity_id"][0].as_py())
    named = entities.filter(pc.equal(entities["name"], wanted)).to_pylist()
    if len(named) == 1:
        return str(named[0]["entity_id"])
    if not named:
        raise UsageError(f"No entity has the id or the name {wanted!r}.")
    ids = ", ".join(f"{row['entity_id']} ({row['kind']})" for row in named[:10])
    raise UsageError(f"{len(named)} entities are called {wanted!r}; give the id: {ids}.")


def portray(edition: Edition, entity_id: str) -> dict[str, Any]:
    """Return an entity's id, name, kind, description, number of facts, and some facts."""
    entities = edition.table(Entity)
    [entity] = entities.filter(pc.equal(entities["entity_id"], entity_id)).to_pylist()
    triples = edition.table(Triple)
    ends = (pc.equal(triples[end], entity_id) for end in ("head_id", "tail_id"))
    known = triples.filter(pc.or_kleene(*ends)).sort_by([("support", "descending")])
    examples = known.slice(0, MOST_SHOWN).select(["head", "relation", "tail"]).to_pylist()
    return {
        **{column: entity[column] for column in ("entity_id", "name", "kind", "description")},
        "facts": len(known),
        "examples": [f"{row['head']} | {row['relation']} | {row['tail']}" for row in examples],
    }


def _check(home: Home, edition: Edition, action: str, subject: str) -> None:
    """Raise UsageError if the subject of the correction does not exist."""
    if action == "reject" and not any(_has(edition, row, key, subject) for row, key in FACTS):
        raise UsageError(
            f"No triple, statement, description or aspect of the edition has the id {subject!r}. "
            "`almanac sql` finds the ids."
        )
    if action == "exclude" and not _has(edition, Document, "document_id", subject):
        runs = home.live.table(Run)["run_id"]
        if not pc.any(pc.equal(runs, subject)).as_py():
            raise UsageError(f"No document and no run has the id {subject!r}.")
    if action == "relation" and not _states(edition, subject):
        raise UsageError(
            f"No triple of the edition states the relation {subject!r}; the table `relations` has "
            "the names, and the wordings in wordings and inverse_wordings."
        )
    if action == "withdraw" and subject not in {
        row["override_id"] for row in overrides_in_force(home)
    }:
        raise UsageError(f"No correction in force has the id {subject!r}.")


def _states(edition: Edition, wording: str) -> bool:
    return any(
        wording in (row["relation"], row["inverse"], *row["wordings"], *row["inverse_wordings"])
        for row in edition.table(Relation).to_pylist()
        if row["graph"] == CORPUS
    )


def _has(edition: Edition, row: type[Row], key: str, value: str) -> bool:
    known = edition.rows(row) and pc.any(pc.equal(edition.table(row)[key], value)).as_py()
    return bool(known)
