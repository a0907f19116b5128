"""Write tables as Markdown, which all readers yield: with headers, as labelled values, or plain.

A table whose first row consists of headers becomes a Markdown table. A table of two columns, of
which the first holds headers, becomes a list of `header: value`. Any other table has no line of
dashes, so that no Markdown parser takes its first row for headers.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

_MOST_COLUMNS = 200
_MOST_SPANNED = 1_000  # rows
_TAG = re.compile(r"<(/?)(table|tr|th|td|caption)\b([^<>]{0,500})>", re.IGNORECASE)
_OTHER_TAG = re.compile(r"<[^<>]{1,500}>")
_BOLD = re.compile(r"\s*<(b|strong)>[^<>]{1,200}</\1>\s*(?:</t[dh]>\s*)?", re.IGNORECASE)
_SPAN = re.compile(r"\b(col|row)span\s*=\s*[\"']?(\d{1,3})", re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_OPENS = re.compile(r"^ {0,3}<table\b", re.MULTILINE | re.IGNORECASE)
_CLOSES = re.compile(r"</table\s*>[ \t]*(?=\n|\Z)", re.IGNORECASE)


class Cell(NamedTuple):
    """A cell of a table, with the numbers of columns and rows that it spans."""

    words: str
    is_header: bool = False
    columns: int = 1
    rows: int = 1


def table(rows: Iterable[Iterable[Cell]], caption: str = "", *, is_headed: bool = False) -> str:
    """Return a table as Markdown, below its caption; an empty string if it has no words.

    A first row of one cell is part of the caption; a later one has its words once. A column in
    which no cell with words begins is left out. The first row of a table that is headed holds
    headers, whatever its cells are.
    """
    grid = [row for row in _grid(rows) if any(cell.words for cell in row)]
    width = max(map(len, grid), default=0)
    columns = [place for place in range(width) if any(_begins(row, place) for row in grid)]
    grid = [[row[place] for place in columns if place < len(row)] for row in grid]
    while len(grid) > 1 and _is_one_cell(grid[0]):
        caption = f"{caption} {grid.pop(0)[0].words}"
    for row in filter(_is_one_cell, grid):
        row[1:] = [Cell("")] * (len(row) - 1)
    if is_headed and grid:
        grid[0] = [cell._replace(is_header=True) for cell in grid[0]]
    lines = ["| " + " | ".join(cell.words for cell in row) + " |" for row in grid]
    if grid and all(len(row) == 2 and row[0].is_header > row[1].is_header for row in grid):
        lines = [f"- {label.words.rstrip(':：')}: {cell.words}" for label, cell in grid]
    elif len(grid) > 1 and len(grid[0]) > 1 and all(cell.is_header for cell in grid[0]):
        lines.insert(1, "|" + " --- |" * len(grid[0]))
    return "\n\n".join(filter(None, (one_line(caption), "\n".join(lines))))


def _begins(row: list[Cell], place: int) -> bool:
    """Tell whether a cell with words begins at a place of a row."""
    if place >= len(row) or not row[place].words:
        return False
    return not place or row[place] is not row[place - 1]


def _is_one_cell(row: list[Cell]) -> bool:
    return len(row) > 1 and all(cell is row[0] for cell in row)


def one_line(text: str) -> str:
    """Return a text without line breaks and repeated spaces."""
    return " ".join(text.split())


def _grid(rows: Iterable[Iterable[Cell]]) -> list[list[Cell]]:
    """Return the rows with a cell for each column; a spanning cell is repeated."""
    grid: list[list[Cell]] = []
    below: dict[int, tuple[int, Cell]] = {}  # column: for how many more rows, and the cell
    for row in rows:
        line: list[Cell] = []
        for cell in [*row, None]:
            while len(line) in below and len(line) < _MOST_COLUMNS:
                left, above = below.pop(len(line))
                if left > 1:
                    below[len(line)] = left - 1, above
                line.append(above)
            if cell is not None:
                words = one_line(cell.words).replace("|", "/")
                plain = cell if words == cell.words else cell._replace(words=words)
                for _ in range(max(min(cell.columns, _MOST_COLUMNS - len(line)), 1)):
                    if cell.rows > 1:
                        below[len(line)] = min(cell.rows, _MOST_SPANNED) - 1, plain
                    line.append(plain)
        grid.append(line)
    return grid


def html_tables_as_markdown(text: str) -> str:
    """Return a Markdown text with its HTML tables converted, except nested ones and code."""
    kept: list[str] = []
    place = 0
    fences = [fence.start() for fence in _FENCE.finditer(text)]
    while opening := _OPENS.search(text, place):
        closing = _CLOSES.search(text, opening.end())
        if closing is None:
            break
        kept.append(text[place : opening.start()])
        place = closing.end()
        markup = text[opening.start() : place]
        in_code = sum(fence < opening.start() for fence in fences) % 2
        made = "" if in_code or len(_OPENS.findall(markup)) > 1 else _from_html(markup)
        kept.append(f"\n{made}\n" if made else markup)
    return "".join((*kept, text[place:]))


def _from_html(markup: str) -> str:
    """Return an HTML table as Markdown; an empty string if it contains another table."""
    rows: list[list[Cell]] = []
    caption = ""
    tags = list(_TAG.finditer(markup))
    if sum(not tag[1] and tag[2].lower() == "table" for tag in tags) > 1:
        return ""
    for place, tag in enumerate(tags):
        name = tag[2].lower()
        end = tags[place + 1].start() if place + 1 < len(tags) else len(markup)
        words = _OTHER_TAG.sub(" ", markup[tag.end() : end])
        if tag[1]:
            continue
        if name == "tr":
            rows.append([])
        elif name == "caption":
            caption = words
        elif name != "table":
            spans = {kind.lower(): int(number) for kind, number in _SPAN.findall(tag[3])}
            bold = _BOLD.fullmatch(markup, tag.end(), end) is not None
            cell = Cell(words, name == "th" or bold, spans.get("col", 1), spans.get("row", 1))
            (rows or [[]])[-1].append(cell)
    return table(rows, caption)
