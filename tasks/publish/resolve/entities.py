"""Entity resolution: names in all documents become entities whose ids persist.

Within a document, spellings, short forms and stated aliases are joined. Across documents, namesakes
are distinguished by note, kind and description, and senses of different names are joined by aliases
unless something contradicts it. Then user overrides are applied and ids assigned. The result does
not depend on the order of rows.
"""

import gc
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tasks.publish.resolve.clusters import Cluster, join_senses
from tasks.publish.resolve.identity import (
    give_ids,
    inherited,
    main_unit,
    new_anchors,
    read_anchors,
    redirects,
)
from tasks.publish.resolve.likeness import Encode, Likeness
from tasks.publish.resolve.local_entities import KIND_NOTES, summed_kinds, voted_kind
from tasks.publish.resolve.one_document import TITLE_WEIGHT, read_local
from tasks.publish.resolve.overrides import apply_overrides
from tasks.publish.resolve.senses import find_senses
from tasks.publish.resolve.variants import is_other_name
from tasks.text.languages import HAN, is_chinese
from tasks.text.names import disambiguator, other_names_in, strip_titles


@dataclass(frozen=True, slots=True)
class Resolution:
    """The decisions of resolution as sorted tables.

    `assignment` (document_id, name, entity_id): every name in the input.
    `entities` (entity_id, name, kind, language, mentions, documents).
    `anchors` (anchor, entity_id): the new ones, to be journalled.
    `redirects` (old_entity_id, entity_id): the successor of every retired id.
    `aliases` (alias, entity_id, weight).
    """

    assignment: pa.Table
    entities: pa.Table
    anchors: pa.Table
    redirects: pa.Table
    aliases: pa.Table

    def without(self, ids: pa.Array) -> "Resolution":
        """Return the same decisions without entities of these ids; their anchors stay."""
        tables = {
            name: table.filter(pc.invert(pc.is_in(table["entity_id"], value_set=ids)))
            for name in ("assignment", "entities", "redirects", "aliases")
            for table in [getattr(self, name)]
        }
        return replace(self, **tables)


def resolve(
    local: pa.Table,
    aliases: pa.Table,
    anchors: pa.Table,
    overrides: pa.Table,
    encode: Encode | None,
    moved: pa.Table | None = None,
    distinct_names: pa.Table | None = None,
) -> Resolution:
    """Resolve each name in each document to an entity.

    `local` has one row per document_id, name and kind, with title, language, mentions, as_title,
    description, context, born and died; `aliases` has document_id, name, alias, kind, confidence;
    `anchors` are the EntityAnchor rows so far, `overrides` the Override rows, and `moved` has
    document_id and earlier_document_id of documents under a new uri. `distinct_names` has
    document_id, name and other of names that mean two things unless an alias says otherwise.
    `encode` returns vectors of length one; without it descriptions are compared by their words.
    """
    with _collector_paused():
        likeness = Likeness(encode)
        clusters = join_senses(
            find_senses(read_local(local, aliases, distinct_names), likeness), likeness
        )
        journalled = read_anchors(anchors)
        given = inherited(journalled, moved) if moved else journalled
        clusters, forced, names = apply_overrides(clusters, overrides, given)
        ids = give_ids(clusters, given, forced)
        columns = "entity_id name kind language mentions documents"
        entities = _table(columns, _entities(ids, names))
        own = (entities[name].to_pylist() for name in ("entity_id", "name", "kind"))
        known = {entity_id: (name, kind) for entity_id, name, kind in zip(*own, strict=True)}
        return Resolution(
            assignment=_table(
                "document_id name entity_id",
                ((u.document, n, i) for c, i in ids.items() for u in c.units for n in u.names),
            ),
            entities=entities,
            anchors=_table("anchor entity_id", new_anchors(ids, journalled)),
            redirects=_table("old_entity_id entity_id", redirects(ids, given)),
            aliases=_aliases(ids, names, known),
        )


@contextmanager
def _collector_paused() -> Iterator[None]:
    # It would repeatedly scan the millions of objects of a resolution, which form no cycles.
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


ROWS_AT_ONCE = 10_000  # that are Python objects
_TYPES = {"mentions": pa.int64(), "documents": pa.int64(), "weight": pa.float64()}


def _table(columns: str, rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    """Return the sorted rows as a table; columns that are not in `_TYPES` are strings."""
    schema = pa.schema([(name, _TYPES.get(name, pa.string())) for name in columns.split()])
    waiting, batches = iter(rows), []
    while batch := list(islice(waiting, ROWS_AT_ONCE)):
        arrays = zip(*batch, strict=True)
        typed = [pa.array(column, kind) for column, kind in zip(arrays, schema.types, strict=True)]
        batches.append(pa.record_batch(typed, schema=schema))
    return pa.Table.from_batches(batches, schema).sort_by([(n, "ascending") for n in schema.names])


def _entities(
    ids: dict[Cluster, str], given_names: dict[Cluster, str]
) -> Iterator[tuple[str, str, str, str, int, int]]:
    for cluster, entity_id in ids.items():
        units, spoken = cluster.units, _main_language(cluster)
        kind = voted_kind(summed_kinds(units))
        mentions, documents = sum(u.mentions for u in units), len({u.document for u in units})
        own = [unit for unit in units if unit.language == spoken]
        whole = cluster if len(own) == len(units) else Cluster(own)
        name = given_names.get(cluster) or _name(whole, kind == "person")
        yield entity_id, name, kind, _language(name, spoken), mentions, documents


def _language(name: str, spoken: str) -> str:
    """Return the language of a name in documents of a language: Docker is not Chinese."""
    if spoken == "zh":
        return "zh" if HAN.search(name) else "und"
    return "zh" if is_chinese(name) and spoken != "ja" else spoken


def _main_language(cluster: Cluster) -> str:
    """Return the language of most documents, then of most mentions."""
    if len({unit.language for unit in cluster.units}) == 1:
        return cluster.units[0].language
    documents: dict[str, set[str]] = defaultdict(set)
    mentions: Counter[str] = Counter()
    for unit in cluster.units:
        documents[unit.language].add(unit.document)
        mentions[unit.language] += unit.mentions
    return min(
        documents,
        key=lambda code: (code == "und", -len(documents[code]), -mentions[code], code),
    )


def _name(cluster: Cluster, person: bool) -> str:
    """Return the commonest spelling of an entity's main name."""
    norm = main_unit(cluster).norm
    written: Counter[str] = Counter()
    for unit in cluster.units:
        if unit.norm == norm:
            for name, mentions in unit.names.items():
                weight = TITLE_WEIGHT if unit.titled else 1
                written[_without_address(disambiguator(name)[0] or name, person)] += (
                    mentions * weight
                )
    return min(written, key=lambda raw: (-written[raw], raw))


def _without_address(name: str, person: bool) -> str:
    """Return "Isaac Newton" for "Sir Isaac Newton", but leave "Lord Byron" unchanged."""
    bare = strip_titles(name) if person else name
    return bare if " " in bare else name


def _aliases(
    ids: dict[Cluster, str], given_names: dict[Cluster, str], own: dict[str, tuple[str, str]]
) -> pa.Table:
    """Return each entity's names, without mere spelling variants and inflections of its own."""
    meant: dict[str, Counter[str]] = defaultdict(Counter)
    for cluster, name in given_names.items():
        meant[name][ids[cluster]] += 1
    for cluster, entity_id in ids.items():
        for unit in cluster.units:
            if unit.added:
                continue
            for name, mentions in unit.names.items():
                # A name known only from a stated alias or from its form counts as one mention.
                base, note = disambiguator(name)
                if others := other_names_in(base, note):
                    forms = {base, *others}  # "Data Protection Council (DPC)"
                else:
                    forms = {base} if note in KIND_NOTES else {name, base} - {""}
                for form in forms:
                    if not is_other_name(form, *own[entity_id]):
                        continue
                    meant[form][entity_id] += mentions if form == name and mentions else 1
    for entity_id, (name, _) in own.items():
        # "Nora Field" may always stand with an address: "Mr. Nora Field".
        meant[name][entity_id] = max(meant[name][entity_id], 1)
    rows = (
        (alias, entity_id, times / share.total())
        for alias, share in meant.items()
        for entity_id, times in share.items()
    )
    return _table("alias entity_id weight", rows)
