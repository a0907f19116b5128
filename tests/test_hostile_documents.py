"""Hostile documents through a whole refresh: nothing breaks, nothing leaks."""

import gzip
import io
import json
import os
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

import schemas
from schemas.operations import Rejection
from schemas.settings import ReadSettings
from tasks.refresh import RunReport, refresh
from tests.current_edition import SETTINGS, current, rows
from tests.documents import write_texts
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.live import latest

CANARY = "Zanzapalooza"
GOOD = {
    f"good-{name.lower()}.md": f"# {name}\n\n{name} is a town in Portugal. {name} lies on the "
    f"river {river}. It was founded in {year} by {founder}.\n\n## History\n\nIn {year + 300} "
    f"a fire destroyed the market of {name}.\n"
    for name, river, year, founder in [
        ("Belmora", "Tavo", 1207, "Pedro Alva"), ("Castro Fino", "Tavo", 1311, "Ines Alva"),
        ("Dornelas", "Mira", 1180, "Rui Prado"), ("Estrelha", "Mira", 1420, "Ana Prado"),
        ("Fontoura", "Sado", 1266, "Gil Couto"), ("Guimel", "Sado", 1399, "Eva Couto"),
    ]
} | {"good-zh.md": "# 长江\n\n长江是中国最长的河流。长江全长约6300公里。\n",
     "good-latin.txt": "São Tomé is a saint. São Tomé was born in Galilee.\n"}  # fmt: skip
HIDDEN = f"{CANARY} is the king of Ruritania."


def package(parts: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return packed.getvalue()


def hostile_files() -> dict[str, bytes]:
    """Files of every kind; the hidden words in them must not become text."""
    noise = bytes(range(256)) * 100
    laughs = b'<!DOCTYPE m [<!ENTITY a "ha">' + b"".join(
        b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10)
    )
    passwd = b'<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    page = b"<mediawiki><page><title>t</title><ns>0</ns><revision><text>%s</text></revision></page>"
    hidden = HIDDEN.encode()
    return {
        "bad-empty.txt": b"", "bad-spaces.md": b" \n" * 99, "bad-noise.txt": noise,
        "bad-noise.pdf": noise, "bad-noise.docx": noise, "bad-noise.parquet": noise,
        "bad-noise.csv": noise, "bad-picture": b"\x89PNG\r\n\x1a\n" + noise,
        "bad-bomb.txt.gz": gzip.compress(b"a" * 30_000_000),
        "bad-half.txt.gz": gzip.compress(b"Half a text. " * 9999)[:-50],
        "bad-bomb.docx": package({"word/document.xml": b"<a>" * 9_000_000}),
        "bad-bomb.xml": laughs + b"]>" + page % b"&a9;",
        "bad-outside.xml": passwd + page % b"&x;",
        "bad-deep.json": b"[" * 100_000, "bad-deep.jsonl": b'{"a":' * 100_000 + b"\n",
        "bad-deep.xml": b"<mediawiki>" + b"<a>" * 100_000,
        "bad-utf16.txt": b"\xff\xfea\x00b\x00\x00\xd8c\x00",
        "bad-mixed.txt": b"text " * 20_000 + b"\xfc more", "bad-zeros.txt": b"\0" * 5000,
        "odd-long-line.txt": b"w" * 70_000,
        "bad-archive.zip": package({"../../escape.txt": b"text"}),
        "odd-hidden.html": b"<p>Slate Rock lies in Fife.</p><p style='display:none'>" + hidden,
        "odd-comment.md": b"Blue Rock lies in Fife.\n\n<!-- " + hidden + b" -->\n",
        "odd-tags.txt": b"Red Rock lies in Fife." + "".join(
            chr(0xE0000 + ord(c)) for c in HIDDEN).encode(),
        "odd-white.html": b"<p>Pink Rock lies in Fife.</p><span style='font-size:0'>" + hidden,
        "odd-escapes.md": b"# \x1b[31mRock\n\nTeal Rock \x07lies in \x1b]0;x\x07Fife.\n",
        "odd-sql.md": b"# '; drop table triples;--\n\nRobert'); DROP TABLE documents;-- lies.\n",
        "odd-config.json": b'{"text": "Gold Rock lies in Fife.", "__class__": "os.system"}',
    }  # fmt: skip


def make_special_files(folder: Path, outside: Path) -> int:
    """Make what is no plain file; return how many entries that a listing tells of."""
    outside.write_text(f"{CANARY} lies outside of the folder.")
    os.mkfifo(folder / "bad-pipe.txt")
    (folder / "bad-link.txt").symlink_to(outside)
    (folder / "bad-device.txt").symlink_to("/dev/zero")
    (folder / "bad-environment.txt").symlink_to("/proc/self/environ")
    (folder / "bad-itself.txt").symlink_to(folder / "bad-itself.txt")
    (folder / "bad-nowhere.txt").symlink_to("nowhere.txt")
    (folder / "bad-loop").mkdir()
    (folder / "bad-loop" / "again").symlink_to(folder)
    with (folder / "bad-sparse.txt").open("wb") as file:
        file.truncate(10**10)
    return 7


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A home fed with good documents alone, and one fed with them among hostile files."""
    folder = tmp_path_factory.mktemp("mixed")
    corpus = folder / "corpus"
    corpus.mkdir()
    for name, text in GOOD.items():
        data = text.encode("latin-1" if name == "good-latin.txt" else "utf-8")
        (corpus / name).write_bytes(data)
    refresh(Home(folder / "alone"), [str(corpus)], SETTINGS)
    files = hostile_files()
    for name, data in files.items():
        (corpus / name).write_bytes(data)
    special = make_special_files(corpus, folder / "outside.txt")
    before, started = listing(folder), time.monotonic()
    settings = SETTINGS.model_copy(update={"read": ReadSettings(max_seconds=5)})
    with parser_memory() as peaks:
        run = refresh(Home(folder / "home"), [str(corpus)], settings)
    return {
        "alone": current(folder / "alone"),
        "edition": current(folder / "home"),
        "home": Home(folder / "home"),
        "run": run,
        "entries": len(GOOD) + len(files) + special,
        "new": listing(folder) - before,
        "seconds": time.monotonic() - started,
        "memory": max(peaks.values()),
        "corpus": corpus,
        "settings": settings,
    }


def listing(folder: Path) -> set[str]:
    """Return every path below a folder."""
    return {f"{at}/{name}" for at, folders, files in os.walk(folder) for name in (*folders, *files)}


@contextmanager
def parser_memory() -> Iterator[dict[int, int]]:
    """Yield the most memory, in KiB, that each parser takes meanwhile.

    Other children of this process, such as the server that forks test processes, belong to other
    tests, and the system's own figure for children that ended counts those, too.
    """
    peaks: dict[int, int] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.005):
            for child in psutil.Process().children():
                with suppress(OSError, IndexError, psutil.Error):
                    if "tasks.ingest.formats.parser_process" not in child.cmdline():
                        continue
                    status = Path(f"/proc/{child.pid}/status").read_text()
                    peak = status.split("VmHWM:")[1].split()[0]
                    peaks[child.pid] = max(peaks.get(child.pid, 0), int(peak))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peaks
    finally:
        ended.set()
        watcher.join()


def test_every_input_ends_in_exactly_one_outcome(mixed):
    inputs = mixed["run"].counts["inputs"]
    ended = ("ingested", "duplicate", "refused", "removed", "unchanged")
    assert sum(inputs.get(name, 0) for name in ended) == mixed["entries"]
    documents = rows(mixed["edition"], schemas.Document)
    assert len(documents) == inputs["ingested"]
    uris = [d["uri"] for d in documents]
    assert {uri.partition("-")[0] for uri in uris} == {"good", "odd"}, uris
    assert mixed["seconds"] < 60
    assert mixed["memory"] < 1.5 * (1 << 20)


def test_good_documents_are_as_without_the_hostile_ones(mixed):
    alone, edition = mixed["alone"], mixed["edition"]
    good = {d["document_id"] for d in rows(alone, schemas.Document)}
    times = {"read_at", "extracted_at"}

    def of_good(from_: Edition, row: type[schemas.Row]) -> list[dict[str, Any]]:
        return [
            {k: v for k, v in found.items() if k not in times}
            for found in rows(from_, row)
            if found["document_id"] in good
        ]

    for row in (
        schemas.Document, schemas.Passage, schemas.Triple, schemas.Description, schemas.Aspect,
        schemas.Mention, schemas.EntityPassage,
    ):  # fmt: skip
        assert of_good(alone, row), row
        assert of_good(edition, row) == of_good(alone, row), row
    entities = {e["entity_id"]: e for e in rows(edition, schemas.Entity)}
    for entity in rows(alone, schemas.Entity):
        assert entities[entity["entity_id"]] == entity


def test_hidden_words_and_words_from_outside_are_nowhere(mixed):
    for row in schemas.EDITION:
        content = json.dumps(rows(mixed["edition"], row), default=str)
        assert CANARY not in content and "Ruritania" not in content
        assert "root:" not in content and "PATH=" not in content
    for part in mixed["home"].path.rglob("*"):
        if part.is_file() and part.suffix != ".parquet":
            assert CANARY.encode() not in part.read_bytes(), part


def test_nothing_is_written_outside_the_home(mixed):
    home = str(mixed["home"].path)
    assert all(path.startswith(home) for path in mixed["new"])
    assert not [path for path in mixed["new"] if "escape" in path or path.endswith(".tmp")]


def test_refusals_are_told_without_the_words_of_the_documents(mixed):
    refused = latest(mixed["home"].live, Rejection).to_pylist()
    assert len(refused) == mixed["run"].counts["inputs"]["refused"]
    for rejection in refused:
        assert rejection["text"].isprintable() and rejection["text"].endswith(".")
        assert len(rejection["text"]) < 300


def test_a_second_look_at_hostile_files_changes_nothing(mixed):
    run: RunReport = refresh(mixed["home"], [str(mixed["corpus"])], mixed["settings"])
    assert run.outcome == "unchanged"
    assert mixed["home"].editions.current().id == mixed["edition"].id


def test_texts_that_give_orders_are_texts(almanac_data, home, tmp_path, monkeypatch):
    listed = almanac_data / "hostile" / "prompt_injections.jsonl"
    if not listed.is_file():
        pytest.skip(f"no {listed}")
    attacks = [json.loads(line) for line in listed.read_text(encoding="utf-8").splitlines()]
    texts = {f"{attack['id']}.txt": attack["text"] for attack in attacks}
    corpus = write_texts(tmp_path / "corpus", texts)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-4711")
    run = refresh(home, [str(corpus)], SETTINGS)
    assert run.counts["inputs"]["ingested"] == len(attacks)
    edition = current(home)
    triples = rows(edition, schemas.Triple)
    facts = [f"{t['head']} {t['relation']} {t['tail']}" for t in triples]
    assert not any("1066" in fact for fact in facts)
    everything = json.dumps([rows(edition, row) for row in schemas.EDITION], default=str)
    assert "sk-canary-4711" not in everything
    hidden = {"white_text.txt", "meta.txt"}
    texts = {d["uri"]: d["text"] for d in rows(edition, schemas.Document)}
    assert not any("CANARY" in texts[uri] for uri in hidden & texts.keys())
    feld = [e for e in rows(edition, schemas.Entity) if e["name"] == "Nora Feld"]
    assert [e["documents"] for e in feld] == [len(attacks) - 1]
    assert all(t["confidence"] < 1 for t in triples)
