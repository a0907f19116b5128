"""Convert a web page or a book's chapter to Markdown, without content that readers do not see.

Trafilatura decides which part of a page is its main text; the text of that part is taken from the
page itself, so that headings, lists, tables and code keep their structure.
"""

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from tasks.ingest.formats.formulas import linear
from tasks.ingest.formats.hidden_markup import is_white
from tasks.ingest.formats.markdown import Cell, one_line, table
from tasks.ingest.formats.raised import lowered, raised
from tasks.ingest.formats.style_sheets import StyleSheets

_UNSEEN_TAGS = frozenset((
    "script", "style", "template", "noscript", "iframe", "object", "embed", "canvas", "svg",
    "select", "textarea", "input", "button", "datalist", "dialog", "video", "audio",
    "del", "s", "strike", "rt", "rp", "annotation", "annotation-xml",
))  # fmt: skip
_AROUND = ("aside", "header", "form", "footer")  # around the text, or parts of it
_WORKS = ("article", "main", "blockquote")  # whose headers, asides and footers are their own
_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "search", "complementary", "alert", "menu", "toolbar"}
    | {"toc", "page-list", "landmarks", "pagebreak", "doc-toc", "doc-pagelist", "doc-pagebreak"}
)
_NOTE_ROLES = frozenset({"noteref", "doc-noteref", "backlink", "doc-backlink"})
_EMPHASIS = ("b", "strong", "i", "em", "u", "mark", "font", "span", "a", "small")
_CODE = frozenset({"code", "kbd", "samp", "tt", "var"})
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "body", "table", "tr", "td", "th", "ul", "ol", "dl"}
    | {"blockquote", "pre", "figure", "figcaption", "caption", "li", "dt", "dd", "hr", "address"}
    | {"summary", "details", "center", "header", "footer", "aside", "form", "fieldset", *_HEADINGS}
)
_SHOWN = ("figcaption", "pre", "table")  # words of a figure
_WORD = re.compile(r"\w")
_SPACES = re.compile(r"\s+")
_NO_WORD = re.compile(r"\W+|_+")
_LETTERS = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"[.!?。！？…]$")
_NOTE = re.compile(r"[\[(]?(?:\d{1,3}|[a-z*†‡§]{1,2})[\])]?")
_MARKS = re.compile(r"[*`]|<(?=[A-Za-z/!?%])")
_TO_TABS = ("", "../", "../*[not(@role)]/")  # from the box of their panels
_WAYS = ("col", "row")
_DEEPEST_LIST = 10
_FEW_LETTERS = 300  # main text with fewer is unreliable, so the whole body is read
_TELLING = 30  # letters that are enough to find a block again
_MOSTLY = 0.9  # of the located letters must be found again
_NEAR = 4  # blocks
_NEAR_TOP = 12  # blocks between a page's heading and its text, as a caption or a date


def main_text(page: Any) -> str:
    """Return the main text of a page; unseen elements and furniture are dropped from the page."""
    import trafilatura

    _drop_unseen(page)
    located = trafilatura.extract(
        _on_lines(page), output_format="txt", include_comments=False, favor_recall=True
    )
    _drop_furniture(page)
    return _joined(_without_empty_headings(_main_blocks(_blocks(page), located or "")))


def _on_lines(page: Any) -> Any:
    """Return a copy of a page of which each paragraph, outside of code, is one line.

    Times in its sentences and figures are plain text, since trafilatura leaves out all others;
    those with a heading are teasers.
    """
    page = copy.deepcopy(page)
    for paragraph in page.iter("p"):
        if _SENTENCE.search(_spaced(paragraph)):
            for part in list(paragraph.iter("time", "label", "output")):
                part.drop_tag()
    for figure in page.iter("figure"):
        holds = {part.tag for part in figure.iter()}
        if holds.isdisjoint(_HEADINGS) and not holds.isdisjoint(_SHOWN):
            figure.tag = "p" if holds.isdisjoint(("pre", "table")) else "div"
    code = {element for block in page.iter("pre") for element in block.iter()}
    for element in page.iter():
        if element not in code:
            if (words := element.text) and "\n" in words:
                element.text = _SPACES.sub(" ", words)
            if (words := element.tail) and "\n" in words:
                element.tail = _SPACES.sub(" ", words)
    return page


def whole_text(page: Any) -> str:
    """Return all text of a page except navigation; unseen elements are dropped from the page."""
    _drop_unseen(page)
    for element in list(page.iter("nav")):
        _drop(element)
    return _joined(_blocks(page))


def _main_blocks(blocks: list[str], located: str) -> list[str]:
    """Return the blocks from the first to the last that was located, with headings above.

    Blocks that are too short to be recognised reliably count only near one that was recognised.
    """
    lines = {_start(line) for line in located.split("\n")}
    if len(_letters(located)) < _FEW_LETTERS:
        return blocks
    starts = [[_start(line) for line in block.split("\n", 3)[:3]] for block in blocks]
    near = [place for place, some in enumerate(starts) if not lines.isdisjoint(filter(None, some))]
    sure = [place for place in near if any(len(start) == _TELLING for start in starts[place])]
    if not sure:
        return blocks
    first, last = sure[0], sure[-1]
    for place in reversed(near):
        if first - _NEAR <= place < first:
            first = place
    for place in near:
        if last < place <= last + _NEAR:
            last = place
    tops = [place for place, block in enumerate(blocks[:first]) if _level(block) == 1]
    if tops and first - tops[-1] <= _NEAR_TOP:
        first = tops[-1]
    while first and blocks[first - 1].startswith("#"):
        first -= 1
    kept = blocks[first : last + 1]
    whole = len(_letters("".join(kept))) >= _MOSTLY * len(_letters(located))
    return kept if whole else blocks


def _without_empty_headings(blocks: list[str]) -> list[str]:
    """Leave out the headings before the first text that do not stand above it."""
    end = next((place for place, block in enumerate(blocks) if not _level(block)), 0)
    kept: list[str] = []
    for heading in reversed(blocks[:end]):
        if not kept or _level(heading) < _level(kept[0]):
            kept.insert(0, heading)
    return kept + blocks[end:]


def _level(block: str) -> int:
    """Return the level of a heading, 0 for other blocks."""
    marks = len(block) - len(block.lstrip("#"))
    return marks if block[marks : marks + 1] == " " else 0


def _start(line: str) -> str:
    """Return the first letters of a line; it may be long, so the rest is not looked at."""
    runs = islice(_LETTERS.finditer(line), _TELLING)
    return "".join(run[0] for run in runs)[:_TELLING]


def _letters(text: str) -> str:
    return _NO_WORD.sub("", text)


def _drop(element: Any) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _write_formulas(page: Any) -> None:
    """Put a line of text in place of each formula, also of one that is drawn beside it."""
    for formula in list(page.iter("math", "m:math", "mml:math")):
        around, words = formula.getparent(), linear(formula)
        is_block = formula.get("display") == "block"
        formula.tag, formula.text, formula[:] = "div" if is_block else "span", words, []
        drawn = (around.getprevious(), around.getnext())
        if _spaced(around) == words and any(map(_is_drawing, drawn)):
            around.attrib.clear()
            around.tag = around.tag if around.tag in _BLOCKS else "span"


def _is_drawing(element: Any) -> bool:
    return element is not None and (
        element.tag in ("img", "svg") or element.get("aria-hidden") == "true"
    )


def _drop_unseen(page: Any) -> None:
    _write_formulas(page)
    sheets, closed = StyleSheets(page), []
    for element in list(page.iter()):
        if not isinstance(element.tag, str) or element.tag in ("html", "body"):
            continue
        if element.get("role") == "tabpanel":  # which may be hidden until its tab opens it
            is_closed = element.attrib.pop("aria-hidden", "").lower() == "true"
            is_closed |= element.attrib.pop("hidden", None) is not None
            closed += [element] if is_closed else []
        if (
            (
                element.tag in _UNSEEN_TAGS
                and (element.tag, element.get("role")) != ("button", "tab")
            )
            or (element.get("aria-hidden") or "").lower() == "true"
            or _is_white(element)
            or sheets.hide(element)
            or not _ROLES.isdisjoint(_roles(element))
        ):
            _drop(element)
    named = {*_panels_with_tabs(page)}
    for element in [*page.iter(*_UNSEEN_TAGS), *(panel for panel in closed if panel not in named)]:
        _drop(element)
    _settle_parts(page)
    _drop_marks(page)
    _settle_structure(page)
    for element in list(page.iter(*_EMPHASIS)):
        element.drop_tag()


def _panels_with_tabs(page: Any) -> Iterator[Any]:
    """Yield the panels beside which a list of as many tabs names them: readers open each."""
    panels: dict[Any, list[Any]] = defaultdict(list)
    for panel in page.xpath("//*[@role='tabpanel']"):
        panels[panel.getparent()].append(panel)
    for box, beside in panels.items():
        for tabs in box.xpath("|".join(f"{way}*[@role='tablist']" for way in _TO_TABS)):
            if sum(map(bool, map(_spaced, tabs.xpath(".//*[@role='tab']")))) == len(beside):
                yield from beside


def _roles(element: Any) -> list[str]:
    roles = element.get("role") or "", element.get("epub:type") or ""
    return " ".join(roles).lower().split() if any(roles) else []


def _is_white(element: Any) -> bool:
    """Tell whether the element's own style makes its text white on a white page."""
    return is_white(element.get("style") or "") and not any(
        "background" in (outer.get("style") or "").lower() or outer.get("bgcolor")
        for outer in element.iterancestors()
    )


def _drop_marks(page: Any) -> None:
    """Drop links from a heading to itself and from a word to its note.

    Raised digits are marked as powers.
    """
    for heading in list(page.iter(*_HEADINGS)):
        for link in list(heading.iter("a")):
            if link.get("href") and not _WORD.search(link.text_content()):
                _drop(link)
    for link in list(page.iter("a")):
        is_raised = link.getparent().tag == "sup" or link.find(".//sup") is not None
        if (is_raised or not _NOTE_ROLES.isdisjoint(_roles(link))) and _NOTE.fullmatch(
            _spaced(link)
        ):
            _drop(link)
    for name, placed in (("sup", raised), ("sub", lowered)):
        for part in page.iter(name):
            before = part.getprevious()
            if before is None:
                words = part.getparent().text
            else:
                words = before.tail or before.text_content()
            part.text = placed(words or "", part.text or "")


def _settle_parts(page: Any) -> None:
    """Make plain boxes of the asides, headers, forms and footers that belong to the text."""
    top = None if page.xpath("//main//h1 | //article//h1") else page.find(".//h1")
    for element in list(page.iter(*_AROUND)):
        outer = {outer.tag for outer in element.iterancestors(*_WORKS)}
        is_note = any(role == "note" or role.startswith("doc-") for role in _roles(element))
        if element.tag == "header":
            is_part = bool(outer) or (top is not None and top in element.iter("h1"))
        elif element.tag == "footer":
            is_part = bool(outer - {"main"})  # which is no section of its own
        elif element.tag == "form":
            is_part = any(map(_has_values, element.iter("table")))
        else:
            is_part = bool(outer) or element.getparent().find("p") is not None
        linked = sum(len(_spaced(link)) for link in element.iter("a"))
        if is_note or (is_part and 2 * linked <= len(_spaced(element))):
            element.tag = "div"


def _has_values(table: Any) -> bool:
    """Tell whether several rows of a table have words in several cells, unlike fields to fill."""
    return sum(sum(map(bool, map(_spaced, row))) > 1 for row in _rows(table)) > 1


def _drop_furniture(page: Any) -> None:
    """Drop navigation, and what else is around the text with less than half of the letters."""
    half = len(page.text_content()) / 2
    for element in list(page.iter("nav", *_AROUND)):
        if element.tag in ("nav", "footer") or len(element.text_content()) < half:
            _drop(element)


def _blocks(page: Any) -> list[str]:
    """Return the blocks of the body as Markdown."""
    body = page.find("body")
    lines: list[str] = [""]
    lists = quoted = 0
    for event, element, skip in _walk(page if body is None else body):
        tag = element.tag
        if event == "start":
            lists += tag in ("ul", "ol")
            quoted += tag == "blockquote"
            if tag == "pre" or (tag == "table" and not _is_layout(element)):
                lines += [_table(element) if tag == "table" else _fenced(element), ""]
                skip()
            elif tag in _CODE and (words := _code(element)):
                lines[-1] += words
                skip()
            else:
                if tag in _BLOCKS:
                    mark = _mark(tag, lists, quoted)
                    if tag == "li" or lines[-1].strip() != "-":  # a paragraph begins its item
                        lines.append(mark)
                elif tag == "br":
                    _break(lines, quoted)
                _add(lines, "“" * (tag == "q") + _flow(element.text))
        else:
            lists -= tag in ("ul", "ol")
            quoted -= tag == "blockquote"
            if tag in _BLOCKS:
                lines.append(_mark("", lists, quoted))
            _add(lines, "”" * (tag == "q") + _flow(element.tail))
    return [line.rstrip() for line in lines if line.strip("#->: \n")]


def _joined(blocks: list[str]) -> str:
    return re.sub(r"\n\n(?= *- )", "\n", "\n\n".join(blocks))


def _add(lines: list[str], words: str) -> None:
    lines[-1] += words.lstrip() if lines[-1][-1:] in (" ", "\n", "") else words


def _break(lines: list[str], quoted: int) -> None:
    """Begin a new line of a block, or a new block at a second break; headings stay one line."""
    words = lines[-1].rstrip(" >")
    if lines[-1].startswith("#"):
        lines[-1] += " "
    elif words.endswith("\n") or not words:
        lines.append(_mark("", 0, quoted))
    else:
        lines[-1] += "\n> " if quoted else "\n"


def _mark(tag: str, lists: int, quoted: int) -> str:
    """Return the Markdown mark that begins a block."""
    if tag in _HEADINGS:
        return "#" * int(tag[1]) + " "
    if tag == "li":
        return "  " * min(max(lists - 1, 0), _DEEPEST_LIST) + "- "
    return "> " if quoted else ""


def _fenced(code: Any) -> str:
    words = code.text_content()
    fence = "````" if "```" in words else "```"
    return f"{fence}\n{words}\n{fence}"


def _code(element: Any) -> str:
    """Return code inside a sentence in backticks; an empty string if it is too long for that."""
    words = one_line(element.text_content())
    return "" if not words or "`" in words or len(words) > 300 else f"`{words}`"


def _is_layout(element: Any) -> bool:
    """Tell whether a table only sets parts of the page side by side or in a box."""
    heads = [cell.tag for cell in next(_rows(element), ())]
    is_headed = len(heads) > 1 and set(heads) == {"th"}
    if element.find(".//table") is not None or "presentation" in _roles(element):
        return not is_headed
    rows = [len(row.findall("td")) for row in element.iter("tr")]
    if element.find(".//th") is None and (len(rows) < 2 or max(rows) < 2):
        return True  # a row of columns, or boxes
    return any(next(cell.iter(*_HEADINGS), None) is not None for cell in element.iter("td"))


def _table(element: Any) -> str:
    """Return a table as Markdown; tables inside are words of its cells."""
    rows = (
        [
            Cell(_spaced(cell), cell.tag == "th", *(_number(cell, f"{way}span") for way in _WAYS))
            for cell in row
        ]
        for row in _rows(element)
    )
    return table(rows, _spaced(element.find("caption")))


def _rows(element: Any) -> Iterator[list[Any]]:
    """Yield the cells of each row of a table, without those of tables inside."""
    for row in element.iter("tr"):
        if next(row.iterancestors("table"), element) is element:
            yield list(row.iterchildren("td", "th"))


def _spaced(element: Any) -> str:
    """Return the words of an element as one line, with spaces between its blocks."""
    if element is None:
        return ""
    parts = []
    for event, part, _ in _walk(element):
        words = part.text if event == "start" else part.tail if part is not element else ""
        apart = part.tag in _BLOCKS or part.tag == "br"
        parts += [" " if apart else "", words or ""]
    return one_line("".join(parts))


def _number(cell: Any, name: str) -> int:
    value = cell.get(name) or ""
    return int(value) if re.fullmatch(r"[0-9]{1,3}", value) else 1


def _settle_structure(page: Any) -> None:
    """Turn definitions into lists of labels, bold cells into headers, and mark bare links.

    A list that begins with a number of its own keeps its numbers.
    """
    for definitions in list(page.iter("dl")):
        term = ""
        for part in list(definitions):
            if part.tag == "dt":
                term = _spaced(part).rstrip(":：")
                definitions.remove(part)
            elif part.tag == "dd":
                part.tag = "li"
                if term:
                    _open_with(part, f"{term}:")
        definitions.tag = "ul"
    for numbered in page.iter("ol"):
        if numbered.get("start"):  # its numbers are those of clauses or chapters
            for number, item in enumerate(numbered.iterchildren("li"), _number(numbered, "start")):
                _open_with(item, f"{number}.")
    for cell in page.iter("td"):
        bold = [child for child in cell if child.tag in ("b", "strong")]
        if len(bold) == 1 and _spaced(bold[0]) == _spaced(cell) != "":
            cell.tag = "th"
    for element in list(page.iter("li", "p", "div")):
        if element.tag == "li" or next(element.iterdescendants(*_BLOCKS), None) is None:
            _mark_links(element)


def _open_with(item: Any, words: str) -> None:
    """Write words before those of an item, or of the paragraph that opens it."""
    opens = len(item) and item[0].tag == "p" and not (item.text or "").strip()
    first = item[0] if opens else item
    first.text = f"{words} {(first.text or '').lstrip()}"


def _mark_links(element: Any) -> None:
    """Write the links of an element as Markdown if it holds nothing else and is no sentence."""
    links = [link for link in element.iter("a") if _spaced(link)]
    words = _spaced(element) if links else ""
    if not words or _letters(words) != _letters("".join(map(_spaced, links))):
        return
    if element.tag == "li" or not _SENTENCE.search(words):
        for link in links:
            label = _spaced(link).strip("[]()#")
            link.text, link[:] = f"[{label}](#)", []


def _flow(text: str | None) -> str:
    """Collapse white space in running text to single spaces, and escape Markdown's marks."""
    return _MARKS.sub(r"\\\g<0>", _SPACES.sub(" ", text or ""))


def _walk(root: Any) -> Iterator[tuple[str, Any, Callable[[], None]]]:
    """Yield the start and end of each element, and a function that skips its descendants."""
    import lxml.etree

    walker = lxml.etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        yield event, element, walker.skip_subtree
