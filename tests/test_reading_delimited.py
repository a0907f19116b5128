"""Records in CSV and JSON: a text is whole, or refused with the reason; others are a table."""

import json
import re
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.settings import ReadSettings
from tasks.extract.rules.layout import lay_out
from tasks.ingest.formats.inputs import ReadText, Reason, Refusal
from tests.documents import read_all, read_one, texts

DAM = "The dam, near Lunby, is old."
# What a file holds, and the texts that are read; the others are refused.
WHOLE = {
    "quotes escaped by a backslash": ('id,text\n1,"She said \\"go\\", and left."\n',
                                      ['She said "go", and left.']),
    "escaped quote at the end": ('id,text\n1,"He said \\"yes\\""\n2,"\\"No\\", she said"\n',
                                 ['He said "yes"', '"No", she said']),
    "a backslash before a closing quote": ('text,id\n"In C:\\dir\\",1\n', ["In C:\\dir\\"]),
    "doubled quotes": ('text,id\n"She said ""go"", and left.",1\n', ['She said "go", and left.']),
    "quotes within a plain cell": ('id,text\n1,The "Orvel" dam\n2,A 5" pipe\n',
                                   ['The "Orvel" dam', 'A 5" pipe']),
    "a space before a quote": (f'id, text, year\n1, "{DAM}", 1931\n', [DAM]),
    "a space after a quote": (f'id,text,year\n1,"{DAM}" ,1931\n', [DAM]),
    "a line break within quotes": ('id,text\n1,"One.\nTwo."\n2,Three.\n', ["One.\nTwo.", "Three."]),
    "a stated separator": ("sep=;\nid;text\n1;One, two.\n", ["One, two."]),
    "a stated separator in quotes": ('"sep=|"\r\nid|text\r\n1|One, two.\r\n', ["One, two."]),
    "comments": ("# made by hand\n\nid,text\n1,One.\n# part two\n2,Two.\n", ["One.", "Two."]),
    "a title above": ("The dams of Norvia\nid;text\n1;One.\n", ["One."]),
    "semicolons and commas": ("id;text;a, b, c, d\n1;One, two.;3\n", ["One, two."]),
    "one column": ("text\nThe dam, near Lunby; it is old.\n", ["The dam, near Lunby; it is old."]),
    "quotes that open a line of one column": ('text\n"Go" she said.\n', ['"Go" she said.']),
    "empty cells behind": ("id,text,\n1,One.,,,\n", ["One."]),
    "cells missing behind the text": ("id,text,year,note\n1,One.,1931\n", ["One."]),
    "two columns of one name": ("id,text,text\n1,A.,B.\n2,,C.\n", ["A.\n\nB.", "C."]),
    "a header in capitals": ("ID,TEXT\n1,One.\n", ["One."]),
    "a comment before the names": ("#id,text\n1,One.\n", ["One."]),
}  # fmt: skip


@pytest.mark.parametrize(("table", "expected"), WHOLE.values(), ids=WHOLE)
def test_a_text_is_whole(tmp_path: Path, table: str, expected: list[str]) -> None:
    (tmp_path / "a.csv").write_text(table, newline="")
    assert list(texts(tmp_path).values()) == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize(
    ("name", "table"), [("a.csv", "text,id\nÉlève.,1\n"), ("a.jsonl", '{"text": "Élève."}\n')]
)
def test_encodings(tmp_path: Path, name: str, table: str, encoding: str) -> None:
    (tmp_path / name).write_bytes(table.encode(encoding))
    assert list(texts(tmp_path).values()) == ["Élève."]


def test_quotes_between_tabs_may_be_plain(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('id\ttext\n1\t"Go" she said.\n2\t"One.\tTwo"\n')
    assert list(texts(tmp_path).values()) == ['"Go" she said.', "One.\tTwo"]


BROKEN = {
    "more cells than headers": "1,The dam, near Lunby, is old.,1931",
    "a text that goes on in the next line": "1,The dam",
    "a quote that is not doubled": '1,"The "old" dam",1931',
}


@pytest.mark.parametrize("row", BROKEN.values(), ids=BROKEN)
def test_a_text_that_may_be_cut_is_refused(tmp_path: Path, row: str) -> None:
    (tmp_path / "a.csv").write_text(f"id,text,year\n{row}\n2,One.,1931\n")
    refusal, text = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and isinstance(text, ReadText)
    assert (refusal.uri, refusal.reason, text.text) == ("a.csv#1", Reason.BAD_FORMAT, "One.")


def test_nothing_is_read_from_an_unclosed_quote_on(tmp_path: Path) -> None:
    rows = '1,One.,1\n2,"Two,2\n3,"Three.",3\n4,Four.,4\n'
    (tmp_path / "a.csv").write_text(f"id,text,year\n{rows}")
    text, refusal = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and isinstance(text, ReadText)
    assert (text.text, refusal.uri, refusal.reason) == ("One.", "a.csv", Reason.BAD_FORMAT)
    assert "line 3" in refusal.text


JSON = {
    "lines": ("a.json", '{"text": "One."}\n\n{"text": "Two."}\n', ["One.", "Two."]),
    "a broken line": ("a.json", '{"text": "One."}\n{"text": \n{"text": "Two."}', ["One.", "Two."]),
    "numbers that are none": (
        "a.json", '[{"text": "One.", "n": [NaN, -Infinity]}, {"text": "Two."}]', ["One.", "Two."],
    ),
    "in a line": ("a.jsonl", '{"text": "One.", "n": Infinity}\n{"text": "Two."}', ["One.", "Two."]),
}  # fmt: skip


@pytest.mark.parametrize(("name", "records", "expected"), JSON.values(), ids=JSON)
def test_json_of_other_writers(
    tmp_path: Path, name: str, records: str, expected: list[str]
) -> None:
    (tmp_path / name).write_text(records)
    assert list(texts(tmp_path).values()) == expected


PLANTS = (
    "| Plant | built by | City |\n| --- | --- | --- |\n"
    "| Orvel | Tarn Works | Lunby |\n| Selka | Aas Works |  |"
)
# Of files without a column of texts.
TABLES = {
    "commas": ("a.csv", "Plant,built_by,City\nOrvel,Tarn Works,Lunby\nSelka,Aas Works,\n"),
    "semicolons": ("a.csv", "sep=;\nPlant;built by;City\nOrvel;Tarn Works;Lunby\n"
                   "Selka;Aas Works;#N/A\n"),
    "tabs": ("a.tsv", "Plant\tbuilt by\tCity\nOrvel\tTarn Works\tLunby\nSelka\tAas Works\n"),
    "a mark before the names": ("a.tsv", "# from the towns, in 1931\n#Plant\tbuilt by\tCity\n"
                                "Orvel\tTarn Works\tLunby\nSelka\tAas Works\t\n"),
    "lines of JSON": ("a.jsonl", '{"Plant": "Orvel", "built by": "Tarn Works", "City": "Lunby"}\n'
                      '{"built by": ["Aas Works"], "Plant": "Selka", "City": null}\n'),
    "features of GeoJSON": (
        "a.geojson",
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": null, '
        '"properties": {"Plant": "Orvel", "built by": "Tarn Works"}, "City": "Lunby"},'
        ' {"type": "Feature", '
        '"properties": {"Plant": "Selka", "built by": "Aas Works", "City": null}}]}'),
    "a list in JSON": ("a.json", '{"all": [{"Plant": "Orvel", "built": {"by": "Tarn Works"}, "City"'
                       ': "Lunby"}, {"Plant": "Selka", "built": {"by": "Aas Works"}}]}'),
}  # fmt: skip


@pytest.mark.parametrize(("name", "table"), TABLES.values(), ids=TABLES)
def test_records_without_texts_are_one_table(tmp_path: Path, name: str, table: str) -> None:
    (tmp_path / name).write_text(table)
    assert texts(tmp_path) == {name: PLANTS}
    assert len(read_one(tmp_path).sha256) == 64


@pytest.mark.parametrize(
    ("above", "title"),
    [
        ("Dams of the north, 1931\n", "Dams of the north, 1931"),
        ("Dams and locks; a list\n", "Dams and locks, a list"),
        ('"Source","Board of Dams"\n\n"Updated","1931-05-01"\n\n',
         "Source, Board of Dams\n\nUpdated, 1931-05-01"),
    ],
)  # fmt: skip
def test_a_title_with_a_separator_is_no_header(tmp_path: Path, above: str, title: str) -> None:
    rows = "Plant,built_by,City\nOrvel,Tarn Works,Lunby\nSelka,Aas Works,\n"
    (tmp_path / "a.csv").write_text(above + rows)
    assert texts(tmp_path) == {"a.csv": f"{title}\n\n{PLANTS}"}


@pytest.mark.parametrize("header", ["City,Built", "City, Built", "City,Built\n\nOlm,1,2,3"])
def test_rows_that_may_be_cut_leave_the_header_as_it_is(tmp_path: Path, header: str) -> None:
    rows = "Lunby,a gate, a lock\nDrev,a quay, a pier\n"
    (tmp_path / "a.csv").write_text(f"{header}\n{rows}Ost,1931\nVey,1940\nUlm,1950\nIlm,1960\n")
    assert texts(tmp_path)["a.csv"].startswith("| City | Built |\n| --- | --- |\n| Ost | 1931 |")


def test_a_first_row_with_a_year_above_other_years_has_no_names_of_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Orvel,1931\nSelka,1950\nGorm,1960\n")
    assert "---" not in texts(tmp_path)["a.csv"]
    (tmp_path / "a.csv").write_text("Plant,1931,1941\nSelka,1950,1650\nGorm,1960,1700\n")
    assert "---" in texts(tmp_path)["a.csv"]


def test_a_column_of_numbers_may_be_called_by_their_sign(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("# counted, not guessed\n#,Plant\n1,Orvel\n2,Selka\n")
    (tmp_path / "b.csv").write_text("# counted, not guessed\nNumber,Plant\n1,Orvel\n2,Selka\n")
    rows = "| --- | --- |\n| 1 | Orvel |\n| 2 | Selka |"
    assert texts(tmp_path) == {
        "a.csv": f"| # | Plant |\n{rows}",
        "b.csv": f"| Number | Plant |\n{rows}",
    }


def test_a_parquet_file_without_texts_is_a_table(tmp_path: Path) -> None:
    columns = {"plant": ["Orvel", "Selka"], "opened": [date(1931, 5, 1), None]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    expected = "| plant | opened |\n| --- | --- |\n| Orvel | 1931-05-01 |\n| Selka |  |"
    assert texts(tmp_path) == {"a.parquet": expected}


def test_a_column_without_words_is_left_out_and_its_rows_stay(tmp_path: Path) -> None:
    rows = [
        {"plant": "Orvel", "city": "Lunby", "plan": b"\x89\xff", "crew": []},
        {"plant": "Selka", "city": "Pell", "plan": None, "crew": [{"name": "Jon Vask"}]},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    table, *left_out = read_all(tmp_path)
    assert isinstance(table, ReadText) and table.text == (
        "| plant | city |\n| --- | --- |\n| Orvel | Lunby |\n| Selka | Pell |"
    )
    assert [one.uri for one in left_out] == ["a.parquet#plan", "a.parquet#crew"]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("a.csv", "Ship,Built,,Port,Crew\nGorm,1931,,Pell,12\nAsk,1940,,Lunby,9\n"),
        ("a.jsonl", '{"Ship": "Gorm", "Built": 1931, "Fate": null, "Port": "Pell", "Crew": 12}\n'
                    '{"Ship": "Ask", "Built": 1940, "Fate": null, "Port": "Lunby", "Crew": 9}'),
    ],
)  # fmt: skip
def test_an_unfilled_column_does_not_part_records(tmp_path: Path, name: str, table: str) -> None:
    (tmp_path / name).write_text(table)
    assert texts(tmp_path)[name] == (
        "| Ship | Built | Port | Crew |\n| --- | --- | --- | --- |\n"
        "| Gorm | 1931 | Pell | 12 |\n| Ask | 1940 | Lunby | 9 |"
    )


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_cells_of_records_are_no_markup(tmp_path: Path, name: str) -> None:
    cells = ["__main__", "*.log", "Map<str>", "the ~~old~~ dam", "^(x|y)$", "a <i>b</i>", "<div>"]
    rows = [{"Plant": f"Plant {n}", "Mark": cell} for n, cell in enumerate(cells)]
    lines = "Plant,Mark\n" + "".join(f"{row['Plant']},{row['Mark']}\n" for row in rows)
    table = lines if name == "a.csv" else "\n".join(map(json.dumps, rows))
    (tmp_path / name).write_text(table)
    records = lay_out({"text": texts(tmp_path)[name]}).records
    assert [record.value for record in records] == cells
    (tmp_path / name).write_text(table.replace("Map<str>", "<p>Lunby</p>"))
    assert "<p>Lunby</p>" in texts(tmp_path)[name]


def test_an_object_is_its_values_above_its_lists(tmp_path: Path) -> None:
    plant = {"name": "Orvel", "built_by": "Tarn Works", "crew": [{"name": "Jon", "born": 1902}]}
    (tmp_path / "a.json").write_text(json.dumps(plant | {"ships": [{"name": "Gorm", "built": 7}]}))
    (tmp_path / "b.json").write_text('{"of": "Lunby", "total": 1, "rows": [{"text": "It rose."}]}')
    plant_text, row, left_out = read_all(tmp_path)
    assert isinstance(plant_text, ReadText) and isinstance(row, ReadText)
    assert (plant_text.title, plant_text.text) == (
        "Orvel",
        "- name: Orvel\n- built by: Tarn Works\n\n"
        "crew\n\n| name | born |\n| --- | --- |\n| Jon | 1902 |\n\n"
        "ships\n\n| name | built |\n| --- | --- |\n| Gorm | 7 |",
    )
    assert (row.text, left_out.uri) == ("It rose.", "b.json#of")


def test_two_tables_of_an_exported_sheet_are_two(tmp_path: Path) -> None:
    rows = ("Report of 1931,,", ",,", "Plant,City,", "Orvel,Lunby,", ",,", "Ship,Captain,Built")
    (tmp_path / "a.csv").write_text("\n".join([*rows, "Gorm,Jon Vask,1931"]))
    assert list(texts(tmp_path).values()) == [
        "Report of 1931\n\n| Plant | City |\n| --- | --- |\n| Orvel | Lunby |\n\n"
        "| Ship | Captain | Built |\n| --- | --- | --- |\n| Gorm | Jon Vask | 1931 |"
    ]


def test_rows_that_may_be_shifted_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Plant,City\nOrvel,Lunby, near Pell\nSelka,Pell\n")
    refusal, table = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and isinstance(table, ReadText)
    assert (refusal.uri, refusal.reason) == ("a.csv#line 2", Reason.BAD_FORMAT)
    assert "Orvel" not in table.text


UNREAD = {
    "texts under another name": ("a.csv", f'id,body\n1,"{DAM * 9}"\n', "`text` .*: id, body"),
    "a feed without texts": ("a.csv", "uri,op,name\na,upsert,Orvel\n", "`text`"),
    "one column": ("a.csv", "name\nOrvel\n", "`text` .*: name"),
    "values within values": ("a.json", '[{"a": [["b"]], "c": [{"d": "e"}]}]', "within values"),
}


@pytest.mark.parametrize(("name", "table", "sentence"), UNREAD.values(), ids=UNREAD)
def test_what_is_no_table_is_refused(tmp_path: Path, name: str, table: str, sentence: str) -> None:
    (tmp_path / name).write_text(table)
    (refusal,) = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.NO_TEXT_COLUMN
    assert re.search(sentence, refusal.text)


def test_a_table_has_no_more_characters_than_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("plant,city\n" + "Orvel,Lunby\n" * 100)
    (refusal,) = read_all(tmp_path, ReadSettings(max_text_chars=1_000))
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.TOO_LONG
