"""OpenDocument files are read as Markdown: what they show, and nothing that they hide."""

import zipfile
from pathlib import Path

from tests.documents import read_one

NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "fo": "xsl-fo-compatible", "show": "presentation", "meta": "meta",
    }.items()
)  # fmt: skip
STYLES = (
    '<office:styles><style:style style:name="P1" style:parent-style-name="Title"/>'
    '<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style>'
    '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'
    "</office:styles>"
)


def write(path: Path, body: str, meta: str = "") -> None:
    with zipfile.ZipFile(path, "w") as package:
        root = f'<office:document {NAMESPACES} xmlns:dc="http://purl.org/dc/elements/1.1/">'
        package.writestr(
            "content.xml", f"{root}{STYLES}<office:body>{body}</office:body></office:document>"
        )
        package.writestr("meta.xml", f"{root}<office:meta>{meta}</office:meta></office:document>")


def row(*cells: str) -> str:
    inner = "".join(f"<table:table-cell><text:p>{c}</text:p></table:table-cell>" for c in cells)
    return f"<table:table-row>{inner}</table:table-row>"


def test_text(tmp_path: Path) -> None:
    write(
        tmp_path / "a.odt",
        "<office:text>"
        "<text:tracked-changes><text:p>deleted words</text:p></text:tracked-changes>"
        '<text:p text:style-name="P1">The Orr Bridge</text:p>'
        "<text:table-of-content><text:p>Building 2</text:p></text:table-of-content>"
        '<text:h text:outline-level="2">Building</text:h>'
        '<text:p>It<text:s/>opened <text:span text:style-name="H">secret </text:span>in 1921'
        '<text:note text:id="n1"><text:note-citation>1</text:note-citation><text:note-body>'
        "<text:p>In May.</text:p></text:note-body></text:note>"
        "<office:annotation><text:p>comment</text:p></office:annotation>.</text:p>"
        '<text:p text:style-name="B">Who paid</text:p>'
        "<text:p><draw:frame><draw:text-box><text:p>Lena Orr paid.</text:p></draw:text-box>"
        "</draw:frame></text:p>"
        "<text:list><text:list-item><text:p>stone</text:p><text:list><text:list-item>"
        "<text:p>granite</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>iron</text:p></text:list-item></text:list>"
        "<text:list><text:list-item><text:h>Later</text:h></text:list-item></text:list>"
        f"<table:table><table:table-header-rows>{row('Year', 'Span')}</table:table-header-rows>"
        f"{row('1921', '40 m')}</table:table>"
        f"<table:table>{row('A box with words.')}</table:table>"
        "</office:text>",
        "<dc:title>Letterhead</dc:title><meta:initial-creator>Lena Orr</meta:initial-creator>"
        "<dc:language>en</dc:language>",
    )
    read = read_one(tmp_path)
    assert read.title == "The Orr Bridge"
    assert read.text == (
        "# The Orr Bridge\n\n## Building\n\nIt opened in 1921[^n1].\n\n[^n1]: In May.\n\n"
        "### Who paid\n\nLena Orr paid.\n\n- stone\n  - granite\n- iron\n\n# Later\n\n"
        "| Year | Span |\n| --- | --- |\n| 1921 | 40 m |\n\nA box with words."
    )
    assert read.metadata["author"] == "Lena Orr"


def test_spreadsheet_repeats_cells_but_not_without_end(tmp_path: Path) -> None:
    wide = (
        '<table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>7</text:p>'
        '</table:table-cell><table:table-cell table:number-columns-repeated="16000"/>'
        "</table:table-row>"
    )
    sheet = f'<table:table table:name="Tolls">{row("Cart", "Horse")}{wide}</table:table>'
    write(tmp_path / "a.ods", f"<office:spreadsheet>{sheet}</office:spreadsheet>")
    text = "## Tolls\n\n| Cart | Horse |\n| --- | --- |\n| 7 | 7 |"
    assert read_one(tmp_path).text == text


def test_presentation(tmp_path: Path) -> None:
    write(
        tmp_path / "a.odp",
        "<office:presentation><draw:page><draw:frame show:class='title'><draw:text-box>"
        "<text:p>The Orr Bridge</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box>"
        "<text:p>It opened in 1921.</text:p></draw:text-box></draw:frame>"
        "<show:notes><text:p>Speak slowly.</text:p></show:notes></draw:page></office:presentation>",
    )
    assert read_one(tmp_path).text == "## The Orr Bridge\n\nIt opened in 1921."
