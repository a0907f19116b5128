"""EPUB books: the chapters in reading order, parsed as web pages."""

import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO
from urllib.parse import unquote

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import open_package, parse_entry
from tasks.ingest.formats.webpage import decode_page, read_chapter

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})
# Obfuscated fonts leave the text readable.
_FONTS_ALONE = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})


def parse_book(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the text of the book's chapters with their headings, and its title.

    Only entries of the package are read; links that lead elsewhere are skipped. Raises
    `RefusalError` for a book whose text is encrypted.
    """
    package = open_package(file, limits, "an EPUB book")
    if _CONTAINER not in package.namelist():
        raise RefusalError(Reason.BAD_FORMAT, "It is not an EPUB book.")
    _check_readable(package)
    root = next(_named(parse_entry(package, _CONTAINER), "rootfile"), None)
    path = "" if root is None else root.get("full-path", "")
    if path not in package.namelist():
        raise RefusalError(Reason.BAD_FORMAT, "Its list of contents is missing.")
    contents = parse_entry(package, path)
    chapters: list[str] = []
    length = 0
    for name in _chapter_names(contents, posixpath.dirname(path), set(package.namelist())):
        chapters.append(read_chapter(decode_page(package.read(name), limits.charset)))
        length += len(chapters[-1])
        if length > 2 * limits.max_text_chars:
            break
        yield None
    title = next((element.text or "" for element in _named(contents, "title")), "")
    yield ParsedText(
        title=title,
        text="\n\n".join(filter(None, chapters)),
        metadata=described(_properties(contents)),
    )


def _properties(contents: Any) -> Iterator[tuple[str, str]]:
    """Yield the book's metadata from its package, as pairs of name and value."""
    for name in ("creator", "date", "language", "subject", "publisher", "description", "rights"):
        for element in _named(contents, name):
            if element.tag.startswith(_DUBLIN_CORE):
                yield f"dc:{name}", element.text or ""
    for element in _named(contents, "meta"):
        yield element.get("property") or "", element.text or ""


def _chapter_names(contents: Any, folder: str, entries: set[str]) -> list[str]:
    """Return the package entries listed in the book's spine, each once, in order."""
    items = {item.get("id"): item for item in _named(contents, "item")}
    names: dict[str, None] = {}
    for reference in _named(contents, "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES:
            continue
        if "nav" in (item.get("properties") or "").split():
            continue
        name = posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
        if name in entries:
            names[name] = None
    return list(names)


def _check_readable(package: zipfile.ZipFile) -> None:
    if _ENCRYPTION not in package.namelist():
        return
    methods = {
        m.get("Algorithm") for m in _named(parse_entry(package, _ENCRYPTION), "EncryptionMethod")
    }
    if not methods <= _FONTS_ALONE:
        raise RefusalError(Reason.ENCRYPTED, "Its text is encrypted.")


def _named(root: Any, name: str) -> Any:
    """Return an iterator over the elements with this name in any namespace."""
    return root.iterfind(f".//{{*}}{name}")
