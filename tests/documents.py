"""Documents made for tests, and reading them: PDF, EPUB, a dump of a wiki."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schemas.settings import ReadSettings
from tasks.ingest.formats.inputs import Outcome, ReadText
from tasks.ingest.formats.read import read_item
from tasks.ingest.formats.sources import scan

SETTINGS = ReadSettings()


def read_all(source: Path | str, settings: ReadSettings = SETTINGS) -> list[Outcome]:
    listing = scan(str(source))
    assert listing.complete, listing.error
    return [outcome for item in listing.items for outcome in read_item(item, settings)]


def read_one(source: Path | str) -> ReadText:
    (outcome,) = read_all(source)
    assert isinstance(outcome, ReadText), outcome
    return outcome


def write_texts(folder: Path, by_name: Mapping[str, str]) -> Path:
    """Write texts as files of a folder, which is made where there is none; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in by_name.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def texts(source: Path | str) -> dict[str, str]:
    return {one.uri: one.text for one in read_all(source) if isinstance(one, ReadText)}


HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
SONG = (  # Chinese letters that are in no file, and perhaps in no font of the machine
    b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H "
    b"/DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 "
    b"/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>] >>"
)


def make_pdf(
    *pages: list[str] | str, title: str = "", first_size: int = 12, font: bytes = HELVETICA
) -> bytes:
    """Return a PDF with the lines of each page, the first line of all in a size of its own.

    A page may also be what draws it, between BT and ET.
    """
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>"
        % (b" ".join(b"%d 0 R" % (2 * n + 5) for n in range(len(pages))), len(pages)),
        font,
        f"<< /Title ({title}) >>".encode(),
    ]
    for number, page in enumerate(pages):
        size = 12 if number else first_size
        drawn = (
            page
            if isinstance(page, str)
            else "".join(
                f"/F1 {size if not place else 12} Tf ({line}) Tj T* "
                for place, line in enumerate(page)
            )
        )
        content = zlib.compress(f"BT /F1 12 Tf 28 TL 72 720 Td {drawn} ET".encode())
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (2 * number + 6),
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream"
            % (len(content), content),
        ]
    file = io.BytesIO(b"%PDF-1.4\n")
    file.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(objects, 1):
        places.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.writelines(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF"
    file.write(trailer % (len(objects) + 1, start))
    return file.getvalue()


def read_pdf(folder: Path, *pages: list[str] | str, **more: Any) -> ReadText:
    """Return what is read of a PDF that `make_pdf` makes."""
    (folder / "a.pdf").write_bytes(make_pdf(*pages, **more))
    return read_one(folder)


def make_book(title: str, *chapters: str, **more: str) -> bytes:
    """Return an EPUB of chapters in HTML; `more` adds entries by name."""
    names = [f"c{number}.xhtml" for number in range(len(chapters))]
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in reversed(names))
    entries = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:x"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{f"OPS/{name}": text for name, text in zip(names, chapters, strict=True)},
        **more,
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in entries.items():
            package.writestr(name, text)
    return packed.getvalue()


def make_dump(*pages: tuple[str, int, str]) -> str:
    """Return a MediaWiki dump of pages: title, namespace, markup."""
    from xml.sax.saxutils import escape

    body = "".join(
        f"<page><title>{escape(title)}</title><ns>{space}</ns><id>{number}</id>"
        + ("<redirect title='x'/>" if markup.startswith("#REDIRECT") else "")
        + f"<revision><id>{number + 900}</id><contributor><id>5</id></contributor>"
        f"<text>{escape(markup)}</text></revision></page>"
        for number, (title, space, markup) in enumerate(pages, 1)
    )
    return f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">{body}</mediawiki>'
