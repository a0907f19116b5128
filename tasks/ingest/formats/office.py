"""Office documents (docx, pptx, xlsx) as Markdown: the visible parts only."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from typing import Any, BinaryIO

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.metadata import Metadata, described
from tasks.ingest.formats.names import sensible_title, title_of_name
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import open_package
from tasks.ingest.prose import line_of_words

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_UNSEEN = {f"{_WORD}del", f"{_WORD}moveFrom"}
_ROW = f"{_WORD}tr"
_BOX = f"{_WORD}txbxContent"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_CORE_PROPERTIES = (
    "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
)
_BULLET = re.compile(r"(?m)^[•●▪■◦‣⁃·\uf0b7\uf0a7\uf0d8\uf076\uf0fc][ \t]*(?=\S)")
HEADS = re.compile(r"[^\W_][^\n]{1,80}[^\s.;:：,!]")  # a text that may be a heading
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_PROPERTIES = {
    "author": "author", "creator": "author", "created": "date", "modified": "modified",
    "keywords": "tags", "category": "tags", "language": "language", "comments": "description",
    "description": "description",
}  # fmt: skip
_NOBODY = ("python-docx", "openpyxl", "PowerPoint Presentation", None, "")
_SPOKEN = [f"{_WORD}{name}" for name in ("t", "tab", "br", "cr", "footnoteReference")]
_BREAKS = {"tab": " "}
_DEEPEST_LIST = 8
_DEEPEST = 20  # groups of shapes within groups
_CELLS_AT_ONCE = 10_000  # cells, empty or not, between two heartbeats
_MOST_CELLS = 20_000_000


def parse_word(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the document's paragraphs, headings, lists and tables; deleted text is left out."""
    import docx

    document = docx.Document(open_package(file, limits, "a Word document (docx)").fp)
    text = join_blocks([*_blocks(document.iter_inner_content()), *_footnotes(document)])
    properties = _core_properties(document.part.package)
    yield ParsedText(
        title=_title(properties, text),
        text=text,
        metadata=_properties(properties),
    )


def parse_slides(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the slides' titles, texts and tables, in order."""
    import pptx

    show = pptx.Presentation(open_package(file, limits, "a PowerPoint presentation (pptx)").fp)
    blocks: list[str] = []
    for slide in show.slides:
        if slide.element.get("show") not in ("0", "false"):
            title = slide.shapes.title
            blocks += _shapes(slide.shapes, None if title is None else title.shape_id, 0)
        yield None
    text = join_blocks(blocks)
    properties = _core_properties(show.part.package)
    yield ParsedText(
        title=_title(properties, text),
        text=text,
        metadata=_properties(properties),
    )


def parse_workbook(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the sheets as tables under their names; a formula shows its last value."""
    import openpyxl

    package = open_package(file, limits, "an Excel workbook (xlsx)")
    book = openpyxl.load_workbook(package.fp, read_only=True, data_only=True, keep_links=False)
    blocks: list[str] = []
    length = cells = 0
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        sheet.reset_dimensions()  # the file may claim any dimensions
        lines: list[str] = []
        for row in sheet.iter_rows(values_only=True):
            previous, cells = cells, cells + len(row) + 1
            if cells > _MOST_CELLS:
                raise RefusalError(Reason.TOO_LONG, f"It has more than {_MOST_CELLS:,} cells.")
            if previous // _CELLS_AT_ONCE < cells // _CELLS_AT_ONCE:
                yield None
            if line := _row(_used_cells(row)):
                lines += [line] if lines else [line, _rule(line)]
                length += len(line)
            if length > 2 * limits.max_text_chars:
                raise RefusalError(Reason.TOO_LONG, "Its text is too long.")
        if lines:
            blocks += [f"## {one_line(sheet.title)}", "\n".join(lines)]
    yield ParsedText(
        # The name of a sheet is no title.
        title=sensible_title(book.properties.title or "") or title_of_name(limits.name),
        text="\n\n".join(blocks),
        metadata=_properties(book.properties),
    )


def _core_properties(package: Any) -> Any:
    """Return a package's core properties, None where the library would invent them."""
    try:
        package.part_related_by(_CORE_PROPERTIES)
    except KeyError:
        return None
    return package.core_properties


def _title(core: Any, text: str) -> str:
    return sensible_title(getattr(core, "title", None) or "") or opening_heading(text)


def _properties(core: Any) -> Metadata:
    """Return a file's core properties, without the placeholders that libraries write."""
    fields = ((common, getattr(core, name, None)) for name, common in _PROPERTIES.items())
    return described(
        (name, value)
        for name, value in fields
        if value not in _NOBODY and not str(value).startswith("generated by")
    )


def _shapes(shapes: Any, title_id: int | None, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        raise RefusalError(Reason.TOO_DEEP, "Its shapes are nested too deeply.")
    for shape in shapes:
        if shape._element.xpath("./*[1]/p:cNvPr/@hidden") in (["1"], ["true"]):
            continue
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes, title_id, depth + 1)
        elif getattr(shape, "has_table", False):
            yield markdown_table((cell.text for cell in row.cells) for row in shape.table.rows)
        elif shape.has_text_frame:
            text = shape.text_frame.text.strip().replace("\n", "\n\n").replace("\v", "\n")
            yield f"## {one_line(text)}" if text and shape.shape_id == title_id else text


def _blocks(parts: Iterable[Any]) -> Iterator[str]:
    """Yield the paragraphs and tables; after a paragraph, the contents of its text boxes."""
    from docx.table import Table, _Cell

    for part in parts:
        if not isinstance(part, Table):
            yield _paragraph(part)
            for box in part._p.iter(_BOX):
                run = next(box.iterancestors(f"{_WORD}r"))
                if next(box.iterancestors(_FALLBACK), None) is None and _is_seen(run[-1], part._p):
                    yield from map(_words, box.iterchildren(f"{_WORD}p"))
            continue
        rows = [list(row.iterchildren(f"{_WORD}tc")) for row in part._tbl.iterchildren(_ROW)]
        nested = part._tbl.find(f".//{_WORD}tc//{_WORD}tbl") is not None
        if nested or len(rows) == 1 or all(len(row) < 2 for row in rows):  # a box, or columns
            for cell in (cell for row in rows for cell in row):
                yield from _blocks(_Cell(cell, part).iter_inner_content())
        else:
            yield markdown_table(map(_words_of_cell, row) for row in rows)


def _paragraph(paragraph: Any) -> str:
    text = _words(paragraph._p)
    style = (paragraph.style.name if paragraph.style is not None else "") or ""
    if not text or style.lower().startswith("toc "):
        return ""
    heading = _HEADING.match(style)
    if heading or style == "Title":
        return f"{'#' * (min(int(heading[1]), 6) if heading else 1)} {one_line(text)}"
    if "Quote" in style:
        return "> " + text.replace("\n", "\n> ")
    level = paragraph._p.find(f"{_WORD}pPr/{_WORD}numPr/{_WORD}ilvl")
    if not style.startswith("List") and level is None:
        bold = style != "Caption" and HEADS.fullmatch(text) and _is_bold(paragraph)
        return f"### {text}" if bold else _BULLET.sub("- ", text)
    depth = int(style[-1]) - 1 if style[-1:].isdecimal() else 0
    if level is not None and (level.get(f"{_WORD}val") or "").isdecimal():
        depth = int(level.get(f"{_WORD}val"))
    return "  " * min(depth, _DEEPEST_LIST) + f"- {text}"


def _is_bold(paragraph: Any) -> bool:
    """Tell whether all words of a paragraph are bold, as in a heading without a style."""
    runs = [run for run in paragraph.runs if run.text.strip()]
    plain = paragraph.style is None or not paragraph.style.font.bold
    return bool(runs) and all(run.bold or (run.bold is None and not plain) for run in runs)


def _footnotes(document: Any) -> Iterator[str]:
    """Yield the footnotes in Markdown, without the separators that Word stores among them."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import parse_xml

    for relation in document.part.rels.values():
        if relation.reltype == RELATIONSHIP_TYPE.FOOTNOTES and not relation.is_external:
            for note in parse_xml(relation.target_part.blob).iter(f"{_WORD}footnote"):
                words = one_line(" ".join(map(_words, note.iter(f"{_WORD}p"))))
                if words and note.get(f"{_WORD}type") in (None, "normal"):
                    yield f"[^{note.get(f'{_WORD}id')}]: {words}"


def _words_of_cell(cell: Any) -> str:
    return " ".join(map(_words, cell.iter(f"{_WORD}p")))


def _words(paragraph: Any) -> str:
    parts = []
    for element in paragraph.iter(*_SPOKEN):
        if _is_seen(element, paragraph):
            name = element.tag.removeprefix(_WORD)
            if name == "footnoteReference":
                parts.append(f"[^{element.get(f'{_WORD}id')}]")
            else:
                parts.append((element.text or "") if name == "t" else _BREAKS.get(name, "\n"))
    return "".join(parts).strip()


def _is_seen(element: Any, paragraph: Any) -> bool:
    run = element.getparent()
    vanish = run.find(f"{_WORD}rPr/{_WORD}vanish")
    if vanish is not None and vanish.get(f"{_WORD}val") not in ("0", "false"):
        return False
    while run is not None and run is not paragraph:
        if run.tag in _UNSEEN or run.tag == _BOX:
            return False
        run = run.getparent()
    return True


def markdown_table(rows: Iterable[Iterable[str]]) -> str:
    """Return a table as Markdown; its first row with words is the header."""
    lines = [line for row in rows if (line := _row(row))]
    if lines:
        lines.insert(1, _rule(lines[0]))
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table; an empty string if all cells are empty."""
    words = [one_line(cell).replace("|", "/") for cell in cells]
    return f"| {' | '.join(words)} |" if any(words) else ""


def _rule(header: str) -> str:
    """Return the separator line below the header of a Markdown table."""
    return "|" + " --- |" * (header.count("|") - 1)


def _used_cells(row: tuple[Any, ...]) -> list[str]:
    """Return a row's cells as strings up to the last cell that holds anything."""
    used = next((place for place in range(len(row), 0, -1) if row[place - 1] is not None), 0)
    return [_cell(value) for value in row[:used]]


def _cell(value: Any) -> str:
    """Return a cell's value as people would write it."""
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, datetime | date | time):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value)


def opening_heading(text: str) -> str:
    """Return the words of the heading that opens a Markdown text; else an empty string."""
    heading = re.match(r"#{1,6} (.+)", text)
    return line_of_words(heading[1]) if heading else ""


def join_blocks(blocks: Iterable[str]) -> str:
    """Join the blocks with blank lines, but the items of a list with newlines."""
    text = "\n\n".join(block for block in blocks if block)
    return re.sub(r"(?m)(^ *- .*)\n\n(?= *- )", r"\1\n", text)
