"""Tables of delimited text: a text is whole, or refused with the reason."""

from pathlib import Path

import pytest

from tasks.ingest.formats import ReadText, Reason, Refusal
from tests.documents import read_all, texts

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
