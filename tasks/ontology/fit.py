"""Decide whether triples fit an ontology, by their relation and the kinds of their ends."""

from schemas.ontology import VALUE_KINDS, Ontology
from tasks.text.values.units import short_form

_VALUE_KIND = {"date": "date", "year": "date", "number": "number", "quantity": "quantity"}


def tail_kind(value_type: str, kind: str | None) -> str:
    """Return an ontology's term for a tail: the entity's kind, else the kind of value."""
    return (kind or "unknown") if value_type == "entity" else _VALUE_KIND.get(value_type, "text")


def misfit(
    ontology: Ontology, relation: str, head_kind: str, tail: str, unit: str | None
) -> str | None:
    """Return why a triple does not fit, None if it does.

    `tail` is the kind of its tail (see `tail_kind`). A text may be the name of an entity that was
    not recognised, so it fits every range of kinds.
    """
    entry = ontology.relations.get(relation)
    if entry is None:
        return "relation" if ontology.relations else None
    if not ontology.fits(head_kind, entry.domain):
        return "head"
    if entry.range and not _fits_range(ontology, tail, entry.range):
        return "tail"
    if entry.units and unit and unit not in map(short_form, entry.units):
        return "unit"
    return None


def _fits_range(ontology: Ontology, tail: str, allowed: tuple[str, ...]) -> bool:
    kinds = tuple(kind for kind in allowed if kind not in VALUE_KINDS)
    if tail == "text":
        return "text" in allowed or bool(kinds)
    if tail == "quantity" and "number" in allowed:
        return True
    if tail in VALUE_KINDS:
        return tail in allowed
    return ontology.fits(tail, kinds) if kinds else "text" in allowed
