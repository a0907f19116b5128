"""Scholarly articles in JATS (ANSI/NISO Z39.96): title, abstract and sections, read as a page."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import parse_xml, read_whole
from tasks.ingest.formats.webpage import read_chapter

_AS_HTML = {
    "list": "ul", "list-item": "li", "def-list": "dl", "term": "dt", "def": "dd", "xref": "a",
    "disp-quote": "blockquote", "fig": "figure", "table-wrap": "div", "preformat": "pre",
    "break": "br", "strike": "s", "disp-formula": "div", "abstract": "section", "sec": "section",
    "body": "div", "ack": "section", "app": "section", "fn": "div",
}  # fmt: skip
_SECTIONS = frozenset({"sec", "abstract", "ack", "app"})
_UNREAD = ("ref-list", "object-id", "tex-math", "graphic", "media", "supplementary-material")
_NAMES = ("given-names", "surname", "collab", "string-name")
_FIELDS = (
    ("publisher", "journal-title"), ("tags", "kwd"), ("license", "license"), ("doi", "article-id")
)  # fmt: skip


def parse_article(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield an article's title, text and metadata; raises `RefusalError` for other XML."""
    from lxml import etree

    root = parse_xml(read_whole(file, limits), limits.name)
    for element in root.iter():
        element.tag = etree.QName(element).localname
    article = root if root.tag == "article" else root.find(".//article")
    if article is None:
        raise RefusalError(Reason.BAD_FORMAT, "It is XML, but no article in JATS.")
    etree.strip_elements(article, *_UNREAD, with_tail=False)
    fields = list(_fields(article))
    for title in list(article.iter("title")):
        outer = sum(around.tag in _SECTIONS for around in title.iterancestors())
        title.tag = f"h{min(outer + 1, 6)}" if title.getparent().tag in _SECTIONS else "p"
    parts = [part for name in ("abstract", "body", "ack", "app") for part in article.iter(name)]
    etree.strip_elements(article, "label", with_tail=False)
    for element in article.iter(*_AS_HTML):
        element.tag = _AS_HTML[element.tag]
    page = "".join(etree.tostring(part, encoding="unicode", with_tail=False) for part in parts)
    name = one_line(" ".join(map(_words, article.findall(".//title-group/article-title"))))
    text = "\n\n".join((f"# {name}", read_chapter(page)))
    yield ParsedText(title=name, text=text, metadata=described(fields))


def _fields(article: Any) -> Iterator[tuple[str, Any]]:
    for contributor in article.iterfind(".//contrib[@contrib-type='author']"):
        names = [_words(part) for name in _NAMES for part in contributor.iter(name)]
        yield "author", " ".join(names)
    for date in article.iterfind(".//article-meta/pub-date"):
        parts = filter(None, (date.findtext(name) for name in ("year", "month", "day")))
        yield "date", "-".join(f"{part:0>2}" for part in parts)
    for field, name in _FIELDS:
        yield field, [_words(part) for part in article.iterfind(f"front//{name}")]


def _words(element: Any) -> str:
    return one_line("".join(element.itertext()))
