"""Damaged files and full disks: noticed before a wrong row is served, and mended by a refresh."""

import errno
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import schemas
from schemas.errors import AlmanacError, DamageError
from schemas.observations import Override, Scan
from schemas.operations import Run
from tasks.reader.passage_reader import PassageReader
from tasks.reader.texts import ReaderAnswer
from tasks.refresh import refresh
from tasks.text.question import analyse
from tests.current_edition import SETTINGS, current
from warehouse import durable
from warehouse.editions import DUCKDB_FILE, Edition
from warehouse.home import Home
from warehouse.live import latest
from warehouse.overrides import make_override

QUESTION = "Where was Charles Babbage born?"
TOLD_BY_TIME = {"edition", "parent", "read_at", "extracted_at", "since"}
KINDS = {
    "pointer": "editions/current.json",
    "manifest": "editions/*/manifest.json",
    "table": "editions/*/*.parquet",
    "database": "editions/*/almanac.duckdb",
    "search texts": "editions/*/search/*.*",
    "word index": "editions/*/search/words/*/*",
    "journal log": "journal/commits.jsonl",
    "journal part": "journal/*/*.parquet",
    "journal note": "journal/commits.lock",
    "live log": "live/commits.jsonl",
    "live part": "live/*/*.parquet",
}
Damage = Callable[[Path, random.Random], None]


# --- ways to damage a file ---------------------------------------------------------------


def flip_a_bit(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def overwrite_eight_bytes(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    start = chance.randrange(max(1, len(data) - 8))
    data[start : start + 8] = chance.randbytes(8)
    path.write_bytes(data)


def zero_a_block(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data)) // 512 * 512
    data[start : start + 512] = bytes(len(data[start : start + 512]))
    path.write_bytes(data)


def cut_off(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def delete(path: Path, chance: random.Random) -> None:
    path.unlink()


def put_another_in_its_place(path: Path, chance: random.Random) -> None:
    """Take the contents of another file of the same name or ending."""
    home = next(p for p in path.parents if (p / "journal").is_dir())
    others = [p for p in home.rglob(path.name) if p != path and p.is_file()]
    others = others or [p for p in path.parent.glob(f"*{path.suffix}") if p != path]
    if others:
        path.write_bytes(chance.choice(sorted(others)).read_bytes())
    else:
        path.write_bytes(b"{}")


DAMAGES: tuple[Damage, ...] = (
    flip_a_bit, overwrite_eight_bytes, zero_a_block, cut_off, delete, put_another_in_its_place,
)  # fmt: skip


# --- what readers get --------------------------------------------------------------------


def rows_of(edition: Edition) -> dict[str, list[dict[str, Any]]]:
    return {row.table: edition.table(row).to_pylist() for row in schemas.EDITION}


def sql(edition: Edition) -> list[Any]:
    """Do what `almanac sql` does, without the cost of its process."""
    edition.check(DUCKDB_FILE)
    with duckdb.connect(str(edition.database), read_only=True) as con:
        return con.sql("select * from triples order by triple_id").fetchall()


def ask(edition: Edition) -> ReaderAnswer:
    return PassageReader(edition, SETTINGS.engine).answer(analyse(QUESTION))


def live(home: Path) -> list[dict[str, Any]]:
    return latest(Home(home).live, Run).to_pylist()


def timeless(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    return {
        table: [{k: v for k, v in row.items() if k not in TOLD_BY_TIME} for row in found]
        for table, found in rows.items()
        if table != "changes"
    }


@pytest.fixture
def own_home(small_home: Path, tmp_path: Path) -> Path:
    """A whole copy of the small home, whose files may be damaged."""
    return Path(shutil.copytree(small_home, tmp_path / "home"))


@pytest.fixture(scope="module")
def damaged_home(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small home that `damage` changes and puts back."""
    return Path(shutil.copytree(small_home, tmp_path_factory.mktemp("damage") / "home"))


@pytest.fixture(scope="module")
def source(small_home: Path) -> str:
    return str(Home(small_home).journal.table(Scan)["source"][0])


@pytest.fixture(scope="module")
def reference(small_home: Path) -> dict[str, Any]:
    edition = current(small_home)
    return {
        "id": edition.id,
        "tables": rows_of(edition),
        "sql": sql(edition),
        "ask": ask(edition),
        "live": live(small_home),
    }


@contextmanager
def damage(home: Path, pattern: str, how: Damage, chance: random.Random) -> Iterator[Path]:
    """Damage one file of a kind while the body runs."""
    path = chance.choice([p for p in sorted(home.glob(pattern)) if p.stat().st_size])
    kept = path.read_bytes()
    how(path, chance)
    try:
        yield path
    finally:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(kept)


def served(home: Path) -> dict[str, Any]:
    """Return what each way of reading gives; a refusal in plain words is an AlmanacError."""

    found: dict[str, Any] = {}
    ways: dict[str, Callable[[Any], Any]] = {
        "tables": rows_of, "sql": sql, "ask": ask, "live": live
    }  # fmt: skip
    for name, read in ways.items():
        try:
            place = home if read is live else Home(home).editions.current()
            found[name] = read(place) if place else None
        except AlmanacError as error:
            found[name] = error
    return found


@pytest.mark.parametrize("how", DAMAGES, ids=lambda how: how.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_noticed_before_a_row_is_served_or_does_no_harm(
    kind, how, damaged_home, reference
):
    chance = random.Random(f"{kind} {how.__name__}")
    with damage(damaged_home, KINDS[kind], how, chance) as path:
        found = served(damaged_home)
    for way, got in found.items():
        if isinstance(got, AlmanacError):
            assert str(damaged_home) in str(got)
            assert str(got).endswith(".") and "\n" not in str(got)
        elif got is not None or kind != "pointer":
            assert got == reference[way], (path, way)


REFRESHED = ["pointer", "manifest", "table", "word index", "journal log", "journal part"]


@pytest.mark.parametrize("kind", REFRESHED)
def test_a_refresh_on_damage_stops_in_plain_words_or_ends_as_without_it(
    kind, small_home, source, reference, tmp_path
):
    chance = random.Random(kind)
    for how in chance.sample(DAMAGES, 2):
        home = Path(shutil.copytree(small_home, tmp_path / how.__name__))
        before = parts_of(home)
        with damage(home, KINDS[kind], how, chance):
            try:
                refresh(Home(home), [source], SETTINGS)
            except AlmanacError as error:
                assert "\n" not in str(error)
            else:
                edition = current(home)
                assert edition.damaged() == []
                assert timeless(rows_of(edition)) == timeless(reference["tables"])
        assert before <= parts_of(home), "a stopped refresh removed observations"


@pytest.mark.parametrize("kind", ["live part", "live log"])
def test_damaged_records_are_set_aside_and_a_refresh_says_so_and_goes_on(
    kind, own_home, source, caplog
):
    path = sorted(own_home.glob(KINDS[kind]))[0]
    cut_off(path, random.Random(1))
    kept = path.read_bytes()
    assert refresh(Home(own_home), [source], SETTINGS).outcome == "unchanged"
    assert str(path) in caplog.text and "lost" in caplog.text.lower()
    assert kept in [aside.read_bytes() for aside in own_home.glob("live*/**/*") if aside.is_file()]
    caplog.clear()
    refresh(Home(own_home), [source], SETTINGS)
    assert not caplog.text and Home(own_home).live.damaged() == []
    assert latest(Home(own_home).live, Run)["outcome"].to_pylist()[-1] == "unchanged"


def parts_of(home: Path) -> set[Path]:
    return {path.relative_to(home) for path in home.glob("*/*/*.parquet")} - {
        path.relative_to(home) for path in home.glob("editions/*/*.parquet")
    }


@pytest.mark.parametrize("what", ["table", "database", "word index", "manifest"])
def test_a_damaged_edition_is_built_anew_by_a_refresh_of_nothing_new(
    what, own_home, source, reference
):
    pattern = KINDS[what].replace("editions/*", f"editions/{reference['id']}", 1)
    path = max(own_home.glob(pattern), key=lambda p: (p.stat().st_size, p))
    cut_off(path, random.Random(1))
    run = refresh(Home(own_home), [source], SETTINGS)
    assert run.published
    mended = current(own_home)
    assert mended.id != reference["id"] and mended.damaged() == []
    assert timeless(rows_of(mended)) == timeless(reference["tables"])
    assert refresh(Home(own_home), [source], SETTINGS).outcome == "unchanged"


def test_a_journal_that_lost_commits_stops_a_refresh_before_it_cleans(own_home, source):
    log = own_home / "journal" / "commits.jsonl"
    before = parts_of(own_home)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2]))
    (own_home / "journal" / "commits.lock").unlink()  # then only the editions tell
    with pytest.raises(DamageError, match="commits, but an edition was made from"):
        refresh(Home(own_home), [source], SETTINGS)
    assert before <= parts_of(own_home)


def test_a_line_taken_out_of_the_middle_of_the_log_is_noticed(own_home):
    log = own_home / "journal" / "commits.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2] + lines[3:]))
    with pytest.raises(DamageError, match=r"commits\.jsonl"):
        Home(own_home).journal.table(Scan)
    assert Home(own_home).journal.damaged() == [str(log)]


def test_the_logs_of_journal_and_live_are_not_taken_for_each_other(own_home, source):
    logs = [own_home / place / "commits.jsonl" for place in ("journal", "live")]
    before, texts = parts_of(own_home), [log.read_bytes() for log in logs]
    for log, text in zip(logs, reversed(texts), strict=True):
        log.write_bytes(text)
    with pytest.raises(DamageError):
        refresh(Home(own_home), [source], SETTINGS)
    assert parts_of(own_home) == before


def test_a_pointer_to_an_edition_that_is_not_there_is_said_at_once(own_home):
    editions = Home(own_home).editions
    current = editions.current()
    assert current is not None
    shutil.rmtree(current.path)
    with pytest.raises(DamageError, match="rollback"):
        editions.current()
    with pytest.raises(DamageError, match="rollback"), editions.reading():
        pass


def test_the_command_line_refuses_a_damaged_database(own_home, almanac):
    edition = current(own_home)
    flip_a_bit(edition.database, random.Random(4))
    code, out, err = almanac(own_home, "sql", "select count(*) from triples")
    assert (code, out) == (1, "")
    assert "almanac.duckdb is not what the edition's manifest says" in err
    code, _, err = almanac(own_home, "ask", QUESTION)
    assert code == 1 and "almanac editions rollback" in err


def test_a_damaged_edition_is_not_made_current(own_home, almanac):
    editions = Home(own_home).editions
    first, current = editions.all()
    (first.path / "triples.parquet").write_bytes(b"damaged")
    for action in (["rollback"], ["publish", first.id]):
        code, _, err = almanac(own_home, "editions", *action)
        assert code == 1 and "triples.parquet" in err
        assert editions.current() == current and not editions.pointer()["hold"]


def test_a_holder_note_that_makes_no_sense_still_says_that_somebody_works(tmp_path):
    from schemas.errors import BusyError
    from warehouse.lease import lease

    with lease(tmp_path, "one"):
        for note in (b"", b"[1]", b"{}", b"\xff", b'{"run_id": 1'):
            (tmp_path / "refresh.holder.json").write_bytes(note)
            with pytest.raises(BusyError, match="Another refresh"), lease(tmp_path, "two"):
                pass


# --- disks that are full -----------------------------------------------------------------


class FullDisk:
    """After `after` changes that took place, every sync, rename and new folder fails: no space.

    A folder that another thread has just made is no change, so the count is the same in every run.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
        self.left, self.failures = after, 0
        for module, name in ((os, "fsync"), (os, "replace"), (os, "rename"), (os, "mkdir")):
            monkeypatch.setattr(module, name, self._failing(getattr(module, name)))
        monkeypatch.setattr(Path, "write_bytes", self._failing(Path.write_bytes))

    def _failing(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            if self.left <= 0:
                self.failures += 1
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            done = real(*values, **named)
            self.left -= 1
            return done

        return call


@pytest.fixture(scope="module")
def changed(
    small_home: Path, source: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """The source with a changed document, and what an undisturbed refresh makes of it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    home = Path(shutil.copytree(small_home, folder / "home"))
    before, kept = current(home).id, shutil.copytree(source, folder / "corpus")
    text = "# Charles Babbage\n\nCharles Babbage was an English inventor. He was born in Leeds.\n"
    (Path(source) / "babbage.md").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        counted = FullDisk(patch, 10**9)
        refresh(Home(home), [source], SETTINGS)
    rows = timeless(rows_of(current(home)))
    yield {"rows": rows, "steps": 10**9 - counted.left, "before": before}
    shutil.copytree(kept, source, dirs_exist_ok=True)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.5, 0.65, 0.8, 0.9, 0.98])
def test_a_full_disk_ends_a_refresh_and_the_next_one_completes_it(
    share, changed, own_home, source, monkeypatch, reference
):
    with monkeypatch.context() as patched:
        disk = FullDisk(patched, int(share * changed["steps"]))
        with pytest.raises(AlmanacError, match="is full"):
            refresh(Home(own_home), [source], SETTINGS)
        assert disk.failures
        edition = current(own_home)
        # Once the pointer is moved the new edition stands, whatever fails afterwards.
        if edition.id == changed["before"]:
            assert rows_of(edition) == reference["tables"]
    refresh(Home(own_home), [source], SETTINGS)
    edition = current(own_home)
    assert edition.damaged() == []
    assert timeless(rows_of(edition)) == changed["rows"]
    assert not list(own_home.rglob("*.tmp"))
    assert not list(own_home.glob("editions/.building-*"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, too small for another edition."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=16m", "almanac-test", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run([shutil.which("umount") or "umount", "-l", str(place)], check=True)


def test_on_a_small_disk_the_last_edition_stays_readable(
    changed, small_home, small_disk, source, reference
):
    home = Path(shutil.copytree(small_home, small_disk / "home"))
    ballast = small_disk / "ballast"
    free = shutil.disk_usage(small_disk).free
    ballast.write_bytes(bytes(max(0, free - 600_000)))
    with pytest.raises(AlmanacError, match="is full"):
        refresh(Home(home), [source], SETTINGS)
    edition = current(home)
    assert edition.id == reference["id"]
    assert rows_of(edition) == reference["tables"]
    assert sql(edition) == reference["sql"]
    assert ask(edition) == reference["ask"]
    ballast.unlink()
    refresh(Home(home), [source], SETTINGS)
    edition = current(home)
    assert timeless(rows_of(edition)) == changed["rows"]


# --- several writers ----------------------------------------------------------------------


def test_a_sealed_file_tells_every_change(tmp_path):
    path = tmp_path / "a.json"
    durable.write_sealed_json(path, {"edition": "000001-aa", "published": ["x"], "n": 1})
    assert durable.read_sealed_json(path, "Advice.")["n"] == 1
    whole = path.read_bytes()
    harmless = 0
    for place in range(len(whole)):
        for bit in range(8):
            data = bytearray(whole)
            data[place] ^= 1 << bit
            path.write_bytes(data)
            try:
                value = durable.read_sealed_json(path, "Advice.")
            except DamageError:
                continue
            harmless += 1
            assert {k: value[k] for k in ("edition", "published", "n")} == {
                "edition": "000001-aa",
                "published": ["x"],
                "n": 1,
            }
    assert harmless < 0.2 * 8 * len(whole)


def test_an_override_made_by_somebody_else_meanwhile_is_kept(own_home, source):
    """A second process' rows are in the log's chain like one's own."""
    first, second = Home(own_home), Home(own_home)
    edition = current(first)
    fact = edition.table(schemas.Triple)["triple_id"][0].as_py()
    assert len(first.journal.table(Override)) == 0
    make_override(second, edition, "reject", fact)
    make_override(first, edition, "reject", edition.table(schemas.Triple)["triple_id"][1].as_py())
    assert len(second.journal.table(Override)) == 2
    assert isinstance(Home(own_home).journal.table(Override), pa.Table)
