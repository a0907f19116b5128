"""Records of JSON, tables and Parquet, and feeds of changes."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.settings import ReadSettings
from tasks.ingest.formats import ReadText, Reason, Refusal, Removal
from tests.documents import read_all, texts


def test_json_object_is_one_text_and_a_list_many(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"title": "One", "text": "the only text"}')
    (tmp_path / "b.json").write_text('[{"text": "first"}, {"text": "second", "id": "x"}]')
    (tmp_path / "c.json").write_text('{"total": 1, "rows": [{"text": "inside"}]}')
    found = {"a.json": "the only text", "b.json#1": "first", "b.json#x": "second"}
    assert texts(tmp_path) == found | {"c.json#1": "inside"}


def test_json_lines_refuse_only_bad_lines(tmp_path: Path) -> None:
    lines = ['{"text": "good", "id": 7}', "{broken", '{"other": 1}', '{"text": "  "}', "[1]"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    good, *bad = read_all(tmp_path)
    assert good.uri == "a.jsonl#7"
    assert [(one.uri, one.reason) for one in bad if isinstance(one, Refusal)] == [
        ("a.jsonl#2", Reason.BAD_FORMAT), ("a.jsonl#3", Reason.NO_TEXT_COLUMN),
        ("a.jsonl#4", Reason.EMPTY), ("a.jsonl#5", Reason.BAD_FORMAT),
    ]  # fmt: skip


def test_a_file_without_one_good_record_is_refused_whole(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text('{"other": 1}\n' * 50)
    (refusal,) = read_all(tmp_path)
    assert (refusal.uri, refusal.reason) == ("a.ndjson", Reason.NO_TEXT_COLUMN)


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
def test_tables(tmp_path: Path, name: str, mark: str) -> None:
    rows = "id|Title|text", '1|Curie|"Warsaw, and; more"', "2|Bohr|Physics"
    (tmp_path / name).write_text("\r\n".join(rows).replace("|", mark), newline="")
    one, two = read_all(tmp_path)
    assert isinstance(one, ReadText)
    assert (one.uri, one.title, one.text) == (f"{name}#1", "Curie", "Warsaw, and; more")
    assert two.uri == f"{name}#2"


def test_table_in_a_legacy_encoding_and_without_text_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id,text\n1,Élève à l'école\n".encode("latin-1"))
    (tmp_path / "b.csv").write_text("id,body\n1,text\n")
    refusal, _ = read_all(tmp_path)
    assert isinstance(refusal, Refusal) and refusal.reason is Reason.BAD_ENCODING
    one, two = read_all(tmp_path, ReadSettings(charset="latin-1"))
    assert isinstance(one, ReadText) and one.text == "Élève à l'école"
    assert isinstance(two, Refusal) and two.reason is Reason.NO_TEXT_COLUMN
    assert "body" in two.text and "text_column under [read]" in two.text


def test_same_names_of_records_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\nx,one\nx,two\n")
    assert texts(tmp_path) == {"a.csv#x": "one", "a.csv#x~2": "two"}


def test_parquet_is_read_by_column(tmp_path: Path) -> None:
    rows = {"text": [f"text {n}" for n in range(200)], "id": list(range(200)), "v": [0.5] * 200}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet", row_group_size=50)
    found = texts(tmp_path)
    assert len(found) == 200
    assert found["a.parquet#199"] == "text 199"


def test_text_column_is_a_setting(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "the text"}\n')
    (one,) = read_all(tmp_path, ReadSettings(text_column="body"))
    assert isinstance(one, ReadText) and one.text == "the text"


def test_record_hash_depends_on_what_is_read_alone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "t", "id": 1, "views": 1}\n')
    (tmp_path / "b.jsonl").write_text('{"views": 2, "id": 1, "text": "t"}\n')
    one, two = read_all(tmp_path)
    assert isinstance(one, ReadText) and isinstance(two, ReadText)
    assert one.sha256 == two.sha256


CHANGES: list[dict[str, Any]] = [
    {"uri": "a", "text": "old a", "op": "upsert", "version": 9},
    {"uri": "b", "text": "b", "op": "upsert", "version": 1},
    {"uri": "a", "text": "new a", "op": "upsert", "version": 10},
    {"uri": "b", "text": None, "op": "delete", "version": 2},
    {"uri": "a", "text": "older a", "op": "upsert", "version": 3},
]


@pytest.mark.parametrize("name", ["feed.jsonl", "feed.parquet"])
def test_change_feed_the_newest_version_counts(tmp_path: Path, name: str) -> None:
    if name.endswith("jsonl"):
        (tmp_path / name).write_text("\n".join(json.dumps(change) for change in CHANGES))
    else:
        pq.write_table(pa.Table.from_pylist(CHANGES), tmp_path / name)
    text, removal = read_all(tmp_path)
    assert isinstance(text, ReadText)
    assert (text.uri, text.text, text.version) == ("a", "new a", "10")
    assert removal == Removal("b", "2")


def test_change_feed_of_unknown_operations(tmp_path: Path) -> None:
    changes = [{"uri": "a", "op": "explode"}, {"uri": "", "op": "upsert"}, CHANGES[1]]
    (tmp_path / "f.jsonl").write_text("\n".join(json.dumps(change) for change in changes))
    reasons = [one.reason for one in read_all(tmp_path) if isinstance(one, Refusal)]
    assert reasons == [Reason.BAD_FORMAT, Reason.BAD_FORMAT]
