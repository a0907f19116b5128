"""A home in an object store: several machines write and read it, and nothing is lost."""

import shutil
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import schemas
from flows.home import edition_of, home_in
from schemas.errors import AlmanacError, BusyError, DamageError, StoreError
from schemas.observations import JOURNAL, Scan
from schemas.settings import load_settings
from tasks.refresh import refresh
from tests.current_edition import current, rows
from warehouse import durable
from warehouse.compaction import compact
from warehouse.editions import Edition, Editions
from warehouse.home import Home
from warehouse.lease import lease

ADDRESS = "s3://bucket/team"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def machine(bucket, tmp_path, monkeypatch):
    """Open the home on a machine, whose cache has the machine's name."""

    def opened(name: str) -> Home:
        monkeypatch.setenv("ALMANAC_CACHE", str(tmp_path / name))
        return home_in(Path(ADDRESS))

    return opened


def scans(*names: str) -> pa.Table:
    same = {"run_id": "r", "source": "s", "complete": True, "items": 1, "scanned_at": NOW}
    return Scan.to_table({"scan_id": name, **same} for name in names)


def names_of(home: Home) -> list[str]:
    return home.journal.table(Scan)["scan_id"].to_pylist()


def publish(editions: Editions, text: str = "a") -> Edition:
    """Publish an edition with two files, of which one is the same in all."""
    building = editions.begin("0123456789abcdef", editions.current())
    relation = {"relation": text, "graph": "corpus", "triples": 1, "single_valued": False}
    table = schemas.Relation.to_table([relation | {"example": ""}])
    pq.write_table(table, building.folder / "relations.parquet")
    (building.folder / "words").mkdir()
    (building.folder / "words" / "kept.txt").write_text("the same")
    edition = editions.seal(building, {})
    editions.publish(edition)
    return edition


def fail_always(bucket, fault: str = "busy") -> None:
    bucket.fault_share, bucket.random.choice = 1.0, lambda faults: fault


# -- the journal ----------------------------------------------------------------------------


def test_two_machines_append_in_turn_and_read_the_same(machine):
    one, two = machine("one"), machine("two")
    assert one.journal.append({Scan: scans("a", "b")}) == 1
    assert two.journal.append({Scan: scans("c")}) == 2
    assert one.journal.append({Scan: scans("d")}) == 3
    assert names_of(machine("three")) == names_of(one) == ["a", "b", "c", "d"]


def test_four_machines_append_at_once_through_faults_and_each_commit_is_there_once(machine, bucket):
    homes = [machine(f"machine {number}") for number in range(4)]
    bucket.fault_share = 0.1

    def write(home: Home) -> list[int]:
        return [home.journal.append({Scan: scans(f"{home.path}-{n}")}) for n in range(6)]

    with ThreadPoolExecutor(4) as writers:
        numbers = sorted(number for made in writers.map(write, homes) for number in made)
    bucket.fault_share = 0.0
    assert numbers == list(range(1, 25))
    names = names_of(machine("a reader"))
    assert sorted(names) == sorted(f"{home.path}-{n}" for home in homes for n in range(6))


@pytest.mark.parametrize("fault", ["busy", "lost", "cut"])
def test_a_commit_that_could_not_be_sent_is_sent_once_by_the_next(machine, bucket, fault):
    home = machine("one")
    home.journal.append({Scan: scans("a")})
    share, choice = bucket.fault_share, bucket.random.choice
    fail_always(bucket, fault)
    with pytest.raises(StoreError, match="Nothing is lost"):
        home.journal.append({Scan: scans("b")})
    bucket.fault_share, bucket.random.choice = share, choice
    machine("two").journal.append({Scan: scans("c")})
    machine("one").journal.append({Scan: scans("d")})
    assert sorted(names_of(machine("three"))) == ["a", "b", "c", "d"]
    assert not list(home.journal.folder.glob("unsent/*"))


def test_live_records_wait_without_an_error(machine, bucket, caplog):
    home = machine("one")
    fail_always(bucket)
    assert home.live.append({Scan: scans("a")}) == 0
    assert "Nothing is lost" in caplog.text
    bucket.fault_share = 0.0
    home.live.clean()
    assert len(machine("two").live.table(Scan)) == 1


def test_what_is_damaged_or_missing_here_is_read_from_the_store_again(machine):
    home = machine("one")
    home.journal.append({Scan: scans("a")})
    [part] = home.journal.parts(Scan)
    home.journal.path(part).write_bytes(b"rotten")
    assert machine("one").journal.damaged() == [str(home.path / "journal" / part.file)]
    assert names_of(machine("one")) == ["a"]
    (home.path / "journal" / "commits.jsonl").write_text("rotten\n")
    assert names_of(machine("one")) == ["a"]


def test_two_machines_compact_what_both_read(machine):
    one, two = machine("one"), machine("two")
    for name in "abcd":
        one.journal.append({Scan: scans(name)})
    stale = two.journal.parts(Scan)
    compact(one.journal, [Scan])
    assert {part.file for part in one.journal.parts(Scan)} != {part.file for part in stale}
    compact(two.journal, [Scan])
    two.journal.append({Scan: scans("e")})
    for home in (one, two, machine("three")):
        home.journal.pull()
        assert names_of(home) == ["a", "b", "c", "d", "e"]
        assert home.journal.damaged() == []


def test_a_store_that_lost_commits_is_noticed(machine, bucket):
    home = machine("one")
    home.journal.append({Scan: scans("a")})
    bucket.objects.clear()
    with pytest.raises(DamageError, match="lacks commit 1"):
        machine("one").journal.append({Scan: scans("b")})


# -- editions and the lease -------------------------------------------------------------------


def test_what_the_parent_has_is_not_sent_again(machine, bucket):
    home = machine("one")
    with lease(home.path, "run"):
        publish(home.editions)
        before = set(bucket.objects)
        publish(home.editions, "b")
    sent = [key for key in bucket.objects.keys() - before if not key.endswith(".json")]
    assert len(sent) == 1


def test_a_reader_keeps_its_edition_while_new_ones_are_published(machine, monkeypatch):
    monkeypatch.setattr("warehouse.stored_editions.LOOK_SECONDS", 0.0)
    writer, reader = machine("one"), machine("two")
    with lease(writer.path, "run"):
        first = publish(writer.editions)
        with reader.editions.reading() as pinned:
            second = publish(writer.editions, "b")
            writer.editions.prune(keep=0, days=0)
            assert pinned.id == first.id and pinned.damaged() == []
            assert reader.editions.current().id == second.id
    assert [edition.id for edition in reader.editions.all()] == [first.id, second.id]
    assert [edition.id for edition in machine("three").editions.all()] == [second.id]


def test_pruning_leaves_no_object_that_no_edition_has(machine, bucket):
    home = machine("one")
    with lease(home.path, "run"):
        [publish(home.editions, text) for text in "abc"]
        home.editions.prune(keep=0, days=0)
    [edition] = home.editions.all()
    there = [key for key in bucket.objects if key.startswith("team/editions/")]
    assert len(there) == len(set(edition.manifest["files"].values())) + 1
    assert machine("two").editions.current().damaged() == []


def test_two_machines_do_not_hold_the_lease_at_once(machine):
    one, two = machine("one"), machine("two")
    words = "first run has been running on s3://bucket/team"
    with lease(one.path, "first run"), pytest.raises(BusyError, match=words):
        lease(two.path, "second run").__enter__()
    with lease(two.path, "second run"):
        publish(two.editions)


def test_a_writer_that_slept_beyond_its_lease_can_publish_nothing(machine, monkeypatch):
    one, two = machine("one"), machine("two")
    monkeypatch.setattr("warehouse.stored_home.LEASE_SECONDS", 0.0)  # nor does it give signs
    with lease(one.path, "sleeper"):
        publish(one.editions)
        with lease(two.path, "next"):
            with pytest.raises(BusyError, match="taken over"):
                publish(one.editions, "b")
            published = publish(two.editions, "c")
        with pytest.raises(BusyError, match="taken over"):
            one.editions.release()
    assert machine("three").editions.current().id == published.id


def test_a_killed_writer_is_replaced_at_once_on_its_own_machine(machine):
    held = lease(machine("one").path, "killed")
    held.__enter__()
    stored = machine("one").stored
    with stored.leased(
        {"run_id": "next", "host": socket.gethostname()}, 0.0
    ):  # this machine's lock is free after a kill
        assert stored.mirror.fence == 2


def test_damage_in_this_machines_copy_is_found_and_repaired(machine):
    writer = machine("one")
    with lease(writer.path, "run"):
        edition = publish(writer.editions)
    reader = machine("two")
    copy = reader.editions.current().path / "relations.parquet"
    copy.write_bytes(b"rotten")
    assert len(reader.editions.open(edition.id).damaged()) == 1
    copy.unlink()
    assert reader.editions.open(edition.id).damaged() == []


def test_editions_unused_for_longest_leave_the_cache(machine, monkeypatch):
    monkeypatch.setenv("ALMANAC_CACHE_GB", "0")
    writer = machine("one")
    with lease(writer.path, "run"):
        first, second = publish(writer.editions), publish(writer.editions, "b")
    reader = machine("two")
    reader.editions.open(first.id)
    reader.editions.current()
    assert not (reader.editions.folder / first.id / "relations.parquet").exists()
    assert reader.editions.open(first.id).table(schemas.Relation)["relation"].to_pylist() == ["a"]
    assert second.id == reader.editions.current().id


def test_readers_go_on_while_the_store_is_away(machine, bucket, caplog):
    with lease(machine("one").path, "run"):
        edition = publish(machine("one").editions)
    fail_always(bucket)
    machine("one").stored.editions._looked = (-100.0, -1)
    assert machine("one").editions.current().id == edition.id
    assert "Read is what this machine has." in caplog.text


def test_readers_soon_go_on_if_the_store_never_answers_and_are_told_once(
    machine, monkeypatch, caplog
):
    home = machine("one")
    with lease(home.path, "run"):
        home.journal.append({Scan: scans("a")})
        edition = publish(home.editions)
    monkeypatch.setattr("warehouse.object_store.SILENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        began, reader = time.monotonic(), machine("one")
        assert reader.editions.current().id == edition.id
        assert names_of(reader) == ["a"]
        assert reader.live.append({Scan: scans("b")}) == 0
        assert time.monotonic() - began < 5
    assert caplog.text.count("Read is what this machine has.") == 1


def test_a_writer_does_not_go_on_with_an_old_journal(machine, bucket):
    home = machine("one")
    home.journal.append({Scan: scans("a")})
    with lease(home.path, "run"):
        fail_always(bucket)
        with pytest.raises(StoreError):
            names_of(machine("one"))


# -- the whole path ---------------------------------------------------------------------------


def test_tables_equal_those_of_a_home_on_a_disk(machine, bucket, small_home, tmp_path):
    local, stored = Home(small_home), machine("one")
    bucket.fault_share = 0.1
    for number in range(1, local.journal.position + 1):
        tables = {
            row: local.journal.part_table(row, part)
            for row in JOURNAL
            for part in local.journal.parts(row, after=number - 1, upto=number)
        }
        assert stored.journal.append(tables) == number
    refresh(stored, [], load_settings(local.path))
    bucket.fault_share = 0.0
    edition = current(machine("two"))
    for row in set(schemas.EDITION) - {schemas.Change, schemas.EntityRedirect}:  # name editions
        assert rows(edition, row) == rows(current(local), row), row.table
    shutil.rmtree(tmp_path / "two")
    assert current(machine("two")).damaged() == []


def test_settings_and_notes_go_with_the_home(machine):
    one = machine("one")
    durable.write_bytes(one.path / "notes" / "a.json", b"{}")
    (one.path / "settings.toml").write_text("workers = 1\n")
    one.stored.share_files()
    two = machine("two")
    assert (two.path / "notes" / "a.json").read_bytes() == b"{}"
    (two.path / "notes" / "a.json").unlink()
    (two.path / "settings.toml").write_text("workers = 2\n")
    two.stored.share_files()
    (one.path / "settings.toml").write_text("workers = 3\n")
    one.stored.share_files()
    assert not (one.path / "notes" / "a.json").exists()
    assert (one.path / "settings.toml").read_text() == "workers = 2\n"
    assert (one.path / "settings.toml.mine").read_text() == "workers = 3\n"


def test_no_credential_is_kept_anywhere(machine, bucket, tmp_path):
    home = machine("one")
    with lease(home.path, "run"):
        publish(home.editions)
    assert home.path.stat().st_mode & 0o777 == 0o700
    found = subprocess.run(["grep", "-rlE", "KEYOFTHETEST", str(tmp_path)], capture_output=True)
    assert found.stdout == b"" and bucket.headers[0]["authorization"]
    assert not any(b"KEYOFTHETEST" in data for data in bucket.objects.values())


def test_a_damaged_pointer_is_named_and_what_this_machine_has_is_read(
    machine, bucket, caplog, monkeypatch
):
    monkeypatch.setattr("warehouse.stored_editions.LOOK_SECONDS", 0.0)
    home = machine("one")
    with lease(home.path, "a run"):
        edition = publish(home.editions)
    bucket.objects["team/current.json"] = b'{"edition": "00'
    assert current(machine("one").path).id == edition.id
    assert "s3://bucket/team/current.json is not what was written there" in caplog.text
    with pytest.raises(DamageError, match="Put an earlier version of it back"):
        machine("two").editions.current()


def test_a_home_without_editions_is_named_by_its_address(machine):
    with pytest.raises(AlmanacError, match="no edition in s3://bucket/team yet"):
        edition_of(machine("one"), None)


def test_a_cut_object_of_any_edition_in_the_store_is_found(machine, bucket):
    home = machine("one")
    with lease(home.path, "a run"):
        publish(home.editions, "a")
        publish(home.editions, "b")
    assert home.stored.editions.damaged_in_store() == []
    [key] = [k for k, data in bucket.objects.items() if data == b"the same"]
    bucket.objects[key] = b"the"
    assert home.stored.editions.damaged_in_store() == [key.removeprefix("team/")]
