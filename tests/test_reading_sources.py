"""What a source lists: folders, patterns, addresses and stores."""

import os
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, BinaryIO

import fsspec
import pytest

from schemas.errors import UsageError
from schemas.settings import ReadSettings
from tasks.ingest.formats import sources
from tasks.ingest.formats.inputs import Item, ReadText, Reason, Refusal
from tasks.ingest.formats.read import read_item
from tasks.ingest.formats.sources import scan
from tests.documents import read_all, read_one, texts


def write_tree(folder: Path) -> None:
    for name in ("b.md", "a/x.txt", "a/deep/y.txt", ".hidden.md", ".git/z.md", "a/.z.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"text of {name}")


def test_folder_is_listed_sorted_without_hidden_files(tmp_path: Path) -> None:
    write_tree(tmp_path)
    listing = scan(str(tmp_path))
    assert listing.complete and listing.source == str(tmp_path)
    assert [item.uri for item in listing.items] == ["a/deep/y.txt", "a/x.txt", "b.md"]


@pytest.mark.parametrize(
    ("pattern", "uris"),
    [
        ("*.md", ["b.md"]), ("**/*.txt", ["a/deep/y.txt", "a/x.txt"]), ("a/*.txt", ["x.txt"]),
        ("a/[wx].t?t", ["x.txt"]), ("a/[!x].txt", []),
    ],
)  # fmt: skip
def test_glob(tmp_path: Path, pattern: str, uris: list[str]) -> None:
    write_tree(tmp_path)
    base = "a/" if pattern.startswith("a/") else ""
    listing = scan(f"{tmp_path}/{pattern}")
    assert listing.complete
    assert [item.uri.removeprefix(base) for item in listing.items] == uris


def test_single_file_and_file_url(tmp_path: Path) -> None:
    write_tree(tmp_path)
    assert [item.uri for item in scan(str(tmp_path / "b.md")).items] == ["b.md"]
    (tmp_path / "b c.md").write_text("spaced")
    assert texts(f"file://{tmp_path}/b.md") == {"b.md": "text of b.md"}
    assert texts(f"file://{tmp_path}/b%20c.md") == {"b c.md": "spaced"}


def test_same_file_same_uri_and_fingerprint_until_it_changes(tmp_path: Path) -> None:
    write_tree(tmp_path)
    before = scan(str(tmp_path))
    assert scan(f"{tmp_path}/") == before
    os.utime(tmp_path / "b.md", ns=(time.time_ns(), time.time_ns() + 5))
    after = scan(str(tmp_path))
    assert [item.uri for item in after.items] == [item.uri for item in before.items]
    assert after.items[2].fingerprint != before.items[2].fingerprint


@pytest.mark.parametrize("gone", ["/nowhere/at/all", "/nowhere/*.md", "memory://nowhere-at-all"])
def test_vanished_source_is_incomplete(gone: str) -> None:
    listing = scan(gone)
    assert not listing.complete and listing.items == [] and listing.error


def test_unlistable_folder_makes_the_listing_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path)
    real = os.scandir

    def failing(path: Any) -> Any:
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", failing)
    listing = scan(str(tmp_path))
    assert (listing.complete, listing.error) == (False, "a/deep: Permission denied")
    assert [item.uri for item in listing.items] == ["a/x.txt", "b.md"]


def test_store_is_listed_and_read() -> None:
    store = fsspec.filesystem("memory")
    for name in ("/shelf/a.md", "/shelf/sub/b.jsonl", "/shelf/.hidden"):
        store.pipe(name, b'{"text": "record"}' if name.endswith("jsonl") else b"# Head\n\ntext")
    try:
        listing = scan("memory://shelf")
        assert listing.complete
        assert [item.uri for item in listing.items] == ["a.md", "sub/b.jsonl"]
        assert texts("memory://shelf") == {"a.md": "# Head\n\ntext", "sub/b.jsonl#1": "record"}
        assert list(texts("memory://shelf/*.md")) == ["a.md"]
        assert list(texts("memory://shelf/a.md")) == ["a.md"]
        store.pipe("/shelf/a.md", b"# Head\n\nmore text")
        assert scan("memory://shelf").items[0].fingerprint != listing.items[0].fingerprint
    finally:
        store.rm("/shelf", recursive=True)


def test_files_of_a_store_are_fetched_together_and_read_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, together, open_item = fsspec.filesystem("memory"), Barrier(8), sources.open_item
    for number in range(8):
        store.pipe(f"/shelf/{number}.md", b"text %d" % number)

    def opened(item: Item) -> BinaryIO:
        together.wait(timeout=10)  # breaks if one is opened only after another was read
        return open_item(item)

    monkeypatch.setattr(sources, "open_item", opened)
    try:
        ahead = sources.opened_ahead(scan("memory://shelf").items)
        read = [(item.uri, opens().read()) for item, opens in ahead]
    finally:
        store.rm("/shelf", recursive=True)
    assert read == [(f"{number}.md", b"text %d" % number) for number in range(8)]


def test_failing_store_is_incomplete_and_keeps_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    def failing(*_: Any, **__: Any) -> Any:
        raise ConnectionError("no route to ftp://me:secret@host")

    monkeypatch.setattr(MemoryFileSystem, "info", failing)
    listing = scan("memory://me:secret@shelf")
    assert not listing.complete
    assert "secret" not in listing.source + str(listing.error)


class QuietWeb(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """Serve a folder `tales/` over HTTP."""
    (tmp_path / "tales").mkdir()
    (tmp_path / "tales" / "perth.md").write_text("# Perth\n\nPerth is a city in Australia.\n")
    handler = partial(QuietWeb, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_files_over_http_are_read_and_match_a_pattern(site: str) -> None:
    page = read_one(f"{site}/tales/perth.md")
    assert page.title == "Perth" and "a city in Australia" in page.text
    listing = scan(f"{site}/tales/*.md")
    assert (listing.complete, [item.uri for item in listing.items]) == (True, ["perth.md"])
    assert scan(f"{site}/tales/*.txt").unmatched


@pytest.mark.parametrize("place", ["gone.md", "gone.md?id=7", "gone/*.md", "gone/*.md?id=7"])
def test_what_a_site_does_not_deliver_does_not_count_as_gone(site: str, place: str) -> None:
    listing = scan(f"{site}/{place}")
    assert (listing.complete, listing.items) == (False, [])


def test_a_page_that_a_site_breaks_off_is_refused(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = scan(f"{site}/tales/perth.md")
    monkeypatch.setattr(QuietWeb, "copyfile", lambda self, whole, out: out.write(whole.read(9)))
    [refusal] = [outcome for item in listing.items for outcome in read_item(item, ReadSettings())]
    assert isinstance(refusal, Refusal) and refusal.reason == Reason.UNREADABLE


def test_a_site_that_refuses_tells_its_status(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuietWeb, "send_head", lambda self: self.send_error(401))
    assert "401" in str(scan(f"{site}/tales/perth.md?id=7").error)


def test_large_folder_is_read_quickly(almanac_data: Path) -> None:
    started = time.process_time()
    outcomes = read_all(almanac_data / "factbook" / "europe")
    assert len(outcomes) > 40
    assert {one.language for one in outcomes if isinstance(one, ReadText)} == {"en"}
    assert time.process_time() - started < 4


@pytest.mark.parametrize("source", ["~no-such-user-here/a", "a\0b", "a/[z-a].md", "a/\0*.md"])
def test_a_path_that_cannot_be_is_a_source_that_cannot_be_listed(source: str) -> None:
    listing = scan(source)
    assert not listing.complete and not listing.items
    assert listing.source.isprintable()


def test_an_empty_source_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="empty"):
        scan(" ")


@pytest.mark.parametrize(
    ("exclude", "ignored", "uris"),
    [
        (["*.md"], "", ["a/deep/y.txt", "a/x.txt"]),
        (["deep/", "b.*"], "", ["a/x.txt"]),
        ([], "# old\n/a/*\n!/a/deep/\n", ["a/deep/y.txt", "b.md"]),
        (["**/y.txt"], "*.md", ["a/x.txt"]),
    ],
)
def test_patterns_leave_files_out(
    tmp_path: Path, exclude: list[str], ignored: str, uris: list[str]
) -> None:
    write_tree(tmp_path)
    (tmp_path / ".almanacignore").write_text(ignored)
    assert [item.uri for item in scan(str(tmp_path), exclude).items] == uris
    assert [item.uri for item in scan(f"{tmp_path}/**", exclude).items] == uris


def test_patterns_leave_out_files_of_a_store_and_no_file_that_is_named(tmp_path: Path) -> None:
    store = fsspec.filesystem("memory")
    store.pipe({"/ignoring/a.md": b"One.", "/ignoring/old/b.md": b"Two."})
    assert [item.uri for item in scan("memory://ignoring", ["old/"]).items] == ["a.md"]
    write_tree(tmp_path)
    assert len(scan(str(tmp_path / "b.md"), ["*.md"]).items) == 1
