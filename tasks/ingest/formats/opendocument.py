"""OpenDocument texts, spreadsheets and presentations (odt, ods, odp) as Markdown.

Element names are those of OASIS OpenDocument 1.3, part 3. Content that readers do not see is left
out, such as deleted and hidden text, comments and speaker notes, and so are tables of contents,
which repeat the headings.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.names import sensible_title
from tasks.ingest.formats.office import HEADS, join_blocks, markdown_table, opening_heading
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import open_package, parse_entry

_NAMESPACE = "{{urn:oasis:names:tc:opendocument:xmlns:{}:1.0}}".format
_TEXT, _TABLE, _DRAW = _NAMESPACE("text"), _NAMESPACE("table"), _NAMESPACE("drawing")
_STYLE, _FO = _NAMESPACE("style"), _NAMESPACE("xsl-fo-compatible")
_SHOW, _OFFICE = _NAMESPACE("presentation"), _NAMESPACE("office")
_PARAGRAPH, _HEADING = f"{_TEXT}p", f"{_TEXT}h"
_BREAKS = {f"{_TEXT}s": " ", f"{_TEXT}tab": " ", f"{_TEXT}line-break": "\n"}
_INDEXES = ("illustration", "table", "object", "user", "alphabetical")
_UNSEEN = {
    f"{_TEXT}table-of-content", *(f"{_TEXT}{name}-index" for name in _INDEXES),
    f"{_TEXT}bibliography", f"{_TEXT}tracked-changes", f"{_TEXT}hidden-text",
    f"{_TEXT}hidden-paragraph", f"{_TEXT}ruby-text", f"{_TEXT}page-number", f"{_TEXT}page-count",
    f"{_OFFICE}annotation", f"{_OFFICE}forms", f"{_SHOW}notes",
}  # fmt: skip
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_PROPERTIES = {
    "initial-creator": "dc:creator", "creator": "dc:creator", "creation-date": "dc:date",
    "language": "dc:language", "keyword": "dc:subject", "description": "dc:description",
}  # fmt: skip
_MOST_REPEATS = 100  # of a cell with words; a file may claim a million
_DEEPEST_LIST = 8


def parse_opendocument(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the headings, paragraphs, lists and tables of a file, and its metadata.

    Raises `RefusalError` for an encrypted file and for one that has no content.
    """
    package = open_package(file, limits, "an OpenDocument file")
    if any(
        True
        for _ in parse_entry(package, "META-INF/manifest.xml").iterfind(".//{*}encryption-data")
    ):
        raise RefusalError(Reason.ENCRYPTED, "Its text is encrypted.")
    content = parse_entry(package, "content.xml")
    body = content.find(f"{_OFFICE}body")
    if body is None:
        raise RefusalError(Reason.BAD_FORMAT, "It is not an OpenDocument file.")
    reader = _Reader([parse_entry(package, "styles.xml"), content])
    blocks: list[str] = []
    length = 0
    for block in reader.blocks(body):
        blocks.append(block)
        length += len(block)
        if length > 2 * limits.max_text_chars:
            raise RefusalError(Reason.TOO_LONG, "Its text is too long.")
        yield None
    text = join_blocks(blocks)
    elements = parse_entry(package, "meta.xml").iterfind("*/*")
    properties = [(str(e.tag).rpartition("}")[2], e.text or "") for e in elements]
    stated = sensible_title(dict(properties).get("title", ""))
    yield ParsedText(
        # A file made from a template often bears the template's title.
        title=reader.title or stated or opening_heading(text),
        text=text,
        metadata=described((_PROPERTIES[n], v) for n, v in properties if n in _PROPERTIES),
    )


class _Reader:
    """Reads elements as Markdown, knowing which styles are titles, bold, or not shown."""

    def __init__(self, roots: list[Any]) -> None:
        self.title = ""  # the text that the document shows as its title
        self._titles = {"Title"}
        self._bold: set[str] = set()
        self._hidden: set[str] = set()
        for style in (style for root in roots for style in root.iter(f"{_STYLE}style")):
            name = style.get(f"{_STYLE}name", "")
            if style.get(f"{_STYLE}parent-style-name") == "Title":
                self._titles.add(name)
            for words in style.iterfind(f"{_STYLE}text-properties"):
                if words.get(f"{_TEXT}display") == "none":
                    self._hidden.add(name)
                if words.get(f"{_FO}font-weight") == "bold":
                    self._bold.add(name)

    def blocks(self, element: Any) -> Iterator[str]:
        """Yield the blocks within an element, and footnotes after their paragraph."""
        for child in element:
            if self._is_unseen(child):
                continue
            if child.tag in (_PARAGRAPH, _HEADING):
                yield self._paragraph(child)
                yield from self._beside(child)
            elif child.tag == f"{_TEXT}list":
                yield from self._list(child, 0)
            elif child.tag == f"{_TABLE}table":
                yield from self._table(child, named=element.tag == f"{_OFFICE}spreadsheet")
            elif child.get(f"{_SHOW}class") == "title":
                title = one_line(" ".join(self.blocks(child)))
                yield f"## {title}" if title else ""
            else:
                yield from self.blocks(child)

    def _paragraph(self, element: Any) -> str:
        text, style = self._words(element).strip(), element.get(f"{_TEXT}style-name")
        if not text:
            return ""
        if element.tag == _HEADING:
            level = element.get(f"{_TEXT}outline-level", "1")
            return f"{'#' * min(6, int(level) if level.isdecimal() else 1)} {one_line(text)}"
        if style in self._titles:
            self.title = self.title or one_line(text)
            return f"# {one_line(text)}"
        spans = [span for span in element if (span.text or "").strip()]
        plain = (element.text or "").strip() or any((e.tail or "").strip() for e in element)
        bold = bool(spans) and all(e.get(f"{_TEXT}style-name") in self._bold for e in spans)
        is_bold = style in self._bold or (bold and not plain)
        return f"### {text}" if is_bold and HEADS.fullmatch(text) else text

    def _words(self, element: Any) -> str:
        """Return the words of a paragraph, with a reference in place of each footnote."""
        parts = [element.text or ""]
        for child in element:
            if child.tag in _BREAKS:
                parts.append(_BREAKS[child.tag])
            elif child.tag == f"{_TEXT}note":
                parts.append(f"[^{child.get(f'{_TEXT}id')}]")
            elif child.tag.startswith(_TEXT) and not self._is_unseen(child):
                parts.append(self._words(child))
            parts.append(child.tail or "")
        return "".join(parts)

    def _beside(self, element: Any) -> Iterator[str]:
        """Yield the contents of a paragraph's footnotes and boxes."""
        for child in element:
            if self._is_unseen(child):
                continue
            if child.tag == f"{_TEXT}note":
                words = one_line(" ".join(map(self._words, child.iter(_PARAGRAPH))))
                yield f"[^{child.get(f'{_TEXT}id')}]: {words}"
            elif child.tag.startswith(_DRAW):
                yield from self.blocks(child)
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

    def _table(self, element: Any, *, named: bool) -> Iterator[str]:
        """Yield a table; one of a single row or column is a box, and its cells are read as text."""
        rows = [_cells(row) for row in _rows(element)]
        nested = any(True for row in rows for cell in row for _ in cell.iter(f"{_TABLE}table"))
        if named and rows:
            yield f"## {one_line(element.get(f'{_TABLE}name', ''))}"
        is_box = len(rows) == 1 or all(len(row) < 2 for row in rows)
        if nested or (is_box and not named):
            for cell in (cell for row in rows for cell in row):
                yield from self.blocks(cell)
        else:
            yield markdown_table(map(self._words_of_cell, row) for row in rows)

    def _words_of_cell(self, cell: Any) -> str:
        parts = (part for part in cell.iter() if part.tag in (_PARAGRAPH, _HEADING))
        return " ".join(self._words(part) for part in parts if not self._is_unseen(part))

    def _is_unseen(self, element: Any) -> bool:
        return element.tag in _UNSEEN or element.get(f"{_TEXT}style-name") in self._hidden


def _rows(element: Any) -> Iterator[Any]:
    """Yield the rows of a table, grouped ones included, but not the rows of nested tables."""
    for child in element:
        if child.tag == f"{_TABLE}table-row":
            yield child
        elif child.tag.startswith(f"{_TABLE}table-"):
            yield from _rows(child)


def _cells(row: Any) -> list[Any]:
    """Return the cells of a row up to the last that holds anything, each as often as it repeats."""
    cells: list[Any] = []
    for cell in row:
        if cell.tag in _CELLS:
            times = cell.get(f"{_TABLE}number-columns-repeated", "1")
            cells += [cell] * (min(int(times), _MOST_REPEATS) if times.isdecimal() else 1)
    while cells and not "".join(cells[-1].itertext()).strip():
        cells.pop()
    return cells
