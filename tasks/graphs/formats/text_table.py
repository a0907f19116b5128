"""Text tables with a triple per row: CSV, TSV, `|` as in MetaQA, and ` ||| ` as in NLPCC.

Blocks are parsed by column if possible, else row by row. Only CSV has quotes.
"""

import csv
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from tasks.graphs.formats.batch import GraphBatch
from tasks.graphs.formats.columns import Columns, add_fields, find_columns
from tasks.graphs.formats.lines import Lines, blocks_of_lines, split_lines
from tasks.graphs.formats.mapping import FileMapping

DELIMITERS = {"tsv": "\t", "pipe": "|", "nlpcc": "|||"}
SAMPLE = 10_000  # lines from which the columns are identified
_OF_CSV = (",", ";", "\t", "|")


def read_table(
    file: BinaryIO, delimiter: str, mapping: FileMapping, *, quoted: bool = False
) -> Iterator[GraphBatch]:
    """Yield the triples, or entities and aliases, of a table with one of them per row.

    A table that is `quoted` is CSV; an empty delimiter of one is guessed. One space on each side of
    `|||` belongs to the delimiter. Raises UsageError if the columns cannot be identified.
    """
    table: _Table | None = None
    batch = GraphBatch()
    for lines in blocks_of_lines(file, empty=quoted):
        if table is None and len(lines.numbers):
            table = _Table(lines, delimiter, mapping, quoted)
        if table is not None:
            table.take(lines)
        yield lines.batch
    if table is not None:
        table.end(batch)
    yield batch


def guess_delimiter(lines: list[str]) -> str:
    """Return the delimiter that splits most lines into equally many fields, three or more."""
    regular_lines = {}
    for delimiter in _OF_CSV:
        counts = [line.count(delimiter) for line in lines if line]
        usual = max(set(counts), key=counts.count, default=0)
        regular_lines[delimiter] = counts.count(usual) if usual >= 2 else 0
    best = max(regular_lines, key=regular_lines.__getitem__)
    return best if regular_lines[best] else ","


def parse_quoted(lines: pa.Array, delimiter: str, width: int) -> list[pa.Array] | None:
    """Return the columns of lines with quotes; None unless each line is a row of this width."""
    text = "\n".join(lines.to_pylist()).encode()
    names = [str(place) for place in range(width)]
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(text),
            pa_csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
            pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if len(table) != len(lines):
        return None
    return [column.combine_chunks() for column in table.columns]


class _Table:
    """A table whose columns are known from its first lines."""

    def __init__(self, lines: Lines, delimiter: str, mapping: FileMapping, quoted: bool) -> None:
        sample = lines.text[:SAMPLE].to_pylist()
        self._mapping, self._quoted = mapping, quoted
        self._delimiter = delimiter or guess_delimiter(sample[:100])
        if quoted:
            first = Lines(lines.text[:SAMPLE], lines.numbers[:SAMPLE], GraphBatch())
            rows = [row for _, row in CsvRows(self._delimiter).take(first)]
        else:
            blank = " " if delimiter == "|||" else ""
            rows = [[f.strip(blank) for f in line.split(delimiter)] for line in sample]
        self._columns: Columns = find_columns(rows or [[""]], mapping)
        self._rows = CsvRows(self._delimiter)
        self._header_waits = self._columns.header

    def take(self, lines: Lines) -> None:
        """Add the rows that end in these lines to their batch."""
        if self._header_waits:
            self._header_waits = False
            header = int(_are_filled(lines).argmax())
            if self._quoted:
                list(self._rows.take(lines.where(np.arange(len(lines.numbers)) == header)))
            lines = lines.where(np.arange(len(lines.numbers)) > header)
        filled = lines.where(_are_filled(lines))
        if self._rows.waits or not self._take_columns(filled):
            self._add(list(self._rows.take(lines)), lines.batch)

    def _take_columns(self, lines: Lines) -> bool:
        """Add lines of one row each by column; return False if that is impossible."""
        width = self._columns.width
        if not self._quoted or not pc.any(pc.match_substring(lines.text, '"')).as_py():
            places, *fields = split_lines(lines, self._delimiter, width)
            numbers = lines.numbers[places]
            if self._delimiter == "|||":
                fields = [_without_blanks(field, n, width) for n, field in enumerate(fields)]
        else:
            parsed = parse_quoted(lines.text, self._delimiter, width)
            if parsed is None:
                return False
            numbers, fields = lines.numbers, parsed
        add_fields(lines.batch, numbers, fields, self._columns, self._mapping)
        return True

    def end(self, batch: GraphBatch) -> None:
        """Add the rows that still lack a closing quote."""
        self._add(list(self._rows.end(batch)), batch)

    def _add(self, rows: list[tuple[int, list[str]]], batch: GraphBatch) -> None:
        width = self._columns.width
        for number, row in rows:
            if len(row) != width:
                batch.refuse(number, f"not-{width}-fields", self._delimiter.join(row))
        good = [(number, row) for number, row in rows if len(row) == width]
        if good:
            numbers = np.array([number for number, _ in good])
            fields = [
                pa.array(column, pa.string()) for column in zip(*(r for _, r in good), strict=True)
            ]
            add_fields(batch, numbers, fields, self._columns, self._mapping)


def _without_blanks(field: pa.Array, place: int, width: int) -> pa.Array:
    """Remove one space from each side that borders on a delimiter."""
    if place > 0:
        field = pc.if_else(pc.starts_with(field, " "), pc.utf8_slice_codeunits(field, 1), field)
    if place < width - 1:
        field = pc.if_else(pc.ends_with(field, " "), pc.utf8_slice_codeunits(field, 0, -1), field)
    return field


def _are_filled(lines: Lines) -> np.ndarray:
    return pc.greater(pc.binary_length(lines.text), 0).to_numpy(zero_copy_only=False)


MAX_LINES = 100  # per row; a quote that is never closed must not swallow the file
_OPEN = "unexpected end of data"  # the csv module's message for a text that ends inside quotes


class CsvRows:
    """Parses lines into rows; a row with an open quote continues in the next lines."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._begun: list[tuple[int, str]] = []

    @property
    def waits(self) -> bool:
        """Whether a row continues in the next lines."""
        return bool(self._begun)

    def take(self, lines: Lines) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows that end in these lines, each with the number of its first line."""
        coming = list(zip(lines.numbers.tolist(), lines.text.to_pylist(), strict=True))
        yield from self._rows(coming[::-1], lines.batch)

    def end(self, batch: GraphBatch) -> Iterator[tuple[int, list[str]]]:
        """Refuse a row that was never closed; yield the rows after its first line."""
        while self._begun:
            yield from self._rows(self._give_up(batch), batch)

    def _rows(
        self, coming: list[tuple[int, str]], batch: GraphBatch
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows in a stack of lines, whose last element comes first."""
        while coming:
            number, line = coming.pop()
            if '"' not in line:
                if self._begun:
                    self._begun.append((number, line))
                elif line:
                    yield number, line.split(self._delimiter)
            else:
                self._begun.append((number, line))
                try:
                    yield self._begun[0][0], self._parsed()
                    self._begun = []
                except csv.Error as error:
                    if _OPEN not in str(error):
                        coming += self._give_up(batch)
            if len(self._begun) >= MAX_LINES:
                coming += self._give_up(batch)

    def _parsed(self) -> list[str]:
        """Return the open row; raises csv.Error if it has an open quote or is wrong."""
        text = "\n".join(line for _, line in self._begun)
        return next(csv.reader([text], delimiter=self._delimiter, strict=True))

    def _give_up(self, batch: GraphBatch) -> list[tuple[int, str]]:
        """Refuse the first line of the open row; return its other lines, last one first."""
        (number, line), *others = self._begun
        batch.refuse(number, "broken-quotes", line)
        self._begun = []
        return others[::-1]
