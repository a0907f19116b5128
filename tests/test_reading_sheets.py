"""Sheets of Excel and OpenDocument: what they display, table by table."""

import io
import zipfile
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tasks.ingest.formats.number_formats import displayed
from tests.documents import read_one

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"


def read_rows(folder: Path, *rows: list[Any], merged: str = "", hidden: str = "") -> str:
    """Return what is read of a sheet with these rows, without its name."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cells in merged.split():
        book.active.merge_cells(cells)
    for row in filter(str.isdecimal, hidden.split()):
        book.active.row_dimensions[int(row)].hidden = True
    for column in filter(str.isalpha, hidden.split()):
        book.active.column_dimensions[column].hidden = True
    book.save(folder / "a.xlsx")
    return read_one(folder).text.removeprefix("## Sheet\n\n")


DISPLAYED = [
    ("General", 0.1 + 0.2, "0.3"), ("General", 12345678901234, "12345678901234"),
    ("0.0%", 0.255, "25.5%"), ("00000", 501, "00501"), ("#,##0", 1234567.891, "1,234,568"),
    ("0.00", 1.005, "1.01"), ("0.###", 1.5, "1.5"), ("0", -0.2, "0"),
    ("#,##0,,\\M", 12345678, "12M"), ('0.0"°C"', -4.25, "-4.3°C"), (";;;", 3, ""),
    ('"€"#,##0.00', 12.5, "€12.50"), ("#,##0.00 [$kr-414]", 1234.5, "1,234.50 kr"),
    ("#,##0;(#,##0);\\-", -1234, "(1,234)"), ("#,##0;(#,##0);\\-", 0, "-"),
    ("0.00E+00", 12345, "1.23E+04"), ("# ?/?", 1.5, "1.5"),
    ("000-00-0000", 12345678, "012-34-5678"), ('[>99]"many";0', 100, "many"),
    ('[>99]"many";0', 7, "7"), ("[h]:mm", 1.2604166667, "30:15"),
    ("[mm]:ss", 3661 / 86400, "61:01"), ("mm:ss.0", 0.5 / 86400, "00:00.5"),
    ("h:mm AM/PM", 0.6, "2:24 PM"), ("h:mm:ss", 0.3541666667, "8:30:00"),
    ("dd/mm/yyyy", 44000, "2020-06-18"), ("m/d/yy h:mm", 44000.75, "2020-06-18 18:00"),
    ("d mmmm yyyy", 44000, "18 June 2020"), ("mmm-yy", 44000, "Jun-2020"), ("yyyy", 44000, "2020"),
    ('yyyy"年"m"月"d"日"', 44000, "2020年6月18日"), ("[$-407]d. mmmm yyyy", 44000, "2020-06-18"),
    ("yyyy-mm-dd", 0, ""), ("yyyy-mm-dd", 1e9, ""),
]  # fmt: skip


@pytest.mark.parametrize(("code", "value", "shown"), DISPLAYED)
def test_a_number_is_read_as_its_format_displays_it(code: str, value: float, shown: str) -> None:
    assert displayed(value, code) == shown


def test_dates_may_count_from_1904() -> None:
    assert displayed(42538, "yyyy-mm-dd", since_1904=True) == "2020-06-18"


def test_values_of_cells(tmp_path: Path) -> None:
    row = [
        date(2020, 6, 18),
        timedelta(hours=30),
        True,
        "#N/A",
        "=1/0",
        datetime(2020, 6, 18, 9, 5),
    ]
    text = read_rows(tmp_path, ["Day", "Length", "Open", "Rate", "Sum", "Time"], row)
    assert text.endswith("| 2020-06-18 | 30:00:00 | TRUE |  |  | 2020-06-18 09:05:00 |")


HEADED = "| Town | Mayor |\n| --- | --- |\n| Osel | Jon |\n| Ems | Ada |"
# The rows of a sheet, and what is read.
TABLES = {
    "a title and notes": (
        [["Towns of Norvia"], ["In 2020"], ["Town", "Mayor"], ["Osel", "Jon"], ["Ems", "Ada"],
         ["Counted by hand."]],
        f"Towns of Norvia\n\nIn 2020\n\n{HEADED}\n\nCounted by hand.",
    ),
    "a title of two cells and a source": (
        [["Towns of Norvia", None, "2020"], ["Town", "Mayor", "People"], ["Osel", "Jon", 7],
         ["Ems", "Ada", 12], ["Source: the towns"]],
        "Towns of Norvia 2020\n\n| Town | Mayor | People |\n| --- | --- | --- |\n"
        "| Osel | Jon | 7 |\n| Ems | Ada | 12 |\n\nSource: the towns",
    ),
    "a unit and a period above an empty corner": (
        [["In tons", None, None, "2020"], [None, "Flour", "Salt", "Oil"], ["Osel", 7, 1, 4],
         ["Ems", 12, 2, 5]],
        "In tons 2020\n\n|  | Flour | Salt | Oil |\n| --- | --- | --- | --- |\n"
        "| Osel | 7 | 1 | 4 |\n| Ems | 12 | 2 | 5 |",
    ),
    "an empty corner": (
        [[None, "Mayor", "People"], ["Osel", "Jon", 7], ["Ems", "Ada", 12]],
        "|  | Mayor | People |\n| --- | --- | --- |\n| Osel | Jon | 7 |\n| Ems | Ada | 12 |",
    ),
    "an empty row within a table": (
        [["Town", "People"], ["Osel", 7], [], ["Ems", 12]],
        "| Town | People |\n| --- | --- |\n| Osel | 7 |\n| Ems | 12 |",
    ),
    "two tables of numbers": (
        [["Town", "People"], ["Osel", 7], [], ["Ship", "Tons"], ["Selka", 12]],
        "| Town | People |\n| --- | --- |\n| Osel | 7 |\n\n"
        "| Ship | Tons |\n| --- | --- |\n| Selka | 12 |",
    ),
    "two tables of names": (
        [["Town", "Mayor"], ["Osel", "Jon Vask"], [], ["Ship", "Captain"], ["Thea", "Per Holt"],
         ["Selka", "Ida Morn"]],
        "| Town | Mayor |\n| --- | --- |\n| Osel | Jon Vask |\n\n"
        "| Ship | Captain |\n| --- | --- |\n| Thea | Per Holt |\n| Selka | Ida Morn |",
    ),
    "rows that may be either": (
        [["Town", "Mayor"], ["Osel", "Jon"], [], ["Ems", "Ada"], ["Pell", "Ida"]],
        "| Town | Mayor |\n| --- | --- |\n| Osel | Jon |\n\n| Ems | Ada |\n| Pell | Ida |",
    ),
    "tables side by side": (
        [["Town", "Mayor", None, "Ship", "Tons"], ["Osel", "Jon", None, "Selka", 12],
         ["Ems", "Ada", None, "Gorm", 7]],
        f"{HEADED}\n\n| Ship | Tons |\n| --- | --- |\n| Selka | 12 |\n| Gorm | 7 |",
    ),
    "an empty column within a table": (
        [["Town", None, "2019", "2020"], ["Osel", None, 7, 8], ["Ems", None, 1, 2]],
        "| Town | 2019 | 2020 |\n| --- | --- | --- |\n| Osel | 7 | 8 |\n| Ems | 1 | 2 |",
    ),
    "labels and values": (
        [["Town:", "Osel"], ["Mayor:", "Jon"]], "- Town: Osel\n- Mayor: Jon",
    ),
    "a year above others": (
        [["Osel", "1931"], ["Ems", "1950"], ["Pell", "1960"]],
        "| Osel | 1931 |\n| Ems | 1950 |\n| Pell | 1960 |",
    ),
    "no headers": ([["Osel", 7.5], ["Ems", 12.5]], "| Osel | 7.5 |\n| Ems | 12.5 |"),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "expected"), TABLES.values(), ids=TABLES)
def test_tables_of_a_sheet(tmp_path: Path, rows: list[list[Any]], expected: str) -> None:
    assert read_rows(tmp_path, *rows) == expected


def test_merged_cells_count_in_each_row_and_column(tmp_path: Path) -> None:
    rows = [
        ["Towns by year", None, None], ["Region", "2020", None], [None, "Mayor", "People"],
        ["North", "Jon", 7], [None, "Ada", 12], ["South", None, None], ["West", "Ida", 9],
    ]  # fmt: skip
    text = read_rows(tmp_path, *rows, merged="A1:C1 A2:A3 B2:C2 A4:A5 A6:C6")
    assert text == (
        "Towns by year\n\n| Region | 2020 Mayor | 2020 People |\n| --- | --- | --- |\n"
        "| North | Jon | 7 |\n| North | Ada | 12 |\n| South |\n| West | Ida | 9 |"
    )


def test_hidden_rows_and_columns_are_left_out(tmp_path: Path) -> None:
    rows = [["Town", "Pay", "Mayor"], ["Ghost", 1, "Nobody"], ["Osel", 2, "Jon"], ["Ems", 3, "Ada"]]
    text = read_rows(tmp_path, *rows, merged="A2:A2", hidden="2 B")
    assert text == HEADED


def test_what_is_struck_or_white_is_left_out_and_labels_may_be_bold(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Town", "Osel"], ["Mayor", "Jon"], ["Old mayor", "Ida"], ["Secret", "7"]):
        book.active.append(row)
    for label in book.active["A"]:
        label.font = openpyxl.styles.Font(bold=True)
    for cell in book.active[3]:
        cell.font = openpyxl.styles.Font(strike=True)
    for cell in book.active[4]:
        cell.font = openpyxl.styles.Font(color="FFFFFFFF")
    book.save(tmp_path / "a.xlsx")
    assert read_one(tmp_path).text == "## Sheet\n\n- Town: Osel\n- Mayor: Jon"


def write_package(path: Path, sheet: str, namespace: str = SHEET, **parts: str) -> None:
    """Write a workbook of one sheet as other writers do: without sizes, styles and properties."""
    kinds = namespace.replace("spreadsheetml/2006/main", "officeDocument/2006/relationships")
    kinds = kinds.replace("spreadsheetml/main", "officeDocument/relationships")
    relation = f'<Relationship Id="r1" Type="{kinds}/{{}}" Target="{{}}"/>'
    strings = relation.replace("r1", "r2").format("sharedStrings", "/xl/strings.xml")
    entries = {
        "_rels/.rels": "<Relationships>"
        f"{relation.format('officeDocument', 'xl/book.xml')}</Relationships>",
        "xl/_rels/book.xml.rels": "<Relationships>"
        f"{relation.format('worksheet', 'one.xml')}{strings}</Relationships>",
        "xl/book.xml": f'<x:workbook xmlns:x="{namespace}" xmlns:r="{kinds}"><x:sheets>'
        '<x:sheet name="One" sheetId="1" r:id="r1"/></x:sheets></x:workbook>',
        "xl/one.xml": f'<worksheet xmlns="{namespace}"><sheetData>{sheet}</sheetData></worksheet>',
        "xl/strings.xml": f'<sst xmlns="{namespace}">{parts.get("strings", "")}</sst>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, text in entries.items():
            package.writestr(name, text)
    path.write_bytes(packed.getvalue())


@pytest.mark.parametrize("namespace", [SHEET, STRICT])
@pytest.mark.parametrize("name", ["a.xlsx", "a.xlsm", "a.xltx"])
def test_workbooks_of_other_writers(tmp_path: Path, namespace: str, name: str) -> None:
    row = '<row><c t="inlineStr"><is><t>{}</t></is></c><c t="str"><v>{}</v></c></row>'
    sheet = (
        row.format("Town", "Mayor") + row.format("Osel", "Jon_x000D_") + row.format("Ems", "Ada")
    )
    write_package(tmp_path / name, sheet, namespace)
    assert read_one(tmp_path).text == f"## One\n\n{HEADED}"
    assert read_one(tmp_path).metadata == {}


def test_runs_of_a_cell(tmp_path: Path) -> None:
    strings = (
        '<si><r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r>'
        "<r><rPr><strike/></rPr><t>old</t></r><r><t xml:space='preserve'> tons</t></r></si>"
        "<si><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si>"
    )
    cells = '<row r="3"><c r="C3" t="s"><v>0</v></c><c r="D3" t="s"><v>1</v></c></row>'
    write_package(tmp_path / "a.xlsx", cells, strings=strings)
    assert read_one(tmp_path).text == "## One\n\n| 10^6 tons | 東京 |"


def test_a_wide_row_is_read_to_its_end(tmp_path: Path) -> None:
    assert read_rows(tmp_path, [f"c{n}" for n in range(300)]).endswith("| c298 | c299 |")
