"""Back up, restore and move a home, as docs/backup.md says, while others work on it."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

import schemas
from schemas.errors import UsageError
from schemas.observations import ModelReply, Scan
from schemas.settings import load_settings
from tasks.compact import compact_home
from tasks.refresh import refresh
from tests.documents import write_texts
from tests.test_ledger import call, reply
from warehouse.backup import back_up
from warehouse.home import Home
from warehouse.journal import Journal

BOAT = "# Boats\n\nThe Zorbia was built by Edna Quill in 1931.\n"


def is_whole(home):
    edition = home.require_edition()
    home.clean()  # raises if the journal has fewer commits than an edition
    damaged = [*home.journal.damaged(), *home.live.damaged(), *edition.damaged()]
    return not damaged and edition.rows(schemas.Triple) > 0


@pytest.fixture
def source(own_home):
    """The folder that the home has read; a text came since."""
    [source, *_] = Home(own_home).journal.table(Scan)["source"].to_pylist()
    folder = shutil.copytree(source, own_home.parent / "corpus")
    return str(write_texts(folder, {"boats.md": BOAT}))


def test_a_home_is_copied_while_it_is_refreshed_restored_and_moved(
    own_home, source, tmp_path, almanac
):
    copy, settings = tmp_path / "backup", load_settings(own_home)
    publish = settings.publish.model_copy(update={"compact_after": 1})
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(
            refresh, Home(own_home), [source], settings.model_copy(update={"publish": publish})
        )
        while not run.done():
            back_up(Home(own_home), copy)
            assert is_whole(Home(shutil.copytree(copy, tmp_path / "looked-at", symlinks=True)))
            shutil.rmtree(tmp_path / "looked-at")
    assert run.result().published
    assert almanac.json(own_home, "backup", str(copy))[0]["folder"] == str(copy)
    assert almanac.json(own_home, "backup", str(copy))[0]["files"] == 0

    shutil.rmtree(own_home)
    shutil.copytree(copy, own_home, symlinks=True)
    assert almanac.json(own_home, "refresh", source)["outcome"] == "unchanged"
    assert "1931" in almanac.shown(own_home, "ask", "When was the Zorbia built?")

    moved = own_home.rename(tmp_path / "moved")
    assert "1931" in almanac.shown(moved, "ask", "When was the Zorbia built?")
    assert almanac.json(moved, "refresh", source)["outcome"] == "unchanged"
    assert list((moved / "current").glob("documents/*.parquet"))


def test_no_reply_that_was_paid_for_is_missing(tmp_path):
    home, copy = Home(tmp_path / "home"), tmp_path / "copy"

    def work() -> None:
        for number in range(40):
            home.ledger.write(call(number), reply(number)).result(10)
            known.append(f"s{number}")
            home.ledger.seal()
            compact_home(home, files=4)

    known: list[str] = []
    home.journal.append({ModelReply: ModelReply.to_table([reply(40)])})
    with ThreadPoolExecutor(1) as beside:
        worker = beside.submit(work)
        while not worker.done():
            before = list(known)
            back_up(Home(home.path), copy)
            copied = Home(shutil.copytree(copy, tmp_path / "looked-at"))
            copied.clean()
            assert all(copied.ledger.find(sha) for sha in before)
            shutil.rmtree(copied.path)
    worker.result()


@pytest.mark.parametrize("name", ["home/backup", "texts"])
def test_a_folder_of_something_else_is_refused(own_home, tmp_path, name):
    write_texts(tmp_path / "texts", {"a.md": BOAT})
    with pytest.raises(UsageError, match="name a"):
        back_up(Home(own_home), tmp_path / name)


@pytest.mark.parametrize("folder", ["journal", "live"])
def test_a_copy_that_went_its_own_way_is_refused(own_home, tmp_path, folder):
    back_up(Home(own_home), tmp_path / "copy")
    scans = Home(own_home).journal.table(Scan)
    Journal(tmp_path / "copy" / folder).append({Scan: scans})
    with pytest.raises(UsageError, match="that nobody has written into"):
        back_up(Home(own_home), tmp_path / "copy")
