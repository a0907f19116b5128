"""Excel workbooks (xlsx, templates, with macros or without) as Markdown: what the sheets show.

Elements are those of SpreadsheetML (ECMA-376, part 1, chapter 18); no formula and no macro is run.
Hidden sheets, rows and columns, values that a format or a white font hides, struck words and errors
are left out.
"""

import math
import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any, BinaryIO, NamedTuple

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.names import title_of_name
from tasks.ingest.formats.number_formats import BUILT_IN, displayed, hides_words
from tasks.ingest.formats.office import comment_by
from tasks.ingest.formats.open_xml import OpenXml
from tasks.ingest.formats.open_xml_text import TextReader
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.raised import Run, joined
from tasks.ingest.formats.sheet_tables import (
    Grid,
    SheetCell,
    is_error,
    sheet_blocks,
    spread,
    without,
)
from tasks.ingest.formats.xml_elements import OFF, is_on, local_name, settings_of

_ROWS_AT_ONCE = 100  # between two heartbeats
_COLUMNS = 16_384  # of a sheet
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_RAISED = {"superscript": 1, "subscript": -1}
_WHITE = ({"rgb": "FFFFFFFF"}, {"rgb": "00FFFFFF"}, {"theme": "0"}, {"indexed": "9"})
_PLAIN = (None, "none")  # patterns of a fill
_COLOURING = frozenset({"conditionalFormatting", "tablePart"})  # beside the styles of cells
_THREADED = re.compile(r"\A\[Threaded comment\].*?\n\s*Comment:", re.DOTALL)  # for old programs
_START = datetime(1899, 12, 30)


class _Style(NamedTuple):
    """What the style of a cell says of its words."""

    code: str = "General"  # its number format
    is_bold: bool = False
    is_struck: bool = False
    is_white: bool = False  # on no fill
    fill: str = "0"


_NO_STYLE = _Style()


class _Book(NamedTuple):
    """What all sheets of a workbook share."""

    package: OpenXml
    strings: list[str]
    styles: dict[str, _Style]
    since_1904: bool


def parse_workbook(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the sheets as titles, tables, charts and comments under their names, in order."""
    package = OpenXml(file, limits, "workbook", "an Excel workbook (xlsx)")
    main = package.part(package.main)
    strings = package.elements(package.related(package.main, "sharedStrings"), "si")
    since_1904 = any(e.get("date1904", "0") not in OFF for e in main.iterfind("{*}workbookPr"))
    book = _Book(package, [*map(_words, strings)], _styles(package), since_1904)
    blocks: list[str] = []
    for listed in main.iterfind("{*}sheets/{*}sheet"):
        if listed.get("state", "visible") != "visible":
            continue
        kinds = ("worksheet", "chartsheet")
        path = next(filter(None, (package.named_by(listed, package.main, k) for k in kinds)), "")
        sheet = _Sheet(book)
        for number, element in enumerate(package.elements(path, *_Sheet.ELEMENTS)):
            sheet.add(element)
            if sheet.length > 2 * limits.max_text_chars:
                raise RefusalError(Reason.TOO_LONG, "Its text is too long.")
            if number % _ROWS_AT_ONCE == 0:
                yield None
        around = (*_drawn(package, path), *_comments(package, path))
        words = list(filter(None, (*sheet_blocks(sheet.visible()), *around)))
        if words:
            blocks += [f"## {one_line(listed.get('name', ''))}", *words]
    title, metadata = package.properties()
    # The name of a sheet is no title.
    title = title or title_of_name(limits.name)
    yield ParsedText(title=title, text="\n\n".join(blocks), metadata=metadata)


class _Sheet:
    """The cells of a sheet, collected element by element, with what hides or merges them."""

    ELEMENTS = ("col", "row", "mergeCell", *_COLOURING)

    def __init__(self, book: _Book) -> None:
        self.length = 0  # characters of all cells
        self._book = book
        self._grid: Grid = {}
        self._row = 0
        self._white: list[tuple[int, int]] = []
        self._hidden_rows: set[int] = set()
        self._hidden_columns: set[int] = set()
        self._merged: list[list[int]] = []

    def add(self, element: Any) -> None:
        """Add a row, or what the sheet says of columns, merged cells and colours."""
        kind = local_name(element)
        if kind == "row":
            self._add_row(element)
        elif kind == "col" and _is_hidden(element, "width"):
            first, last = int(element.get("min", "1")), int(element.get("max", _COLUMNS))
            self._hidden_columns.update(range(first, min(last, _COLUMNS) + 1))
        elif kind == "mergeCell":
            places = _REFERENCE.findall(element.get("ref", ""))
            self._merged.append(
                [n for letters, row in places for n in (int(row), _column(letters))]
            )
        elif kind in _COLOURING:
            self._white.clear()

    def _add_row(self, row: Any) -> None:
        self._row = int(row.get("r") or self._row + 1)
        if _is_hidden(row, "ht"):
            self._hidden_rows.add(self._row)
        cells = self._grid.setdefault(self._row, {})
        column = 0
        for cell in row.iterchildren("{*}c"):
            place = _REFERENCE.fullmatch(cell.get("r", ""))
            column = _column(place[1]) if place else column + 1
            if not len(cell):  # most cells of some sheets are empty
                continue
            style = self._book.styles.get(cell.get("s", "0"), _NO_STYLE)
            words, is_text = _value(cell, style.code, self._book)
            if (words := words.strip()) and not style.is_struck:
                cells[column] = SheetCell(
                    words, is_text, (style.is_bold, style.fill), style.is_bold
                )
                self.length += len(words)
                if style.is_white:
                    self._white.append((self._row, column))

    def visible(self) -> Grid:
        """Return the cells that are seen, with rows and columns numbered without hidden ones."""
        for row, column in self._white:
            self._grid[row].pop(column, None)
        for top, left, bottom, right in (merged for merged in self._merged if len(merged) == 4):
            spread(self._grid, top, left, bottom, right)
        return without(self._grid, self._hidden_rows, self._hidden_columns)


def _is_hidden(element: Any, size: str) -> bool:
    return element.get("hidden", "0") not in OFF or element.get(size) == "0"


@cache
def _column(letters: str) -> int:
    """Return the number of a column from 1, by its letters: A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _value(cell: Any, code: str, book: _Book) -> tuple[str, bool]:
    """Return the words that a cell shows, and whether they are a text; errors are empty."""
    kind, value = cell.get("t", "n"), ""
    for part in cell:
        if part.tag.endswith("}v"):
            value = value or part.text or ""
        elif part.tag.endswith("}is"):
            value = value or _words(part)
    if kind == "s":
        value = (
            book.strings[int(value)] if value.isdecimal() and int(value) < len(book.strings) else ""
        )
    if kind == "e" or is_error(value):
        return "", False
    if kind == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(value, value), False
    if kind == "d" and code == "General":
        return value.removesuffix("T00:00:00").removesuffix("Z"), False
    if kind in ("n", "d") and value:
        number = _number(value, kind)
        return (
            value if number is None else displayed(number, code, since_1904=book.since_1904)
        ), False
    words = _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), value)
    return ("" if hides_words(code) else words), True


def _number(value: str, kind: str) -> float | None:
    """Return the number in a cell, of a date that is written out the days; None if it is none."""
    try:
        if kind == "d":
            moment = datetime.fromisoformat(value).replace(tzinfo=None)
            return (moment - _START).total_seconds() / 86_400
        return number if math.isfinite(number := float(value)) else None
    except ValueError:
        return None


def _words(text: Any) -> str:
    """Return a text with its runs: raised digits are marked; readings and struck words left out."""
    runs = []
    for part in text.iterchildren("{*}t", "{*}r"):
        settings = settings_of(part, "rPr")
        words = part.text if local_name(part) == "t" else part.findtext("{*}t")
        if not is_on(settings, "strike"):
            runs.append(Run(words or "", _RAISED.get(settings.get("vertAlign", ""), 0)))
    return joined(runs)


def _styles(package: OpenXml) -> dict[str, _Style]:
    """Return the styles of cells by their numbers."""
    styles = package.part(package.related(package.main, "styles"))
    codes = {str(number): code for number, code in BUILT_IN.items()}
    for stated in styles.iterfind("{*}numFmts/{*}numFmt"):
        codes[stated.get("numFmtId", "")] = stated.get("formatCode", "")
    fonts = [_children(font) for font in styles.iterfind("{*}fonts/{*}font")]
    fills = [_children(fill) for fill in styles.iterfind("{*}fills/{*}fill")]
    by_number = {}
    for number, style in enumerate(styles.iterfind("{*}cellXfs/{*}xf")):
        font, fill = (
            some[int(place)]
            if (place := style.get(of, "0")).isdecimal() and int(place) < len(some)
            else {}
            for of, some in (("fontId", fonts), ("fillId", fills))
        )
        bold, struck = (
            font.get(name, {"val": "0"}).get("val") not in OFF for name in ("b", "strike")
        )
        by_number[str(number)] = _Style(
            codes.get(style.get("numFmtId", "0"), "General"),
            bold,
            struck,
            font.get("color") in _WHITE
            and fill.get("patternFill", {}).get("patternType") in _PLAIN,
            style.get("fillId", "0"),
        )
    return by_number


def _children(element: Any) -> dict[str, dict[str, str]]:
    """Return the attributes of an element's children by their names."""
    return {local_name(child): dict(child.attrib) for child in element}


def _drawn(package: OpenXml, path: str) -> Iterator[str]:
    """Yield the text boxes, charts and diagrams that lie on a sheet."""
    drawing = package.related(path, "drawing")
    if drawing:
        yield from TextReader(package, drawing, {}).draw(package.part(drawing))


def _comments(package: OpenXml, path: str) -> Iterator[str]:
    """Yield the comments on a sheet's cells, each below the name of who wrote it."""
    comments = package.part(package.related(path, "comments"))
    stated = enumerate(comments.iterfind("{*}authors/{*}author"))
    authors = {str(number): author.text or "" for number, author in stated}
    for comment in comments.iterfind("{*}commentList/{*}comment"):
        author = authors.get(comment.get("authorId", ""), "")
        for text in comment.iterchildren("{*}text"):
            words = _THREADED.sub("", _words(text)).strip()
            yield comment_by("" if author.startswith("tc=") else author) if words else ""
            yield words
