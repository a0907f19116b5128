"""`almanac sql`: one read-only query on a pinned edition, as a table, or as JSON or CSV."""

import csv
import itertools
import json
import sys
import unicodedata
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TextIO

from flows import terminal
from flows.jobs import EDITION, READER, Call, Configured, operand, option
from schemas.labels import HeldLabels, labels_of_reader
from tasks.text.english_words import counted

if TYPE_CHECKING:
    from warehouse.sql_process import SqlProcess
    from warehouse.sql_session import SqlResult

ROWS_SHOWN = 500
CELL_CHARS = 200
ANY_WIDTH = 1_000_000  # of a table that no terminal bounds
PLAN = ("explain_key", "explain_value")  # the columns of a query's plan
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")  # as OWASP lists them
FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and symbols that are seen as blanks


class Sql(Configured):
    """Run one read-only query on an edition."""

    query: str = operand("QUERY", "SQL, or - to read it from standard input.")
    format: Literal["table", "json", "csv"] = option(
        None,
        "Format of the result. CSV puts a ' before texts that a spreadsheet would "
        "evaluate as a formula: those that begin with = + - @, a tab or a line break, also "
        "where they are full-width or follow blanks and unseen characters.",
        "table",
    )
    reader: HeldLabels = READER
    edition: str | None = EDITION

    def run(self, call: Call) -> int:
        """Print the query's result."""
        from warehouse.sql_process import SqlProcess

        process = SqlProcess()  # started first: it loads DuckDB while this process loads the rest
        try:
            write(self._result(process), "json" if call.json else self.format)
        finally:
            process.end()
        return 0

    def _result(self, process: "SqlProcess") -> "SqlResult":
        """Return the query's result, from the process that runs it."""
        from flows.home import edition_of, reading_settings_of
        from warehouse.editions import DUCKDB_FILE
        from warehouse.sql_session import live_parts, run_sql

        query = sys.stdin.read() if self.query == "-" else self.query
        home, labels = self.place, labels_of_reader(self.reader)
        edition = edition_of(home, self.edition, labels=labels)
        settings = self.settings or reading_settings_of(home)
        with edition.pinned(), home.live.pinned():
            # What others asked has no labels.
            live = live_parts(home.live, query) if labels is None else {}
            edition.check(DUCKDB_FILE)
            return run_sql(edition.database, live, query, settings.sql, process)


@terminal.written()
def write(result: "SqlResult", output_format: str) -> None:
    """Write the result to standard output."""
    {"table": _write_table, "json": _write_json, "csv": _write_csv}[output_format](
        result, sys.stdout
    )


def _write_json(result: "SqlResult", out: TextIO) -> None:
    """Write one array of row objects, one row per line."""
    out.write("[")
    for number, row in enumerate(result.rows()):
        out.write(",\n" if number else "\n")
        record = dict(zip(result.columns, row, strict=True))
        out.write(terminal.json_line(json.dumps(record, ensure_ascii=False)))
    out.write("\n]\n" if result.row_count else "]\n")


def _write_csv(result: "SqlResult", out: TextIO) -> None:
    """Write RFC 4180 CSV without formulas; on a terminal control characters are escaped."""
    clean = terminal.harmless if out.isatty() else str
    # Before Python 3.13 a carriage return is quoted only if it is part of the line terminator.
    lines = SimpleNamespace(write=lambda line: out.write(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow([clean(no_formula(column)) for column in result.columns])
    for row in result.rows():
        writer.writerow([clean(no_formula(value)) for value in row])


def no_formula(value: Any) -> str:
    """Return a cell that no spreadsheet evaluates: a text that could be a formula begins with '.

    Numbers stay numbers, even negative ones. Blanks and unseen characters before a sign are passed
    over, as some spreadsheets do; full-width signs count as signs.
    """
    text = _as_text(value)
    seen = next((sign for sign in text if _is_seen(sign)), "")
    starts = text[:1], unicodedata.normalize("NFKC", seen)[:1]
    is_formula = isinstance(value, str) and any(start in FORMULA_STARTS for start in starts)
    return f"'{text}" if is_formula else text


def _is_seen(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LNPS" and sign not in FILLERS


def _write_table(result: "SqlResult", out: TextIO) -> None:
    """Print the first rows, with long cells cut, and the number of all rows; a plan as it is."""
    if result.columns == PLAN:
        for _, plan in result.rows():
            terminal.show(plan)
        return
    first = list(itertools.islice(result.rows(), ROWS_SHOWN))
    cells = [[_as_cell(value) for value in row] for row in first]
    terminal.table(result.columns, cells, out, ANY_WIDTH)
    long_cells = any(len(_as_text(value)) > CELL_CHARS for row in first for value in row)
    rows = counted(result.row_count, "row")
    if result.row_count > ROWS_SHOWN:
        rows += f"; the first {ROWS_SHOWN} are shown, --format csv prints all"
    terminal.show(rows)
    if long_cells:
        terminal.show("Some texts are cut; --format csv prints them whole.")


def _as_cell(value: Any) -> Any:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    text = _as_text(value)
    return text if len(text) <= CELL_CHARS else text[: CELL_CHARS - 1] + "…"


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


COMMAND = Sql
