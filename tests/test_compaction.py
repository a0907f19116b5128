"""Compaction: few files hold what many held, for every reader and at every position."""

import os
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import duckdb
import pytest

from schemas.errors import BusyError, DamageError
from schemas.observations import Override, Read, Scan
from schemas.settings import load_settings
from tasks.compact import compact_home
from tasks.refresh import refresh
from tests.test_journal import overrides, scans
from tests.test_ledger import call, reply
from warehouse import compaction
from warehouse.compaction import compact, extent, is_due
from warehouse.derivation import DERIVED, Derivation
from warehouse.home import Home
from warehouse.journal import Journal
from warehouse.journal_views import register

ROWS = (Scan, Override)
POSITIONS = range(9)


@pytest.fixture
def journal(tmp_path):
    """Eight commits; one adds again what another did, one was made by an older release."""
    journal = Journal(tmp_path / "journal")
    for names in ("ab", "c", "c", "d"):
        journal.append({Scan: scans(*names)})
    older = scans("e").drop_columns(["sensitivity"])
    journal.append({Scan: older, Override: overrides("x")})
    for name in "fgh":
        journal.append({Scan: scans(name)})
    return journal


def everything(journal):
    """What can be read of the scans, in every way and at every position."""
    parts = journal.parts(Scan)
    return {
        "up to": [journal.table(Scan, upto=n).to_pylist() for n in POSITIONS],
        "after": [[part.commit for part in journal.parts(Scan, after=n)] for n in POSITIONS],
        "parts": [journal.part_table(Scan, part).to_pylist() for part in parts],
        "hashes": [part.sha256 for part in parts],
    }


def sql_rows(journal, few_rows):
    """What SQL sees of the scans at some positions."""
    seen = []
    with pytest.MonkeyPatch.context() as patch, journal.pinned(), duckdb.connect() as con:
        patch.setattr("warehouse.journal_views.FEW_ROWS", few_rows)
        for upto in (3, 5, 8):
            register(journal, ROWS, con, upto)
            seen.append(con.sql("select * from j_scans order by commit, scan_id").fetchall())
    return seen


def names(journal):
    return journal.table(Scan)["scan_id"].to_pylist()


@pytest.mark.parametrize("reader", [lambda j: j, lambda j: Journal(j.folder)])
def test_every_position_reads_as_before(journal, reader: Callable[[Journal], Journal]):
    before = everything(journal)
    compact(Journal(journal.folder), ROWS)
    assert everything(reader(journal)) == before
    assert extent(journal).files == 2


@pytest.mark.parametrize("few_rows", [0, 2000])
def test_sql_sees_every_row_with_its_commit(journal, few_rows):
    before = sql_rows(journal, few_rows)
    compact(Journal(journal.folder), ROWS)
    journal.append({Scan: scans("i")})
    assert sql_rows(journal, few_rows) == before


def test_what_was_merged_is_merged_again_with_what_came_since(journal):
    compact(journal, ROWS)
    journal.append({Scan: scans("i")})
    before = everything(journal)
    compact(journal, ROWS)
    assert everything(journal) == before
    assert names(journal) == list("abccdefghi")
    assert extent(journal).files == 2
    [table] = journal.tables(Scan, ["commit", "scan_id"], after=7)
    assert table.to_pydict() == {"commit": [8, 10], "scan_id": ["h", "i"]}


def test_one_commit_is_read_from_the_row_groups_that_hold_it(journal, monkeypatch):
    monkeypatch.setattr(compaction, "GROUP_ROWS", 2)
    before = everything(journal)
    compact(journal, ROWS)
    assert everything(journal) == before


def test_large_files_stay_as_they_are(journal, monkeypatch):
    monkeypatch.setattr(compaction, "LARGE", 1)
    assert not is_due(journal, ROWS, 1)


def test_a_file_much_larger_than_all_after_it_is_not_written_again(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction, "TIMES", 1)
    journal = Journal(tmp_path)
    journal.append({Scan: scans(*map(str, range(9000)))})
    for name in "abc":
        journal.append({Scan: scans(name)})
    [large, *_] = journal.parts(Scan)
    compact(journal, ROWS)
    assert [part.file for part in journal.parts(Scan)][0] == large.file
    assert extent(journal).files == 2


def test_few_parts_wait_for_more(journal):
    assert is_due(journal, ROWS, 6)
    assert not is_due(journal, ROWS, 7)
    compact(journal, ROWS, files=7)
    assert extent(journal).files == 8


def test_files_stay_while_somebody_reads_by_the_old_list(journal):
    other = Journal(journal.folder)
    with journal.pinned():
        paths = [journal.path(part) for part in journal.parts(Scan)]
        compact(other, ROWS)
        assert all(path.exists() for path in paths)
        with other.pinned():  # by the new list, which is no reason to keep them
            pass
    other.clean()
    assert not any(path.exists() for path in paths)
    assert extent(journal).files == 2


def test_a_part_listed_before_is_found_in_the_file_that_holds_it_now(journal):
    [*_, last] = journal.parts(Scan)
    compact(Journal(journal.folder), ROWS)
    assert journal.part_table(Scan, last)["scan_id"].to_pylist() == ["h"]


def test_writers_and_readers_go_on_meanwhile(journal):
    def write(writer: int) -> None:
        own = Journal(journal.folder)
        for n in range(15):
            own.append({Scan: scans(f"{writer}-{n}")})

    def read() -> bool:
        own, lengths = Journal(journal.folder), []
        for _ in range(30):
            lengths.append(len(names(own)))
        return lengths == sorted(lengths)

    with ThreadPoolExecutor(4) as pool:
        writers, readers = pool.map(write, range(2)), [pool.submit(read) for _ in range(2)]
        for _ in range(10):
            compact(journal, ROWS)
        list(writers)
        assert all(reader.result() for reader in readers)
    compact(journal, ROWS)
    assert sorted(names(Journal(journal.folder))) == sorted(
        [*"abccdefgh", *(f"{w}-{n}" for w in range(2) for n in range(15))]
    )


def test_one_compaction_at_a_time(journal, monkeypatch):
    def again(*_: object) -> None:
        compact(Journal(journal.folder), ROWS)

    monkeypatch.setattr(compaction, "_merge", again)
    with pytest.raises(BusyError, match="compacting"):
        compact(journal, ROWS)


def test_what_others_merged_meanwhile_is_not_merged_twice(journal):
    parts = journal.parts(Scan)
    compact(Journal(journal.folder), ROWS)
    before = everything(journal)
    temporary = journal.folder / "scans-merged.1.tmp"
    temporary.write_bytes(b"")
    assert not journal.put_in_place(parts, temporary, "0" * 64)
    assert everything(journal) == before
    assert not temporary.exists()


def test_killed_at_any_point_it_is_old_or_new(journal):
    before, chance = everything(journal), random.Random(5)
    for _ in range(6):
        child = os.fork()
        if not child:
            with suppress(BaseException):
                compact(Journal(journal.folder), ROWS)
            os._exit(0)
        time.sleep(chance.uniform(0, 0.02))
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert everything(Journal(journal.folder)) == before
    compact(journal, ROWS)
    assert everything(journal) == before
    assert extent(journal).files == 2
    assert not list(journal.folder.rglob("*.tmp"))


def test_a_damaged_part_is_named_and_nothing_is_merged(journal):
    [first, *_] = journal.parts(Scan)
    journal.path(first).write_bytes(b"no Parquet")
    with pytest.raises(DamageError, match=first.file):
        compact(Journal(journal.folder), ROWS)
    assert extent(journal).files == 8


def test_a_damaged_file_is_set_aside_with_the_rows_of_its_commits(journal):
    compact(journal, ROWS)
    [first, *_] = journal.parts(Scan)
    journal.path(first).write_bytes(b"no Parquet")
    assert Journal(journal.folder).damaged() == [str(journal.path(first))]
    [words] = Journal(journal.folder).set_aside_damage()
    assert "9 rows of the table scans are lost" in words
    assert names(Journal(journal.folder)) == []
    assert len(Journal(journal.folder).table(Override)) == 1


def test_replies_that_were_paid_for_are_found(tmp_path):
    home = Home(tmp_path)
    ledgers = [home.ledger, Home(tmp_path).ledger]
    for number in range(4):
        home.ledger.write(call(number), reply(number)).result(10)
        home.ledger.seal()
    assert ledgers[1].find("s1")
    compact_home(Home(tmp_path))
    for ledger in (*ledgers, Home(tmp_path).ledger):
        assert [ledger.find(f"s{n}") for n in range(4)] == [f'{{"n":{n}}}' for n in range(4)]
        assert ledger.answered("extract", "m", "p")[3] == ("p3", "q3")
    assert ledgers[1].find_from("e", "s2") == ledgers[0].find_from("e", "s2")
    assert extent(home.journal).files == 1


def test_a_refresh_after_it_has_nothing_to_do(own_home, tiny_corpus, almanac):
    count = "select count(*) as n, count(distinct run_id) as r from runs"
    before, live = Home(own_home).editions.current().manifest, almanac.json(own_home, "sql", count)
    compact_home(Home(own_home))
    assert almanac.json(own_home, "sql", count) == live
    assert almanac.json(own_home, "compact")[0]["parts_after"] < 20
    sources = Home(own_home).journal.table(Scan)["source"].to_pylist()
    run = refresh(Home(own_home), [sources[-1]], load_settings(own_home))
    assert run.outcome == "unchanged"
    assert Home(own_home).editions.current().manifest == before


@pytest.mark.parametrize("few_rows", [0, 2000])
def test_editions_derive_from_the_same_rows_as_before(own_home, monkeypatch, few_rows):
    monkeypatch.setattr("warehouse.journal_views.FEW_ROWS", few_rows)
    home = Home(own_home)
    before = [rows_of(home, edition) for edition in home.editions.all()]
    compact_home(Home(own_home))
    assert [rows_of(home, edition) for edition in home.editions.all()] == before


def rows_of(home, edition):
    derivation = Derivation(home.journal, edition.manifest["journal_position"], home.scratch)
    tables = [derivation.table(f"j_{row.table}").to_pylist() for row in DERIVED]
    derivation.close()
    return [sorted(map(repr, rows)) for rows in tables]


def test_a_run_that_publishes_compacts_after_some_parts(own_home):
    settings = load_settings(own_home)
    publish = settings.publish.model_copy(update={"compact_after": 1})
    [source, *_] = Home(own_home).journal.table(Scan)["source"].to_pylist()
    run = refresh(Home(own_home), [source], settings.model_copy(update={"publish": publish}))
    home = Home(own_home)
    assert run.counts["parts"]["after"] == extent(home.journal).files + extent(home.live).files - 1
    assert len({part.file for part in home.journal.parts(Read)}) == 1
