"""The journal: commits are whole or absent, whoever writes and whoever dies."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.errors import DamageError
from schemas.observations import Override, Scan
from warehouse import durable
from warehouse.journal import Journal
from warehouse.journal_views import register

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def scans(*names: str) -> pa.Table:
    same = {"run_id": "r", "source": "s", "complete": True, "items": 1, "scanned_at": NOW}
    return Scan.to_table({"scan_id": name, **same} for name in names)


def overrides(*names: str) -> pa.Table:
    return Override.to_table(
        {"override_id": n, "action": "reject", "subject": "x", "made_at": NOW} for n in names
    )


@pytest.mark.parametrize("few_rows", [0, 2000])
def test_few_and_many_rows_look_alike_to_sql(tmp_path, monkeypatch, few_rows):
    monkeypatch.setattr("warehouse.journal_views.FEW_ROWS", few_rows)
    journal = Journal(tmp_path)
    journal.append({Scan: scans("a", "b")})
    journal.append({Scan: scans("c").drop_columns(["sensitivity"])})  # by an older version
    with duckdb.connect() as con:
        register(journal, (Scan, Override), con, journal.position)
        rows = con.sql("select scan_id, items, sensitivity, commit from j_scans order by all")
        assert rows.fetchall() == [("a", 1, None, 1), ("b", 1, None, 1), ("c", 1, None, 2)]
        assert con.sql("select count(*) from j_overrides").fetchall() == [(0,)]
        columns = con.sql("select * from j_scans").columns
    assert columns == [*Scan.model_fields, "commit"]


@pytest.mark.parametrize("few_rows", [0, 2000])
def test_rows_that_two_commits_add_alike_are_there_twice(tmp_path, monkeypatch, few_rows):
    monkeypatch.setattr("warehouse.journal_views.FEW_ROWS", few_rows)
    journal = Journal(tmp_path)
    for _ in range(2):
        journal.append({Scan: scans("a")})
    with duckdb.connect() as con:
        register(journal, (Scan,), con, journal.position)
        rows = con.sql("select scan_id, commit from j_scans order by all").fetchall()
    assert rows == [("a", 1), ("a", 2)]
    assert len(journal.table(Scan)) == 2


def test_what_is_appended_is_read_back_in_commit_order(tmp_path):
    journal = Journal(tmp_path)
    assert journal.append({Scan: scans("a", "b")}) == 1
    assert journal.append({Scan: scans("c")}) == 2
    assert Journal(tmp_path).table(Scan)["scan_id"].to_pylist() == ["a", "b", "c"]


def test_an_empty_commit_is_not_made(tmp_path):
    journal = Journal(tmp_path)
    assert journal.append({Scan: scans()}) == 0
    assert journal.position == 0


def test_a_reader_sees_what_another_process_appended_since(tmp_path):
    reader, writer = Journal(tmp_path), Journal(tmp_path)
    assert len(reader.table(Scan)) == 0
    writer.append({Scan: scans("a")})
    assert reader.table(Scan)["scan_id"].to_pylist() == ["a"]


def test_a_position_pins_what_is_read(tmp_path):
    journal = Journal(tmp_path)
    journal.append({Scan: scans("a")})
    journal.append({Scan: scans("b")})
    assert journal.table(Scan, upto=1)["scan_id"].to_pylist() == ["a"]


@pytest.mark.parametrize("torn", [b"{", b'{"commit":2,"parts":[{"table":"scans"', b"\x00\xff"])
def test_a_torn_last_line_is_no_commit_and_is_cut_off_by_the_next_writer(tmp_path, torn):
    Journal(tmp_path).append({Scan: scans("a")})
    with (tmp_path / "commits.jsonl").open("ab") as log:
        log.write(torn)
    assert Journal(tmp_path).table(Scan)["scan_id"].to_pylist() == ["a"]
    Journal(tmp_path).append({Scan: scans("b")})
    assert Journal(tmp_path).table(Scan)["scan_id"].to_pylist() == ["a", "b"]


def test_a_part_that_no_commit_lists_does_not_exist_and_is_cleaned_away(tmp_path):
    journal = Journal(tmp_path)
    journal.append({Scan: scans("a")})
    pq.write_table(scans("ghost"), tmp_path / "scans" / "0000.parquet")
    (tmp_path / "scans-x.999999999.tmp").write_bytes(b"left by the dead")
    assert journal.table(Scan)["scan_id"].to_pylist() == ["a"]
    assert journal.clean() == 2
    assert journal.table(Scan)["scan_id"].to_pylist() == ["a"]


def test_a_damaged_part_is_refused_by_name(tmp_path):
    journal = Journal(tmp_path)
    journal.append({Scan: scans("a")})
    part = next((tmp_path / "scans").iterdir())
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    with pytest.raises(DamageError, match=part.name):
        Journal(tmp_path).table(Scan)
    assert Journal(tmp_path).damaged() == [str(part)]


def test_many_writers_lose_nothing(tmp_path):
    def write(writer: int) -> None:
        journal = Journal(tmp_path)
        for n in range(10):
            journal.append({Scan: scans(f"{writer}-{n}"), Override: overrides(f"{writer}-{n}")})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    wanted = sorted(f"{w}-{n}" for w in range(8) for n in range(10))
    journal = Journal(tmp_path)
    assert sorted(journal.table(Scan)["scan_id"].to_pylist()) == wanted
    assert sorted(journal.table(Override)["override_id"].to_pylist()) == wanted
    assert journal.position == 80


def test_one_thread_may_read_while_another_appends(tmp_path):
    journal, other = Journal(tmp_path), Journal(tmp_path)

    def look() -> int:
        return max(len(journal.parts(Scan)) for _ in range(2000))

    with ThreadPoolExecutor(3) as pool:
        looks = [pool.submit(look) for _ in range(3)]
        for n in range(60):
            other.append({Scan: scans(str(n))})
        assert max(looked.result() for looked in looks) <= 60
    assert sorted(map(int, journal.table(Scan)["scan_id"].to_pylist())) == list(range(60))


WRITER = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_journal import scans, overrides
from schemas.observations import Override, Scan
from warehouse.journal import Journal
journal = Journal(Path(sys.argv[1]))
n = int(sys.argv[2])
while True:
    journal.append({{Scan: scans(str(n)), Override: overrides(str(n))}})
    print(n, flush=True)
    n += 1
"""


def test_a_killed_writer_loses_no_acknowledged_commit_and_leaves_no_half(tmp_path):
    code = WRITER.format(tests=str(Path(__file__).parent))
    acknowledged, chance = -1, random.Random(7)
    for _ in range(5):
        start = Journal(tmp_path).table(Scan)["scan_id"].to_pylist()
        begin = int(start[-1]) + 1 if start else 0
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), str(begin)], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        lines = process.stdout.read().split()
        process.wait()
        acknowledged = int(lines[-1]) if lines else begin
        journal = Journal(tmp_path)
        seen = [int(s) for s in journal.table(Scan)["scan_id"].to_pylist()]
        assert seen == list(range(len(seen)))
        assert len(seen) > acknowledged
        assert journal.table(Override)["override_id"].to_pylist() == [str(s) for s in seen]
        journal.clean()
        assert not list(tmp_path.rglob("*.tmp"))


def test_data_is_synced_before_it_is_renamed_and_the_folder_after(tmp_path, monkeypatch):
    steps: list[str] = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append("sync"), real_sync(fd))[1])
    monkeypatch.setattr(
        os, "replace", lambda a, b, **k: (steps.append("rename"), real_replace(a, b, **k))[1]
    )
    durable.write_json(tmp_path / "pointer.json", {"a": 1})
    assert steps == ["sync", "rename", "sync"]


def test_an_older_schema_version_is_cast_up_and_a_newer_one_refused():
    old = Scan.to_table([]).drop_columns(["error"])
    assert Scan.cast(old).schema == Scan.arrow_schema()
    with pytest.raises(ValueError, match="does not know"):
        Scan.cast(Scan.to_table([]).append_column("new", pa.array([], pa.string())))


def test_a_line_that_is_no_commit_is_not_taken_for_a_lost_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for name in "abc":
        journal.append({Scan: scans(name)})
    log = tmp_path / "commits.jsonl"
    first, _, last = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(first + b"garbage\n" + last)
    with pytest.raises(DamageError, match="is damaged near commit 2"):
        Journal(tmp_path).table(Scan)
