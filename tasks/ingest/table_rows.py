"""The rows of a table with headers: their cells, and the column that names their subjects."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tasks.ingest.prose import words_of
from tasks.text.function_words import ARTICLES, DEMONSTRATIVES, POSSESSIVES, any_of

Cell = tuple[str, int, int]  # words and span

_BAR = re.compile(r"(?<!\\)\|")
_LETTER = re.compile(r"[^\W\d_]")
_COMMA = re.compile(r"[,，]\s*\S")
_LISTED = re.compile(r"[、;；]\s*\S")
_ACTION = re.compile(  # not "Alexander the Great"
    rf"[A-Z]?[a-z]+ (?:all|{any_of(ARTICLES | DEMONSTRATIVES | POSSESSIVES)}) [a-z]"
)
_LONGEST_SUBJECT = 8  # words of a row's first cell
_LONGEST_ODD_SUBJECT = 16  # words of one among shorter ones
_KEY_COLUMNS = 2  # one of the first columns, but for numbers, names the rows' subjects


def cells_of(line: str, offset: int = 0) -> Iterator[Cell]:
    """Yield the cells of a Markdown row with their spans."""
    stripped = line.strip()
    start = line.find(stripped) + (1 if stripped.startswith("|") else 0)
    end = line.find(stripped) + len(stripped) - (1 if stripped.endswith("|") else 0)
    place = start
    for bar in [*_BAR.finditer(line, start, end), None]:
        stop = bar.start() if bar else end
        cell = line[place:stop]
        begin = place + len(cell) - len(cell.lstrip())
        yield cell.strip(), offset + begin, offset + begin + len(cell.strip())
        place = bar.end() if bar else end


def is_one_cell(row: Sequence[Cell]) -> bool:
    """Tell whether a row has words in one cell: it is part of a row, or a note or title."""
    return sum(bool(words) for words, _, _ in row) < 2


def are_counted(rows: Sequence[Sequence[Cell]]) -> bool:
    """Return whether the first column only numbers the rows, or groups of them."""
    numbers = [row[0][0] for row in rows if row[0][0]]
    first = int(numbers[0]) if numbers and re.fullmatch("[1-9][0-9]?", numbers[0]) else 0
    return bool(first) and numbers == [str(first + place) for place in range(len(numbers))]


def is_subject(name: str) -> bool:
    """Return whether a cell may name its row's subject: a few words with a letter, and no list."""
    few = len(name.split()) <= _LONGEST_SUBJECT and not _COMMA.search(name)
    return few and may_be_subject(name)


def may_be_subject(name: str) -> bool:
    """Return the same for a cell below others that are subjects: it may be long or have commas."""
    few = len(name.split()) <= _LONGEST_ODD_SUBJECT and not _LISTED.search(name)
    return few and bool(_LETTER.search(name))


def key_column(rows: Sequence[Sequence[Cell]]) -> int | None:
    """Return the column whose cells name the subjects of all of a table's rows; None if none does.

    Two thirds of its cells are subjects. It is the first column if two thirds of those differ (if
    more do, where a column before it numbers the rows), else the next if hardly any stands in the
    table twice: dates may be of matches, whose teams are in two columns. That does not tell what
    things do, as in "Reloads the page".
    """
    first = int(are_counted(rows))
    times = Counter(words for row in rows for words, _, _ in row)
    for column in range(first, first + _KEY_COLUMNS):
        cells = [row[column][0] for row in rows if len(row) > column]
        if column > first:
            cells = [cell for cell in cells if not _ACTION.match(cell)]
        names = [cell for cell in cells if is_subject(words_of(cell).text.strip())]
        apart = column == first and 3 * len({*names}) - 2 * len(names) >= first
        apart |= 10 * sum(times[name] > 1 for name in names) <= len(names)
        if apart and 3 * len(names) >= 2 * len(rows):
            return column
    return None
