"""Add, describe, remove and quarantine experts, and publish an edition with the change."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from schemas.experts import ExpertEvent
from schemas.settings import Settings
from tasks.experts.manifest import checked_manifest
from tasks.experts.registry import (
    Action,
    check_description,
    check_name,
    check_parent,
    current_experts,
    event,
    fields_of,
    import_folder,
    journal_events,
    kept_columns,
    remove_unused,
)
from tasks.progress import Report, silent
from tasks.publish.publish import PUBLISHING
from tasks.run import RunReport, Work, publishing_run, run_stages
from warehouse.home import Home


def add_expert(
    home: Home,
    folder: Path,
    name: str,
    settings: Settings,
    *,
    description: str | None = None,
    parent: str | None = None,
    licence: str = "",
    report: Report = silent,
) -> RunReport:
    """Check an expert that somebody contributed, and copy it into the home.

    Raises UnsafeExpertError with the reason if it is refused. An earlier expert of that name is
    replaced, and its quarantine stays.
    """
    check_name(name)
    check_description(description)

    def make(experts: Mapping[str, dict[str, Any]], run: RunReport) -> ExpertEvent:
        check_parent(experts, name, parent)
        there, left_out = import_folder(home, folder, name, licence)
        if left_out:
            run.notes.append(f"Left out, since no model needs it: {', '.join(left_out)}")
        values = {
            **fields_of(home, name, there, checked_manifest(there)),
            "method": "added",
            "description": description or f"An expert on {name.replace('_', ' ')}.",
            "parent": parent,
            **kept_columns(experts.get(name, {})),
            "trained_on": "",
            "stale": False,
            "trained_at": datetime.now(UTC),
        }
        return event("add", run.run_id, values)

    return _publish(home, settings, make, report)


def change_expert(
    home: Home,
    name: str,
    action: Action,
    settings: Settings,
    *,
    report: Report = silent,
    **changes: Any,
) -> RunReport:
    """Describe, quarantine, restore or remove an expert; `changes` are columns of `experts`.

    Raises UsageError if there is no such expert, nothing to change, or an empty description.
    """
    check_description(changes.get("description"))
    statuses = {"quarantine": "quarantined", "restore": "active"}
    if action in statuses:
        changes = {"reason": None, **changes, "status": statuses[action]}

    def make(experts: Mapping[str, dict[str, Any]], run: RunReport) -> ExpertEvent:
        if name not in experts:
            known = ", ".join(experts) or "none"
            raise UsageError(f"There is no expert {name!r}; there are: {known}.")
        children = [other for other, row in experts.items() if row["parent"] == name]
        if action == "remove" and children:
            raise UsageError(f"{name} contains {', '.join(children)}; remove or move these first.")
        check_parent(experts, name, changes.get("parent"))
        return event(action, run.run_id, {**experts[name], **changes})

    return _publish(home, settings, make, report)


def _publish(
    home: Home,
    settings: Settings,
    make: Callable[[Mapping[str, dict[str, Any]], RunReport], ExpertEvent],
    report: Report,
) -> RunReport:
    with publishing_run(home, "curate_experts", settings) as run:
        journal_events(home, [make(current_experts(home), run)])
        run_stages(Work(home, settings, run, report), PUBLISHING)
        remove_unused(home)
    return run
