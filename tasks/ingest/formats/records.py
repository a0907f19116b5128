"""Records in JSON, JSON lines and Parquet files, and change feeds in all formats of records."""

import codecs
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.ingest.formats.cleaning import decode, encoding_of
from tasks.ingest.formats.hidden_markup import looks_like_html
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import Cell, table
from tasks.ingest.formats.metadata import KNOWN, described
from tasks.ingest.formats.names import safe_record, title_of_name
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits, refused, settle
from tasks.ingest.formats.record_table import SETTING, RecordTable
from tasks.ingest.formats.unpacking import decompress, read_whole

Fields = dict[str, Any]
Record = Fields | RefusalError | None
_TITLES = ("title", "headline")
_NAMES = ("id", "uri", "url")
_USED = (*_TITLES, *_NAMES, "op", "version", *sorted(KNOWN))
_DELETES = frozenset({"delete", "remove", "d"})
_UPSERTS = frozenset({"upsert", "insert", "update", "add", "u", "i", ""})
_ROWS_AT_ONCE = 64  # rows per Parquet batch
_MANY_DIGITS = 400
_SAMPLE = 4_096  # bytes that tell the encoding
_FIRST = 100  # records, of which none has a text where they are rows of a table
_FREE_BYTES = 2_000_000  # bytes read from Parquet before the limit on expansion applies


def parse_json(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the text of an object, or the records of a list of objects or of one object a line."""
    try:
        value = _load(read_whole(file, limits), limits.charset)
    except RefusalError:
        if not isinstance(next(_lines(file, limits), None), dict):
            raise
        yield from parse_lines(file, limits)
        return
    features = value.get("features") if isinstance(value, dict) else None
    if features and value.get("type") == "FeatureCollection":
        value = [_of_feature(part) for part in features]
    if isinstance(value, dict):
        lists = {name: field for name, field in value.items() if _holds_objects(field)}
        if lists and _pick(value, limits.text_column) is None:
            yield from settle(_object(value, lists, limits))
        else:
            yield _whole(value, limits)
    elif isinstance(value, list):
        yield from find_records(lambda: iter(value), limits)
    else:
        raise RefusalError(Reason.BAD_FORMAT, "It is neither an object nor a list of objects.")


def parse_lines(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the records of JSON lines, one object per line."""
    yield from find_records(lambda: _lines(file, limits), limits)


def parse_parquet(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the records of a Parquet file, reading only the columns that are used."""
    if limits.compression:
        source: pa.NativeFile = pa.BufferReader(read_whole(file, limits))
    else:
        source = pa.PythonFile(file, mode="r")
    try:
        parquet = pq.ParquetFile(source, page_checksum_verification=True)
        yield from find_records(lambda: _column_rows(parquet, source.size(), limits), limits)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise RefusalError(Reason.BAD_FORMAT, "It is not a sound Parquet file.") from error


def find_records(opened: Callable[[], Iterable[Record]], limits: ParserLimits) -> Parsed:
    """Yield the texts of records; for a change feed (`uri` and `op`) the newest of each uri.

    Records without texts are yielded as one table. `opened` returns the records from the start on
    each call: a feed is read twice, so that only its versions are held in memory.
    """
    first: list[Fields] = []
    with suppress(RefusalError):  # which is told where the records are read
        first.extend(fields for fields in islice(opened(), _FIRST) if isinstance(fields, dict))
    if first and _pick(first[0], "uri") is not None and _pick(first[0], "op") is not None:
        yield from settle(_changes(opened, limits))
    elif any(len(fields) > 1 for fields in first) and not _has(first, limits.text_column):
        yield from settle(_table(opened(), limits))
    else:
        yield from settle(_texts(opened(), limits))


def _of_feature(feature: Any) -> Any:
    """Return what a feature of GeoJSON (RFC 7946) says of a place, and where it is."""
    if not isinstance(feature, dict) or not isinstance(feature.get("properties"), dict):
        return feature
    _, said, shape = (feature.pop(key, None) for key in ("type", "properties", "geometry"))
    place = {"coordinates": _pick(shape, "coordinates")} if shape else {}
    return {**said, **feature, **place}


def _holds_objects(field: Any) -> bool:
    return isinstance(field, list) and any(isinstance(part, dict) for part in field)


def _object(fields: Fields, lists: dict[str, list[Any]], limits: ParserLimits) -> Parsed:
    """Yield the texts of the longest list of an object, else its values above its lists as tables.

    What is left out is refused under its name.
    """
    longest = max(lists, key=lambda name: len(lists[name]))
    first = [part for part in lists[longest][:_FIRST] if isinstance(part, dict)]
    if _has(first, limits.text_column) or _has(first, "op"):
        yield from find_records(lambda: iter(lists[longest]), limits)
        for name, field in fields.items():
            if name != longest and isinstance(field, str | list | dict) and field:
                sentence = f"It stands beside the records in `{longest}`, and is left out."
                yield refused(safe_record(name), Reason.LEFT_OUT, sentence)
        return
    values = {name: field for name, field in fields.items() if name not in lists}
    title = next((v for key in (*_TITLES, "name") if isinstance(v := _pick(values, key), str)), "")
    nested: Counter[str] = Counter()
    cells = [[Cell(name, is_header=True), Cell(words)] for name, words in _cells(values, nested)]
    parts = [table(row for row in cells if row[1].words)]
    problems = list(_nested(nested))
    for name, rows in lists.items():
        for parsed in _table(rows, limits):
            if parsed and parsed.text:
                parts += [name.replace("_", " "), parsed.text]
            elif parsed:
                problems.append(parsed)
            yield None
    text = "\n\n".join(filter(None, parts if parts[0] or len(lists) > 1 else parts[2:]))
    if text:
        metadata = described(values.items(), only_known=True)
        yield ParsedText("", title or title_of_name(limits.name), text, metadata=metadata)
    yield from problems


def version_order(version: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Return the sort key of a version: numbers by value, text alphabetically."""
    parts = re.findall(r"\d+|\D+", version[:200])
    return len(parts), [(1, int(p), "") if p.isdecimal() else (0, 0, p) for p in parts]


def _table(records: Iterable[Record], limits: ParserLimits) -> Parsed:
    """Yield the refusals of records that are no rows, the table of the others, what it leaves out.

    Raises `RefusalError` as `RecordTable` does.
    """
    columns: dict[str, int] = {}
    nested: Counter[str] = Counter()
    rows = RecordTable(limits)
    for place, fields in enumerate(records, 1):
        if not isinstance(fields, dict):
            yield _problem(str(place), fields)
            continue
        cells = dict(_cells(fields, nested))
        if any(cells.values()):  # an empty row would end the table
            rows.add((columns.setdefault(name, len(columns)), cells[name]) for name in cells)
        yield None
    yield from rows.text(list(columns))
    yield from _nested(nested)


def _cells(fields: Fields, nested: Counter[str], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values of an object, also of those within it, under words of their names.

    Counts those that are no words, by their names.
    """
    for key, value in fields.items():
        name = " ".join((*above.split(), *str(key).replace("_", " ").split()))
        parts = value if isinstance(value, list) else [value]
        if isinstance(value, dict) and not above:
            yield from _cells(value, nested, name)
        elif any(isinstance(part, dict | list | bytes) for part in parts):
            nested[name] += 1
        else:
            yield name, ", ".join(str(part) for part in parts if part is not None)


def _nested(names: Counter[str]) -> Iterator[ParsedText]:
    """Yield the refusals of values by their names, with the number of each."""
    for name, count in names.items():
        sentence = f"Its bytes, or values within values, are left out: {count:,} in all."
        yield refused(safe_record(name), Reason.LEFT_OUT, sentence)


def _texts(records: Iterable[Record], limits: ParserLimits) -> Parsed:
    seen: dict[int, int] = {}
    for place, fields in enumerate(records, 1):
        if not isinstance(fields, dict):
            yield _problem(str(place), fields)
            continue
        name = next((str(v) for key in _NAMES if (v := _pick(fields, key)) not in (None, "")), "")
        name = safe_record(name) or str(place)
        count = seen[hash(name)] = seen.get(hash(name), 0) + 1
        yield _text(name if count == 1 else f"{name}~{count}", fields, limits)


def _changes(opened: Callable[[], Iterable[Record]], limits: ParserLimits) -> Parsed:
    newest: dict[str, tuple[Any, int]] = {}
    for place, fields in enumerate(opened()):
        if isinstance(fields, dict) and _can_be_made(fields, limits) and (uri := _uri(fields)):
            order = (version_order(_version(fields)), place)
            newest[uri] = max(newest.get(uri, order), order)
        yield None
    for place, fields in enumerate(opened()):
        if not isinstance(fields, dict):
            yield _problem(str(place + 1), fields)
            continue
        uri = _uri(fields)
        if not uri:
            yield refused(str(place + 1), Reason.BAD_FORMAT, "The change names no uri.")
        elif not _can_be_made(fields, limits) or newest[uri][1] == place:
            yield _change(uri, fields, limits)
        else:
            yield None


def _can_be_made(change: Fields, limits: ParserLimits) -> bool:
    """Tell whether a change counts; one that is refused leaves an earlier one its effect."""
    words = _words(change, limits)
    operation = _operation(change)
    return operation in _DELETES or (operation in _UPSERTS and bool(words and words.strip()))


def _uri(change: Fields) -> str:
    return safe_record(_pick(change, "uri") or "")


def _operation(change: Fields) -> str:
    return str(_pick(change, "op") or "").strip().lower()


def _change(uri: str, fields: Fields, limits: ParserLimits) -> ParsedText:
    operation = _operation(fields)
    if operation in _DELETES:
        return ParsedText(uri, version=_version(fields), feed=True, removed=True)
    if operation not in _UPSERTS:
        sentence = "The change is neither upsert nor delete."
        return ParsedText(uri, feed=True, reason=Reason.BAD_FORMAT, sentence=sentence)
    return _text(uri, fields, limits, feed=True)


def _text(name: str, fields: Fields, limits: ParserLimits, *, feed: bool = False) -> ParsedText:
    text = _words(fields, limits)
    if text is None:
        sentence = f"It has no text in `{limits.text_column}` ({SETTING})."
        return ParsedText(name, feed=feed, reason=Reason.NO_TEXT_COLUMN, sentence=sentence)
    title = next((v for key in _TITLES if isinstance(v := _pick(fields, key), str)), "")
    if looks_like_html(text):
        from tasks.ingest.formats.webpage import read_page

        text = read_page(text).text
    sha256 = hashlib.sha256(_canonical(fields, limits.text_column)).hexdigest()
    own = ((key, value) for key, value in fields.items() if key.lower() != limits.text_column)
    metadata = described(own, only_known=True)
    return ParsedText(name, title, text, _version(fields), sha256, feed, metadata=metadata)


def _words(fields: Fields, limits: ParserLimits) -> str | None:
    text = _pick(fields, limits.text_column)
    if isinstance(text, list) and all(isinstance(part, str) for part in text):
        return "\n\n".join(text)
    return text if isinstance(text, str) else None


def _whole(fields: Fields, limits: ParserLimits) -> ParsedText:
    record = _text("", fields, limits)
    if record.reason:
        raise RefusalError(Reason(record.reason), record.sentence)
    return replace(record, name="", sha256="")


def _canonical(fields: Fields, text_column: str) -> bytes:
    """Return the used fields as JSON with sorted names, for the record's hash."""
    used = {key: _pick(fields, key) for key in (text_column, *_USED)}
    used = {key: value for key, value in used.items() if value is not None}
    return json.dumps(used, sort_keys=True, default=str).encode()


def _version(fields: Fields) -> str:
    version = _pick(fields, "version")
    return "" if version is None else safe_record(version)


def _pick(fields: Fields, name: str) -> Any:
    """Return a field by its exact name, else by its name in another letter case."""
    if name in fields:
        return fields[name]
    return next((value for key, value in fields.items() if str(key).lower() == name.lower()), None)


def _has(records: Iterable[Iterable[str]], column: str) -> bool:
    """Tell whether one of some records, or a list of names, has a column."""
    return any(str(name).lower() == column.lower() for names in records for name in names)


def _problem(name: str, problem: object) -> ParsedText | None:
    if problem is None:
        return None
    if isinstance(problem, RefusalError):
        return refused(name, problem.reason, problem.text)
    return refused(name, Reason.BAD_FORMAT, "It is not an object with fields.")


def _load(data: bytes, charset: str | None) -> Any:
    r"""Parse JSON, also with what only some writers and readers allow.

    That is NaN, infinite and very long numbers, which become None, unpaired surrogates such as
    `\ud83d`, a byte order mark, and other charsets than UTF-8.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if "depth" in str(error) or "recursion" in str(error).lower():
            raise RefusalError(Reason.TOO_DEEP, "Its JSON is nested too deeply.") from error
        problem = error
    try:
        return json.loads(
            decode(data, charset),
            parse_constant=lambda _: None,
            parse_int=lambda digits: int(digits) if len(digits) < _MANY_DIGITS else None,
        )
    except ValueError as error:
        raise RefusalError(Reason.BAD_FORMAT, f"Its JSON is broken: {problem}.") from error


def _lines(file: BinaryIO, limits: ParserLimits) -> Iterator[Record]:
    file.seek(0)
    stream = decompress(file, limits.compression, limits.max_expansion)
    encoding = encoding_of(stream.read(_SAMPLE))
    file.seek(0)
    stream = decompress(file, limits.compression, limits.max_expansion)
    if encoding not in ("utf-8", "utf-8-sig"):
        stream = codecs.EncodedFile(stream, "utf-8", encoding)
    longest = 6 * limits.max_text_chars  # a character escaped as \uXXXX takes six bytes
    while line := stream.readline(longest):
        if len(line) >= longest:
            yield RefusalError(Reason.TOO_LONG, f"The line has more than {longest:,} bytes.")
            while line and not line.endswith(b"\n"):
                yield None
                line = stream.readline(1 << 20)
        elif line.strip():
            try:
                yield _load(line, limits.charset)
            except RefusalError as error:
                yield error


def _column_rows(parquet: pq.ParquetFile, size: int, limits: ParserLimits) -> Iterator[Record]:
    names = parquet.schema_arrow.names
    used = {name.lower() for name in (limits.text_column, *_USED)}
    if _has([names], limits.text_column):
        names = [name for name in names if name.lower() in used]
    read_bytes = 0
    for batch in parquet.iter_batches(_ROWS_AT_ONCE, columns=names, use_threads=False):
        rows = batch.to_pylist()
        # A dictionary holds a value once, however many rows have it.
        values = (value for row in rows for value in row.values())
        parts = (part for v in values for part in (v if isinstance(v, list) else [v]))
        read_bytes += max(batch.nbytes, sum(len(p) for p in parts if isinstance(p, str | bytes)))
        if read_bytes > max(_FREE_BYTES, limits.max_expansion * size):
            sentence = f"It grows more than {limits.max_expansion} times when it is read."
            raise RefusalError(Reason.TOO_EXPANDING, sentence)
        yield from rows
