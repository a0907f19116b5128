"""Apply a home's ontology to an edition: kinds that texts state, and facts that do not fit."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from schemas.errors import UsageError
from schemas.ontology import Ontology
from tasks.extract.rules.kinds import with_parents
from tasks.graphs.imported import current_imports, read_import
from tasks.ontology.fit import misfit, tail_kind
from tasks.ontology.kinds import kinds_stated
from tasks.text.names import normalise_name
from warehouse.derivation import Derivation
from warehouse.journal import Journal

_CLASSES = """
select a.entity_id, s.tail
from triple_statements s join assignment a on a.document_id = s.document_id and a.name = s.head
where s.relation in ('is a', 'is an', 'is the', 'is', 'was a', 'was the', '是', '为')
  and s.polarity = 'positive' and s.modality = 'asserted'
"""
_DESCRIPTIONS = """
select a.entity_id, s.text
from description_statements s
join assignment a on a.document_id = s.document_id and a.name = s.entity
"""
_COMBINATIONS = """
select distinct t.relation, k.head_kind, k.tail_kind, k.value_type, k.entity_kind, t.unit
from triple_facts t join kinds_at_ends k using (triple_id)
"""
_NAMES = """
select entity_id, name from resolved_entities
union select entity_id, alias from entity_aliases
union select entity_id, name from assignment
"""


def with_stated_kinds(
    derivation: Derivation, entities: pa.Table, ontology: Ontology | None
) -> pa.Table:
    """Return the resolved entities with the ontology's kinds where texts state them."""
    stated: dict[str, str] = {}
    if ontology is not None and ontology.kinds:
        stated = kinds_stated(
            ontology,
            _pairs(derivation.query(_CLASSES)),
            _pairs(derivation.query(_DESCRIPTIONS)),
        )
    ids = pa.array(sorted(stated), pa.string())
    derivation.hand_over("of_stated_kinds", pa.table({"entity_id": ids}))
    kinds = [
        stated.get(entity_id, kind)
        for entity_id, kind in _pairs(entities.select(["entity_id", "kind"]))
    ]
    place = entities.schema.get_field_index("kind")
    return entities.set_column(place, "kind", pa.array(kinds, pa.string()))


def check_fit(derivation: Derivation, journal: Journal, ontology: Ontology | None) -> None:
    """Note which facts do not fit the ontology, and leave them out if it is strict."""
    ontology = with_parents(ontology or Ontology(mode="open"))
    checked = ontology if ontology.mode != "open" else Ontology(mode="open")
    derivation.hand_over("combination_misfits", _misfits(derivation, checked))
    known = _in_gazetteer(derivation, journal, ontology.gazetteer)
    derivation.hand_over("in_gazetteer", pa.table({"entity_id": pa.array(known, pa.string())}))
    derivation.step("ontology")


def _misfits(derivation: Derivation, ontology: Ontology) -> pa.Table:
    rows = derivation.query(_COMBINATIONS).to_pylist()
    for row in rows:
        tail = tail_kind(row["value_type"], row["entity_kind"])
        row["reason"] = misfit(ontology, row["relation"], row["head_kind"], tail, row["unit"])
    columns = ("relation", "head_kind", "tail_kind", "unit", "reason")
    return pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in columns})


def check_gazetteer(journal: Journal, graphs: tuple[str, ...]) -> None:
    """Raise UsageError if one of an ontology's graphs is not imported."""
    imported = {row["graph"] for row in current_imports(journal)} if graphs else set()
    for graph in graphs:
        if graph not in imported:
            raise UsageError(
                f"The ontology's gazetteer {graph} is no imported graph; import it with "
                f"`almanac import-graph FILE --name {graph}`, or correct ontology.yaml."
            )


def _in_gazetteer(derivation: Derivation, journal: Journal, graphs: tuple[str, ...]) -> list[str]:
    """Return the ids of entities with a name that is in the gazetteer's graphs."""
    if not graphs:
        return []
    check_gazetteer(journal, graphs)
    imports = {row["graph"]: row for row in current_imports(journal, derivation.position)}
    names: set[str] = set()
    for graph in graphs:
        imported = read_import(journal, imports[graph], derivation.position)
        for column in (imported.names, imported.aliases):
            names.update(map(normalise_name, column.to_pylist()))
    rows = _pairs(derivation.query(_NAMES))
    return sorted({entity_id for entity_id, name in rows if normalise_name(name) in names})


def _pairs(table: pa.Table) -> Iterable[tuple[str, str]]:
    first, second = (pc.cast(table.column(at), pa.string()).to_pylist() for at in (0, 1))
    return zip(first, second, strict=True)
