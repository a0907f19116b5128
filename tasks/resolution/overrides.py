"""People's corrections of who is who: they hold on every later build."""

from collections import defaultdict
from typing import Any

import pyarrow as pa

from tasks.names import normalise_name
from tasks.resolution.clusters import Cluster
from tasks.resolution.identity import Given, anchor_of, give_ids
from tasks.resolution.local_entities import Unit


def apply_overrides(
    clusters: list[Cluster], overrides: pa.Table, given: Given
) -> tuple[list[Cluster], dict[Cluster, str]]:
    """Return the clusters after merges and splits, and the ids that merges force on them."""
    rows = _in_force(overrides)
    if not rows:
        return clusters, {}
    state = _State(clusters, given)
    for row in rows:
        if row["action"] == "merge":
            state.merge(row["subject"], row["object"])
        else:
            state.split(row["subject"], row["object"])
    return sorted(state.by_id.values(), key=lambda c: c.key), state.forced()


def _in_force(overrides: pa.Table) -> list[dict[str, Any]]:
    rows = overrides.to_pylist()
    withdrawn = {row["subject"] for row in rows if row["action"] == "withdraw"}
    wanted = [
        row
        for row in rows
        if row["action"] in ("merge", "split")
        and row["object"]
        and row["override_id"] not in withdrawn
    ]
    return sorted(wanted, key=lambda row: (row["made_at"], row["override_id"]))


class _State:
    """The clusters by the ids that they would have, while corrections are made one by one."""

    def __init__(self, clusters: list[Cluster], given: Given) -> None:
        self.given = given
        self.by_id = {i: cluster for cluster, i in give_ids(clusters, given).items()}
        self.merged: set[str] = set()
        self.anchors: dict[str, set[str]] = defaultdict(set)
        for anchor, ids in given.ever.items():
            for entity_id in ids:
                self.anchors[entity_id].add(anchor)

    def find(self, entity_id: str) -> str | None:
        """Return under which id an entity is now: its own, else where most of its names went."""
        if entity_id in self.by_id:
            return entity_id
        known = self.anchors.get(entity_id, set())
        votes = {
            now: sum(anchor_of(unit) in known for unit in cluster.units)
            for now, cluster in self.by_id.items()
        }
        best = min(votes, key=lambda now: (-votes[now], now), default=None)
        return best if best is not None and votes[best] else None

    def merge(self, subject: str, into: str) -> None:
        one, other = self.find(subject), self.find(into)
        if one is None or other is None or one == other:
            return
        units = self.by_id.pop(one).units + self.by_id.pop(other).units
        self.merged.discard(one)
        self.by_id[into] = Cluster(units)
        self.merged.add(into)

    def split(self, subject: str, away: str) -> None:
        found = self.find(subject)
        if found is None:
            return
        cluster, norm = self.by_id[found], normalise_name(away)
        gone = [unit for unit in cluster.units if _is_meant(unit, away, norm)]
        kept = [unit for unit in cluster.units if not _is_meant(unit, away, norm)]
        if gone and kept:
            self.by_id[found] = Cluster(kept)
            self.by_id[f"{found} {away}"] = Cluster(gone)

    def forced(self) -> dict[Cluster, str]:
        return {self.by_id[entity_id]: entity_id for entity_id in self.merged}


def _is_meant(unit: Unit, away: str, norm: str) -> bool:
    return unit.document == away or unit.norm == norm
