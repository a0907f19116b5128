"""Passwords and signatures in sources' URLs open them and are kept nowhere."""

import importlib
import io

import pytest
from fsspec.spec import AbstractFileSystem

from flows.__main__ import main
from schemas.errors import UsageError
from schemas.settings import EngineSettings, Settings
from tasks.ingest.formats.inputs import ReadText
from tasks.ingest.formats.read import read_item
from tasks.ingest.formats.sources import scan
from tasks.ingest.formats.url_secrets import (
    hide_secrets,
    scrubbed,
    with_secrets,
    without_secrets,
)
from tasks.refresh import refresh
from tests.secret_search import hits
from warehouse.home import Home

SETTINGS = Settings(engine=EngineSettings(encoder="none"), workers=1)
PASSWORD, QUOTED = "CANARY-pass/word", "CANARY-pass%2Fword"
SIGNATURE = "CANARYsig%2Fna+ture=="
TEXT = b"# Perth\n\nPerth is a city in Australia.\n"


class Guarded(AbstractFileSystem):
    """A web in which a document is given to who has the password and a signature."""

    protocol = ("http", "https")
    cachable = False

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path  # as of fsspec's own: the whole URL

    def info(self, path: str, **_: object) -> dict[str, object]:
        if QUOTED not in path or "CANARYsig" not in path:
            raise PermissionError(f"401, message='Unauthorized', url={path!r}")
        if "missing" in path:
            raise FileNotFoundError(path)
        return {"name": path, "size": len(TEXT), "type": "file", "ETag": "one"}

    def exists(self, path: str, **_: object) -> bool:
        return "missing" not in path

    def _open(self, path: str, mode: str = "rb", **_: object) -> io.BytesIO:
        self.info(path)
        return io.BytesIO(TEXT)


@pytest.fixture(autouse=True)
def web(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = importlib.import_module("fsspec.registry")
    monkeypatch.setitem(registry._registry, "http", Guarded)


def url(signature: str = SIGNATURE, name: str = "perth.md") -> str:
    query = f"id=7&X-Amz-Signature={signature}&X-Amz-Date=20260101"
    return f"http://ada:{QUOTED}@host:8000/folder/{name}?{query}"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://u:p@h/x.md", "http://h/x.md"),
        ("http://u:p@ss@h/x", "http://h/x"),
        ("http://u:pa/ss@h/x.md?id=1", "http://h/x.md?id=1"),
        ("http://token@h/x", "http://h/x"),
        ("https://b/d.pdf?X-Amz-Signature=ab&X-Amz-Expires=2&id=7", "https://b/d.pdf?id=7"),
        ("https://b/d.pdf?AWSAccessKeyId=AK&Expires=3&Signature=%3D", "https://b/d.pdf"),
        ("https://a/x?sv=1&sp=r&sig=zz%2B", "https://a/x"),
        ("https://h/x?sp=1&keyword=a&api_key=1", "https://h/x?sp=1&keyword=a"),
        ("https://h/x?key=1&access_token=2&subscription-key=3", "https://h/x"),
        ("https://h/x?t=eyJhbGciOiJIUzI1NiJ9.e30.x", "https://h/x"),
        ("http://h/x#access_token=1", "http://h/x"),
        ("zip://a.csv::http://u:p@h/x.zip?token=1", "zip://a.csv::http://h/x.zip"),
        ("https://h/api/x?code=kZ3v9Qm1tB7xYw2pLs8d==&code2=a", "https://h/api/x?code2=a"),
        ("https://h/x?country=NO&code=NO-0301", "https://h/x?country=NO&code=NO-0301"),
        ("https://h/a;v=2;jsessionid=0F3A/b?PHPSESSID=9c", "https://h/a;v=2/b"),
        ("http://u:p@[::1]:80/x", "http://[::1]:80/x"),
        ("http://[::1]:80/x?a=1", "http://[::1]:80/x?a=1"),
        ("http://h:80/x@v2", "http://h:80/x@v2"),
        ("s3://bucket/file?.txt", "s3://bucket/file?.txt"),
    ],
)
def test_what_is_secret_goes_and_the_rest_stays(given, kept):
    assert without_secrets(given) == kept
    assert without_secrets(kept) == kept


def test_a_hidden_source_is_given_back_where_it_is_opened():
    [hidden] = hide_secrets([url()])
    assert hidden == "http://host:8000/folder/perth.md?id=7"
    assert with_secrets(hidden) == url()
    listing = scan(hidden)
    assert listing.complete and listing.source == hidden
    [item] = listing.items
    assert item.uri == "perth.md?id=7" and item.file_name == "perth.md"
    [text] = read_item(item, SETTINGS.read)
    assert isinstance(text, ReadText) and "Australia" in text.text
    assert hide_secrets(["a/b?key=1.md"]) == ["a/b?key=1.md"]
    with pytest.raises(UsageError, match="Two sources differ only"):
        hide_secrets([url(), url("other")])


def test_messages_hold_no_secret():
    within = "https://host/a;jsessionid=CANARY1/b?code=CANARY2CANARY2canary"
    assert "CANARY" not in scrubbed("not found: CANARY1, CANARY2CANARY2canary", within)
    given = url()
    message = f"404, message='Not Found', url={given!r} for {PASSWORD} and {SIGNATURE}"
    shown = scrubbed(message, given)
    assert "CANARY" not in shown and "404" in shown
    listing = scan(url(name="missing.md"))
    assert not listing.complete
    assert "CANARY" not in f"{listing.error} {listing.source}"


def test_a_refresh_leaves_no_secret_and_knows_the_document_again(tmp_path, capsys):
    home = tmp_path / "home"
    first = refresh(Home(home), [url()], SETTINGS)
    again = refresh(Home(home), [url("CANARYsigRenewed")], SETTINGS)
    assert first.counts["inputs"]["ingested"] == 1
    assert again.counts["inputs"].get("removed", 0) == 0 and again.outcome == "unchanged"
    query = "select uri, source from documents"
    assert main(["--home", str(home), "sql", query, "--format", "csv"]) == 0
    assert "perth.md?id=7" in capsys.readouterr().out
    for secret in (PASSWORD, QUOTED, "CANARYsig"):
        assert hits(home, secret) == []
