"""OpenDocument texts, spreadsheets and presentations (odt, ods, odp, also flat) as Markdown.

Element names are those of OASIS OpenDocument 1.3, part 3. Content that readers do not see is left
out, such as deleted, struck and hidden text, comments and speaker notes, and so are tables of
contents, which repeat the headings.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from tasks.ingest.formats.formulas import linear
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import Cell, one_line, table
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.names import sensible_title, title_of_name
from tasks.ingest.formats.office import HEADS, join_blocks, opening_heading
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
from tasks.ingest.formats.slide_ground import Box, Ground
from tasks.ingest.formats.symbol_fonts import in_unicode
from tasks.ingest.formats.unpacking import open_package, parse_entry, parse_xml, read_whole
from tasks.ingest.formats.xml_elements import (
    Settings,
    local_name,
    number,
    settings_of,
    with_bases,
)

_NAMESPACE = "{{urn:oasis:names:tc:opendocument:xmlns:{}:1.0}}".format
_TEXT, _TABLE, _DRAW = _NAMESPACE("text"), _NAMESPACE("table"), _NAMESPACE("drawing")
_STYLE, _SVG = _NAMESPACE("style"), _NAMESPACE("svg-compatible")
_SHOW, _OFFICE = _NAMESPACE("presentation"), _NAMESPACE("office")
_PARAGRAPH, _HEADING = f"{_TEXT}p", f"{_TEXT}h"
_LINK = "{http://www.w3.org/1999/xlink}href"
_BREAKS = {f"{_TEXT}s": " ", f"{_TEXT}tab": " ", f"{_TEXT}line-break": "\n"}
_INDEXES = ("illustration", "table", "object", "user", "alphabetical")
_UNSEEN = {
    f"{_TEXT}table-of-content", *(f"{_TEXT}{name}-index" for name in _INDEXES),
    f"{_TEXT}bibliography", f"{_TEXT}tracked-changes", f"{_TEXT}hidden-text",
    f"{_TEXT}hidden-paragraph", f"{_TEXT}ruby-text", f"{_TEXT}page-number", f"{_TEXT}page-count",
    f"{_OFFICE}annotation", f"{_OFFICE}forms", f"{_SHOW}notes",
}  # fmt: skip
_FURNITURE = ("date-time", "footer", "page-number")  # of slides
_NOT_DISPLAYED = {"display": ("none", "false"), "visibility": ("hidden", "collapse", "filter")}
_STRUCK = ("text-line-through-style", "text-line-through-type")
_HEIGHTS = {"super": 9, "sub": -9}
_SETTINGS = (
    "paragraph-properties",
    "text-properties",
    "drawing-page-properties",
    "graphic-properties",
    "table-properties",
)
_WHITE = "#ffffff"
_LENGTH = re.compile(r"(-?\d+(?:\.\d+)?)(mm|cm|in|pt|pc|px)")
_POINTS = {"mm": 72 / 25.4, "cm": 72 / 2.54, "in": 72, "pt": 1, "pc": 12, "px": 0.75}
_UNFILLED = {"frame", "line", "connector"}  # unless their style says otherwise
_PROPERTIES = {
    "initial-creator": "dc:creator", "creator": "dc:creator", "creation-date": "dc:date",
    "language": "dc:language", "keyword": "dc:subject", "description": "dc:description",
}  # fmt: skip
_MOST_REPEATS = 100  # of a cell with words; a file may claim a million
_MOST_COLUMNS = 20_000
_DEEPEST_LIST = 8


def parse_opendocument(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the headings, paragraphs, lists and tables of a file, and its metadata.

    Raises `RefusalError` for an encrypted file and for one that has no content.
    """
    entry = _entries(file, limits)
    if next(entry("META-INF/manifest.xml").iter("{*}encryption-data"), None) is not None:
        raise RefusalError(Reason.ENCRYPTED, "Its text is encrypted.")
    body = entry("content.xml").find(f"{_OFFICE}body")
    if body is None:
        raise RefusalError(Reason.BAD_FORMAT, "It is not an OpenDocument file.")
    reader = _Reader(entry)
    blocks: list[str] = []
    length = 0
    for block in reader.blocks(body):
        blocks.append(block)
        length += len(block)
        if length > 2 * limits.max_text_chars:
            raise RefusalError(Reason.TOO_LONG, "Its text is too long.")
        yield None
    text = join_blocks(blocks)
    elements = entry("meta.xml").iterfind(f"{_OFFICE}meta/*")
    properties = [(local_name(element), element.text or "") for element in elements]
    stated = sensible_title(dict(properties).get("title", ""))
    is_sheets = body.find(f"{_OFFICE}spreadsheet") is not None  # the name of a sheet is no title
    opening = title_of_name(limits.name) if is_sheets else opening_heading(text)
    yield ParsedText(
        # A file made from a template often bears the template's title.
        title=reader.title or stated or opening,
        text=text,
        metadata=described((_PROPERTIES[n], v) for n, v in properties if n in _PROPERTIES),
    )


def _entries(file: BinaryIO, limits: ParserLimits) -> Callable[[str], Any]:
    """Return a function from the path of an entry to its root; a flat file is all its entries."""
    data = read_whole(file, limits)
    if data.lstrip(b"\xef\xbb\xbf \r\n").startswith((b"<?xml", b"<office:")):
        root = parse_xml(data, "It")
        return lambda path: root
    file.seek(0)
    package = open_package(file, limits, "an OpenDocument file")
    return lambda path: parse_entry(package, path)


class _Reader:
    """Reads elements as Markdown, knowing what their styles make of them."""

    def __init__(self, entry: Callable[[str], Any]) -> None:
        self.title = ""  # the text that the document shows as its title
        self._entry = entry
        pages = entry("styles.xml").iter(f"{_STYLE}master-page", f"{_STYLE}page-layout")
        self._named = {page.get(f"{_STYLE}name"): page for page in pages}
        own: dict[str, Settings] = {}
        for name in ("styles.xml", "content.xml"):
            for style in entry(name).iter(f"{_STYLE}style"):
                settings = {"base": style.get(f"{_STYLE}parent-style-name", "")}
                for properties in _SETTINGS:
                    settings |= settings_of(style, properties)
                own[style.get(f"{_STYLE}name", "")] = settings
        self._styles = with_bases(own)
        self._ground = _WHITE  # the colour behind words; empty if it may be any
        self._slide: Ground | None = None

    def blocks(self, element: Any) -> Iterator[str]:
        """Yield the blocks within an element, and footnotes after their paragraph."""
        for child in element:
            box = _box(child)
            if self._is_unseen(child) or (self._slide and self._slide.lies_beside(box)):
                continue
            if self._slide and box:
                self._ground = self._slide.colour_behind(box)
            if child.tag in (_PARAGRAPH, _HEADING):
                yield self._paragraph(child)
                yield from self._beside(child)
            elif child.tag == f"{_TEXT}list":
                yield from self._list(child, 0)
            elif child.tag == f"{_TABLE}table":
                is_sheet = element.tag == f"{_OFFICE}spreadsheet"
                blocks = self._sheet(child) if is_sheet else self._table(child)
                yield from self._coloured(blocks)
            elif child.tag == f"{_DRAW}object":
                yield from self._embedded(child)
            elif child.get(f"{_SHOW}class") == "title":
                title = one_line(" ".join(self.blocks(child)))
                yield f"## {title}" if title else ""
            elif child.tag == f"{_DRAW}page":
                outside, self._slide = self._slide, self._ground_of(child)
                yield from self._coloured(self.blocks(child))
                self._slide = outside
            else:
                yield from self.blocks(child)

    def _coloured(self, blocks: Iterator[str]) -> Iterator[str]:
        """Yield blocks of a table, a box or a slide, whose ground may have any colour."""
        outside, self._ground = self._ground, ""
        yield from blocks
        self._ground = outside

    def _ground_of(self, page: Any) -> Ground:
        """Return the ground of a slide: its colour, its size, and what is painted on it."""
        master = self._named.get(page.get(f"{_DRAW}master-page-name"))
        pages = [page] if master is None else [page, master]
        styles = [
            style for one in pages if (style := self._style_of(one)).get("fill", "none") != "none"
        ]
        style = styles[0] if styles else {"fill": "solid", "fill-color": _WHITE}
        colour = style.get("fill-color", "").lower() if style["fill"] == "solid" else ""
        shapes = (shape for one in pages for shape in self._drawn_on(one))
        painted = [_box(shape) for shape in shapes if self._is_painted(shape, colour)]
        layout = self._named.get(pages[-1].get(f"{_STYLE}page-layout-name"))
        size = {} if layout is None else settings_of(layout, "page-layout-properties")
        right, bottom = (_points(size.get(f"page-{way}", "")) for way in ("width", "height"))
        return Ground(colour, Box(0, 0, right, bottom) if right and bottom else None, painted)

    def _drawn_on(self, page: Any) -> Iterator[Any]:
        """Yield the shapes of a slide, also those in groups."""
        for shape in page.iterchildren(f"{_DRAW}*"):
            yield from self._drawn_on(shape) if shape.tag == f"{_DRAW}g" else [shape]

    def _style_of(self, element: Any) -> Settings:
        names = (element.get(f"{space}style-name") for space in (_SHOW, _DRAW))
        return next((self._styles[name] for name in names if name in self._styles), {})

    def _is_painted(self, shape: Any, ground: str) -> bool:
        """Tell whether a shape may have another colour than the slide."""
        if shape.find(f"{_DRAW}image") is not None or shape.find(f"{_TABLE}table") is not None:
            return True
        style = self._style_of(shape)
        fill = style.get("fill", "none" if local_name(shape) in _UNFILLED else "any")
        return fill != "none" and (fill != "solid" or style.get("fill-color", "").lower() != ground)

    def _content(self, element: Any) -> Any:
        """Return the root of an embedded object, which is an entry or stands in the element."""
        path = (element.get(_LINK) or "").removeprefix("./")
        return self._entry(f"{path}/content.xml") if path else next(iter(element), element)

    def _embedded(self, element: Any) -> Iterator[str]:
        """Yield an embedded document, the title and the data of a chart, or a formula."""
        content = self._content(element)
        if local_name(content) == "math":
            yield linear(content)
        for body in content.iterchildren(f"{_OFFICE}body"):
            yield from self.blocks(body)

    def _formula(self, frame: Any) -> str:
        """Return the formula in a frame as text; an empty string if it holds something else."""
        contents = map(self._content, frame.iterchildren(f"{_DRAW}object"))
        return next((linear(content) for content in contents if local_name(content) == "math"), "")

    def _paragraph(self, element: Any) -> str:
        runs = [*self._runs(element, {})]
        text = joined(runs).strip()
        if not text:
            return ""
        if element.tag == _HEADING:
            level = number(element.get(f"{_TEXT}outline-level", "")) or 1
            return f"{'#' * min(6, level)} {one_line(text)}"
        style = element.get(f"{_TEXT}style-name")
        if "Title" in (style, self._styles.get(style, {}).get("base")):
            self.title = self.title or one_line(text)
            return f"# {one_line(text)}"
        is_bold = all(run.is_bold for run in runs if run.words.strip())
        return f"### {text}" if is_bold and HEADS.fullmatch(text) else text

    def _words(self, element: Any) -> str:
        return joined(self._runs(element, {})).strip()

    def _runs(self, element: Any, around: Settings) -> Iterator[Run]:
        """Yield the runs of a paragraph, with a reference in place of each footnote."""
        settings = around | self._styles.get(element.get(f"{_TEXT}style-name"), {})
        yield self._run(element.text, settings)
        for child in element:
            if child.tag in _BREAKS:
                yield self._run(_BREAKS[child.tag], settings)
            elif child.tag == f"{_TEXT}note":
                yield self._run(f"[^{child.get(f'{_TEXT}id')}]", settings)
            elif child.tag.startswith(_DRAW):
                yield self._run(self._formula(child), settings)
            elif not self._is_unseen(child):
                yield from self._runs(child, settings)
            yield self._run(child.tail, settings)

    def _run(self, words: str | None, settings: Settings) -> Run:
        """Return words as their settings show them: not at all if they are struck or hidden."""
        is_as_ground = settings.get("color", "").lower() == self._ground != ""
        is_struck = any(settings.get(name, "none") != "none" for name in _STRUCK)
        if (
            is_struck
            or _is_hidden(settings)
            or (is_as_ground and "background-color" not in settings)
        ):
            return Run("")
        position = settings.get("text-position", "").partition(" ")[0]
        height = _HEIGHTS.get(position, number(position))
        words = in_unicode(words or "", settings.get("font-name", ""))
        return Run(words, height, settings.get("font-weight") == "bold")

    def _beside(self, element: Any) -> Iterator[str]:
        """Yield the contents of a paragraph's footnotes and boxes."""
        for child in element:
            if self._is_unseen(child):
                continue
            if child.tag == f"{_TEXT}note":
                words = one_line(" ".join(map(self._words, child.iter(_PARAGRAPH))))
                yield f"[^{child.get(f'{_TEXT}id')}]: {words}"
            elif child.tag.startswith(_DRAW) and not self._formula(child):
                yield from self._coloured(self.blocks(child))
            else:
                yield from self._beside(child)

    def _list(self, element: Any, depth: int) -> Iterator[str]:
        indent = "  " * min(depth, _DEEPEST_LIST)
        for item in element:
            mark = "- "
            for child in item:
                if child.tag == f"{_TEXT}list":
                    yield from self._list(child, depth + 1)
                elif child.tag == _PARAGRAPH and (text := self._words(child).strip()):
                    yield f"{indent}{mark}{one_line(text)}"
                    yield from self._beside(child)
                    mark = "  "
                elif child.tag == _HEADING:  # a numbered one
                    yield self._paragraph(child)

    def _sheet(self, element: Any) -> Iterator[str]:
        """Yield a sheet's name, its titles, tables and notes, and what is drawn on it."""
        grid: Grid = {}
        merged = []
        number_of_row = 0
        for row in _rows(element):
            cells: dict[int, SheetCell] = {}
            column = 0
            for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                words = self._shown(cell)
                if words and cell.tag == f"{_TABLE}table-cell":
                    width, height = _span(cell, "columns"), _span(cell, "rows")
                    bottom, right = number_of_row + height - 1, column + width - 1
                    if (width, height) != (1, 1):
                        merged.append((number_of_row, column, bottom, right))
                    for place in range(column, column + min(_times(cell), _MOST_REPEATS)):
                        cells[place] = words._replace()  # each is a cell of its own
                column += _times(cell)
            repeats = _times(row, "rows")
            for place in range(min(repeats, _MOST_REPEATS) if cells else 0):
                grid[number_of_row + place] = dict(cells)
            number_of_row += repeats
        for span in merged:
            spread(grid, *span)
        hidden = {column for column, is_hidden in enumerate(_hidden_columns(element)) if is_hidden}
        blocks = [*sheet_blocks(without(grid, set(), hidden))]
        blocks += [words for frame in element.iter(f"{_DRAW}frame") for words in self.blocks(frame)]
        if any(blocks):
            yield f"## {one_line(element.get(f'{_TABLE}name', ''))}"
            yield from blocks

    def _shown(self, cell: Any) -> SheetCell | None:
        """Return what a cell of a sheet shows; None if that is nothing, or an error."""
        words = self._cell(cell).words.strip()
        is_text = cell.get(f"{_OFFICE}value-type", "string") == "string"
        style = self._styles.get(cell.get(f"{_TABLE}style-name"), {})
        is_bold = style.get("font-weight") == "bold"
        struck = any(style.get(name, "none") != "none" for name in _STRUCK)
        seen = words and not struck and not is_error(words)
        return SheetCell(words, is_text, is_bold, is_bold) if seen else None

    def _table(self, element: Any) -> Iterator[str]:
        """Yield a table; one of a single row or column is a box, and its cells are read as text."""
        hidden = _hidden_columns(element)
        rows = [_cells(row, hidden) for row in _rows(element)]
        cells = [cell for row in rows for cell in row]
        is_box = len(rows) == 1 or all(len(row) < 2 for row in rows)
        nested = any(True for cell in cells for _ in cell.iter(f"{_TABLE}table"))
        if nested or is_box:
            for cell in cells:
                yield from self.blocks(cell)
        else:
            yield table((map(self._cell, row) for row in rows), is_headed=True)

    def _cell(self, cell: Any) -> Cell:
        parts = (part for part in cell.iter(_PARAGRAPH, _HEADING) if not self._is_unseen(part))
        words = " ".join(map(self._words, parts))
        return Cell(words, columns=_span(cell, "columns"), rows=_span(cell, "rows"))

    def _is_unseen(self, element: Any) -> bool:
        is_furniture = element.get(f"{_SHOW}class") in _FURNITURE
        if element.tag in _UNSEEN or is_furniture or _is_off(element):
            return True
        names = (element.get(f"{space}style-name") for space in (_TEXT, _DRAW, _TABLE))
        return any(_is_hidden(self._styles.get(name, {})) for name in names)


def _points(length: str) -> float:
    stated = _LENGTH.fullmatch(length)
    return float(stated[1]) * _POINTS[stated[2]] if stated else 0.0


def _box(shape: Any) -> Box | None:
    """Return where a shape lies in points, if it says so and is not turned."""
    if not shape.get(f"{_SVG}width") or shape.get(f"{_DRAW}transform"):
        return None
    left, top, width, height = (
        _points(shape.get(f"{_SVG}{name}", "")) for name in ("x", "y", "width", "height")
    )
    return Box(left, top, left + width, top + height)


def _is_off(element: Any) -> bool:
    """Tell whether an element's own attributes hide it."""
    own = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
    return _is_hidden(own) or own.get("is-hidden") == "true"


def _is_hidden(settings: Settings) -> bool:
    return any(settings.get(name) in values for name, values in _NOT_DISPLAYED.items())


def _hidden_columns(table: Any) -> list[bool]:
    columns = table.iter(f"{_TABLE}table-column")
    return [is_off for column in columns for is_off in [_is_off(column)] * _times(column)]


def _rows(element: Any) -> Iterator[Any]:
    """Yield the rows that are shown, grouped ones included, but none of nested tables."""
    for child in element:
        if child.tag == f"{_TABLE}table-row" and not _is_off(child):
            yield child
        elif child.tag.startswith(f"{_TABLE}table-") and not _is_off(child):
            yield from _rows(child)


def _cells(row: Any, hidden: list[bool]) -> list[Any]:
    """Return the cells of shown columns up to the last that holds anything, as they repeat.

    A cell that another one covers is not among them.
    """
    cells: list[Any] = []
    column = 0
    for cell in row:
        times = min(_times(cell), _MOST_REPEATS)
        shown = [at for at in range(column, column + times) if not any(hidden[at : at + 1])]
        column += _times(cell)
        if cell.tag == f"{_TABLE}table-cell":
            cells += [cell] * len(shown)
    while cells and not "".join(cells[-1].itertext()).strip():
        cells.pop()
    return cells


def _span(cell: Any, way: str) -> int:
    return number(cell.get(f"{_TABLE}number-{way}-spanned", "")) or 1


def _times(element: Any, way: str = "columns") -> int:
    times = number(element.get(f"{_TABLE}number-{way}-repeated", ""))
    return min(max(times, 1), _MOST_COLUMNS)
