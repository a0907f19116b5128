"""HTML pages: the visible main text as Markdown."""

import html
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import orjson

from tasks.ingest.formats.cleaning import decode, decode_as_declared, encoding_of
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.page_text import main_text, whole_text
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import read_whole

_CHARSET = re.compile(
    rb"(?:<meta[^>]{0,200}charset|<\?xml[^>]{0,200}encoding)\s*=\s*[\"']?([A-Za-z0-9_\-]{2,40})",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_LONGEST_START = 8_192  # bytes in which the charset is declared
_SHIFTED = re.compile(r"iso-2022|hz", re.IGNORECASE)  # charsets of which all bytes are ASCII
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:0*(\d{1,7})|x0*([0-9a-f]{1,6}));?", re.IGNORECASE)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,300}\?>")
_LONGEST_DATA = 200_000
_MOST_NODES = 50
_WORKS = frozenset(
    {"Article", "NewsArticle", "BlogPosting", "TechArticle", "ScholarlyArticle", "Report", "Book"}
    | {"WebPage", "CreativeWork", "Recipe", "HowTo", "Dataset", "Course", "SocialMediaPosting"}
)
_SITE = re.compile(r"\s[|\-–—·•:»›]+\s")  # between the titles of a page and of its site
_START = re.compile(r"(?:https?://[^/]+)?(?:\.{0,2}/)*(?:index\.\w+)?")  # of a site


def parse_webpage(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the page's title and main text without hidden elements."""
    yield read_page(decode_page(read_whole(file, limits), limits.charset))


def read_page(markup: str) -> ParsedText:
    """Return the title, main text and metadata of HTML; raises `RefusalError` if it is empty."""
    page = _page_of(markup)
    metadata = described(_properties(page), only_known=True)
    logo = _logo(page)
    text = main_text(page)
    title = _title(page, metadata.get("publisher", ""), logo)
    return ParsedText(title=title, text=text, metadata=metadata)


def read_chapter(markup: str) -> str:
    """Return all the text of a book's chapter in HTML; an empty string if it has none."""
    if not markup.strip():
        return ""
    return whole_text(_page_of(markup))


def _page_of(markup: str) -> Any:
    import lxml.html

    markup = _CONTROLS.sub("", _REFERENCE.sub(_shown, _DECLARATION.sub("", markup)))
    markup = markup.replace("\f", " ")
    if not markup.strip():
        raise RefusalError(Reason.EMPTY, "It holds no words.")
    parser = lxml.html.HTMLParser(  # ordinary pages nest more deeply than other parsers allow
        remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    page = lxml.html.document_fromstring(markup, parser=parser)
    if any(error.type_name == "ERR_RESOURCE_LIMIT" for error in parser.error_log):
        raise RefusalError(Reason.TOO_DEEP, "Its elements are nested too deeply.")
    return page


def _shown(reference: re.Match[str]) -> str:
    """Return a character reference, or what browsers show for that of a control character."""
    code = int(reference[1] or "0") or int(reference[2] or "0", 16)
    if 32 <= code < 127 or 160 <= code < 0xD800:
        return reference[0]
    return html.unescape(reference[0])


def decode_page(data: bytes, charset: str | None) -> str:
    """Decode HTML or XML as its first bytes say, or as UTF-8, else in the declared charset.

    Pages that declare nothing are decoded like plain text. Raises `RefusalError` for other bytes.
    """
    declared = _CHARSET.search(_COMMENT.sub(b"", data[:_LONGEST_START]))
    label = declared[1].decode("ascii") if declared else ""
    shifted = _SHIFTED.match(label)
    if not label or (encoding_of(data) != "utf-8" and not shifted):
        return decode(data, charset)
    try:
        text = data.decode("utf-8")
        if not shifted:
            return text
    except UnicodeDecodeError:
        pass
    try:
        return decode_as_declared(data, "utf-8" if label.lower().startswith("utf") else label)
    except (LookupError, UnicodeError) as error:
        sentence = f"It declares the charset {label}, but is not written in it; save it as UTF-8."
        raise RefusalError(Reason.BAD_ENCODING, sentence) from error


def _title(page: Any, site: str, logo: str) -> str:
    """Return the page's title without the site's, by its headings or the site's name."""
    title = " ".join((page.findtext(".//title") or "").split())
    headings = [" ".join(heading.text_content().split()) for heading in page.iter("h1")]
    headings = [heading for heading in headings if heading != logo]
    site = site or logo
    if not title:
        return headings[0] if headings else ""
    parts = _SITE.split(title)
    for heading in filter(None, headings):
        same = title.casefold().startswith(heading.casefold())
        if same or (heading in parts[1:] and heading != site):
            return heading
    if len(parts) > 1 and site in (parts[0], parts[-1]):
        rest = title.removeprefix(parts[0]) if site == parts[0] else title.removesuffix(site)
        return rest.strip(" |-–—·•:»›")
    return title


def _logo(page: Any) -> str:
    """Return the top heading that links to the site's start, as on each of its pages, else ""."""
    for heading in page.iter("h1"):
        words = " ".join(heading.text_content().split())
        for link in heading.iter("a"):
            starts = link.get("rel") == "home" or _START.fullmatch(link.get("href") or "#")
            if starts and " ".join(link.text_content().split()) == words:
                return words
    return ""


def _properties(page: Any) -> Iterator[tuple[str, Any]]:
    """Yield the page's metadata from linked data (JSON-LD) and from its meta elements."""
    for script in page.iter("script"):
        if "ld+json" in (script.get("type") or "").lower():
            yield from _linked_data((script.text or "")[:_LONGEST_DATA])
    for meta in page.iter("meta"):
        name = meta.get("name") or meta.get("property") or meta.get("http-equiv") or ""
        yield name, meta.get("content")
    yield "language", page.get("lang") or page.get("{http://www.w3.org/XML/1998/namespace}lang")


def _linked_data(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the fields of linked data about a work, such as an article, not a part of a page."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return
    nodes = value if isinstance(value, list) else [value]
    nodes += [n for node in nodes if isinstance(node, dict) for n in _listed(node.get("@graph"))]
    for node in nodes[:_MOST_NODES]:
        if isinstance(node, dict) and not _WORKS.isdisjoint(map(str, _listed(node.get("@type")))):
            yield from node.items()


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
