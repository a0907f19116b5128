"""Wikidata's statements as relation and value, from the JSON of its API.

The best ranked statements of a property count, as in Wikidata's own "truthy" view; deprecated ones
never do. Identifiers in other catalogues and files are left out, as they answer no questions.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tasks.graphs.formats.templates import ordinal
from tasks.programs.knowledge_bases.remote_call import LONGEST_TEXT, line, rows, table

MOST_PER_PROPERTY = 100
MOST_STATEMENTS = 500
ENTITY = re.compile(r"[QP][1-9][0-9]{0,8}")  # the API rejects longer ones
_LEFT_OUT = {
    "external-id", "commonsMedia", "tabular-data", "geo-shape", "musical-notation", "math",
    "wikibase-lexeme", "wikibase-form", "wikibase-sense", "entity-schema",
}  # fmt: skip
_TIME = re.compile(r"([+-])(\d{1,16})-(\d\d)-(\d\d)T")
_AMOUNT = re.compile(r"[+-]?\d{1,40}(\.\d{1,40})?")
_DECADE, _YEAR, _MONTH, _DAY = 8, 9, 10, 11  # precisions of times


@dataclass(frozen=True, slots=True)
class WikidataStatement:
    """A property and its value: `target` is the id of another entity, else `text` is the value.

    `unit` is the id of a number's unit.
    """

    property: str
    statement_id: str
    target: str = ""
    text: str = ""
    unit: str = ""


def statements_of(claims: object) -> list[WikidataStatement]:
    """Return the first statements in an entity's claims, in their order."""
    groups = ((name, group) for name, group in table(claims).items() if ENTITY.fullmatch(name))
    statements = (statement for name, group in groups for statement in _best(name, rows(group)))
    return list(islice(statements, MOST_STATEMENTS))


def _best(name: str, group: list[Any]) -> Iterator[WikidataStatement]:
    ranked = [(line(table(claim).get("rank")), table(claim)) for claim in group]
    best = "preferred" if any(rank == "preferred" for rank, _ in ranked) else "normal"
    for claim in [claim for rank, claim in ranked if rank == best][:MOST_PER_PROPERTY]:
        snak = table(claim, "mainsnak")
        if snak.get("snaktype") != "value" or snak.get("datatype") in _LEFT_OUT:
            continue
        target, text, unit = _value(table(snak, "datavalue"))
        if target or text:
            yield WikidataStatement(name, line(claim.get("id")), target, text, unit)


def _value(value: dict[str, Any]) -> tuple[str, str, str]:
    """Return a value as the id of another entity, or a text, and its unit."""
    kind, content = value.get("type"), value.get("value")
    parts = table(content)
    if kind == "wikibase-entityid":
        target = line(parts.get("id"))
        return (target if ENTITY.fullmatch(target) else "", "", "")
    if kind == "string":
        return "", line(content, LONGEST_TEXT), ""
    if kind == "monolingualtext":
        return "", line(parts.get("text"), LONGEST_TEXT), ""
    if kind == "time":
        return "", time_words(line(parts.get("time")), parts.get("precision")), ""
    if kind == "quantity":
        return "", _amount(line(parts.get("amount"))), _unit(line(parts.get("unit")))
    if kind == "globecoordinate":
        return "", _place(parts), ""
    return "", "", ""


def time_words(time: str, precision: object) -> str:
    """Return a time as precise as it is known: 1952-03-11, 1952-03, 1952, 1950s, 20th century."""
    match = _TIME.match(time)
    if not match or not isinstance(precision, int):
        return ""
    year, era = int(match[2]), " BC" if match[1] == "-" else ""
    month, day = match[3], match[4]
    if precision >= _DAY and era == "" and day != "00" and month != "00":
        return f"{year:04d}-{month}-{day}"
    if precision >= _MONTH and era == "" and month != "00":
        return f"{year:04d}-{month}"
    if precision >= _YEAR:
        return f"{year}{era}"
    if precision == _DECADE:
        return f"{year // 10 * 10}s{era}"
    if precision == _DECADE - 1:
        return f"{ordinal(str(max(math.ceil(year / 100), 1)))} century{era}"
    return f"about {year}{era}"


def _amount(amount: str) -> str:
    return amount.removeprefix("+") if _AMOUNT.fullmatch(amount) else ""


def _unit(address: str) -> str:
    """Return the id at the end of a unit's address; empty for plain numbers."""
    last = address.rpartition("/")[2]
    return last if ENTITY.fullmatch(last) else ""


def _place(parts: dict[str, Any]) -> str:
    """Return coordinates as latitude, longitude in degrees."""
    degrees = [parts.get("latitude"), parts.get("longitude")]
    if not all(isinstance(d, int | float) and abs(d) <= 360 for d in degrees):
        return ""
    return ", ".join(f"{d:.6g}" for d in degrees)
