"""Write tables as Markdown, which all readers yield: with headers, as labelled values, or plain.

A table whose first row consists of headers becomes a Markdown table. A table of two columns, of
which the first holds headers, becomes a list of `header: value`. Any other table has no line of
dashes, so that no Markdown parser takes its first row for headers.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise, zip_longest
from typing import NamedTuple

_MOST_COLUMNS = 200
_MOST_SPANNED = 1_000  # rows
_MOST_REPEATED = 200_000  # cells of a table, by all that span several
_TAG = re.compile(r"<(/?)(table|tr|th|td|caption)\b([^<>]{0,500})>", re.IGNORECASE)
_OTHER_TAG = re.compile(r"<[^<>]{1,500}>")
_BOLD = re.compile(r"\s*<(b|strong)>[^<>]{1,200}</\1>\s*(?:</t[dh]>\s*)?", re.IGNORECASE)
_SPAN = re.compile(r"\b(col|row)span\s*=\s*[\"']?(\d{1,3})", re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_OPENS = re.compile(r"^ {0,3}<table\b", re.MULTILINE | re.IGNORECASE)
_NAMED = re.compile(r"\D*[^\W\d_]\D*")
_NUMBER = re.compile(r"\d")
_BAR = re.compile(r"(?<!\\)\|")
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
    headers, whatever its cells are. Headers below others that span columns are joined with them.
    """
    grid = [row for row in _grid(rows) if any(cell.words for cell in row)]
    width = max(map(len, grid), default=0)
    columns = [place for place in range(width) if any(_begins(row, place) for row in grid)]
    grid = [[row[place] for place in columns if place < len(row)] for row in grid]
    while len(grid) > 1 and len(grid[0]) > 1 and all(cell is grid[0][0] for cell in grid[0]):
        caption = f"{caption} {grid.pop(0)[0].words}"
    if grid and (is_headed or all(cell.is_header for cell in grid[0])):
        grid = _with_one_header(grid)
    for row in grid[1:] or grid:
        first = next(place for place, cell in enumerate(row) if cell.words)
        if all(cell is row[first] for cell in row[first:] if cell.words):
            row[first + 1 :] = [Cell("")] * (len(row) - first - 1)
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


def _with_one_header(grid: list[list[Cell]]) -> list[list[Cell]]:
    """Return the rows with the words of all lines of headers in the first."""
    lines = 1
    while lines + 1 < len(grid) and _divides(grid[lines - 1], grid[lines], grid[lines + 1 :]):
        lines += 1
    columns = zip_longest(*grid[:lines], fillvalue=Cell(""))
    words = ([cell.words for cell in column if cell.words] for column in columns)
    return [[Cell(" ".join(dict.fromkeys(some)), is_header=True) for some in words], *grid[lines:]]


def _divides(upper: list[Cell], lower: list[Cell], rest: list[list[Cell]]) -> bool:
    """Tell whether a row has headers below those of another row that span columns.

    Its cells are marked as headers, or beside the spanned columns it says nothing that the row
    above does not, and it has no subject, or words above numbers.
    """
    twice = [n for n, (one, next_) in enumerate(pairwise(upper)) if one.words and one is next_]
    spanned = {*twice, *(place + 1 for place in twice)}
    if not spanned or len({*map(id, lower)}) == 1:
        return False
    pairs = [(above.words, cell.words) for above, cell in zip(upper, lower, strict=False)]
    goes_on = all(
        not above or words in ("", above)
        for place, (above, words) in enumerate(pairs)
        if place not in spanned
    )
    below = [row[place].words for row in rest for place in spanned if place < len(row)]
    has_names = all(_NAMED.fullmatch(words) for n, (_, words) in enumerate(pairs) if n in spanned)
    has_names &= any(map(_NUMBER.search, below))
    has_subject = 0 in spanned or not upper[0].words
    return all(cell.is_header for cell in lower) or (goes_on and (has_names or not has_subject))


def one_line(text: str) -> str:
    """Return a text without line breaks and repeated spaces."""
    return " ".join(text.split())


def _grid(rows: Iterable[Iterable[Cell]]) -> list[list[Cell]]:
    """Return the rows with a cell for each column; a spanning cell is repeated."""
    grid: list[list[Cell]] = []
    below: dict[int, tuple[int, Cell]] = {}  # column: for how many more rows, and the cell
    room = _MOST_REPEATED
    for row in rows:
        line: list[Cell] = []
        if room < 0:
            below.clear()
        room -= len(below)
        for cell in [*row, None]:
            while len(line) in below and len(line) < _MOST_COLUMNS:
                left, above = below.pop(len(line))
                if left > 1:
                    below[len(line)] = left - 1, above
                line.append(above)
            if cell is not None:
                words = _BAR.sub("/", one_line(cell.words))
                plain = cell if words == cell.words else cell._replace(words=words)
                columns = max(min(cell.columns, _MOST_COLUMNS - len(line), room), 1)
                room -= columns - 1
                for _ in range(columns):
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
        in_code = bisect_left(fences, opening.start()) % 2
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
