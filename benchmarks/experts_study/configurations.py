"""The rows of the study: the system that answers, and its settings of [experts]."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from schemas.errors import UsageError
from tasks.evaluate.baselines.prompted import PROMPTED

Group = Literal["baselines", "systems", "filters", "sweep"]
GROUPS: tuple[Group, ...] = ("baselines", "systems", "filters", "sweep")
ALONE, ALL = "model", "bottom-up"  # the reference rows
TEXT = "text"  # the embedded engine without experts: it reads the passages

# What is changed under [experts]; everything else is as in the home's settings.
SYSTEMS: dict[str, dict[str, Any]] = {
    ALL: {"mode": "bottom_up"},
    "top-down automatic": {"mode": "automatic"},
    "top-down explicit": {"mode": "explicit"},
}
FILTERS: dict[str, dict[str, Any]] = {
    "without relevance": {"relevance": False},
    "without pruning": {"pruning": False},
    "without factuality": {"factuality": False},
    "without filters": {"relevance": False, "pruning": False, "factuality": False},
}
SWEEP: dict[str, dict[str, Any]] = {
    "n1 = 1": {"written": 1},
    "n1 = 5": {"written": 5},
    "n2 = 3": {"relevant": 3},
    "n2 = 10": {"relevant": 10},
    "n3 = 1": {"kept": 1},
    "n3 = 5": {"kept": 5},
}
CHANGES: dict[Group, dict[str, dict[str, Any]]] = {"filters": FILTERS, "sweep": SWEEP}


@dataclass(frozen=True)
class Configuration:
    """One row: a baseline, experts with changed settings, or a single `expert` if named."""

    name: str
    group: Group
    changes: Mapping[str, Any] = field(default_factory=dict)
    baseline: str | None = None
    expert: str | None = None


def configurations(
    experts: Sequence[str], groups: Sequence[str], *, with_model: bool
) -> list[Configuration]:
    """Return the rows of some groups, the reference row first.

    Without a language model there are no prompts, and the two top-down modes are identical. Raises
    UsageError for an unknown group.
    """
    if unknown := set(groups) - set(GROUPS):
        raise UsageError(f"There is no group {min(unknown)!r}: the groups are {', '.join(GROUPS)}.")
    bottom_up = SYSTEMS[ALL]
    alone = ALONE if with_model else TEXT
    rows = [Configuration(alone, "systems", baseline=alone)]
    if with_model:
        rows += [Configuration(n, "baselines", baseline=n) for n in PROMPTED if n != ALONE]
    if len(experts) > 1:
        rows += [Configuration(f"expert {e}", "systems", bottom_up, expert=e) for e in experts]
    for name, changes in SYSTEMS.items():
        if with_model or changes["mode"] != "explicit":
            rows.append(Configuration(name, "systems", changes))
    for group, changed in CHANGES.items():
        rows += [Configuration(n, group, {**bottom_up, **c}) for n, c in changed.items()]
    return [row for row in rows if row.group in groups or row.name in (alone, ALL)]
