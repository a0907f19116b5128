"""Tables of delimited text (CSV, TSV): each record is read whole, or refused with the reason.

A table without a column of texts is one text. Files are read as RFC 4180 has it. Beyond that,
quotes may have spaces around them or be escaped by a backslash, and lines above the header may be
comments, a title, or Excel's `sep=;`.
"""

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from typing import BinaryIO, TextIO

from tasks.ingest.formats.cleaning import encoding_of, not_decodable
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.parsed_text import Parsed, ParserLimits, refused, settle
from tasks.ingest.formats.record_table import RecordTable, require_column
from tasks.ingest.formats.records import Fields, Record, find_records
from tasks.ingest.formats.unpacking import decompress

_SEPARATORS = "\t,;|"
_NO_SEPARATOR = "\x1f"  # of a table with one column
_Header = tuple[str, list[str], list[str]]  # separator, names of the columns, titles above
_LINES_ABOVE = 50  # among which the header is looked for
_LONGEST_LINE = 100_000  # characters of the line below that tell a header from a comment
_STATED = re.compile(r"\ufeff?\"?sep=(.)\"?[,;\t]*\s*", re.IGNORECASE)
_OPEN = re.compile(r"(?:^|[\t,;|])[^\S\t]*\"(?:[^\"\\]|\\[^\"])*\\\"(?![\t,;|\"\r\n]|$)")
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\\"")
_CLOSED = re.compile(r"\"[ \t]+(?=[,;|\r\n]|$)")


def parse_csv(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the records of a table, or the table itself if it has no column of texts.

    Raises `RefusalError` for a table whose texts have another name, and from the line on at which
    a quote is opened and not closed, since no record behind it can be told.
    """
    csv.field_size_limit(limits.max_text_chars + 1)
    with _opened(file, limits) as lines:
        names = {name.lower() for name in _header(lines, limits.text_column)[1]}
    if limits.text_column.lower() in names or len(names) < 2 or {"uri", "op"} <= names:
        yield from find_records(lambda: _records(file, limits), limits)
    else:
        yield from settle(_table(file, limits))


class _Lines:
    """The lines of a table with quotes doubled rather than escaped; `last` is the latest."""

    def __init__(self, text: TextIO) -> None:
        self._text: Iterator[str] = text
        self._are_escaped = False
        self.number = 0
        self.last = ""

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = next(self._text)
        self._are_escaped = self._are_escaped or bool('\\"' in line and _OPEN.search(line))
        self.number += 1
        self.last = _ESCAPED.sub(r'\1""', line) if self._are_escaped else line
        return self.last

    def below(self) -> list[str]:
        """Return the next lines, which stay the next."""
        lines = list(islice(self._text, _LINES_ABOVE))
        self._text = chain(lines, self._text)
        return lines


@contextmanager
def _opened(file: BinaryIO, limits: ParserLimits) -> Iterator[_Lines]:
    """Open the lines of a table from the start."""
    encoding = _table_encoding(file, limits)
    file.seek(0)
    stream = decompress(file, limits.compression, limits.max_expansion)
    text = io.TextIOWrapper(stream, encoding, newline="")
    try:
        yield _Lines(text)
    except UnicodeDecodeError as error:
        raise not_decodable(error) from error
    finally:
        text.detach()


def _records(file: BinaryIO, limits: ParserLimits) -> Iterator[Record]:
    with _opened(file, limits) as lines:
        separator, names, _ = _header(lines, limits.text_column)
        while len(names) > 1 and not names[-1]:
            names.pop()
        require_column(names, limits.text_column)
        last_text = max(n for n, name in enumerate(names) if _is(name, limits.text_column))
        for row in _rows(lines, separator):
            cells = row if isinstance(row, RefusalError) else _checked(row, names, last_text)
            if isinstance(cells, RefusalError):
                yield cells
            elif cells:
                yield _fields(names, cells, limits.text_column)


def _table(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the refusals of rows that cannot be told apart, then the table of the others."""
    with _opened(file, limits) as lines:
        separator, names, titles = _header(lines, limits.text_column)
        table = RecordTable(limits, titles)
        for row in _rows(lines, separator):
            cells = row if isinstance(row, RefusalError) else _checked(row, names, -1)
            if isinstance(cells, RefusalError):
                yield refused(f"line {lines.number}", cells.reason, cells.text)
            else:
                table.add(enumerate(cells or ()))
                yield None
    yield from table.text(names)


def _header(lines: _Lines, text_column: str) -> _Header:
    """Return the header of a table; titles and comments may stand above.

    Names are empty where a line goes on behind the last one.
    """
    stated, titles = "", list[str]()
    for line in islice(lines, _LINES_ABOVE):
        if match := _STATED.fullmatch(line):
            stated = match[1]
            continue
        for separator in _separators(line, stated):
            names = _names(line, separator)
            if any(_is(name, text_column) for name in names):
                return separator, names, titles
        if line.lstrip("\ufeff").startswith("#"):
            if _heads(names, separator, "".join(lines.below()[:1])):
                return separator, [names[0].lstrip("# ") or "#", *names[1:]], titles
        elif line.strip():
            if any(names[1:]) and not _is_title(line, separator, lines.below()):
                return separator, names, titles
            titles.append(", ".join(filter(None, names)))
    return _NO_SEPARATOR, titles[:1], []


def _separators(line: str, stated: str) -> list[str]:
    """Return the marks that may separate the cells of a line, the likeliest last."""
    found = stated or [mark for mark in _SEPARATORS if mark in line] or _NO_SEPARATOR
    return sorted(found, key=line.count)


def _is_title(line: str, separator: str, below: list[str]) -> bool:
    """Tell whether a line with separators is none of the table: most lines below are longer rows.

    A blank line stands between, or it has its marks as sentences do: "Docks of the east, 2025".
    """
    filled = [row for row in below if row.strip()]
    marks = [separator if separator in row else _separators(row, "")[-1] for row in filled]
    rows = list(zip(filled, marks, strict=True))
    wider = [row for row in rows if len(_names(*row)) > len(_names(line, separator))]
    if 2 * len(wider) <= len(rows):
        return False
    above = below[: below.index(wider[0][0])]
    both = ((line, separator), wider[0])
    spaced = [text.count(mark) == text.count(f"{mark} ") for text, mark in both]
    return spaced == [True, False] or not all(map(str.strip, above))


def _names(line: str, separator: str) -> list[str]:
    cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    return [cell.strip().lstrip("\ufeff") for cell in cells]


def _heads(names: list[str], separator: str, following: str) -> bool:
    """Tell whether a line that begins with "#" has headers: the row below has as many cells.

    Commas may be those of two sentences; then a cell of this line is "#", or one below a number.
    """
    cells = _names(following[:_LONGEST_LINE], separator)
    if len(names) < 2 or len(cells) != len(names) or following.startswith("#"):
        return False
    has_number = any(cell and not any(map(str.isalpha, cell)) for cell in cells)
    return has_number or separator == "\t" or names[0] == "#"


def _is(name: str, text_column: str) -> bool:
    return name.lower() == text_column.lower()


def _rows(lines: _Lines, separator: str) -> Iterator[list[str] | RefusalError]:
    """Yield the rows, and what is wrong with those of one line that cannot be read."""
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    while True:
        first = lines.number + 1
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "limit" in str(error):
                sentence = f"A cell in line {first} is too long, or its quote is not closed."
                raise RefusalError(Reason.TOO_LONG, sentence) from error
            if lines.number > first:
                sentence = f"A quote in line {first} is not closed, so what follows is not read."
                raise RefusalError(Reason.BAD_FORMAT, sentence) from error
            yield _repaired(lines.last, separator)


def _repaired(line: str, separator: str) -> list[str] | RefusalError:
    """Return the cells of a line with spaces after quotes, or between tabs with plain quotes."""
    with suppress(csv.Error):
        closed = [_CLOSED.sub('"', line)]
        return next(csv.reader(closed, delimiter=separator, skipinitialspace=True, strict=True))
    if separator in ("\t", _NO_SEPARATOR):
        return next(csv.reader([line], delimiter=separator, quoting=csv.QUOTE_NONE))
    return RefusalError(Reason.BAD_FORMAT, "A quote within it is not doubled, or not closed.")


def _checked(row: list[str], names: list[str], last_text: int) -> list[str] | RefusalError | None:
    """Return a row with a cell for each column; None for a comment, and for an empty line.

    Cells that are missing at the end are empty, but a text must not be the last: it may go on.
    """
    if not row or (row[0].startswith("#") and len(row) != len(names)):
        return None
    if any(row[len(names) :]) or last_text + 1 >= len(row) < len(names):
        sentence = f"It has {len(row)} cells below {len(names)} headers, so a cell may be cut."
        return RefusalError(Reason.BAD_FORMAT, sentence)
    return row


def _fields(names: list[str], row: list[str], text_column: str) -> Fields:
    """Return the cells by the names of their columns; of the same name, texts are joined."""
    fields: Fields = {}
    for name, cell in zip(names, row, strict=False):
        if _is(name, text_column) and cell and fields.get(name):
            fields[name] = f"{fields[name]}\n\n{cell}"
        else:
            fields[name] = fields.get(name) or cell
    return fields


def _table_encoding(file: BinaryIO, limits: ParserLimits) -> str:
    """Return the encoding of a table; with a fallback charset, all of the table is checked."""
    file.seek(0)
    stream = decompress(file, limits.compression, limits.max_expansion)
    start = stream.read(65_536)
    encoding = encoding_of(start)
    if limits.charset is None or encoding != "utf-8":
        return encoding
    chunks = chain([start], iter(partial(stream.read, 1 << 20), b""))
    with suppress(UnicodeDecodeError):
        deque(codecs.iterdecode(chunks, "utf-8"), maxlen=0)
        return encoding
    return limits.charset
