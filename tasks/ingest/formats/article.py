"""Scholarly articles in JATS (ANSI/NISO Z39.96): title, abstract and sections, read as a page."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.metadata import described, iso_date
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import parse_xml, read_whole
from tasks.ingest.formats.webpage import read_chapter

_AS_HTML = {
    "list": "ul", "list-item": "li", "def-list": "dl", "term": "dt", "def": "dd", "xref": "a",
    "disp-quote": "blockquote", "fig": "figure", "table-wrap": "div", "preformat": "pre",
    "break": "br", "strike": "s", "disp-formula": "div", "abstract": "section", "sec": "section",
    "body": "div", "ack": "section", "app": "section", "fn": "div", "floats-group": "div",
    "sub-article": "section", "response": "section",
}  # fmt: skip
_WITHIN = ("sub-article", "response")  # articles in the article, such as letters of its reviewers
_SECTIONS = frozenset({"sec", "abstract", "ack", "app", *_WITHIN})
_PARTS = ("abstract", "body", "floats-group", "ack", "app", *_WITHIN)
_PARTED = frozenset({"front", "body"})  # which articles of other kinds, as DocBook's, have not
_UNREAD = ("ref-list", "object-id", "tex-math", "graphic", "media", "supplementary-material")
_NAMES = ("given-names", "surname", "collab", "string-name")
_FIELDS = (
    ("publisher", "journal-title"), ("tags", "kwd"), ("license", "license"),
    ("doi", "article-id[@pub-id-type='doi']"),
)  # fmt: skip


def parse_article(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield an article's title, text and metadata; raises `RefusalError` for other XML."""
    from lxml import etree

    root = parse_xml(read_whole(file, limits), limits.name)
    for element in root.iter():
        element.tag = etree.QName(element).localname
    article = root if root.tag == "article" else root.find(".//article")
    if article is None or _PARTED.isdisjoint(part.tag for part in article):
        sentence = "It is XML, but no article in JATS; convert it to Markdown or HTML."
        raise RefusalError(Reason.BAD_FORMAT, sentence)
    etree.strip_elements(article, *_UNREAD, with_tail=False)
    fields = list(_fields(article))
    name = one_line(" ".join(map(_words, article.iterfind("front//title-group/article-title"))))
    for inner in reversed(list(article.iter(*_WITHIN))):
        titles = list(inner.iterfind(".//title-group/article-title"))
        for title in titles:
            title.tag = "title"
        inner[:] = [*titles, *_parts(inner)]
    for title in list(article.iter("title")):
        outer = sum(around.tag in _SECTIONS for around in title.iterancestors())
        title.tag = f"h{min(outer + 1, 6)}" if title.getparent().tag in _SECTIONS else "p"
    parts = _parts(article)
    etree.strip_elements(article, "label", with_tail=False)
    for element in article.iter(*_AS_HTML):
        element.tag = _AS_HTML[element.tag]
    page = "".join(etree.tostring(part, encoding="unicode", with_tail=False) for part in parts)
    text = "\n\n".join((f"# {name}", read_chapter(page)))
    yield ParsedText(title=name, text=text, metadata=described(fields))


def _parts(article: Any) -> list[Any]:
    """Return the parts of an article that are read, without those of articles within it."""
    return [
        part
        for name in _PARTS
        for part in article.iter(name)
        if next(part.iterancestors("article", *_WITHIN), None) is article
    ]


def _fields(article: Any) -> Iterator[tuple[str, Any]]:
    for contributor in article.iterfind("front//contrib[@contrib-type='author']"):
        names = [_words(part) for name in _NAMES for part in contributor.iter(name)]
        yield "author", " ".join(names)
    dates = filter(None, map(_date, article.iterfind("front//pub-date")))
    yield "date", min(dates, key=lambda date: (-len(date), date), default="")  # the first exact one
    for field, name in _FIELDS:
        yield field, [_words(part) for part in article.iterfind(f"front//{name}")]


def _date(element: Any) -> str:
    year, month, day = (element.findtext(name) or "" for name in ("year", "month", "day"))
    if month.isdigit():
        words = "-".join(f"{part:0>2}" for part in (year, month, day) if part)
    else:
        words = f"{day} {month} {year}".strip()
    return iso_date(element.get("iso-8601-date") or "") or iso_date(words)


def _words(element: Any) -> str:
    return one_line("".join(element.itertext()))
