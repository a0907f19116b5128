"""Entity ids: derived from content, kept across editions, redirected when entities merge."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa

from schemas.knowledge import CORPUS
from tasks.publish.resolve.clusters import Cluster
from tasks.publish.resolve.local_entities import Unit, summed_kinds, voted_kind

_SEPARATOR = "\x1f"


class EarlierIds(NamedTuple):
    """The ids from earlier editions by anchor: the newest, and all that the anchor ever had."""

    newest: dict[str, str]
    ever: dict[str, set[str]]


def anchor_of(unit: Unit) -> str:
    """Return the key under which an id persists: graph, normalised name with note, document."""
    name = f"{unit.norm} ({unit.note})" if unit.note else unit.norm
    return _SEPARATOR.join((CORPUS, name, unit.document))


def read_anchors(anchors: pa.Table) -> EarlierIds:
    """Return the ids from earlier editions; the highest edition id is the newest."""
    newest: dict[str, tuple[str, str]] = {}
    ever: dict[str, set[str]] = defaultdict(set)
    columns = (anchors[name].to_pylist() for name in ("anchor", "edition", "entity_id"))
    for anchor, edition, entity_id in zip(*columns, strict=True):
        newest[anchor] = max(newest.get(anchor, ("", "")), (edition or "", entity_id))
        ever[anchor].add(entity_id)
    return EarlierIds({anchor: entity_id for anchor, (_, entity_id) in newest.items()}, ever)


def inherited(given: EarlierIds, moved: pa.Table) -> EarlierIds:
    """Return the ids, with those that moved documents' anchors had under their earlier uris.

    `moved` has document_id and earlier_document_id. A document's own anchor takes precedence.
    """
    heirs: dict[str, list[str]] = defaultdict(list)
    for document, earlier in zip(*(column.to_pylist() for column in moved.columns), strict=True):
        heirs[earlier].append(document)
    if not heirs:
        return given
    newest, ever = dict(given.newest), defaultdict(set, given.ever)
    for anchor, entity_id in sorted(given.newest.items()):
        name, _, document = anchor.rpartition(_SEPARATOR)
        for heir in heirs.get(document, ()):
            place = _SEPARATOR.join((name, heir))
            if place not in given.newest:
                newest[place] = entity_id
                ever[place] = ever[place] | given.ever[anchor]
    return EarlierIds(newest, ever)


def give_ids(
    clusters: list[Cluster],
    given: EarlierIds,
    forced: dict[Cluster, str] | None = None,
    named: frozenset[str] = frozenset(),
) -> dict[Cluster, str]:
    """Return an id for every cluster.

    A cluster keeps the id that most of its anchors have. If several clusters claim an id, it goes
    to the one with more of its anchors, then to the one whose anchors have had fewer other ids.
    `forced` ids are assigned first, then `named` ids to clusters that ever had them, then all
    others. The remaining clusters get a new id, derived from the name and, for a namesake, note,
    kind or first document.
    """
    ids = dict(forced or {})
    taken = set(ids.values())
    claims = []
    for cluster in clusters:
        if cluster not in ids:
            now, once = _votes(cluster, given)
            for entity_id in once:
                votes = once[entity_id] if entity_id in named else now[entity_id]
                rank = (entity_id not in named, -votes, len(once), -once[entity_id])
                claims.append((rank, cluster.key, entity_id, cluster))
    for _, _, entity_id, cluster in sorted(claims, key=lambda claim: claim[:3]):
        if cluster not in ids and entity_id not in taken:
            ids[cluster] = entity_id
            taken.add(entity_id)
    taken.update(entity_id for earlier in given.ever.values() for entity_id in earlier)
    fresh = [cluster for cluster in clusters if cluster not in ids]
    for cluster in sorted(fresh, key=lambda c: (-sum(u.mentions for u in c.units), c.key)):
        ids[cluster] = next(i for i in _content_ids(cluster) if i not in taken)
        taken.add(ids[cluster])
    return ids


def favourite_id(cluster: Cluster, given: EarlierIds) -> str:
    """Return the id that most of the cluster's anchors have now; empty if none has one."""
    now, _ = _votes(cluster, given)
    return min(now, key=lambda entity_id: (-now[entity_id], entity_id), default="")


def _votes(cluster: Cluster, given: EarlierIds) -> tuple[Counter[str], Counter[str]]:
    """Return how many of the cluster's anchors have each id now, and how many ever had it."""
    now: Counter[str] = Counter()
    once: Counter[str] = Counter()
    for anchor in {anchor_of(unit) for unit in cluster.units}:
        if anchor in given.newest:
            now[given.newest[anchor]] += 1
            once.update(given.ever[anchor])
    return now, once


def _content_ids(cluster: Cluster) -> Iterable[str]:
    """Yield candidate ids, each hashing more details of the entity; eventually one is free."""
    main = main_unit(cluster)
    yield _hashed(CORPUS, main.norm)
    kind = voted_kind(summed_kinds(cluster.units))
    for more in ([main.note], [main.note, kind], [main.note, kind, main.document]):
        yield _hashed(CORPUS, main.norm, *more)
    for number in range(1_000_000):
        yield _hashed(CORPUS, main.norm, main.note, kind, main.document, str(number))


def _hashed(*parts: str) -> str:
    text = _SEPARATOR.join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


def main_unit(cluster: Cluster) -> Unit:
    """Return the unit that names the entity: from a document about it, else the most frequent.

    A person is called by a full name, even if more documents, or a title, have the surname alone.
    """
    if len(cluster.units) == 1:
        return cluster.units[0]
    mentions: Counter[str] = Counter()
    titled: Counter[str] = Counter()
    for unit in cluster.units:
        if not unit.short:
            mentions[unit.norm] += unit.mentions
            titled[unit.norm] += unit.titled
    surnames = set()
    whole = [unit for unit in cluster.units if not unit.short]
    if voted_kind(summed_kinds(cluster.units)) == "person":
        ends = {unit.norm.rpartition(" ")[2] for unit in whole if " " in unit.norm}
        parts = (u.norm for u in cluster.units if u.short and not titled[u.norm])
        surnames = {norm for norm in parts if " " not in norm} | ends
    pool = [unit for unit in whole if unit.norm not in surnames] or whole or cluster.units
    return min(
        pool,
        key=lambda u: (-titled[u.norm], -mentions[u.norm], not u.titled, not u.note, u.key),
    )


def new_anchors(ids: dict[Cluster, str], given: EarlierIds) -> Iterator[tuple[str, str]]:
    """Yield the anchors whose id is new or has changed."""
    for cluster, entity_id in ids.items():
        for anchor in map(anchor_of, cluster.units):
            if given.newest.get(anchor) != entity_id:
                yield anchor, entity_id


def redirects(ids: dict[Cluster, str], given: EarlierIds) -> list[tuple[str, str]]:
    """Return the successor of every retired id: the entity that has most of its anchors."""
    alive = set(ids.values())
    heirs: dict[str, Counter[str]] = defaultdict(Counter)
    for cluster, entity_id in ids.items():
        for anchor in {anchor_of(unit) for unit in cluster.units}:
            for earlier in given.ever.get(anchor, ()):
                if earlier not in alive:
                    heirs[earlier][entity_id] += 1
    return sorted((old, min(h, key=lambda i: (-h[i], i))) for old, h in heirs.items())
