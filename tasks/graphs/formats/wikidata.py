"""Wikidata's JSON dumps, streamed: one entity per line.

The dump is read twice, because a property's name may come after its use, and once more for the
names of uncommon units. Of a property's statements the preferred ones count, else the normal ones;
qualifiers, identifiers of other catalogues and names of media files are ignored. Values are written
as people write them:
https://www.wikidata.org/wiki/Special:MyLanguage/Help:Data_type
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from tasks.graphs.formats.batch import KEPT, GraphBatch, RowBuffer
from tasks.graphs.formats.lines import Lines, Opened, blocks_of_lines, opened
from tasks.graphs.formats.mapping import FileMapping
from tasks.graphs.formats.templates import ordinal

_BLOCK = 1 << 22  # bytes; objects take ten times the memory of their text
_PROPERTY = r'"type": ?"property"'
_UNIT = re.compile(rb'"unit": ?"[^"]*/(Q[1-9]\d*)"')
_FIRST_ID = r'"id": ?"(?P<id>Q[1-9]\d*)"'
Tail = tuple[str, bool, str | None]  # whether it is a value, and the type that is stated
_BROKEN = (KeyError, TypeError, ValueError, AttributeError, IndexError)


def read_wikidata(
    file: Opened, path: Path, languages: Sequence[str], mapping: FileMapping
) -> Iterator[GraphBatch]:
    """Yield the entities named in these languages, their aliases and statements.

    An entity's name is its label in the first of the languages that has one; labels in the others
    are aliases. Entities without any of these labels are left out.
    """
    labels, units = _names_of_use(path, languages)
    properties = labels | mapping.relations
    for lines in blocks_of_lines(file.data, _BLOCK):
        rows = RowBuffer()
        for number, entity in _entities(lines):
            try:
                lines.batch.left_out += not _take(number, entity, languages, units, rows)
            except _BROKEN:
                start = orjson.dumps(entity)[:KEPT].decode("utf-8", "replace")
                lines.batch.refuse(number, "not-wikidata", start)
        rows.into(lines.batch, properties)
        yield lines.batch


def _entities(lines: Lines) -> Iterator[tuple[int, Any]]:
    for number, text in zip(lines.numbers.tolist(), lines.text.to_pylist(), strict=True):
        text = text.strip().rstrip(",")
        if text in ("[", "]", ""):
            continue
        try:
            yield number, orjson.loads(text)
        except orjson.JSONDecodeError:
            lines.batch.refuse(number, "not-json", text)


def _names_of_use(path: Path, languages: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of the properties in a dump, and of the units."""
    names: dict[str, str] = {}
    used: set[str] = set()
    with opened(path) as file:
        for lines in blocks_of_lines(file.data, _BLOCK):
            used.update(unit.decode() for unit in _UNIT.findall(lines.text.buffers()[2] or b""))
            names |= _labels(lines, pc.match_substring_regex(lines.text, _PROPERTY), languages)
    units: dict[str, str] = {}
    if rare := pa.array(sorted(used - _UNITS.keys()), pa.string()):
        with opened(path) as file:
            for lines in blocks_of_lines(file.data, _BLOCK):
                ids = pc.struct_field(pc.extract_regex(lines.text, _FIRST_ID), "id")
                units |= _labels(lines, pc.is_in(ids, value_set=rare), languages)
    properties = {key: name for key, name in names.items() if key.startswith("P")}
    return properties, units | _UNITS


def _labels(lines: Lines, mask: pa.Array, languages: Sequence[str]) -> dict[str, str]:
    """Return the names of the entities in some lines."""
    few, names = lines.where(mask.to_numpy(zero_copy_only=False)), {}
    for _, entity in _entities(Lines(few.text, few.numbers, GraphBatch())):
        with suppress(*_BROKEN):  # reported when its line is read again
            labels = _words(entity.get("labels"), languages)
            names.update({str(entity["id"]): label for label in labels[:1]})
    return names


def _take(
    line: int,
    entity: Mapping[str, Any],
    languages: Sequence[str],
    units: Mapping[str, str],
    rows: RowBuffer,
) -> bool:
    """Add an entity's rows; return False if it is left out, raise KeyError etc. if it is broken."""
    key = entity["id"]
    labels = _words(entity.get("labels"), languages)
    if not isinstance(key, str):
        raise TypeError("an id is a text")
    if not labels or entity.get("type") == "property":
        return False
    triples = [
        (line, key, name, tail, is_value, None, value_type)
        for name, (tail, is_value, value_type) in _statements(entity, languages, units)
    ]
    description = next(iter(_words(entity.get("descriptions"), languages)), None)
    row = {"entity": key, "name": labels[0], "kind": None, "description": description}
    aliases = dict.fromkeys([*labels[1:], *_words(entity.get("aliases"), languages)])
    rows.entities.append((line, row))
    rows.aliases += [(line, key, alias) for alias in aliases]
    rows.triples += triples
    return True


def _statements(
    entity: Mapping[str, Any], languages: Sequence[str], units: Mapping[str, str]
) -> Iterator[tuple[str, Tail]]:
    for name, statements in (entity.get("claims") or {}).items():
        ranks = {statement.get("rank", "normal") for statement in statements}
        best = "preferred" if "preferred" in ranks else "normal"
        for statement in statements:
            if statement.get("rank", "normal") == best:
                value = value_of(statement["mainsnak"], languages, units)
                if value is not None:
                    yield name, value


def _words(by_language: Any, languages: Sequence[str]) -> list[str]:
    """Return labels, descriptions or aliases in the order of the languages.

    Raises KeyError or TypeError if one of them is no text.
    """
    if not isinstance(by_language, Mapping):
        return []  # an entity without any has an empty list there
    words: list[str] = []
    for language in languages:
        entries = by_language.get(language, [])
        words += [word["value"] for word in (entries if isinstance(entries, list) else [entries])]
    if not all(isinstance(word, str) for word in words):
        raise TypeError("a label is a text")
    return words


_TIME = re.compile(r"([+-])(\d{4,16})-(\d{2})-(\d{2})T")
_DAY, _MONTH, _YEAR, _DECADE, _CENTURY = 11, 10, 9, 8, 7
_ITEM = re.compile(r"Q[1-9]\d*$")
# Units are items; a dump of a part of Wikidata may lack even the common ones.
_UNITS = {
    "Q11573": "metre",
    "Q828224": "kilometre",
    "Q174728": "centimetre",
    "Q174789": "millimetre",
    "Q218593": "inch",
    "Q3710": "foot",
    "Q253276": "mile",
    "Q25343": "square metre",
    "Q712226": "square kilometre",
    "Q35852": "hectare",
    "Q11570": "kilogram",
    "Q41803": "gram",
    "Q191118": "tonne",
    "Q100995": "pound",
    "Q11574": "second",
    "Q7727": "minute",
    "Q25235": "hour",
    "Q573": "day",
    "Q5151": "month",
    "Q577": "year",
    "Q25267": "degree Celsius",
    "Q180154": "kilometre per hour",
    "Q4917": "United States dollar",
    "Q4916": "euro",
    "Q11229": "percent",
}


def value_of(
    snak: Mapping[str, Any], languages: Sequence[str], units: Mapping[str, str]
) -> Tail | None:
    """Return a statement's tail; None if the statement is of no use."""
    if snak.get("snaktype") != "value" or snak.get("datatype") in ("external-id", "commonsMedia"):
        return None
    value, kind = snak["datavalue"]["value"], snak["datavalue"]["type"]
    if kind == "wikibase-entityid":
        return _entity_id(value), False, None
    if kind == "monolingualtext" and value["language"] not in languages:
        return None
    if kind == "quantity":
        return _quantity(value, units), True, None
    word = _WORDS[kind](value) if kind in _WORDS else None
    is_year = kind == "time" and int(value["precision"]) == _YEAR
    return None if word is None else (word, True, "year" if is_year else None)


def _entity_id(value: Mapping[str, Any]) -> str:
    if "id" in value:
        return str(value["id"])
    letter = {"item": "Q", "property": "P"}[value["entity-type"]]
    return f"{letter}{int(value['numeric-id'])}"


def _time(value: Mapping[str, Any]) -> str | None:
    match = _TIME.match(value["time"])
    if not match:
        return None
    sign, digits, month, day = match.groups()
    number, precision = int(digits), int(value["precision"])
    year = f"{number:04d}" if sign == "+" else f"-{number:04d}"
    if precision >= _DAY:
        return f"{year}-{month}-{day}"
    if precision == _MONTH:
        return f"{year}-{month}"
    if precision == _YEAR:
        return year
    if precision == _DECADE:
        return f"{number // 10 * 10}s" + (" BC" if sign == "-" else "")
    if precision == _CENTURY and (century := ordinal(str((number + 99) // 100))):
        return f"{century} century" + (" BC" if sign == "-" else "")
    return None


def _quantity(value: Mapping[str, Any], units: Mapping[str, str]) -> str:
    amount = str(value["amount"]).removeprefix("+")
    unit = _ITEM.search(str(value["unit"]))
    return f"{amount} {units.get(unit[0], unit[0])}" if unit else amount


_WORDS: dict[str, Callable[[Any], str | None]] = {
    "string": str,
    "monolingualtext": lambda value: str(value["text"]),
    "time": _time,
    "globecoordinate": lambda value: f"{value['latitude']}, {value['longitude']}",
}
