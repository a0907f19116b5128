"""JSON lines: each object is a triple or describes an entity.

A triple is `{"head": ..., "relation": ..., "tail": ...}`, with these or the other names of headers,
optionally with `weight`, and with `is_value: true` if the tail is no entity. An entity is
`{"entity": key, "name": ..., "kind": ..., "description": ..., "aliases": [...]}`. Of the table
`triples` of an export, a tail is a value if it has no id, and what is not asserted is left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.json as pa_json

from tasks.graphs.formats.batch import LONG_TAIL, GraphBatch, RowBuffer, add_triples, renamed
from tasks.graphs.formats.columns import TRIPLE, named_places
from tasks.graphs.formats.lines import Lines, blocks_of_lines
from tasks.graphs.formats.mapping import FileMapping
from warehouse.asserted import ASSERTED

_BLOCK = 1 << 22  # bytes; objects take ten times the memory of their text


def read_json_lines(file: BinaryIO, mapping: FileMapping) -> Iterator[GraphBatch]:
    """Yield the triples and entities of a file of JSON lines."""
    names = {part: str(column) for part, column in (mapping.columns or {}).items()}
    for lines in blocks_of_lines(file, _BLOCK):
        if len(lines.numbers) and not _read_uniform(lines, names, mapping.relations):
            read_lines(lines, names, mapping.relations)
        yield lines.batch


def _read_uniform(lines: Lines, names: dict[str, str], relations: dict[str, str]) -> bool:
    """Add lines that are all triples of texts, by column; return False if they are not."""
    try:
        first = orjson.loads(lines.text[0].as_py())
        if not isinstance(first, Mapping):
            return False
        names = names or _names_in(first)
        schema = pa.schema([(names[part], pa.string()) for part in TRIPLE])
        if set(first) != set(schema.names):
            return False
        text = "\n".join(lines.text.to_pylist()).encode()
        table = pa_json.read_json(
            pa.BufferReader(text),
            pa_json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
        )
    except (orjson.JSONDecodeError, pa.ArrowInvalid, KeyError):
        return False
    if len(table) != len(lines.numbers) or any(column.null_count for column in table.columns):
        return False
    head, relation, tail = (table[names[part]].combine_chunks() for part in TRIPLE)
    add_triples(lines.batch, lines.numbers, head, renamed(relation, relations), tail)
    return True


def _names_in(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys under which an object has the parts of a triple."""
    keys = list(row)
    places = named_places(keys)
    return {part: keys[place] for part, place in places.items()} if places else {}


def read_lines(lines: Lines, names: dict[str, str], relations: dict[str, str]) -> None:
    """Add the triples and entities of lines to their batch; refuse lines without either."""
    rows = RowBuffer()
    for number, text in zip(lines.numbers.tolist(), lines.text.to_pylist(), strict=True):
        try:
            row = orjson.loads(text)
        except orjson.JSONDecodeError:
            lines.batch.refuse(number, "not-json", text)
            continue
        if not isinstance(row, Mapping):
            lines.batch.refuse(number, "no-triple", text)
        elif "triple_id" in row and any(row.get(c) not in (None, v) for c, v in ASSERTED.items()):
            lines.batch.left_out += 1
        elif not _take(row, number, names, rows):
            lines.batch.refuse(number, "no-triple", text)
    rows.into(lines.batch, relations)


def _take(row: Mapping[str, Any], line: int, names: dict[str, str], rows: RowBuffer) -> bool:
    """Add an object's triple or entity; return whether it has one."""
    names = names or _names_in(row)
    parts = [_text(row.get(names[part])) if part in names else None for part in TRIPLE]
    head, relation, tail = parts
    if head is not None and relation is not None and tail is not None:
        weight = row.get(names.get("weight", "weight"))
        number = float(weight) if isinstance(weight, (int, float)) else None
        is_value = row.get("is_value")
        if not isinstance(is_value, bool):
            is_text = isinstance(row[names["tail"]], str) and len(tail) <= LONG_TAIL
            is_value = not is_text or row.get("tail_id", "") is None
        year = "year" if row.get("value_type") == "year" else None
        rows.triples.append((line, head, relation, tail, is_value, number, year))
        return True
    return _take_entity(row, line, rows)


def _take_entity(row: Mapping[str, Any], line: int, rows: RowBuffer) -> bool:
    key = _text(row.get("entity"))
    if key is None:
        return False
    fields = {part: _text(row.get(part)) for part in ("name", "kind", "description")}
    rows.entities.append((line, {"entity": key, **fields, "name": fields["name"] or key}))
    aliases = row.get("aliases")
    for alias in aliases if isinstance(aliases, list) else []:
        if isinstance(alias, str):
            rows.aliases.append((line, key, alias))
    return True


def _text(value: Any) -> str | None:
    """Return texts unchanged and numbers as JSON writes them; None for anything else."""
    if isinstance(value, str):
        return value
    return orjson.dumps(value).decode() if isinstance(value, (bool, int, float)) else None
