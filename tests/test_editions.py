"""Editions: sealed whole, published by one pointer, kept while somebody reads them."""

import multiprocessing
import os
import time
from datetime import date
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

import schemas
from schemas import EDITION, VIEWS
from schemas.errors import BusyError, DamageError, UsageError
from warehouse import durable
from warehouse.derivation import build_database
from warehouse.editions import Editions
from warehouse.lease import lease
from warehouse.manifest import same_content


def publish(editions: Editions, text: str = "a", **facts: str):
    building = editions.begin("0123456789abcdef", editions.current())
    for row in schemas.EDITION:
        pq.write_table(row.to_table([]), building.folder / f"{row.table}.parquet")
    relation = {"relation": text, "graph": "corpus", "triples": 1, "single_valued": False}
    table = schemas.Relation.to_table([relation | {"example": ""}])
    pq.write_table(table, building.folder / "relations.parquet")
    build_database(building.folder)
    edition = editions.seal(building, facts)
    editions.publish(edition)
    return edition


@pytest.fixture
def editions(tmp_path: Path) -> Editions:
    return Editions(tmp_path)


def test_before_the_first_there_is_no_current_edition(editions):
    assert editions.current() is None
    assert editions.all() == []


def test_a_published_edition_is_current_and_knows_its_parent(editions):
    first, second = publish(editions), publish(editions, "b")
    assert editions.current().id == second.id
    assert second.manifest["parent"] == first.id
    assert [e.sequence for e in editions.all()] == [1, 2]
    assert [editions.state(e) for e in editions.all()] == ["published", "current"]
    assert second.rows(schemas.Relation) == 1


def test_whoever_may_read_an_edition_may_read_all_its_files(tmp_path):
    building = Editions(tmp_path).begin("0123456789abcdef")
    for name in ("kept.json", "words/private.json"):
        path = building.folder / name
        path.parent.mkdir(exist_ok=True)
        path.touch(mode=0o600)
    building.folder.chmod(0o755)
    edition = Editions(tmp_path).seal(building, {})
    for path in edition.path.rglob("*.json"):
        assert path.stat().st_mode & 0o777 == 0o644


def test_an_edition_is_opened_by_an_unambiguous_start_of_its_id(editions):
    first = publish(editions)
    publish(editions)
    assert editions.open("000001").id == first.id
    with pytest.raises(UsageError, match="editions list"):
        editions.open("0000")


def test_a_sealed_but_unpublished_edition_is_a_candidate(editions):
    current = publish(editions)
    candidate = editions.seal(editions.begin("f" * 64), {})
    assert editions.current().id == current.id
    assert editions.state(candidate) == "candidate"


def test_what_a_dead_builder_left_is_not_an_edition_and_is_removed(editions, tmp_path):
    publish(editions)
    (tmp_path / ".building-4194305").mkdir()
    (tmp_path / ".building-4194305" / "triples.parquet").write_bytes(b"half")
    assert len(editions.all()) == 1
    building = editions.begin("f" * 64)
    assert [p.name for p in tmp_path.glob(".building-*")] == [building.folder.name]


def test_a_damaged_table_is_refused_before_a_row_is_served(tmp_path):
    edition = publish(Editions(tmp_path))
    path = edition.parquet(schemas.Relation)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamageError, match=r"relations\.parquet"):
        edition.table(schemas.Relation)
    assert edition.damaged() == [str(path)]


def test_files_that_nobody_touched_are_not_read_again(editions, monkeypatch):
    edition = publish(editions)
    read: list[Path] = []
    sha256_file = durable.sha256_file

    def noting(path: Path) -> str:
        read.append(path)
        return sha256_file(path)

    monkeypatch.setattr(durable, "sha256_file", noting)
    assert editions.newest_whole() == edition
    assert read == []
    path = edition.path / "relations.parquet"
    os.utime(path, ns=(0, 0))
    assert editions.newest_whole() == edition
    assert path in read
    read.clear()
    assert editions.newest_whole() == edition
    assert read == []


def test_damage_that_a_reader_meets_is_noticed_by_the_next_build(editions):
    edition = publish(editions)
    path = edition.path / "relations.parquet"
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # as a failing disk would have it
    with pytest.raises(DamageError):
        edition.check("relations")
    assert editions.newest_whole() is None


def test_a_rollback_moves_the_pointer_and_holds_publishing_until_released(editions):
    first, second = publish(editions), publish(editions)
    editions.roll_back(first, hold="wrong names")
    assert editions.current().id == first.id
    assert editions.pointer()["hold"]["reason"] == "wrong names"
    assert editions.state(second) == "published"
    editions.release()
    assert editions.pointer()["hold"] is None
    assert editions.current().id == first.id


def test_a_stable_path_leads_to_the_tables_of_the_current_edition(tmp_path):
    link = tmp_path / "current"
    editions = Editions(tmp_path / "editions", link)

    def shown() -> list[tuple[str]]:
        return duckdb.read_parquet(f"{link}/relations/*.parquet").project("relation").fetchall()

    first, _ = publish(editions), publish(editions, "b")
    assert shown() == [("b",)]
    assert {path.name for path in link.iterdir()} == {r.table for r in (*EDITION, *VIEWS)}
    editions.roll_back(first, hold=None)
    assert shown() == [("a",)]
    editions.prune(keep=0, days=0)
    assert shown() == [("a",)] and len([*(editions.folder / "tables").iterdir()]) == 1
    link.unlink()  # as a kill between pointer and link leaves it
    (tmp_path / ".current.tmp").symlink_to("nowhere")
    editions.clean()
    assert shown() == [("a",)] and {p.name for p in tmp_path.iterdir()} == {"current", "editions"}


def test_what_stands_in_the_place_of_the_stable_path_is_left_alone(tmp_path):
    (tmp_path / "current").mkdir()
    publish(Editions(tmp_path / "editions", tmp_path / "current"))
    assert list((tmp_path / "current").iterdir()) == []


def test_the_edition_before_the_current_one_is_the_one_with_the_next_lower_number(editions):
    assert editions.one_before() is None
    first, second, third = (publish(editions) for _ in range(3))
    editions.seal(editions.begin("f" * 64), {})  # a candidate
    for expected in (second, first):
        assert editions.one_before() == expected
        editions.roll_back(expected, hold="wrong")
    assert editions.one_before() is None
    editions.publish(third)
    assert editions.one_before() == second


def test_the_edition_of_a_day_is_the_last_that_was_built_by_its_end(editions):
    assert editions.as_of(date(2026, 1, 10)) is None
    first = publish(editions, built_at="2026-01-10T23:59:59.999+00:00")
    second = publish(editions, built_at="2026-02-10T00:00:00.000+00:00")
    third = publish(editions, built_at="2026-02-10T09:00:00.000+00:00")
    editions.seal(editions.begin("f" * 64), {})  # a candidate
    assert editions.as_of(date(2026, 1, 9)) is None
    assert editions.as_of(date(2026, 1, 10)) == editions.as_of(date(2026, 2, 9)) == first
    assert editions.as_of(date(2026, 2, 10)) == editions.as_of(date(9999, 1, 1)) == third
    editions.roll_back(second, hold="wrong")
    assert editions.as_of(date(2026, 2, 10)) == second


def test_a_candidate_or_a_pruned_edition_is_none_to_go_back_to(editions):
    first = publish(editions)
    editions.seal(editions.begin("f" * 64), {})
    third, _ = publish(editions), publish(editions)
    assert [edition.id for edition in editions.prune(keep=2, days=0)][0] == first.id
    assert editions.one_before() == third
    editions.roll_back(third, hold=None)
    assert editions.one_before() is None


def test_one_goes_back_from_an_edition_without_its_manifest(editions):
    first, second = publish(editions), publish(editions)
    (second.path / "manifest.json").unlink()
    assert editions.one_before() == first


def test_pruning_keeps_the_current_the_last_ones_and_the_young(editions):
    made = [publish(editions) for _ in range(5)]
    editions.roll_back(made[0], hold=None)
    assert editions.prune(keep=2, days=1) == []
    assert editions.prune(keep=2, days=1e300) == []
    would = editions.prune(keep=2, days=0, dry_run=True)
    assert [e.id for e in would] == [made[1].id, made[2].id]
    assert [e.id for e in editions.prune(keep=2, days=0)] == [made[1].id, made[2].id]
    assert [e.sequence for e in editions.all()] == [1, 4, 5]


def test_candidates_do_not_push_published_editions_out(editions):
    published = [publish(editions) for _ in range(3)]
    candidates = [editions.seal(editions.begin("f" * 64), {}) for _ in range(3)]
    assert editions.prune(keep=2, days=0) == [published[0], candidates[0]]


def _read_slowly(folder: str, edition_id: str, ready, go_on) -> None:
    with Editions(Path(folder)).open(edition_id).pinned() as edition:
        ready.set()
        go_on.wait(20)
        assert edition.table(schemas.Relation).num_rows == 1


def test_an_edition_that_somebody_reads_is_not_pruned(editions, tmp_path):
    first, second = publish(editions), publish(editions)
    context = multiprocessing.get_context("spawn")
    ready, go_on = context.Event(), context.Event()
    reader = context.Process(target=_read_slowly, args=(str(tmp_path), first.id, ready, go_on))
    reader.start()
    assert ready.wait(20)
    assert editions.prune(keep=0, days=0) == []
    go_on.set()
    reader.join(20)
    assert reader.exitcode == 0
    assert [e.id for e in editions.prune(keep=0, days=0)] == [first.id]
    assert editions.all() == [second]


def test_editions_with_the_same_tables_are_known_as_such(editions):
    one, two, three = publish(editions), publish(editions), publish(editions, "other")
    assert same_content(one.manifest["tables"], two.manifest["tables"])
    assert not same_content(two.manifest["tables"], three.manifest["tables"])


def _hold(folder: str, ready) -> None:
    with lease(Path(folder), "run-1"):
        ready.set()
        time.sleep(60)


def test_a_second_refresh_learns_who_holds_the_lease_and_a_killed_holder_frees_it(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(str(tmp_path), ready))
    holder.start()
    assert ready.wait(20)
    with pytest.raises(BusyError, match="run-1 has been running since"), lease(tmp_path, "run-2"):
        pass
    holder.kill()
    holder.join()
    with lease(tmp_path, "run-2", wait_seconds=5):
        assert "run-2" in (tmp_path / "refresh.holder.json").read_text()
