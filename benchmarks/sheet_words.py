"""The texts that a workbook shows, found by openpyxl without the reader that is measured.

Numbers are left out: a reader that shows them by their formats has other digits than the file.
"""

import signal
import warnings
from pathlib import Path
from typing import Any

from benchmarks.xml_words import words_of_package

COLUMNS = 16_384
MOST = 20_000_000  # characters; a small file may hold billions
PATIENCE = 30  # seconds; openpyxl takes minutes over thousands of merged cells


def words_of_sheets(path: Path) -> str | None:
    """Return the texts of the visible cells, a line each; None where openpyxl cannot tell."""
    if path.suffix[1:].lower() in ("ods", "ots"):
        return words_of_package(path)
    import openpyxl

    def give_up(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, data_only=True, keep_links=False)
    except Exception:  # what it raises differs from file to file
        return None
    finally:
        signal.alarm(0)
    lines, length = [], 0
    for sheet in book.worksheets:
        for cell in _seen(sheet) if sheet.sheet_state == "visible" else []:
            if cell.data_type == "s" and isinstance(cell.value, str):
                lines.append(cell.value)
                length += len(cell.value)
                if length > MOST:
                    return None
    return "\n".join(lines)


def _seen(sheet: Any) -> list[Any]:
    hidden = {
        number
        for width in sheet.column_dimensions.values()
        if width.hidden
        for number in range(width.min or 0, min(width.max or 0, COLUMNS) + 1)
    }
    return [
        cell
        for _, cell in sorted(sheet._cells.items())  # a file may claim any dimensions
        if not sheet.row_dimensions[cell.row].hidden
        and cell.column not in hidden
        and not cell.font.strike
    ]
