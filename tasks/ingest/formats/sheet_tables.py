"""Find the tables of a sheet, and the titles and notes beside them, by what is empty.

Empty rows, and empty columns between two tables, divide a sheet. A row of one cell above a table
is its title. Rows below an empty row go on with the table above unless they begin with headers;
if neither is clear, they are a table without headers, from which nothing is concluded.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from tasks.ingest.formats.markdown import Cell, one_line, table

# A year, a date, words, or a sign.
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_HEADER = re.compile(r"[12]\d{3}(?:-\d\d){0,2}|.*[^\W\d_]{3}.*|[#№%€$£]")
_NOTE = re.compile(r"[.!?。！？][\"'”’)]*\Z|[:：] ?\S|\A\*")
_ERROR = re.compile(r"#(?:N/A|REF!|DIV/0!|VALUE!|NAME\?|NUM!|NULL!|SPILL!|CALC!)|Err:\d{3}")
_LONGEST_TITLE = 4  # rows of one cell; more are a list
_LEAST_ROWS = 2  # of which the words are compared with those of a header
_MOST_SPANNED = 1_000  # rows or columns of a merged cell


class SheetCell(NamedTuple):
    """The words of a cell, whether they are a text, and what cells of the same look share."""

    words: str
    is_text: bool = True
    look: object = None
    is_bold: bool = False


Row = dict[int, SheetCell]  # by the number of the column
Grid = dict[int, Row]  # by the number of the row; a merged cell is the same object in each place


def spread(grid: Grid, top: int, left: int, bottom: int, right: int) -> None:
    """Set a merged cell in each row and column that it spans, in rows that are in use."""
    cell = grid.get(top, {}).get(left)
    if cell is not None:
        for row in range(top, min(bottom, top + _MOST_SPANNED) + 1):
            for column in range(left, min(right, left + _MOST_SPANNED) + 1) if row in grid else ():
                grid[row][column] = cell


def without(grid: Grid, rows: set[int], columns: set[int]) -> Grid:
    """Return a grid without hidden rows and columns, as if the others stood side by side."""
    above, before = sorted(rows), sorted(columns)
    return {
        number - bisect_left(above, number): {
            column - bisect_left(before, column): cell
            for column, cell in row.items()
            if column not in columns
        }
        for number, row in grid.items()
        if number not in rows
    }


def is_error(words: str) -> bool:
    """Tell whether a cell shows that its formula failed."""
    return words[:1] in ("#", "E") and _ERROR.fullmatch(words) is not None


def sheet_blocks(grid: Grid) -> Iterator[str]:
    """Yield the titles, tables and notes of a sheet as Markdown, from the top to the bottom."""
    above: list[Row] = []
    has_header = False
    for region in _regions([(number, grid[number]) for number in sorted(grid) if grid[number]]):
        titles, rows, notes = _parted(region)
        follows = bool(above and rows) and not titles and _columns(rows) == _columns(above)
        opens = _is_header(rows, above if follows else None) if rows else None
        if follows and opens is None:
            above += rows
        else:
            yield _markdown(above, has_header)
            yield from titles
            above, has_header = rows, bool(opens)
        if notes:
            yield _markdown(above, has_header)
            yield from notes
            above = []
    yield _markdown(above, has_header)


def _regions(rows: list[tuple[int, Row]]) -> Iterator[list[Row]]:
    """Yield the rows between empty rows; of tables side by side, those of each in turn."""
    start = 0
    for place in range(1, len(rows) + 1):
        if place == len(rows) or rows[place][0] > rows[place - 1][0] + 1:
            yield from _side_by_side(rows[start:place])
            start = place


def _side_by_side(rows: list[tuple[int, Row]]) -> Iterator[list[Row]]:
    """Yield the rows of each table; between two, a column is empty, and the next has names."""
    cells: Counter[int] = Counter()
    texts: Counter[int] = Counter()
    for _, row in rows:
        if not _is_single(row):
            cells.update(row.keys())
            texts.update(column for column, cell in row.items() if cell.is_text)
    starts = [0]
    for left, right in pairwise(sorted(cells)):
        wide = left - 1 in cells and right + 1 in cells
        long = min(cells[left], cells[right]) > 1 and 2 * texts[right] > cells[right]
        if right > left + 1 and wide and long:
            starts.append(right)
    if len(starts) == 1:
        yield [row for _, row in rows]
        return
    for start, end in pairwise([*starts, max(cells) + 1]):
        yield from _regions([(n, part) for n, row in rows if (part := _cut(row, start, end))])


def _cut(row: Row, start: int, end: int) -> Row:
    """Return the cells from one column up to another; a single cell stays as it is."""
    if _is_single(row):
        return row if start <= min(row) < end else {}
    return {column: cell for column, cell in row.items() if start <= column < end}


def _parted(rows: list[Row]) -> tuple[list[str], list[Row], list[str]]:
    """Return the titles above a table, its rows, and the notes below it."""
    words = [next(iter(row.values())).words if _is_single(row) else "" for row in rows]
    if all(words) and len(rows) > _LONGEST_TITLE and not all(map(_NOTE.search, words)):
        return [], rows, []
    first = next((n for n, title in enumerate(words) if not title), len(rows))
    last = len(rows)
    while last > first and _NOTE.search(words[last - 1]):
        last -= 1
    if first + 2 < last and _is_above(rows[first], rows[first + 1], rows[first + 2 : last]):
        words[first] = " ".join(_words(rows[first]))
        first += 1
    return words[:first], rows[first:last], words[last:]


def _is_above(row: Row, header: Row, rest: list[Row]) -> bool:
    """Tell whether a row is a title of several cells, above a header that has more of them."""
    shorter = min(row) <= min(header) and len({*map(id, row.values())}) == len(row) < len(header)
    return shorter and all(cell.is_text for cell in header.values()) and _stands_apart(header, rest)


def _is_header(rows: list[Row], above: list[Row] | None) -> bool | None:
    """Return whether the first row has headers, None where it rather goes on with those above."""
    first, rest = rows[0], rows[1:]
    texts = all(cell.is_text or _HEADER.fullmatch(cell.words) for cell in first.values())
    texts = texts and not _is_of_a_year(first, rest)
    if above is None or not texts:
        return None if above else texts and not _is_single(first)
    if _words(first) == _words(above[0]) or _stands_apart(first, rest):
        return True
    styled = above[1:] and {cell.look for cell in above[0].values()}
    return None if styled and styled.isdisjoint(cell.look for cell in above[1].values()) else False


def _is_of_a_year(first: Row, rest: list[Row]) -> bool:
    """Tell whether the only year in a row stands above years alone, as where no header is."""
    years = [column for column, cell in first.items() if _YEAR.fullmatch(cell.words)]
    below = [row[years[0]].words for row in rest if years[0] in row] if len(years) == 1 else []
    return len(below) >= _LEAST_ROWS and all(map(_YEAR.fullmatch, below))


def _stands_apart(first: Row, rest: list[Row]) -> bool:
    """Tell whether in some column the first row differs from all below, which are alike.

    It differs as a text above numbers, in its look, or as one word above names of several.
    """
    for column, cell in first.items():
        below = [row[column] for row in rest if column in row and not _is_spanned(row)]
        looks = {other.look for other in below}
        lengths = {len(other.words.split()) > 1 for other in below}
        one_word = len(cell.words.split()) == 1
        if below and (
            (cell.is_text and not any(other.is_text for other in below))
            or (len(looks) == 1 and cell.look not in looks)
            or (len(below) >= _LEAST_ROWS and one_word and lengths == {True})
        ):
            return True
    return False


def _markdown(rows: list[Row], has_header: bool) -> str:
    """Return rows as a table; labels in bold, or that end in a colon, make a list of values."""
    columns = _columns(rows)
    if len(columns) == 2 and all(map(_is_labelled, rows)):
        return table([Cell(row[n].words, n == columns[0]) for n in columns] for row in rows)
    two = has_header and len(rows) > _LEAST_ROWS and _stands_apart(rows[1], rows[2:])
    lines = (_cells(row, columns, two and row is rows[1]) for row in rows)
    return table(lines, is_headed=has_header)


def _cells(row: Row, columns: list[int], are_headers: bool) -> list[Cell]:
    """Return the cells of a row; a merged one is the same object in each column."""
    cells = {id(cell): Cell(one_line(cell.words), are_headers) for cell in row.values()}
    places = columns[:1] if _is_spanned(row) else columns
    return [cells.get(id(row.get(column)), Cell("", are_headers)) for column in places]


def _is_labelled(row: Row) -> bool:
    label, *values = (row[column] for column in sorted(row))
    bold = label.is_bold and not any(value.is_bold for value in values)
    return bool(values) and (bold or label.words.endswith((":", "：")))


def _is_single(row: Row) -> bool:
    first = next(iter(row.values()))
    return all(cell is first for cell in row.values())


def _is_spanned(row: Row) -> bool:
    """Tell whether one cell spans a row."""
    return len(row) > 1 and _is_single(row)


def _columns(rows: list[Row]) -> list[int]:
    return sorted(set().union(*rows))


def _words(row: Row) -> list[str]:
    return [row[column].words for column in sorted(row)]
