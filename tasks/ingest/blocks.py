"""Split a text into blocks: prose, list items, table rows, code, navigation and other kinds.

Every reader yields Markdown, so one parser finds the blocks of all formats. Only prose is read
sentence by sentence; code, navigation and markup never become knowledge.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from tasks.ingest.front_matter import front_matter_end
from tasks.ingest.prose import LINK_TARGET, line_of_words, words_of
from tasks.ingest.table_rows import are_compared, cells_of, is_one_cell, key_column

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class BlockKind(StrEnum):
    """The kind of a block."""

    PROSE = "prose"
    ITEM = "item"  # of a list
    ROW = "row"  # of a table with headers, about what its first cell names
    GROUPED = "grouped row"  # about the second; the first dates, numbers or groups rows
    NUMBERED = "numbered grouped row"  # about the third
    COMPARED = "compared row"  # about what the heads of the other columns name
    NAMELESS = "nameless row"  # of a table no column of which tells its rows apart
    PAIR = "pair"  # a labelled value
    QUOTATION = "quotation"
    FOOTNOTE = "footnote"
    HEADING = "heading"
    CODE = "code"
    METADATA = "metadata"  # front matter
    NAVIGATION = "navigation"  # links without words around them
    IMAGE = "image"
    MARKUP = "markup"  # HTML, template tags, tables without headers
    PAGE = "page"  # where a page of the printed text ends


class Block(NamedTuple):
    """A span of a text; `lead` is the text that introduces it, if there is one.

    The lead is the sentence before a list, the label of a pair, the term that is defined, or the
    row of a table's headers, of very many the first. The lead of a heading is its words, and its
    `level` is 1 to 6.
    """

    kind: BlockKind
    start: int
    end: int
    lead: str = ""
    level: int = 0


_IMAGE = re.compile(rf"!\[[^\]\n]{{0,500}}\](?:{LINK_TARGET})")
_LINK = re.compile(rf"\[[^\[\]\n]{{0,500}}\](?:{LINK_TARGET})|<?https?://[^\s<>]{{1,1000}}>?")
_TAGS = re.compile(
    r"</?[A-Za-z][^<>\n]{0,500}>|\{%[^{}\n]{0,500}%\}|\{\{[^{}\n]{0,500}\}\}|<!--[^<]{0,2000}-->",
    re.DOTALL,
)
_LABELLED = re.compile(
    r"(?P<mark>\*\*|__)(?P<label>[^\W_][^\n:：*|。！？]{0,80}?)"
    r"(?:[:：](?P=mark)|(?P=mark)[ \t]?[:：]|(?P=mark)[ \t][-–—])(?:[ \t]+|(?<=：))"
    r"(?P<value>\S[^\n]*)"
    r"|(?P<plain>[^\W_][^\n:：*`|。！？.!?]{0,60}?)(?:[:：][ \t]+|：)(?P<plainvalue>\S[^\n]*)"
)
_ENDS_SENTENCE = re.compile(r"[.!?。！？][\"'”’»)\]*_]*\s*\Z")
_SCRIPT = re.compile(  # directives, and comments of MDX
    r":{3,}[^\n]{0,100}|[!?]{3}\+? [^\n]{1,100}|\.\. [^\n]{1,300}|\{/\*[^\n]{0,300}\*/\}"
    r"|:[a-z-]{1,30}:(?: [^\n]{1,300})?"
)
# Opens a paragraph of what an MDX page imports and exports.
_MODULE = re.compile(
    r"(?:import|export)\s+(?:(?:[^\n]{1,300}\sfrom\s+)?['\"][^\n]{1,300}['\"];?|\{[^\n]*"
    r"|(?:const|let|var)\s[^\n]*=[^\n]*|(?:default|function|async|class)\s[^\n]*[;{(])"
)
_CODE_ALONE = re.compile(r"(`{1,3})[^`\n]+\1")
_TRAIL = re.compile(r"[^\n.!?>›»]{1,60}(?: [>›»] [^\n.!?>›»]{1,60}){2,}")  # "Home > Docs > Tides"
# "Prices ..... 7"; only whole runs of dots are tried, so that long ones take linear time.
_CONTENTS = re.compile(
    r"(?:(?<!\.)\.{4,}+|(?<!\. )(?:\. ){3,}+|(?<!…)…{2,}+)\s{0,9}[\divxlc]{1,5}\Z"
)
_LEADERS = ("....", ". . . ", "……")  # one of them is in every line that `_CONTENTS` finds
_PAGE = re.compile(
    r"[\[(]?(?:page|p\.|第) ?\d{1,5} ?页?(?: ?(?:of|/) ?\d{1,5})?[\])]?"
    r"|[^\n]{0,100} {3}\[Page \d{1,5}\]|[-–—] ?\d{1,5} ?[-–—]",
    re.IGNORECASE,
)
_ITEM_MARK = re.compile(r"\A\s*[-*+•]\s+")
_RULED = re.compile(r"[|+\-=: ]+")
_BAR = re.compile(r"(?<!\\)\|(?:[ \t]|\Z)")
_GAP = re.compile(r"\t+| {3,}")
_TAG_NAME = re.compile(r"<([A-Za-z][A-Za-z0-9]*)")
_SETS_APART = frozenset(
    {"p", "div", "span", "section", "article", "center", "blockquote", "details", "summary", "font"}
    | {"a", "b", "strong", "i", "em", "u", "br", "small", "mark", "sup", "sub", "kbd", "code"}
)
_LONGEST_LABEL = 6  # words
_FEWEST_LINES = 3  # paragraphs that are labelled lines
_LONGEST_HEADING = 200
_LONGEST_LEAD = 10_000  # characters; every passage stores the lead of its blocks
# The column that names what the rows of a table are about.
KEYS = {BlockKind.ROW: 0, BlockKind.GROUPED: 1, BlockKind.NUMBERED: 2, BlockKind.NAMELESS: None}
ROWS = frozenset({*KEYS, BlockKind.COMPARED})
_KINDS = {key: kind for kind, key in KEYS.items()}
_MARKS = re.compile(r"(#{1,6})(?=[ \t]|$)", re.MULTILINE)
_OVERLINE = re.compile(r"\A={3,}[ \t]*\n")  # above a heading that is also underlined
_SENTENCE_MARK = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_WORD = re.compile(r"\w+")


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a text in order, without overlaps; blank lines are in none.

    The text is Markdown (CommonMark with tables, footnotes, definitions and front matter); plain
    text is Markdown without marks.
    """
    return list(_keyed(text, _paired(text, _Reader(text).blocks())))


def _keyed(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks; the kind of a row says which column names the subjects of its table.

    A passage may have too few rows of a table to tell.
    """
    for lead, run in groupby(blocks, key=lambda b: b.lead if b.kind is BlockKind.ROW else None):
        rows = list(run)
        if lead is not None:
            cells = [list(cells_of(text[row.start : row.end])) for row in rows]
            cells = [row for row in cells if not is_one_cell(row)]
            headers = [words_of(head).text.strip() for head, _, _ in cells_of(lead)]
            compared = are_compared(headers, cells)
            kind = BlockKind.COMPARED if compared else _KINDS[key_column(headers, cells)]
            rows = [row._replace(kind=kind) for row in rows]
        yield from rows


def _paired(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks; several paragraphs in a row that are labelled lines are labelled values."""
    for is_labelled, run in groupby(blocks, key=lambda block: _is_labelled_line(text, block)):
        lines = list(run)
        for line in lines:
            words = text[line.start : line.end]
            found = _labelled(words) if is_labelled and len(lines) >= _FEWEST_LINES else None
            if found:
                start = line.start + words.rfind(found.value)
                line = Block(BlockKind.PAIR, start, line.end, found.label)
            yield line


def _is_labelled_line(text: str, block: Block) -> bool:
    words = text[block.start : block.end]
    return block.kind is BlockKind.PROSE and value_of_line(words) is not None


def value_of_line(line: str) -> str | None:
    """Return the value in "Label: value" or an item of this form; None if it is a sentence."""
    found = None if _ENDS_SENTENCE.search(line) else _labelled(_ITEM_MARK.sub("", line).strip())
    return found.value if found else None


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from mdit_py_plugins.admon import admon_plugin
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    parser = MarkdownIt("commonmark").enable("table")
    for plugin in (admon_plugin, deflist_plugin, footnote_plugin):
        parser.use(plugin)
    # Only block tokens have offsets; the markup inside them is handled by `prose`.
    parser.core.ruler.enableOnly(["block"])
    return parser


class _Reader:
    """Turns the parser's tokens, located by lines, into blocks, located by characters."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self._lines)]
        self._open: list[str] = []
        self._before: list[str] = [""]  # the paragraph before, in each open container
        self._leads: list[str] = []  # of the open lists
        self._term = ""

    def blocks(self) -> Iterator[Block]:
        front = front_matter_end(self._text)
        if front:
            yield Block(BlockKind.METADATA, 0, front)
        # Empty lines replace the front matter, so that the line numbers stay the same.
        tokens = _parser().parse("\n" * self._text.count("\n", 0, front) + self._text[front:])
        header = ""
        for place, token in enumerate(tokens):
            if token.type in ("bullet_list_open", "ordered_list_open"):
                self._leads.append(_lead(self._before[-1]))
            elif token.type in ("bullet_list_close", "ordered_list_close"):
                self._leads.pop()
            if token.nesting == 1:
                self._open.append(token.type.removesuffix("_open"))
                if token.type in ("list_item_open", "blockquote_open", "dd_open"):
                    self._before.append("")
            elif token.nesting == -1:
                self._open.pop()
                if token.type in ("list_item_close", "blockquote_close", "dd_close"):
                    self._before.pop()
            elif token.map is None:
                continue
            elif token.type in ("fence", "code_block"):
                yield from self._code(token)
            elif token.type == "html_block":
                yield self._html(token)
            elif token.type != "inline":
                continue
            elif self._open[-1] in ("th", "td"):
                if tokens[place - 2].type == "tr_open":
                    line = self._whole(BlockKind.ROW, token)
                    if "|" not in self._text[line.start : line.end]:
                        yield line._replace(kind=BlockKind.PROSE)  # below the table
                    elif "thead" in self._open:
                        header = self._text[line.start : line.end]
                        if len(header) > _LONGEST_LEAD:
                            header = header[:_LONGEST_LEAD].rpartition(" | ")[0]
                    else:
                        yield line._replace(lead=header)
            elif self._open == ["heading"] and "\n" not in _heading_of(token):
                yield self._heading(token)
                self._before[-1] = ""
            elif token.content.strip():
                named = self._open[-1] == "admonition_title"  # !!! note "Title"
                if not named or _ENDS_SENTENCE.search(token.content):
                    yield from self._words(token)

    def _whole(self, kind: BlockKind, token: "Token") -> Block:
        """Return a block of all lines of a token, without surrounding white space."""
        assert token.map is not None
        start, end = self._starts[token.map[0]], min(self._starts[token.map[1]], len(self._text))
        words = self._text[start:end]
        return Block(kind, end - len(words.lstrip()), start + len(words.rstrip()))

    def _code(self, token: "Token") -> Iterator[Block]:
        """Yield a block of code; indented lines that read like prose are prose."""
        block = self._whole(BlockKind.CODE, token)
        if token.type == "code_block" and _reads_like_prose(token.content):
            block = block._replace(kind=BlockKind.PROSE)
        yield block

    def _html(self, token: "Token") -> Block:
        """Return a block of HTML; markup that only formats whole sentences is prose."""
        block = self._whole(BlockKind.MARKUP, token)
        tags = {tag.lower() for tag in _TAG_NAME.findall(token.content)}
        words = _TAGS.sub(" ", token.content)
        if tags <= _SETS_APART and "<" not in words and _ENDS_SENTENCE.search(words):
            block = block._replace(kind=BlockKind.PROSE)
        return block

    def _heading(self, inline: "Token") -> Block:
        """Return the block of a heading, marks included; a page number is no heading."""
        line = self._whole(BlockKind.HEADING, inline)
        marks = _MARKS.match(self._text, line.start)
        level = len(marks[1]) if marks else 2
        words = _heading_of(inline)
        if _PAGE.fullmatch(words):
            return line._replace(kind=BlockKind.PAGE)
        if marks is None:  # it is underlined
            assert inline.map is not None
            under = self._lines[inline.map[1]]
            level = 1 if under.lstrip().startswith("=") else 2
            line = line._replace(end=self._starts[inline.map[1]] + len(under.rstrip()))
        return line._replace(lead=line_of_words(words)[:_LONGEST_HEADING], level=level)

    def _words(self, token: "Token") -> Iterator[Block]:
        """Yield the blocks of a paragraph or an item."""
        start, end = self._span(token)
        words = token.content
        if self._open[-1] == "dt":
            self._term = words.strip()
            return
        kind = self._kind(words)
        lead = self._leads[-1] if kind is BlockKind.ITEM and self._leads else ""
        if "dd" in self._open and kind is BlockKind.PROSE:
            kind, lead = BlockKind.PAIR, self._term
        is_read = kind in (BlockKind.PROSE, BlockKind.ITEM)
        pairs = list(self._pairs(token, kind, end)) if is_read else []
        yield from pairs or [Block(kind, start, end, lead if len(lead) <= _LONGEST_LEAD else "")]
        self._before[-1] = words if is_read and not pairs else ""

    def _kind(self, words: str) -> BlockKind:
        without_images = _TAGS.sub("", _IMAGE.sub("", words))
        has_links = "[" in without_images or "http" in without_images
        rest = _LINK.sub("", without_images) if has_links else without_images
        if not _WORD.search(rest):
            if _LINK.search(without_images):
                return BlockKind.NAVIGATION
            return BlockKind.IMAGE if _IMAGE.search(words) else BlockKind.MARKUP
        if _CODE_ALONE.fullmatch(words.strip()):
            return BlockKind.CODE
        lines = [line.strip() for line in rest.strip().split("\n")]
        is_module = _MODULE.fullmatch(lines[0]) and not any(map(_ENDS_SENTENCE.search, lines))
        if is_module or all(map(_SCRIPT.fullmatch, filter(None, lines))):
            return BlockKind.MARKUP
        trail = _TRAIL.fullmatch(lines[0]) and not any(map(_ENDS_SENTENCE.search, lines))
        if trail or all(map(_is_of_contents, lines)):
            return BlockKind.NAVIGATION
        if len(lines) == 1 and _PAGE.fullmatch(lines[0]):
            return BlockKind.PAGE
        if all(_is_tabular(line, len(lines)) for line in lines):
            return BlockKind.MARKUP
        noted = all(line.startswith("^ ") for line in lines)  # as encyclopedias print them
        if "footnote_reference" in self._open or noted:
            return BlockKind.FOOTNOTE
        if "blockquote" in self._open:
            return BlockKind.QUOTATION
        return BlockKind.ITEM if "list_item" in self._open else BlockKind.PROSE

    def _pairs(self, token: "Token", kind: BlockKind, end: int) -> Iterator[Block]:
        """Yield the labelled values of a paragraph or item: one per line if all lines have labels.

        If only the first line has one, the rest of the text up to `end` is its value. A single
        value must be in an item or have a bold label: "Note: this is a sentence." is prose.
        """
        assert token.map is not None
        lines = [line.strip() for line in token.content.split("\n")]
        first, *rest = labelled = [_labelled(line) for line in lines]
        if first is None:
            return
        if not rest or not all(rest):
            if any(rest) or (kind is not BlockKind.ITEM and not first.is_bold):
                return  # "Note: this is a sentence."
            labelled = [first]
        for number, found in enumerate(filter(None, labelled)):
            line = token.map[0] + number
            start = self._starts[line] + self._lines[line].rfind(found.value)
            stop = end if len(labelled) == 1 else start + len(found.value)
            yield Block(BlockKind.PAIR, start, stop, found.label)

    def _span(self, token: "Token") -> tuple[int, int]:
        """Return the span of a token's words."""
        assert token.map is not None
        lines = token.content.split("\n")
        first, last = token.map[0], token.map[0] + len(lines) - 1
        last = min(last, len(self._lines) - 1)
        start = self._lines[first].find(lines[0].strip())
        end = self._lines[last].rfind(lines[-1].strip()) + len(lines[-1].strip())
        return self._starts[first] + max(start, 0), self._starts[last] + end


def _heading_of(inline: "Token") -> str:
    """Return the lines of a heading, without a line of marks above them."""
    return _OVERLINE.sub("", inline.content).strip()


class _Labelled(NamedTuple):
    label: str
    value: str
    is_bold: bool


def _labelled(line: str) -> _Labelled | None:
    """Return the label and value of a line, None if it does not have both."""
    match = _LABELLED.fullmatch(line)
    if match is None:
        return None
    bold = match["mark"] is not None
    label, value = (match["label"], match["value"]) if bold else match.group("plain", "plainvalue")
    if len(label.split()) > _LONGEST_LABEL or label.lower().startswith(("http", "mailto")):
        return None
    return _Labelled(label.strip(), value, bold)


def _is_of_contents(line: str) -> bool:
    """Tell whether a line is an entry of a table of contents: "Prices ..... 7"."""
    return any(leader in line for leader in _LEADERS) and bool(_CONTENTS.search(line))


def _is_tabular(line: str, of: int) -> bool:
    """Tell whether one of `of` lines is a table row that Markdown parsers do not recognise."""
    if _RULED.fullmatch(line) or line[:1] == line[-1:] == "|":
        return True
    if of > 1 and _BAR.search(line):
        return True
    return (
        ("   " in line or "\t" in line)
        and len(_GAP.split(line)) > 2
        and not _ENDS_SENTENCE.search(line)
    )


def stored_blocks(passage: dict[str, Any]) -> list[Block]:
    """Return the blocks of a passage's row; a row without any gets those of its text."""
    if passage.get("blocks") is None:
        return blocks_of(passage["text"])
    blocks, lead = [], ""
    for block in passage["blocks"]:
        lead = lead if block["lead"] is None else block["lead"]
        blocks.append(Block(BlockKind(block["kind"]), block["start"], block["end"], lead))
    return blocks


def _lead(paragraph: str) -> str:
    """Return the last sentence of a paragraph if it introduces a list, else an empty string.

    It does so if it is a question, or does not end like a sentence. A single word, "You:", comes
    with the sentence before it.
    """
    sentences = _SENTENCE_MARK.split(paragraph.strip())
    last = " ".join(sentences[-1 if " " in sentences[-1] else -2 :]).strip()
    asks = last.endswith(("?", "？"))
    return last if last and (asks or not _ENDS_SENTENCE.search(last)) else ""


def _reads_like_prose(text: str) -> bool:
    """Tell whether indented lines are words and sentences rather than code."""
    words = text.split()
    plain = sum(word.strip(",.;:!?()\"'“”’").isalpha() for word in words)
    return bool(_ENDS_SENTENCE.search(text)) and len(words) >= 8 and plain > 0.85 * len(words)


class Blocks:
    """The blocks of a text, for look-ups by position."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.all = blocks_of(text)
        self._starts = [block.start for block in self.all]

    def between(self, start: int, end: int) -> list[Block]:
        """Return the blocks within a span, clipped to it, with positions relative to its start.

        Of a row that is cut, the whole cells at its start remain a row; the rest is markup.
        """
        first = max(bisect_right(self._starts, start) - 1, 0)
        parts = []
        for block in self.all[first : bisect_left(self._starts, end)]:
            begin, stop = max(block.start, start), min(block.end, end)
            if block.kind in ROWS and begin > block.start:
                block = block._replace(kind=BlockKind.MARKUP, lead="")
            elif block.kind in ROWS and stop < block.end:
                *_, (_, stop, _) = cells_of(self._text[begin:stop], begin)
            if begin < stop:
                parts.append(block._replace(start=begin - start, end=stop - start))
        return parts
