"""The text of a part of an Open XML package: paragraphs, tables, and what is drawn beside them.

WordprocessingML and DrawingML call the same things by the same names (`p`, `r`, `t`, `tbl`), so one
reader serves documents and slides. Words that are hidden, struck or deleted are left out, and those
in the colour of what lies behind them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tasks.ingest.formats.drawings import chart_table, diagram_list
from tasks.ingest.formats.formulas import linear
from tasks.ingest.formats.hidden_markup import hides
from tasks.ingest.formats.markdown import Cell, table
from tasks.ingest.formats.open_xml import OpenXml, children, within
from tasks.ingest.formats.raised import Run, joined
from tasks.ingest.formats.symbol_fonts import in_unicode
from tasks.ingest.formats.xml_elements import (
    OFF,
    Settings,
    attribute,
    is_on,
    local_name,
    number,
    settings_of,
)

_PLAIN = {"tab": " ", "ptab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_APART = ("tbl", "altChunk")  # blocks that are no paragraphs
_NOTES = {"footnoteReference": "", "endnoteReference": "e"}
_NO_SHADE = (None, "auto", "none", "white", "FFFFFF")
WHITE = "FFFFFF"
_RAISED = {"superscript": 9, "subscript": -9}
_SHIFT = 3  # in half points; less is spacing
_INNER = 0.2  # of a table's cells hold tables: more make it a layout
_MOST_BEFORE = 100  # columns that a row leaves out


class TextReader:
    """Reads a part of a package."""

    least_size = 200  # of letters that can be seen, in hundredths of a point

    def __init__(self, package: OpenXml, path: str, styles: dict[str | None, Settings]) -> None:
        """Start at the part of a path; `styles` has the settings of styles by identifier."""
        self.package, self.path, self.styles = package, path, styles
        self.ground = ""  # the colour behind words as RRGGBB; empty if it may be any
        self.box_ground = ""  # the same within boxes
        self.colours: Mapping[str, str] = {}  # of a theme, by their names
        self._fields: list[bool] = []  # of each open field, whether its words are yet to come
        self._beside: list[str] = []  # what is drawn at the paragraph that is being read

    def blocks(self, container: Any) -> Iterator[str]:
        """Yield the paragraphs and tables; after a paragraph, what is drawn at it."""
        for part, settings, runs in self._paragraphs(container):
            if local_name(part) in _APART:
                yield from self._apart(part)
            else:
                yield self.block(settings, runs)
                yield from self._drawn()

    def block(self, settings: Settings, runs: list[Run]) -> str:
        """Return a paragraph as Markdown."""
        return joined(runs).strip()

    def words(self, container: Any) -> str:
        """Return the paragraphs, cells, and what is drawn at them, with spaces between them."""
        parts: list[str] = []
        for part, _, runs in self._paragraphs(container):
            if local_name(part) == "tbl":
                parts += map(self.words, within(part, "tc"))
            elif local_name(part) in _APART:
                parts += self._apart(part)
            else:
                parts += [joined(runs).strip(), *self._drawn()]
        return " ".join(filter(None, parts))

    def inserted(self, element: Any) -> Iterator[str]:
        """Yield the blocks of a file that an element inserts."""
        yield from ()

    def draw(self, element: Any) -> Iterator[str]:
        """Yield the text boxes, tables, charts and diagrams that an element is or holds."""
        name = local_name(element)
        if _is_hidden(element):
            return
        if name in ("txbxContent", "txBody"):
            outside, self.ground = self.ground, self.box_ground
            yield from self.blocks(element)
            self.ground = outside
        elif name == "tbl":
            yield from self._table(element)
        elif name == "chart":
            for kind in ("chart", "chartEx"):
                yield chart_table(self._part_of(element, kind))
        elif name == "relIds":
            yield diagram_list(self._part_of(element, "diagramData"))
        elif name == "textpath":
            yield element.get("string") or ""
        else:
            for _, child in children(element):
                yield from self.draw(child)

    def _apart(self, part: Any) -> Iterator[str]:
        return self._table(part) if local_name(part) == "tbl" else self.inserted(part)

    def _part_of(self, element: Any, kind: str) -> Any:
        return self.package.part(self.package.named_by(element, self.path, kind))

    def _drawn(self) -> list[str]:
        drawn, self._beside = self._beside, []
        return drawn

    def _paragraphs(self, container: Any) -> Iterator[tuple[Any, Settings, list[Run]]]:
        """Yield each table and file, and each paragraph with its settings and runs.

        A drop capital, and a paragraph whose end is hidden or deleted, go on in the next one.
        """
        before: list[Run] = []
        for part in within(container, "p", *_APART):
            if local_name(part) in _APART:
                yield part, {}, []
                continue
            own = settings_of(part, "pPr")
            own.pop("outlineLvl", None)  # without a style it is in no outline that readers see
            settings = self.styles.get(own.get("pStyle", ""), {}) | own
            self._fields = [False] * len(self._fields)  # a field's instruction ends with its line
            runs = before + list(self._runs(part, settings))
            end = next((settings_of(marks, "rPr") for marks in part.iterchildren("{*}pPr")), {})
            is_capital = own.get("framePr") in ("drop", "margin")
            goes_on = is_capital or is_on(end, "del", "moveFrom", "vanish")
            before = runs if goes_on else []
            if not goes_on:
                yield part, settings, runs
        if before:
            yield container, {}, before

    def _runs(self, element: Any, settings: Settings) -> Iterator[Run]:
        for name, child in children(element):
            if name == "r" or (name == "fld" and child.get("type") != "slidenum"):
                own = settings_of(child, "rPr")
                for fill in child.iterfind("{*}rPr/{*}solidFill") if self.ground else ():
                    own["color"] = colour_in(fill, self.colours)
                style = self.styles.get(own.get("rStyle"), {})
                size = number(own.get("sz", ""))  # in a style it may be that of all text
                if not 0 < size <= self.least_size:
                    yield from self._run(child, settings | style | own)
            elif name in ("oMath", "oMathPara"):
                yield Run(linear(child))
            elif name in _PLAIN:
                yield Run(_PLAIN[name])
            else:
                yield from self._runs(child, settings)

    def _run(self, run: Any, settings: Settings) -> Iterator[Run]:
        unseen = self._is_unseen(settings)
        font = settings.get("rFonts") or settings.get("latin", "")
        height, is_bold = _height(settings), is_on(settings, "b")
        for name, child in children(run):
            if name == "fldChar":
                self._turn_field(attribute(child, "fldCharType"))
            if unseen or any(self._fields):
                continue
            if name == "t":
                words = in_unicode(child.text or "", font, settings.get("sym", font))
                yield Run(words, height, is_bold)
            elif name in _PLAIN:
                yield Run(_PLAIN[name], height, is_bold)
            elif name == "sym":
                letter = chr(int(f"0{attribute(child, 'char')}", 16))
                yield Run(in_unicode(letter, attribute(child, "font")), height, is_bold)
            elif name in _NOTES:
                yield Run(f"[^{_NOTES[name]}{attribute(child, 'id')}]", height, is_bold)
                if attribute(child, "customMarkFollows") not in ("", *OFF):
                    return
            elif name == "ruby":
                yield from self._runs(child, settings)
            else:
                before = self._drawn()
                self._beside = [*before, *self.draw(child)]

    def _turn_field(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(True)
        elif self._fields and kind == "separate":
            self._fields[-1] = False
        elif self._fields:
            self._fields.pop()

    def _is_unseen(self, settings: Settings) -> bool:
        if is_on(settings, "vanish", "strike", "dstrike", "noFill"):
            return True
        colour = settings.get("color", "").upper().replace("WHITE", WHITE)
        is_as_ground = bool(self.ground) and colour == self.ground
        return is_as_ground and all(settings.get(n) in _NO_SHADE for n in ("shd", "highlight"))

    def _table(self, element: Any) -> Iterator[str]:
        """Yield a table.

        One of a single row or column is a box, and one of many tables a layout: their cells are
        read as text.
        """
        outside = self.ground
        styled = element.find("{*}tblPr/{*}tblStyle"), next(element.iter("{*}shd"), None)
        self.ground = outside if styled == (None, None) else ""
        rows = [
            (row, [*within(row, "tc")])
            for row in within(element, "tr")
            if not is_on(settings_of(row, "trPr"), "del", "hidden")
        ]
        cells = [cell for _, some in rows for cell in some]
        is_box = len(rows) == 1 or len(cells) <= len(rows)
        inner = sum(next(within(cell, "tbl"), None) is not None for cell in cells)
        if is_box or inner > _INNER * len(cells):
            for cell in cells:
                yield from self.blocks(cell)
        else:
            yield table(self._grid(rows), is_headed=True)
        self.ground = outside

    def _grid(self, rows: list[tuple[Any, list[Any]]]) -> Iterator[list[Cell]]:
        """Yield the rows; a cell that goes on one above or to its left has the words of that."""
        above: dict[int, str] = {}
        for row, cells in rows:
            column = min(number(settings_of(row, "trPr").get("gridBefore", "")), _MOST_BEFORE)
            line = [Cell("")] * column
            for cell in cells:
                own = settings_of(cell, "tcPr")
                down, across = (own.get(way) or cell.get(way, "0") for way in ("vMerge", "hMerge"))
                words, columns = self.words(cell), number(own.get("gridSpan", "")) or 1
                if across not in ("restart", *OFF) and line:
                    line[-1] = line[-1]._replace(columns=line[-1].columns + columns)
                elif "cellDel" not in own:
                    if down not in ("restart", *OFF):
                        words = words or above.get(column, "")
                    line.append(Cell(words, columns=columns))
                    above[column] = words
                column += 0 if "cellDel" in own else columns
            yield line


def colour_in(fill: Any, theme: Mapping[str, str]) -> str:
    """Return the colour in an element as RRGGBB; empty if there is none, or a shade of one."""
    for colour in fill:
        name = colour.get("lastClr") or colour.get("val", "")
        return "" if len(colour) else theme.get(name, name).upper().replace("WHITE", WHITE)
    return ""


def _height(settings: Settings) -> int:
    if settings.get("vertAlign") in _RAISED:
        return _RAISED[settings["vertAlign"]]
    height = number(settings.get("baseline", "")) or number(settings.get("position", ""))
    return height if abs(height) > _SHIFT else 0


def _is_hidden(shape: Any) -> bool:
    about = (shape.find(path) for path in ("{*}docPr", "{*}cNvPr", "*/{*}cNvPr"))
    hidden = any(a is not None and a.get("hidden", "0") not in OFF for a in about)
    return hidden or hides(shape.get("style") or "")
