"""Apply users' corrections of entities, which hold in every later build."""

from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.compute as pc

from schemas.documents import Document
from schemas.errors import UsageError
from schemas.knowledge import Alias
from tasks.publish.resolve.clusters import Cluster
from tasks.publish.resolve.identity import EarlierIds, anchor_of, favourite_id, give_ids
from tasks.publish.resolve.local_entities import Unit, summed_kinds, voted_kind
from tasks.text.names import normalise_name
from warehouse.editions import Edition
from warehouse.overrides import find_entity, in_force

SHOWN_NAMES = 10


def apply_overrides(
    clusters: list[Cluster], overrides: pa.Table, given: EarlierIds
) -> tuple[list[Cluster], dict[Cluster, str], dict[Cluster, str]]:
    """Return the clusters after merges and splits, and the ids and names that users gave.

    `overrides` are Override rows, the oldest first.
    """
    wanted = in_force(overrides)
    rows = [row for row in wanted if row["action"] in ("merge", "split") and row["object"]]
    if not rows:
        return clusters, {}, {}
    named = frozenset(row[side] for row in rows for side in ("subject", "object"))
    state = _Corrections(clusters, given, named)
    for row in rows:
        if row["action"] == "merge":
            state.merge(row["subject"], row["object"])
            state.names.append((row["object"], row.get("name")))
        else:
            state.split(row["subject"], row["object"])
    return state.result()


class _Corrections:
    """The clusters by their prospective ids, while corrections are applied one by one."""

    def __init__(self, clusters: list[Cluster], given: EarlierIds, named: frozenset[str]) -> None:
        self.by_id: dict[str, Cluster] = {}
        self.forced: set[str] = set()
        self.names: list[tuple[str, str | None]] = []  # by id, in the order of the corrections
        self.place: dict[str, str] = {}  # by anchor, the id of the cluster that it is in
        self.claimants: dict[str, set[str]] = defaultdict(set)
        self.anchors: dict[str, list[str]] = defaultdict(list)
        for cluster, entity_id in give_ids(clusters, given, named=named).items():
            self._put(entity_id, cluster)
            # After a merge all names share one id, which no longer distinguishes the parts.
            self.claimants[favourite_id(cluster, given)].add(entity_id)
        for anchor, earlier in given.ever.items():
            for entity_id in earlier & named:
                self.anchors[entity_id].append(anchor)

    def _put(self, entity_id: str, cluster: Cluster) -> None:
        self.by_id[entity_id] = cluster
        self.place.update((anchor_of(unit), entity_id) for unit in cluster.units)

    def find(self, entity_id: str) -> str | None:
        """Return an entity's present id: its own, else that of the heir to most of its names."""
        if entity_id in self.by_id:
            return entity_id
        known = [self.place[a] for a in self.anchors.get(entity_id, ()) if a in self.place]
        votes = Counter(known)
        return min(votes, key=lambda now: (-votes[now], now), default=None)

    def merge(self, subject: str, into: str) -> None:
        one, other = self.find(subject), self.find(into)
        if one is None or other is None:
            return
        kind = voted_kind(summed_kinds(self.by_id[other].units))
        parts = {one, other} | self.claimants[subject] | self.claimants[into]
        present = sorted(part for part in parts if part in self.by_id)
        units = [unit for part in present for unit in self.by_id.pop(part).units]
        for unit in units if kind != "unknown" else ():
            unit.kinds = Counter({kind: unit.mentions})  # of the entity that remains
        self.forced.difference_update(present)
        self.forced.add(into)
        self._put(into, Cluster(units))

    def split(self, subject: str, away: str) -> None:
        entity_id = self.find(subject)
        if entity_id is None:
            return
        cluster, norm = self.by_id[entity_id], normalise_name(away)
        gone = [unit for unit in cluster.units if _is_meant(unit, away, norm)]
        kept = [unit for unit in cluster.units if not _is_meant(unit, away, norm)]
        if gone and kept:
            self._put(entity_id, Cluster(kept))
            self._put(f"{entity_id} {away}", Cluster(gone))
            self.forced.add(entity_id)

    def result(self) -> tuple[list[Cluster], dict[Cluster, str], dict[Cluster, str]]:
        clusters = sorted(self.by_id.values(), key=lambda cluster: cluster.key)
        ids = {self.by_id[entity_id]: entity_id for entity_id in sorted(self.forced)}
        named = [(self.find(entity_id), name) for entity_id, name in self.names if name]
        return clusters, ids, {self.by_id[now]: name for now, name in named if now}


def _is_meant(unit: Unit, away: str, norm: str) -> bool:
    return unit.document == away or unit.norm == norm


def check_split(edition: Edition, subject: str, name_or_document: str) -> None:
    """Raise UsageError if nothing can be split off an entity by this name or document."""
    aliases = edition.table(Alias)
    entity_id = find_entity(edition, subject)
    names = aliases.filter(pc.equal(aliases["entity_id"], entity_id))["alias"].to_pylist()
    if normalise_name(name_or_document) in map(normalise_name, names):
        return
    documents = edition.table(Document)["document_id"]
    if not pc.any(pc.equal(documents, name_or_document)).as_py():
        raise UsageError(
            f"{name_or_document!r} is no document's id and no name of this entity, whose names "
            f"are: {'; '.join(names[:SHOWN_NAMES])}."
        )
