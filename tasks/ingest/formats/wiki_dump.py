"""MediaWiki: dumps in XML, of which each article's current text is read, and single pages."""

import hashlib
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any, BinaryIO
from xml.etree.ElementTree import ParseError

from tasks.ingest.formats.cleaning import charset_meant, decode
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.names import safe_record
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits, refused, settle
from tasks.ingest.formats.unpacking import decompress, read_whole
from tasks.ingest.formats.wikitext import categories, plain_text

_CHUNK = 1 << 16
_KEPT = frozenset({"title", "ns", "id", "timestamp", "text"})
# The charsets that expat does not know.
_SEVERAL_BYTES = re.compile(
    rb"\s*<\?xml[^>]{0,200}\bencoding\s*=\s*[\"']"
    rb"((?:big5|gb|euc|shift_jis|windows-31j|x-sjis|iso-2022-jp|hz)[\w-]{0,20})[\"']",
    re.IGNORECASE,
)
_OTHER = "It is XML of another kind than articles in JATS and MediaWiki dumps, which are read."
_SHORT = 1_000  # the most characters of a title, a number or an id


class _Pages:
    """An expat target that collects the pages of a dump, the newest revision of each."""

    def __init__(self, longest: int) -> None:
        self.ready: list[dict[str, Any]] = []
        self._longest = longest
        self._path: list[str] = []
        self._page: dict[str, Any] = {}
        self._words: list[str] | None = None
        self._length = 0

    def start(self, tag: str, _: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if not self._path and name != "mediawiki":
            raise RefusalError(Reason.BAD_FORMAT, _OTHER)
        self._path.append(name)
        if len(self._path) > 50:
            raise RefusalError(Reason.TOO_DEEP, "Its XML is nested too deeply.")
        if name == "page":
            self._page = {}
        elif name == "redirect":
            self._page["redirect"] = "yes"
        elif name in _KEPT:
            self._words, self._length = [], 0

    def data(self, text: str) -> None:
        if self._words is None:
            return
        self._length += len(text)
        if self._length <= (self._longest if self._path[-1] == "text" else _SHORT):
            self._words.append(text)

    def end(self, _: str) -> None:
        name = self._path.pop()
        if name in _KEPT and self._words is not None:
            outer = self._path[-1] if self._path else ""
            key = f"{outer}.{name}"
            self._page[key] = "".join(self._words)
            if name == "text":
                self._page["too_long"] = self._length > self._longest
            self._words = None
        elif name == "page":
            self.ready.append(self._page)
            self._page = {}

    def close(self) -> None:
        """Return nothing: pages are taken from `ready` as they come."""


def parse_wiki(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the articles of a dump (namespace 0, no redirects); versions are revision ids."""
    yield from settle(_articles(file, limits))


def parse_wikitext(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the text of one page that is a file of its own."""
    markup = decode(read_whole(file, limits), limits.charset)
    tags = {"tags": categories(markup)}
    yield ParsedText(text=plain_text(markup), metadata=described(tags.items()))


def _articles(file: BinaryIO, limits: ParserLimits) -> Parsed:
    from defusedxml.common import DTDForbidden
    from defusedxml.ElementTree import XMLParser

    stream = _decoded(decompress(file, limits.compression, limits.max_expansion))
    # Markup is about twice as long as its text.
    pages = _Pages(2 * limits.max_text_chars)
    parser = XMLParser(target=pages, forbid_dtd=True)
    try:
        for chunk in stream:
            parser.feed(chunk)
            yield None
            for page in pages.ready:
                yield _article(page)
            pages.ready.clear()
        parser.close()
    except DTDForbidden as error:
        bomb = "Its XML has a DOCTYPE, which may declare a bomb of entities; dumps have none."
        sentence = bomb if error.name == "mediawiki" else _OTHER
        raise RefusalError(Reason.BAD_FORMAT, sentence) from error
    except (ParseError, LookupError, ValueError) as error:
        raise RefusalError(Reason.BAD_FORMAT, f"Its XML is broken: {error}.") from error


def _decoded(stream: BinaryIO) -> Iterator[bytes | str]:
    """Yield the chunks of XML, decoded where it declares a charset of several bytes a letter.

    Raises `UnicodeDecodeError` for bytes that are not of that charset.
    """
    chunk = stream.read(_CHUNK)
    declared = _SEVERAL_BYTES.match(chunk)
    decoder = declared and getincrementaldecoder(charset_meant(declared[1].decode()))()
    while chunk:
        yield decoder.decode(chunk) if decoder else chunk
        chunk = stream.read(_CHUNK)


def _article(page: dict[str, Any]) -> ParsedText | None:
    if page.get("page.ns", "0") != "0" or "redirect" in page:
        return None
    title = page.get("page.title", "").strip()
    name = safe_record(title) or page.get("page.id", "")
    if page.get("too_long"):
        return refused(name, Reason.TOO_LONG, "The article's markup is too long.")
    markup = page.get("revision.text", "")
    if not markup.strip() or not name:
        return None
    sha256 = hashlib.sha256(markup.encode("utf-8", "surrogatepass")).hexdigest()
    properties = {"modified": page.get("revision.timestamp"), "tags": categories(markup)}
    return ParsedText(
        name,
        title,
        plain_text(markup),
        page.get("revision.id", ""),
        sha256,
        metadata=described(properties.items()),
    )
