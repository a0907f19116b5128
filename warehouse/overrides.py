"""People's corrections: written to the journal, honoured by every later edition."""

from datetime import UTC, datetime
from uuid import uuid4

import schemas
from schemas.errors import UsageError
from schemas.observations import Override
from schemas.operations import Run
from warehouse.home import Home
from warehouse.live import latest

ID_LENGTH = 6  # the shortest start of an id that is taken for it


def add_override(
    home: Home, action: str, subject: str, other: str | None = None, reason: str | None = None
) -> Override:
    """Write a correction after checking that what it speaks of exists; return it.

    merge: `subject` becomes part of `other`. split: the name or document `other` leaves the entity
    `subject`. reject: the fact `subject` is not built. exclude: the document or run `subject` is
    as if it had never been read. withdraw: the override `subject` no longer counts. Ids may be
    given by an unambiguous start. Raises UsageError when there is no such thing.
    """
    row = Override(
        override_id=uuid4().hex[:12],
        action=action,  # type: ignore[arg-type]
        subject=_resolve(home, action, subject),
        object=_resolve(home, "merge", other) if action == "merge" and other else other,
        reason=reason,
        made_at=datetime.now(UTC),
    )
    if action == "merge" and row.subject == row.object:
        raise UsageError("An entity cannot be merged into itself.")
    home.journal.append({Override: Override.to_table([row])})
    return row


def overrides_in_force(home: Home) -> list[Override]:
    """Return the corrections that were not withdrawn, oldest first."""
    rows = [Override(**row) for row in home.journal.table(Override).to_pylist()]
    withdrawn = {row.subject for row in rows if row.action == "withdraw"}
    return [r for r in rows if r.action != "withdraw" and r.override_id not in withdrawn]


def _resolve(home: Home, action: str, given: str) -> str:
    """Return the full id of what a correction speaks of."""
    known = _known_ids(home, action)
    if given in known:
        return given
    starts = [i for i in known if len(given) >= ID_LENGTH and i.startswith(given)]
    if len(starts) == 1:
        return starts[0]
    kind = {"reject": "fact", "exclude": "document or run", "withdraw": "override"}
    raise UsageError(
        f"There is no {kind.get(action, 'entity')} with the id {given!r} in the current edition. "
        "`almanac sql` finds ids, for example: select entity_id, name from entities."
    )


def _known_ids(home: Home, action: str) -> set[str]:
    if action == "withdraw":
        return {row.override_id for row in overrides_in_force(home)}
    edition = home.editions.current()
    if edition is None:
        raise UsageError("Nothing is published here yet; run `almanac refresh SOURCE` first.")
    if action == "reject":
        columns = [
            edition.table(schemas.Triple)["triple_id"],
            edition.table(schemas.Description)["description_id"],
            edition.table(schemas.Aspect)["aspect_id"],
        ]
    elif action == "exclude":
        columns = [edition.table(schemas.Document)["document_id"], latest(home.live, Run)["run_id"]]
    else:
        columns = [edition.table(schemas.Entity)["entity_id"]]
    return {identity for column in columns for identity in column.to_pylist()}
