"""Report what in an edition does not fit an ontology, and propose an ontology for an edition."""

from collections import Counter, defaultdict
from typing import Any

from schemas.knowledge import Misfit
from schemas.ontology import KINDS, VALUE_KINDS, Ontology
from tasks.ontology.fit import misfit, tail_kind
from tasks.ontology.kinds import class_noun
from warehouse.editions import Edition

LEAST_SHARE = 0.8
"""The share of a relation's triples whose ends are of the kinds that a proposal names."""
LEAST_TRIPLES = 3
"""Rarer relations are not proposed, because the kinds of their ends are due to chance."""

_COMBINATIONS = """
select t.relation, h.kind as head_kind, t.value_type, e.kind as entity_kind, t.unit,
       count(*) as triples,
       arg_max(t.head || ' | ' || t.relation || ' | ' || t.tail,
               (t.support, t.confidence, t.triple_id)) as example
from triples t
join entities h on h.entity_id = t.head_id
left join entities e on e.entity_id = t.tail_id
where t.graph = 'corpus'
group by all
order by triples desc, t.relation, example
"""
_LEFT_OUT = """
select reason, relation, count(*) as triples,
       min(head || ' | ' || relation || ' | ' || tail) as example
from misfits where left_out or reason = 'gazetteer' group by all
"""
_VALUES = """
select relation, count(*) as heads, count(*) filter (tails > 1) as several
from (
    select relation, head_id, count(distinct coalesce(tail_id, lower(tail))) as tails
    from asserted_triples where graph = 'corpus' and valid_from is null group by all
)
group by all
"""
_CLASSES = """
select distinct t.head_id, h.kind, t.tail
from asserted_triples t join entities h on h.entity_id = t.head_id
where t.graph = 'corpus' and t.relation in ('is a', '是')
"""
_RELATIONS = "select * from relations where graph = 'corpus' order by triples desc, relation"


def misfits(edition: Edition, ontology: Ontology) -> list[dict[str, Any]]:
    """Return the misfits, the most frequent first, with reason, relation, triples and example.

    Facts that a strict ontology left out of this edition are among them. A relation of the edition
    counts as the one that the ontology gives this wording, as it will in the next edition.
    """
    counted: dict[tuple[str, str], dict[str, Any]] = {}

    def count(reason: str, relation: str, triples: int, example: str) -> None:
        row = counted.setdefault(
            (reason, relation),
            {"reason": reason, "relation": relation, "triples": 0, "example": example},
        )
        row["triples"] += triples

    for row in _rows(edition, _COMBINATIONS):
        name, head, tail = _as_named(ontology, row)
        if reason := misfit(ontology, name, head, tail, row["unit"]):
            count(reason, row["relation"], row["triples"], row["example"])
    has_misfits = edition.parquet(Misfit).exists()  # older editions have not
    for row in _rows(edition, _LEFT_OUT) if has_misfits else ():
        if row["reason"] != "relation" or row["relation"].casefold() not in ontology.by_wording:
            count(row["reason"], row["relation"], row["triples"], row["example"])
    single = {name for name, relation in ontology.relations.items() if relation.single_valued}
    for row in _rows(edition, _VALUES):
        if row["relation"] in single and row["several"]:
            count("several values", row["relation"], row["several"], "")
    return sorted(counted.values(), key=lambda row: (-row["triples"], row["relation"]))


def _as_named(ontology: Ontology, row: dict[str, Any]) -> tuple[str, str, str]:
    """Return the ontology's name for a relation, and the kinds of head and tail under that name."""
    ends = row["head_kind"], tail_kind(row["value_type"], row["entity_kind"])
    name, turned = ontology.by_wording.get(row["relation"].casefold(), (row["relation"], False))
    if not turned:
        return name, *ends
    # Only what leads to an entity is turned round.
    return (name, *ends[::-1]) if row["value_type"] == "entity" else (row["relation"], *ends)


def suggestion(edition: Edition, most: int = 100) -> dict[str, Any]:
    """Return an ontology that an edition's commonest relations and kinds would fit.

    It is plain data, to be written as YAML. Kinds at the ends are named where most triples have
    them; the rest is left open.
    """
    ends: dict[str, dict[str, dict[str, int]]] = {}
    for row in _rows(edition, _COMBINATIONS):
        counts = ends.setdefault(row["relation"], {"domain": {}, "range": {}})
        tail = tail_kind(row["value_type"], row["entity_kind"])
        for place, kind in (("domain", row["head_kind"]), ("range", tail)):
            counts[place][kind] = counts[place].get(kind, 0) + row["triples"]
    relations: dict[str, Any] = {}
    rows = _rows(edition, _RELATIONS)[:most]
    # "born in" is a relation, and a wording of that between people and dates.
    taken = {row["relation"].casefold() for row in rows}
    for row in rows:
        if row["triples"] < LEAST_TRIPLES:
            break
        entry: dict[str, Any] = {"description": f"such as: {row['example']}"[:500]}
        for place, times in ends[row["relation"]].items():
            if usual := _usual(times):
                entry[place] = usual
        wordings = [w for w in row["wordings"] if w.casefold() not in taken]
        entry |= {"wordings": wordings} if wordings else {}
        taken.update(map(str.casefold, wordings))
        if row["inverse"] and row["inverse"].casefold() not in taken:
            entry["inverse"] = row["inverse"]
            taken.add(entry["inverse"].casefold())
        entry |= {"single_valued": True} if row["single_valued"] else {}
        relations[row["relation"]] = entry
    named = {
        kind
        for entry in relations.values()
        for kind in (*entry.get("domain", ()), *entry.get("range", ()))
        if kind not in (*KINDS, *VALUE_KINDS)
    }
    # A kind of the home's ontology may be at an end although the edition states few classes.
    kinds = {kind: {} for kind in sorted(named)} | _kinds(edition)
    return {"mode": "warn", "kinds": kinds, "relations": relations}


def _kinds(edition: Edition) -> dict[str, Any]:
    """Return class nouns of several entities, each with the kind of most of them as its parent."""
    members: dict[str, Counter[str]] = defaultdict(Counter)
    for row in _rows(edition, _CLASSES):
        if noun := class_noun(row["tail"]):
            members[noun][row["kind"]] += 1
    kinds = {}
    for noun in sorted(members, key=lambda noun: (-members[noun].total(), noun)):
        if noun in (*KINDS, *VALUE_KINDS) or members[noun].total() < LEAST_TRIPLES:
            continue
        known = [kind for kind, _ in members[noun].most_common() if kind in KINDS]
        kinds[noun] = {"parent": known[0]} if known else {}
    return kinds


def _usual(counts: dict[str, int]) -> list[str]:
    """Return the fewest kinds that make up most of the ends whose kind is known."""
    known = {kind: times for kind, times in counts.items() if kind != "unknown"}
    total, covered, chosen = sum(known.values()), 0, []
    if total < LEAST_TRIPLES:
        return []
    for kind in sorted(known, key=lambda kind: (-known[kind], kind)):
        if covered >= LEAST_SHARE * total:
            break
        chosen.append(kind)
        covered += known[kind]
    return sorted(chosen)


def _rows(edition: Edition, sql: str) -> list[dict[str, Any]]:
    with edition.connect() as con:
        return con.sql(sql).to_arrow_table().to_pylist()
