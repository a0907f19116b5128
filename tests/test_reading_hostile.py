"""Hostile inputs are refused or cleaned; none crashes, hangs, or leads out of the folder."""

import bz2
import gzip
import io
import json
import os
import signal
import socket
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.settings import ReadSettings
from tasks.ingest.formats.cleaning import clean
from tasks.ingest.formats.hidden_markup import drop_hidden_markup
from tasks.ingest.formats.inputs import Item, Outcome, ReadText, Reason, Refusal
from tasks.ingest.formats.names import safe_uri
from tasks.ingest.formats.read import read_item
from tasks.ingest.formats.sources import scan
from tests.documents import make_book

SMALL = ReadSettings(max_file_bytes=2_000_000, max_text_chars=200_000, max_seconds=5)
GOOD = "This is a good document, and it is read whatever lies beside it."
CANARY = "canary text that lies outside of the folder"


def read_all(source: Path, settings: ReadSettings = SMALL) -> dict[str, Outcome]:
    listing = scan(str(source))
    assert listing.complete, listing.error
    outcomes = [one for item in listing.items for one in read_item(item, settings)]
    found = {one.uri: one for one in outcomes}
    assert len(found) == len(outcomes), "an input ended twice"
    return found


def refused(source: Path, settings: ReadSettings = SMALL) -> Reason:
    """Return why the only input of a source is refused."""
    (refusal,) = read_all(source, settings).values()
    assert isinstance(refusal, Refusal), refusal
    return refusal.reason


def refused_item(item: Item) -> Reason:
    (refusal,) = read_item(item, SMALL)
    assert isinstance(refusal, Refusal), refusal
    return refusal.reason


def docx_of(parts: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return packed.getvalue()


def bomb(part: str) -> Callable[[], bytes]:
    """Return what makes a package with a part that unpacks to 27 MB."""
    return lambda: docx_of({part: b"<a>" * 9_000_000})


def parquet_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def workbook_of(sheet: bytes) -> bytes:
    """Return a sound workbook but for its sheet."""
    import openpyxl

    sound, changed = io.BytesIO(), {}
    openpyxl.Workbook().save(sound)
    with zipfile.ZipFile(sound) as package:
        changed = {name: package.read(name) for name in package.namelist()}
    return docx_of(changed | {"xl/worksheets/sheet1.xml": sheet})


PDF_LOOP = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2/Parent 2 0 R>>endobj\n"
    b"trailer<</Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF"
)


def pdf_bomb() -> bytes:
    """Return a PDF whose page unpacks to 700 MB of spaces, from one packed block repeated."""
    packer = zlib.compressobj()
    start = packer.compress(b" " * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = start + start[2:] * 699 + packer.flush()
    page = b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>"
    stream = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream"
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page,
        stream % (len(packed), packed),
    )  # fmt: skip
    bodies = (b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1))
    return b"%PDF-1.4\n" + b"".join(bodies) + b"trailer << /Root 1 0 R >>\n%%EOF"


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "haha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10))
    + b"]><mediawiki><page><title>&a9;</title></page></mediawiki>"
)
OUTSIDE_ENTITY = (
    b'<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><mediawiki><page><title>t</title>'
    b"<ns>0</ns><revision><text>&x;</text></revision></page></mediawiki>"
)
DEEP_XML = b"<mediawiki>" + b"<a>" * 300_000
NOISE = bytes(range(256)) * 200

Files = dict[str, tuple[str, bytes | Callable[[], bytes], Reason]]


def alike(what: str, endings: str, data: bytes, reason: Reason) -> Files:
    """Return a row for each ending of a file's name."""
    return {f"{what} {ending}": (f"a.{ending}", data, reason) for ending in endings.split()}


# A name, a file, its content or what makes it where that takes time, and why it is refused.
FILES: Files = {
    **alike("empty", "txt html jsonl txt.gz", b"", Reason.EMPTY),
    **alike("empty", "pdf docx parquet xml xlsx pptx epub", b"", Reason.BAD_FORMAT),
    **alike("binary as", "txt json csv html", NOISE, Reason.BINARY),
    **alike("binary as", "pdf docx parquet txt.gz xml.bz2", NOISE, Reason.BAD_FORMAT),
    **alike("nothing in", "docx pptx epub odt", docx_of({"x": b""}), Reason.BAD_FORMAT),
    "only spaces": ("a.md", b" \n\t\r\n" * 50, Reason.EMPTY),
    "only invisible characters": ("a.txt", "\u200b\u202e\ufeff".encode() * 9, Reason.EMPTY),
    "empty csv": ("a.csv", b"", Reason.NO_TEXT_COLUMN),
    "zeros as text": ("a.md", b"\0" * 5000, Reason.BINARY),
    "program as text": ("a.txt", b"\x7fELF\x02\x01\x01" + NOISE, Reason.BINARY),
    "pdf as text": ("a.txt", b"%PDF-1.4 and so on", Reason.BINARY),
    "picture without ending": ("picture", b"\x89PNG\r\n\x1a\n" + NOISE, Reason.BINARY),
    "truncated gzip": ("a.txt.gz", gzip.compress(b"text " * 99)[:-9], Reason.BAD_FORMAT),
    "broken utf-16": ("a.txt", b"\xff\xfea\x00b\x00\x00\xd8c\x00", Reason.BAD_ENCODING),
    "mixed encodings": (
        "a.txt", b"text " * 20_000 + "ü".encode("latin-1") + b" more", Reason.BAD_ENCODING,
    ),
    "archive": ("a.zip", docx_of({"a.txt": b"text"}), Reason.UNSUPPORTED),
    "too long text": ("a.txt", b"word " * 50_000, Reason.TOO_LONG),
    "too long line": ("a.md", b"w" * 300_000, Reason.TOO_LONG),
    "too long record": ("a.jsonl", b'{"text": "' + b"w" * 1_500_000 + b'"}', Reason.TOO_LONG),
    "too long cell": ("a.csv", b'text\n"' + b"w" * 300_000 + b'"\n', Reason.TOO_LONG),
    "too long page": ("a.html", b"<p>" + b"word " * 90_000 + b"</p>", Reason.TOO_LONG),
    "gzip bomb": ("a.txt.gz", lambda: gzip.compress(b"a" * 1_900_000), Reason.TOO_EXPANDING),
    "bzip2 bomb": ("a.xml.bz2", lambda: bz2.compress(b" " * 50_000_000), Reason.TOO_EXPANDING),
    "jsonl bomb": ("a.jsonl.gz", lambda: gzip.compress(b"\n" * 50_000_000), Reason.TOO_EXPANDING),
    "docx bomb": ("a.docx", bomb("word/document.xml"), Reason.TOO_EXPANDING),
    "old office file": ("a.xlsx", b"\xd0\xcf\x11\xe0" + NOISE, Reason.ENCRYPTED),
    "xlsx that is a docx": ("a.xlsx", docx_of({"word/document.xml": b"<a/>"}), Reason.BAD_FORMAT),
    "xlsx bomb": ("a.xlsx", bomb("xl/a.xml"), Reason.TOO_EXPANDING),
    "pptx bomb": ("a.pptx", bomb("ppt/a.xml"), Reason.TOO_EXPANDING),
    "epub bomb": ("a.epub", lambda: make_book("t", "word " * 900_000), Reason.TOO_EXPANDING),
    "truncated epub": ("a.epub", make_book("t", "<p>word")[:-30], Reason.BAD_FORMAT),
    "encrypted epub": (
        "a.epub",
        make_book("t", "<p>word", **{
            "META-INF/encryption.xml": '<a><EncryptionMethod Algorithm="aes"/></a>'
        }),
        Reason.ENCRYPTED,
    ),
    "epub with an entity bomb": (
        "a.epub", make_book("&a9;", "<p>word", **{"OPS/book.opf": LAUGHS.decode()}),
        Reason.BAD_FORMAT,
    ),
    "odt bomb": ("a.odt", bomb("content.xml"), Reason.TOO_EXPANDING),
    "odt with an entity bomb": ("a.odt", docx_of({"content.xml": LAUGHS}), Reason.BAD_FORMAT),
    "encrypted odt": (
        "a.odt", docx_of({"META-INF/manifest.xml": b"<m><encryption-data/></m>"}), Reason.ENCRYPTED,
    ),
    "xlsx with an entity bomb": ("a.xlsx", lambda: workbook_of(LAUGHS), Reason.BAD_FORMAT),
    "xlsx with endless empty rows": (
        "a.xlsx",
        lambda: workbook_of(
            b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
            b"<sheetData>"
            + b"".join(b'<row r="%d"><c r="XFD%d"/></row>' % (n, n) for n in range(1, 3000))
            + b"</sheetData></worksheet>"
        ),
        Reason.EMPTY,
    ),
    "parquet bomb": (
        "a.parquet", lambda: parquet_of(pa.table({"text": ["word " * 2_000] * 30_000})),
        Reason.TOO_EXPANDING,
    ),
    "parquet bomb of a dictionary": (
        "a.parquet",
        lambda: parquet_of(pa.table({"text": pa.array([GOOD * 50] * 30_000).dictionary_encode()})),
        Reason.TOO_EXPANDING,
    ),
    "entity bomb": ("a.xml", LAUGHS, Reason.BAD_FORMAT),
    "entity of a file": ("a.xml", OUTSIDE_ENTITY, Reason.BAD_FORMAT),
    "deep xml": ("a.xml", DEEP_XML, Reason.TOO_DEEP),
    "other xml": ("a.xml", b"<rss><title>x</title></rss>", Reason.BAD_FORMAT),
    "deep json": ("a.json", b"[" * 200_000, Reason.TOO_DEEP),
    "deep json object": ("a.json", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, Reason.TOO_DEEP),
    "deep json line": ("a.jsonl", b"[" * 200_000 + b"\n", Reason.TOO_DEEP),
    "json of a number": ("a.json", b"12", Reason.BAD_FORMAT),
    "broken json": ("a.json", b'{"text": "never ends', Reason.BAD_FORMAT),
    "json without text": ("a.json", b'{"body": "text"}', Reason.NO_TEXT_COLUMN),
    "pdf that loops": ("a.pdf", PDF_LOOP, Reason.BAD_FORMAT),
    "pdf bomb": ("a.pdf", pdf_bomb, Reason.BAD_FORMAT),
    "pdf that is cut": ("a.pdf", b"%PDF-1.7\n1 0 obj\n<<", Reason.BAD_FORMAT),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_hostile_file_is_refused_with_its_reason(tmp_path: Path, name: str) -> None:
    file, data, reason = FILES[name]
    (tmp_path / file).write_bytes(data if isinstance(data, bytes) else data())
    (tmp_path / "good.md").write_text(GOOD)
    started = time.monotonic()
    found = read_all(tmp_path)
    assert time.monotonic() - started < 20
    assert isinstance(found["good.md"], ReadText)
    refusal = found[file]
    assert isinstance(refusal, Refusal), refusal
    assert refusal.reason is reason, refusal
    assert refusal.text.isprintable()
    assert refusal.text.endswith(".")


def make_device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))
    except OSError:
        pytest.skip("devices cannot be made here")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def link_outside(path: Path) -> None:
    outside = path.parent.parent / "outside.txt"
    outside.write_text(CANARY)
    path.symlink_to(outside)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, Reason.NOT_A_FILE),
        (make_device, Reason.NOT_A_FILE),
        (make_socket, Reason.NOT_A_FILE),
        (link_outside, Reason.OUTSIDE_SOURCE),
        *(
            (lambda path, target=target: path.symlink_to(target or path), Reason.OUTSIDE_SOURCE)
            for target in ("/dev/zero", "/proc/self/environ", "", "nowhere", "../..")
        ),
    ],
)
def test_what_is_no_file_of_the_folder_is_never_opened(
    tmp_path: Path, make: Callable[[Path], None], reason: Reason
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder / "a.txt")
    assert refused(folder) is reason


def test_single_pipe_and_device_as_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for source in (tmp_path / "pipe", Path("/dev/zero")):
        assert refused(source) is Reason.NOT_A_FILE


def test_links_that_stay_inside_are_read_and_folders_not_followed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text(GOOD)
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    (tmp_path / "b.md").symlink_to("sub/a.md")
    found = read_all(tmp_path)
    assert set(found) == {"sub/a.md", "b.md"}
    assert all(isinstance(one, ReadText) for one in found.values())


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_link_put_in_place_after_the_listing_leads_nowhere(tmp_path: Path, swapped: str) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for place in (folder / "sub", outside):
        place.mkdir(parents=True)
        (place / "a.txt").write_text(CANARY if place == outside else GOOD)
    (item,) = scan(str(folder)).items
    (folder / "sub" / "a.txt").unlink()
    if swapped == "file":
        (folder / "sub" / "a.txt").symlink_to(outside / "a.txt")
    else:
        (folder / "sub").rmdir()
        (folder / "sub").symlink_to(outside)
    assert refused_item(item) is Reason.UNREADABLE


@pytest.mark.parametrize("path", ["../outside.txt", "sub/../../outside.txt", "/etc/passwd"])
def test_a_forged_item_does_not_leave_its_root(tmp_path: Path, path: str) -> None:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text(CANARY)
    item = Item("s", str(tmp_path / "root"), path, "u.txt", "", 10)
    assert refused_item(item)


def test_vanished_and_forbidden_files_are_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(GOOD)
    (item,) = scan(str(tmp_path)).items
    (tmp_path / "a.txt").unlink()
    assert refused_item(item) is Reason.UNREADABLE


def test_huge_sparse_files_are_refused_unread(tmp_path: Path) -> None:
    for name, size in (("a.txt", 200_000_000), ("b.pdf", 10_000_000_000), ("c.jsonl", 10**10)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    started = time.monotonic()
    found = read_all(tmp_path, ReadSettings())
    assert time.monotonic() - started < 10
    reasons = {uri: one.reason for uri, one in found.items() if isinstance(one, Refusal)}
    assert reasons["a.txt"] is reasons["b.pdf"] is Reason.TOO_LARGE
    assert reasons["c.jsonl"] in (Reason.BINARY, Reason.TOO_LONG)


NAMES = [b"new\nline.txt", b"bidi\xe2\x80\xae.txt", b"bell\x07.txt", b"not-utf8-\xff\xfe.txt",
         b"a%0Ab.txt", b"zero\xe2\x80\x8bwidth.txt", b"-rf.txt", b"quote'\"; drop.txt",
         "Łódź 居里.txt".encode(), b"a.jsonl#1", b"tab\there.txt",
         b"\xf3\xa0\x81\x81.txt"]  # fmt: skip


def test_strange_names_become_safe_uris_that_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "record"}')
    for name in NAMES:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text(GOOD)
    found = read_all(tmp_path)
    assert len(found) == len(NAMES) + 1
    assert all(isinstance(one, ReadText) for one in found.values())
    for uri, one in found.items():
        uri.encode("utf-8")
        assert uri.isprintable()
        assert clean(uri) == uri
        assert isinstance(one, ReadText)
        assert one.title.isprintable()
    assert {"new%0Aline.txt", "a%250Ab.txt", "Łódź 居里.txt", "a.jsonl#1"} <= set(found)


def test_hostile_words_in_records_are_cleaned(tmp_path: Path) -> None:
    record = {"id": "a\nb\u202e", "title": "T\u0000\u200bi\ntle", "text": "x\ud800y\u0007z w"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    (one,) = read_all(tmp_path).values()
    assert isinstance(one, ReadText)
    assert (one.uri, one.title, one.text) == ("a.jsonl#a%0Ab%E2%80%AE", "Ti tle", "xyz w")


def test_a_parser_that_hangs_or_dies_is_ended_and_replaced(tmp_path: Path) -> None:
    from tasks.ingest.formats import parser_pool
    from tasks.ingest.formats.formats import Kind
    from tasks.ingest.formats.inputs import RefusalError
    from tasks.ingest.formats.parsed_text import ParserLimits

    (tmp_path / "a.html").write_text("<p>some words</p>")
    limits = ParserLimits("a.html", "", 10**6, 10**6, 200, "text")
    with (tmp_path / "a.html").open("rb") as file:
        list(parser_pool.parse_apart(file, Kind.WEB, limits, 10))
        worker = parser_pool._idle[-1]
        os.kill(worker._process.pid, signal.SIGSTOP)  # stopped, as if it hung
        with pytest.raises(RefusalError) as hung:
            list(parser_pool.parse_apart(file, Kind.WEB, limits, 0.3))
        assert hung.value.reason is Reason.TIMEOUT
        assert worker._process.returncode is not None
        (found,) = parser_pool.parse_apart(file, Kind.WEB, limits, 30)
        assert found.text == "some words"
        parser_pool._idle[-1]._process.kill()
        parser_pool._idle[-1]._process.wait()
        (found,) = parser_pool.parse_apart(file, Kind.WEB, limits, 30)
        assert found.text == "some words"


def test_a_parser_that_needs_too_much_memory_is_refused(tmp_path: Path) -> None:
    # Objects of 600 MB text, which JSON holds in memory thrice, under a generous file limit.
    (tmp_path / "a.json").write_bytes(b'{"a": [' + b'"x",' * 25_000_000 + b'"x"]}')
    settings = ReadSettings(max_file_bytes=10**9, max_seconds=60)
    assert refused(tmp_path, settings) in (Reason.OUT_OF_MEMORY, Reason.CRASHED, Reason.BAD_FORMAT)


HIDING = [
    "<!-- secret -->", "<span style='color:#fff;font-size:1px'>secret</span>",
    '<div style="display: none">secret</div>', "<p hidden>secret</p>",
    '<span aria-hidden="true">secret</span>', "<p style='opacity:0'>secret</p>",
    "<span style='position:absolute;left:-9999px'>secret</span>",
    "<meta name=description content='secret'>", "<p style='dis/**/play:n\\6fne'>secret</p>",
    f"<p title='{'long ' * 200}' hidden>secret</p>",
]  # fmt: skip


@pytest.mark.parametrize("hiding", HIDING)
@pytest.mark.parametrize("name", ["a.html", "a.txt", "a.md", "a.jsonl"])
def test_hidden_words_never_become_text(tmp_path: Path, name: str, hiding: str) -> None:
    page = f"<p>Aurelia Bank was founded in 1921.</p>\n{hiding}\n<p>It has 4,200 people.</p>"
    if name == "a.md":
        if "meta" in hiding:
            pytest.skip("a meta element inside Markdown is text")
        page = page.replace("<p>A", "A").replace("<p>I", "I").replace(".</p>", ".")
    (tmp_path / name).write_text(json.dumps({"text": page}) if name == "a.jsonl" else page)
    (one,) = read_all(tmp_path).values()
    assert isinstance(one, ReadText)
    assert "secret" not in one.text and "It has 4,200 people." in one.text
    assert "Aurelia Bank was founded in 1921." in one.text


def test_scripts_and_styles_in_markdown_are_left_out_and_shown_ones_stay(tmp_path: Path) -> None:
    shown = "```html\n<script>\nshow()\n</script>\n```"
    hidden = "<script>\nsecret()\n\nsecret()\n</script>\n\n<style>.secret {}</style>"
    (tmp_path / "a.md").write_text(f"It rises.\n\n{hidden}\n\n{shown}\n\nIt falls.\n")
    (one,) = read_all(tmp_path).values()
    assert isinstance(one, ReadText)
    assert one.text.split("\n\n") == ["It rises.", "", "", shown, "It falls.\n"]


def test_white_text_on_its_own_background_is_seen(tmp_path: Path) -> None:
    page = '<div style="background:#000"><p style="color:white">Seen words.</p></div>'
    (tmp_path / "a.html").write_text(page)
    (one,) = read_all(tmp_path).values()
    assert isinstance(one, ReadText) and one.text == "Seen words."


@given(st.lists(st.sampled_from(["<!--", "-->", "<p hidden>", "</p>", "word ", "<", ">"])))
def test_dropping_hidden_markup_keeps_the_rest(parts: list[str]) -> None:
    text = "".join(parts)
    kept = drop_hidden_markup(text)
    assert len(kept) <= len(text)
    if "<" not in text:
        assert kept == text


REPEATED = [
    "".join(f"<p{n} hidden>" for n in range(60_000)), "<p hidden></p>" * 60_000, "<!--" * 200_000,
    "<p style='display:" * 40_000, "---\ntitle: " * 60_000, "# " * 400_000,
    "\u202e" * 250_000 + "a",
    "e" + "\u0301" * 300_000, "\u0644\u200d" * 250_000, "<" * 800_000,
    "</p>" * 200_000, "a b " * 200_000,
    "<script>\n</script>\n\n" * 40_000, "Total:" + " " * 300_000 + "12", "> [!a]" + "\t" * 300_000,
    "A\n\n<table>" + ("<tr><td rowspan=999 colspan=999>a" + "<tr>" * 998) * 80 + "</table>",
]  # fmt: skip


@pytest.mark.parametrize("text", REPEATED, ids=lambda text: ascii(text[:9]))
def test_hostile_repetition_is_read_in_linear_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    started = time.process_time()
    assert len(read_all(tmp_path, ReadSettings())) == 1
    assert time.process_time() - started < 4


# --- any bytes ----------------------------------------------------------------------------

ENDINGS = ["txt", "md", "html", "pdf", "docx", "odt", "json", "jsonl", "csv", "tsv", "parquet",
           "xml", "txt.gz", "xml.bz2", "gz", "nothing"]  # fmt: skip
STARTS = [b"", b"%PDF-1.4\n", b"PK\x03\x04", b"\x1f\x8b\x08", b'{"text":', b"[{", b"PAR1",
          b"<html>", b"<mediawiki>", b"\xff\xfe", b"id,text\n", b"BZh9"]  # fmt: skip


@settings(max_examples=150)
@given(st.sampled_from(ENDINGS), st.sampled_from(STARTS), st.binary(max_size=400))
def test_any_bytes_end_in_outcomes_and_no_error(
    tmp_path_factory: pytest.TempPathFactory, ending: str, start: bytes, rest: bytes
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / f"a.{ending}").write_bytes(start + rest)
    found = read_all(folder)
    assert found
    for uri, one in found.items():
        assert uri.startswith(f"a.{ending}")
        if isinstance(one, ReadText):
            assert clean(one.text) == one.text and len(one.minhash) == 256 and one.words > 0
        else:
            assert isinstance(one, Refusal) and one.reason in Reason


@given(st.text(max_size=300))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    once.encode("utf-8")


@given(st.text(max_size=60), st.text(max_size=60))
def test_different_names_have_different_uris(one: str, two: str) -> None:
    assert (safe_uri(one) == safe_uri(two)) == (one == two)
