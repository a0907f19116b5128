"""Office files made for tests of a few parts: Word documents, presentations, OpenDocument."""

import re
import zipfile
from pathlib import Path

_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_NAMESPACES = " ".join(
    f'xmlns:{prefix}="{name}"'
    for prefix, name in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "v": "urn:schemas-microsoft-com:vml",
        "r": _RELATION,
    }.items()
)
# The kinds of related parts by the start of their names.
_KINDS = {
    "styles": "styles", "footnotes": "footnotes", "endnotes": "endnotes", "chart": "chart",
    "waterfall": "chartEx", "data": "diagramData", "slide": "slide", "image": "image",
    "numbering": "numbering",
}  # fmt: skip


def write_word(
    path: Path, body: str, inserted: dict[str, bytes] | None = None, **parts: str
) -> Path:
    """Write a Word document; `parts` are the insides of roots by the names of the parts.

    A part is related to the document by its name; a part without insides is not in the file.
    Files that are inserted are related by their names, too.
    """
    main = f"<w:document {_NAMESPACES}><w:body>{body}</w:body></w:document>"
    _write_package(path, "word/document.xml", main, parts, inserted or {})
    return path


def write_slide(path: Path, shapes: str, **parts: str) -> Path:
    """Write a presentation of one slide; `parts` as in `write_word`, related to the slide."""
    show = (
        f'<p:presentation {_NAMESPACES}><p:sldIdLst><p:sldId id="256" r:id="slide1"/></p:sldIdLst>'
        '<p:sldSz cx="9000" cy="6000"/></p:presentation>'
    )
    slide = f"<p:sld {_NAMESPACES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
    _write_package(path, "ppt/presentation.xml", show, {"slide1": slide}, {})
    with zipfile.ZipFile(path, "a") as package:
        _write_parts(package, "ppt/slide1.xml", parts, {})
    return path


def _write_package(
    path: Path, main: str, root: str, parts: dict[str, str], files: dict[str, bytes]
) -> None:
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("_rels/.rels", _relations({"main": ("officeDocument", main)}))
        package.writestr(main, root)
        _write_parts(package, main, parts, files)


def _write_parts(
    package: zipfile.ZipFile, source: str, parts: dict[str, str], files: dict[str, bytes]
) -> None:
    folder, _, main = source.partition("/")
    kinds = {part: _KINDS[part.rstrip("0123456789")] for part in parts}
    stated = {part: (kind, f"{part}.xml") for part, kind in kinds.items()}
    stated |= {name: ("aFChunk", name) for name in files}
    package.writestr(f"{folder}/_rels/{main}.rels", _relations(stated))
    for name, data in files.items():
        package.writestr(f"{folder}/{name}", data)
    for part, inside in parts.items():
        if inside:
            whole = inside if inside.startswith("<p:sld ") else f"<w:x {_NAMESPACES}>{inside}</w:x>"
            package.writestr(f"{folder}/{part}.xml", whole)


def _relations(targets: dict[str, tuple[str, str]]) -> str:
    inside = "".join(
        f'<Relationship Id="{name}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for name, (kind, target) in targets.items()
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{inside}</Relationships>'


_OPENDOCUMENT = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "fo": "xsl-fo-compatible", "show": "presentation", "meta": "meta", "chart": "chart",
        "svg": "svg-compatible",
    }.items()
)  # fmt: skip
_ROOT = (
    f'<office:document {_OPENDOCUMENT} xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:math="http://www.w3.org/1998/Math/MathML">'
)
_STYLES = "".join(
    f'<style:style style:name="{name}"{base}><style:text-properties {settings}/></style:style>'
    for name, base, settings in [
        ("P1", ' style:parent-style-name="Title"', ""),
        ("B", "", 'fo:font-weight="bold"'),
        ("H", "", 'text:display="none"'),
        ("S", "", 'style:text-line-through-style="solid"'),
        ("S2", ' style:parent-style-name="S"', ""),
        ("R", "", 'style:text-position="super 58%"'),
        ("W", "", 'fo:color="#FFFFFF"'),
    ]
)

_SLIDE = (
    '<office:master-styles><style:page-layout style:name="L"><style:page-layout-properties '
    'fo:page-width="28cm" fo:page-height="21cm"/></style:page-layout>'
    '<style:master-page style:name="M" style:page-layout-name="L"/></office:master-styles>'
)


def write_opendocument(path: Path, body: str, meta: str = "", **objects: str) -> None:
    """Write an OpenDocument file; `objects` are the bodies of embedded objects by their names."""
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("content.xml", flat_opendocument(body))
        package.writestr("meta.xml", f"{_ROOT}<office:meta>{meta}</office:meta></office:document>")
        for name, inside in objects.items():
            package.writestr(f"{name}/content.xml", inside)


def flat_opendocument(body: str) -> str:
    """Return a document in one file, with styles by the names of what they do."""
    styles = f"<office:styles>{_STYLES}</office:styles>{_SLIDE}"
    return f"{_ROOT}{styles}<office:body>{body}</office:body></office:document>"


def opendocument_row(*cells: str) -> str:
    """Return a row of a table of cells in words, or as they stand."""
    inside = "".join(
        cell if "<" in cell else f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>"
        for cell in cells
    )
    return f"<table:table-row>{inside}</table:table-row>"


def as_strict(path: Path) -> Path:
    """Rewrite a package in the namespaces of the Strict edition; return its path."""
    with zipfile.ZipFile(path) as package:
        entries = {name: package.read(name) for name in package.namelist()}
    space = re.compile(rb"http://schemas.openxmlformats.org/(\w+)/2006/(?!relationships\")")
    with zipfile.ZipFile(path, "w") as package:
        for name, content in entries.items():
            package.writestr(name, space.sub(rb"http://purl.oclc.org/ooxml/\1/", content))
    return path
