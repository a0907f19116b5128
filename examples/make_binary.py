"""Write the sample documents that are not plain text: a Word file, a PDF and a gzipped text.

Run `python examples/make_binary.py` after editing a text in `examples/sources/`. The same text
gives the same bytes on every run, so that a regenerated file shows no difference where there is
none.
"""

import gzip
import io
import textwrap
import zipfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docx.document import Document as DocumentObject

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"

PAGE = (595, 842)  # A4, in points
MARGIN = 72
FONT_SIZE = 11
LEADING = 15
KEPT_STYLES = {"Normal", "Title", "Heading 1"}
LINE_WIDTH = 84  # characters of Helvetica that fit between the margins at this size
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest date a zip archive can hold


def paragraphs(name: str) -> list[str]:
    """Return the paragraphs of a source text, the title first."""
    text = (HERE / "sources" / name).read_text(encoding="utf-8")
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def docx_bytes(parts: list[str]) -> bytes:
    """Lay the paragraphs out as a Word document; `## ` marks a heading."""
    from docx import Document

    document = Document()
    document.core_properties.title = parts[0]
    document.core_properties.author = "Almanac sample corpus"
    document.core_properties.created = datetime(*FIRST_DAY)
    document.core_properties.modified = datetime(*FIRST_DAY)
    document.add_heading(parts[0], level=0)
    for part in parts[1:]:
        if part.startswith("## "):
            document.add_heading(part.removeprefix("## "), level=1)
        else:
            document.add_paragraph(part)
    drop_unused(document)
    written = io.BytesIO()
    document.save(written)
    return without_dates(written.getvalue())


def drop_unused(document: "DocumentObject") -> None:
    """Remove the template's unused styles and its thumbnail, nine tenths of the file's size."""
    for style in list(document.styles):
        if style.name not in KEPT_STYLES:
            style.delete()
    for relations in (document.part.rels, document.part.package.rels):
        for key, relation in list(relations.items()):
            if relation.reltype.endswith(("/stylesWithEffects", "/thumbnail")):
                del relations[key]


def without_dates(archive: bytes) -> bytes:
    """Return the zip archive with every member dated alike."""
    rewritten = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as old,
        zipfile.ZipFile(rewritten, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for member in old.infolist():
            entry = zipfile.ZipInfo(member.filename, date_time=FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, old.read(member))
    return rewritten.getvalue()


def pdf_bytes(parts: list[str]) -> bytes:
    """Lay the paragraphs out as a one-page PDF in Helvetica (PDF 1.4, Latin-1 text only)."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>" % PAGE,
        stream(page_content(parts)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title (%s) >>" % escaped(parts[0]),
    ]
    body = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table_at = len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    body += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    body += b"trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R >>\n" % (len(objects) + 1)
    body += b"startxref\n%d\n%%%%EOF\n" % table_at
    return bytes(body)


def page_content(parts: list[str]) -> bytes:
    """Return the drawing operators for the title and the wrapped paragraphs below it."""
    lines = [parts[0]]
    for part in parts[1:]:
        lines += ["", *textwrap.wrap(part, LINE_WIDTH, break_on_hyphens=False)]
    if MARGIN * 2 + len(lines) * LEADING > PAGE[1]:
        raise ValueError("The text does not fit on one page; shorten it or add a second page.")
    start = b"BT /F1 %d Tf %d TL %d %d Td" % (FONT_SIZE, LEADING, MARGIN, PAGE[1] - MARGIN)
    shown = [b"(%s) Tj T*" % escaped(line) if line else b"T*" for line in lines]
    return b"\n".join([start, *shown, b"ET"])


def escaped(text: str) -> bytes:
    """Return the text as the inside of a PDF string."""
    raw = text.encode("cp1252")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def stream(content: bytes) -> bytes:
    """Return the content wrapped as a PDF stream object."""
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def gzip_bytes(parts: list[str]) -> bytes:
    """Return the paragraphs as gzipped UTF-8 text without a date or a file name."""
    return gzip.compress(("\n\n".join(parts) + "\n").encode("utf-8"), mtime=0)


def main() -> None:
    """Write the three files into the corpus."""
    medicine, explorers = CORPUS / "medicine", CORPUS / "explorers"
    (medicine / "louis-pasteur.docx").write_bytes(docx_bytes(paragraphs("louis-pasteur.txt")))
    (medicine / "edward-jenner.pdf").write_bytes(pdf_bytes(paragraphs("edward-jenner.txt")))
    (explorers / "roald-amundsen.txt.gz").write_bytes(gzip_bytes(paragraphs("roald-amundsen.txt")))


if __name__ == "__main__":
    main()
