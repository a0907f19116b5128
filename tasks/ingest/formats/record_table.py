"""Records without a column of texts as one text: the table that they are, laid out as a sheet."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape

from tasks.ingest.formats.dialects import read_dialects
from tasks.ingest.formats.hidden_markup import drop_hidden_markup, looks_like_html
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.names import safe_record, title_of_name
from tasks.ingest.formats.parsed_text import ParsedText, ParserLimits
from tasks.ingest.formats.sheet_tables import Grid, Row, SheetCell, is_error, sheet_blocks, without
from tasks.ingest.prose import words_of

SETTING = "text_column under [read] in settings.toml"
_LONG = 200  # characters of the cells of a column on average: they are texts with another name
_AROUND_CELL = 3  # characters
_MARKS = re.compile(r"[\\`*_~<>\[\](){}#=^%!|]")


class RecordTable:
    """The rows of a table, collected one by one below its titles and a header."""

    def __init__(self, limits: ParserLimits, titles: Sequence[str] = ()) -> None:
        """Begin a table without rows."""
        self._limits = limits
        self._grid: Grid = {number: _row([(0, title)]) for number, title in enumerate(titles)}
        self._header = len(titles)
        self._length = self._width = self._rows = 0

    def add(self, cells: Iterable[tuple[int, str]]) -> None:
        """Add a row of cells with their columns; an empty one ends a table within a file.

        Raises `RefusalError` for more characters than a text may have.
        """
        row = _row(cells)
        self._rows += 1
        self._grid[self._header + self._rows] = row
        self._width = max(self._width, *row, 0)
        self._length += sum(len(cell.words) for cell in row.values())
        most = self._limits.max_text_chars
        if self._length + _AROUND_CELL * self._width * self._rows > most:
            sentence = f"Its table has over {most:,} characters (max_text_chars in settings.toml)."
            raise RefusalError(Reason.TOO_LONG, sentence)

    def text(self, names: Sequence[str]) -> Iterator[ParsedText]:
        """Yield the table under the names of its columns as a text, unless it has no rows.

        An unfilled column is left out, as a sheet's, which lies between two tables, would not be.
        Raises `RefusalError` if one of the columns holds texts.
        """
        if not self._length:
            return
        unfilled: set[int] = set()
        for column in range(len(names)):
            cells = [len(row[column].words) for row in self._grid.values() if column in row]
            if not cells:
                unfilled.add(column)
            elif sum(cells) > _LONG * len(cells):
                require_column(names, self._limits.text_column)
        self._grid[self._header] = _row((n, name.replace("_", " ")) for n, name in enumerate(names))
        text = "\n\n".join(filter(None, sheet_blocks(without(self._grid, set(), unfilled))))
        yield ParsedText(title=title_of_name(self._limits.name), text=text)


def require_column(names: Sequence[str], column: str) -> None:
    """Raise `RefusalError` if the text column is missing."""
    if column.lower() not in (name.lower() for name in names):
        listed = ", ".join(safe_record(name)[:40] for name in names[:12])
        sentence = f"It has no column `{column}` ({SETTING}), but: {listed}."
        raise RefusalError(Reason.NO_TEXT_COLUMN, sentence)


def _row(cells: Iterable[tuple[int, str]]) -> Row:
    """Return the cells that say something; those without a letter are no texts."""
    return {
        column: SheetCell(_as_written(words), any(map(str.isalpha, words)))
        for column, cell in cells
        if (words := cell.strip()) and not is_error(words)
    }


def _as_written(words: str) -> str:
    """Return words as Markdown that reads like them: only what is no HTML may look like marks."""
    is_page = looks_like_html(words) and _read(words)
    if not _MARKS.search(words) or is_page or drop_hidden_markup(words) != words:
        return words
    escaped, plain = _MARKS.sub(r"\\\g<0>", words), unescape(words)
    is_read = "|" in words or _read(words) != plain
    return escaped if is_read and _read(escaped) == plain else words


def _read(cell: str) -> str:
    return words_of(read_dialects(f" {cell}")).text[1:]
