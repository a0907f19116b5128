"""HTML pages: the visible main text as Markdown."""

import codecs
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

import orjson

from tasks.ingest.formats.cleaning import decode
from tasks.ingest.formats.hidden_markup import hides, is_white
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.markdown import Cell, one_line, table
from tasks.ingest.formats.metadata import Metadata, described
from tasks.ingest.formats.parsed_text import Limits, Parsed, ParsedText
from tasks.ingest.formats.unpacking import read_whole

_CHARSET = re.compile(
    rb"(?:<meta[^>]{0,200}charset|<\?xml[^>]{0,200}encoding)\s*=\s*[\"']?([A-Za-z0-9_\-]{2,40})",
    re.IGNORECASE,
)
# As browsers do: pages that declare the smaller charset are usually written in the larger one.
_LARGER = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,300}\?>")
_UNSEEN_TAGS = (
    "script", "style", "template", "noscript", "iframe", "object", "embed", "canvas", "svg",
    "select", "textarea", "input", "button", "datalist", "dialog",
)  # fmt: skip
_FURNITURE = ("nav", "footer", "aside", "header", "form")
_RULE = re.compile(r"([^{}]{1,300})\{([^{}]{0,2000})\}")
_SIMPLE_SELECTOR = re.compile(r"^\s*([.#])([\w-]+)\s*$")
_EMPHASIS = ("b", "strong", "i", "em", "u", "mark", "font", "span", "a", "small")
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "body", "table", "tr", "ul", "ol", "dl", "dt", "dd"}
    | {"blockquote", "pre", "figure", "figcaption", "li", "br", "hr", "address", "details"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "summary", "center"}
)
_LONGEST_DATA = 200_000
_MOST_NODES = 50
_WORKS = frozenset(
    {"Article", "NewsArticle", "BlogPosting", "TechArticle", "ScholarlyArticle", "Report", "Book"}
    | {"WebPage", "CreativeWork", "Recipe", "HowTo", "Dataset", "Course", "SocialMediaPosting"}
)
_ESCAPED_LINK = re.compile(r"\\\[([^\[\]\n]{0,300})\\\]\(#\)")
_WAYS = ("col", "row")
_DEEPEST_LIST = 10
_FEW_WORDS = 60  # main text with fewer words is unreliable, so the whole body is tried


def parse_webpage(file: BinaryIO, limits: Limits) -> Parsed:
    """Yield the page's title and main text without hidden elements."""
    page = read_page(decode_page(read_whole(file, limits), limits.charset))
    yield ParsedText(title=page.title, text=page.text, metadata=page.metadata)


class Page(NamedTuple):
    """What is read of a page."""

    title: str
    text: str
    metadata: Metadata


def read_page(markup: str) -> Page:
    """Return the title, main text and metadata of HTML; raises `RefusalError` if it is empty."""
    page = _page_of(markup)
    title = _title(page)
    metadata = described(_properties(page), only_known=True)
    _drop_unseen(page)
    return Page(title, _main_text(page), metadata)


def read_chapter(markup: str) -> str:
    """Return all the text of a book's chapter in HTML; an empty string if it has none."""
    if not markup.strip():
        return ""
    page = _page_of(markup)
    _drop_unseen(page)
    return _body_text(page)


def _page_of(markup: str) -> Any:
    import lxml.html

    markup = _DECLARATION.sub("", markup)
    if not markup.strip():
        raise RefusalError(Reason.EMPTY, "It holds no words.")
    parser = lxml.html.HTMLParser(remove_comments=True, remove_pis=True, no_network=True)
    return lxml.html.document_fromstring(markup, parser=parser)


def decode_page(data: bytes, charset: str | None) -> str:
    """Decode HTML or XML as UTF-8, else in the declared charset, else like plain text."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        declared = _CHARSET.search(data[:4096])
    try:
        name = codecs.lookup(declared[1].decode("ascii")).name if declared else ""
        return data.decode(_LARGER.get(name, name)) if name else decode(data, charset)
    except (LookupError, ValueError):
        return decode(data, charset)


def _title(page: Any) -> str:
    """Return the page's title, or the first heading if the title only adds to it."""
    title = " ".join((page.findtext(".//title") or "").split())
    top = page.find(".//h1")
    heading = " ".join(top.text_content().split()) if top is not None else ""
    return heading if heading and (not title or title.startswith(heading)) else title or heading


def _properties(page: Any) -> Iterator[tuple[str, Any]]:
    """Yield what the page says of itself, in its meta elements and as linked data (JSON-LD)."""
    for script in page.iter("script"):
        if "ld+json" in (script.get("type") or "").lower():
            yield from _linked_data((script.text or "")[:_LONGEST_DATA])
    for meta in page.iter("meta"):
        name = meta.get("name") or meta.get("property") or meta.get("http-equiv") or ""
        yield name, meta.get("content")
    yield "language", page.get("lang") or page.get("{http://www.w3.org/XML/1998/namespace}lang")


def _linked_data(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the fields of what is a text, such as an article, and no part of a page."""
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


def _drop_unseen(page: Any) -> None:
    unseen = _unseen_names(page)
    for element in list(page.iter()):
        if not isinstance(element.tag, str) or element.tag in ("html", "body"):
            continue
        names = {f".{name}" for name in (element.get("class") or "").split()}
        names.add(f"#{element.get('id')}")
        hidden = (
            element.tag in _UNSEEN_TAGS
            or element.get("hidden") is not None
            or (element.get("aria-hidden") or "").lower() == "true"
            or _is_unseen(element)
            or not unseen.isdisjoint(names)
        )
        if hidden and element.getparent() is not None:
            element.drop_tree()
    _settle_structure(page)
    for element in list(page.iter(*_EMPHASIS)):
        element.drop_tag()


def _is_unseen(element: Any) -> bool:
    """Tell whether the element's own style hides it, including white text on a white page."""
    style = element.get("style") or ""
    if hides(style):
        return True
    return is_white(style) and not any(
        "background" in (outer.get("style") or "").lower() or outer.get("bgcolor")
        for outer in element.iterancestors()
    )


def _unseen_names(page: Any) -> set[str]:
    """Return the classes and ids that the page's embedded style sheets hide."""
    unseen = set()
    for sheet in page.iter("style"):
        for selectors, rules in _RULE.findall((sheet.text or "")[:200_000]):
            if hides(rules):
                simple = map(_SIMPLE_SELECTOR.match, selectors.split(","))
                unseen |= {match[1] + match[2] for match in simple if match}
    return unseen


def _main_text(page: Any) -> str:
    import trafilatura

    text = trafilatura.extract(
        copy.deepcopy(page), output_format="markdown", include_comments=False, favor_recall=True
    )
    text = _ESCAPED_LINK.sub(r"[\1](#)", text or "")
    if len(text.split()) >= _FEW_WORDS:
        return text
    body = _body_text(page)
    return body if len(body) > len(text) else text


def _body_text(page: Any) -> str:
    """Return all text of the body as Markdown, for pages with little text."""
    for element in list(page.iter(*_FURNITURE)):
        if element.getparent() is not None:
            element.drop_tree()
    body = page.find("body")
    lines: list[str] = [""]
    lists = quoted = 0
    for event, element, skip in _walk(page if body is None else body):
        tag = element.tag
        if event == "start":
            lists += tag in ("ul", "ol")
            quoted += tag == "blockquote"
            if tag in ("table", "pre"):
                whole = _table(element) if tag == "table" else f"```\n{element.text_content()}\n```"
                lines += [whole, ""]
                skip()
            elif tag in _BLOCKS:
                mark = _mark(tag, lists, quoted)
                if tag == "li" or lines[-1].strip() != "-":  # a paragraph begins its item
                    lines.append(mark)
            if tag not in ("table", "pre"):
                lines[-1] += _flow(element.text)
        else:
            lists -= tag in ("ul", "ol")
            quoted -= tag == "blockquote"
            if tag in _BLOCKS:
                lines.append(_mark("", lists, quoted))
            lines[-1] += _flow(element.tail)
    text = "\n\n".join(line.rstrip() for line in lines if line.strip("#->: \n"))
    return re.sub(r"\n\n(?= *- |: )", "\n", text)


def _mark(tag: str, lists: int, quoted: int) -> str:
    """Return what stands before the words of a block."""
    if re.fullmatch("h[1-6]", tag):
        return "#" * int(tag[1]) + " "
    if tag == "li":
        return "  " * min(max(lists - 1, 0), _DEEPEST_LIST) + "- "
    return "> " if quoted else ": " if tag == "dd" else ""


def _table(element: Any) -> str:
    """Return a table without tables inside as Markdown; of others, the words."""
    if element.find(".//table") is not None:
        return one_line(element.text_content())
    rows = (
        [
            Cell(_spaced(cell), _is_header(cell), *(_number(cell, f"{way}span") for way in _WAYS))
            for cell in row.iterchildren("td", "th")
        ]
        for row in element.iter("tr")
    )
    return table(rows, _spaced(element.find("caption")))


def _is_header(cell: Any) -> bool:
    """Tell whether a cell is a header, or all of its words are bold."""
    bold = [child for child in cell if child.tag in ("b", "strong")]
    return cell.tag == "th" or (len(bold) == 1 and _spaced(bold[0]) == _spaced(cell) != "")


def _spaced(element: Any) -> str:
    return "" if element is None else one_line(" ".join(element.itertext()))


def _number(cell: Any, name: str) -> int:
    value = cell.get(name) or ""
    return int(value) if re.fullmatch(r"[0-9]{1,3}", value) else 1


def _settle_structure(page: Any) -> None:
    """Write definitions and tables of labels as lists, captions above tables, and mark links.

    What finds the main text would take a caption for headers and a link for an item's words.
    """
    import lxml.html

    for definitions in list(page.iter("dl")):
        term = ""
        for part in list(definitions):
            if part.tag == "dt":
                term = _spaced(part).rstrip(":：")
                definitions.remove(part)
            elif part.tag == "dd":
                part.tag = "li"
                part.text = f"{term}: {(part.text or '').lstrip()}" if term else part.text
        definitions.tag = "ul"
    for element in list(page.iter("table")):
        if element.find(".//table") is not None or element.getparent() is None:
            continue
        caption = element.find("caption")
        if caption is not None:
            paragraph = lxml.html.Element("p")
            paragraph.text = _spaced(caption)
            element.remove(caption)
            element.addprevious(paragraph)
        made = _table(element)
        if made.startswith("- "):
            items = lxml.html.Element("ul")
            for line in made.split("\n"):
                item = lxml.html.Element("li")
                item.text = line[2:]
                items.append(item)
            items.tail = element.tail
            element.getparent().replace(element, items)
    for code in list(page.iter("pre")):
        if code.find(".//code") is None:
            whole = lxml.html.Element("code")
            whole.text, code.text = code.text_content(), None
            code[:] = [whole]
    for item in list(page.iter("li")):
        links = item.findall(".//a")
        words = _spaced(item)
        if words and links and words == one_line(" ".join(map(_spaced, links))):
            for link in links:
                link.text, link[:] = f"[{_spaced(link)}](#)", []


def _flow(text: str | None) -> str:
    """Collapse white space in running text to single spaces, keeping it at the ends."""
    return re.sub(r"\s+", " ", text or "")


def _walk(root: Any) -> Iterator[tuple[str, Any, Callable[[], None]]]:
    """Yield the beginnings and ends of elements, and what skips those inside."""
    import lxml.etree

    walker = lxml.etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        yield event, element, walker.skip_subtree
