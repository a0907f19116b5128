"""Word documents (docx and its templates, with macros or without) as Markdown."""

import io
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, BinaryIO, Self

from tasks.ingest.formats.formats import SUFFIXES, Kind
from tasks.ingest.formats.mail import parse_mail
from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.office import HEADS, comment_by, join_blocks, opening_heading
from tasks.ingest.formats.open_xml import OpenXml, within
from tasks.ingest.formats.open_xml_text import WHITE, TextReader
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.raised import Run, joined
from tasks.ingest.formats.webpage import decode_page, read_chapter
from tasks.ingest.formats.xml_elements import (
    Settings,
    attribute,
    local_name,
    number,
    settings_of,
    with_bases,
)

_FORMAT = ("document", "a Word document (docx)")
_BULLET = re.compile(r"(?m)^[•●▪■◦‣⁃·\uf0b7\uf0a7\uf0d8\uf076\uf0fc][ \t]*(?=\S)")
_HEADING = re.compile(r"heading ([1-9])")
_PLACE = re.compile(r"%([1-9])")  # of the number of a level in what its paragraphs show
_NUMERALS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "lowerLetter": lambda n: chr(96 + n) if 0 < n <= 26 else "",
    "upperLetter": lambda n: chr(64 + n) if 0 < n <= 26 else "",
}
_CONTENTS = ("toc ", "table of figures")
_BODY_LEVEL = 9
_LONGEST_HEADING = 200  # of those that only a level marks
_DEEPEST_LIST = 8


def parse_word(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the document's paragraphs, headings, lists and tables, and what stands around them."""
    package = OpenXml(file, limits, *_FORMAT)
    blocks: list[str] = []
    for block in _WordReader.of(package).whole():
        blocks.append(block)
        yield None
    text = join_blocks(blocks)
    title, metadata = package.properties()
    yield ParsedText(title=title or opening_heading(text), text=text, metadata=metadata)


def _styles(package: OpenXml) -> dict[str | None, Settings]:
    """Return the settings of each style; that of paragraphs without a style has an empty name."""
    own: dict[str, Settings] = {}
    default = ""
    for style in package.part(package.related(package.main, "styles")).iterchildren("{*}style"):
        identifier = attribute(style, "styleId")
        stated = settings_of(style, "pPr") | settings_of(style, "rPr")
        for name, element in (("name", "name"), ("base", "basedOn")):
            for part in style.iterchildren(f"{{*}}{element}"):
                stated[name] = attribute(part, "val")
        own[identifier] = stated
        if attribute(style, "type") == "paragraph" and attribute(style, "default") in ("1", "true"):
            default = identifier
    styles = with_bases(own)
    return styles | {"": styles.get(default, {})}


class _WordReader(TextReader):
    """Reads a part of a Word document."""

    least_size = 4  # half points

    @cached_property
    def numbers(self) -> "_Numbers":
        """The numbers of the part's paragraphs."""
        return _Numbers(self.package.part(self.package.related(self.package.main, "numbering")))

    @classmethod
    def of(cls, package: OpenXml) -> Self:
        """Return what reads the main part of a package."""
        return cls(package, package.main, _styles(package))

    def whole(self) -> Iterator[str]:
        """Yield the blocks of the document, its headers and footers, its notes and comments."""
        root = self.package.part(self.path)
        self.ground = WHITE if root.find("{*}background") is None else ""
        for body in root.iterchildren("{*}body"):
            yield from self.blocks(body)
        yield from dict.fromkeys(self.margins())
        yield from self.notes()
        yield from self.comments()

    def block(self, settings: Settings, runs: list[Run]) -> str:
        """Return a paragraph as Markdown: a heading, an item of a list, a quotation, or plain."""
        text, style = joined(runs).strip(), settings.get("name", "").lower()
        label = self.numbers.next(settings)
        if not text or style.startswith(_CONTENTS):
            return ""
        if level := _heading_level(settings, style, text):
            return f"{'#' * level} {one_line(f'{label} {text}')}"
        if "quote" in style:
            return "> " + text.replace("\n", "\n> ")
        if style.startswith("list") or number(settings.get("numId", "")):
            of_style = number(style[-1:]) - 1 if style.startswith("list") else 0
            depth = number(settings.get("ilvl", "")) or max(of_style, 0)
            return "  " * min(depth, _DEEPEST_LIST) + " ".join(filter(None, ("-", label, text)))
        is_bold = all(run.is_bold for run in runs if run.words.strip())
        heads = is_bold and style != "caption" and HEADS.fullmatch(text)
        return f"### {text}" if heads else _BULLET.sub("- ", text)

    def inserted(self, element: Any) -> Iterator[str]:
        """Yield the words of a page, alone or archived, or of another document."""
        path = self.package.named_by(element, self.path, "aFChunk")
        kind, limits = SUFFIXES.get(path.rpartition(".")[2].lower()), self.package.limits
        data = self.package.taken(path)
        if kind is Kind.WEB:
            yield read_chapter(decode_page(data, limits.charset))
        elif kind is Kind.MAIL:
            yield from (parsed.text for parsed in parse_mail(io.BytesIO(data), limits) if parsed)
        elif kind is Kind.WORD and data:
            yield from _InnerReader.of(OpenXml(io.BytesIO(data), limits, *_FORMAT)).whole()

    def margins(self) -> Iterator[str]:
        """Yield the headers and footers of the sections that some pages show."""
        for section in self.package.part(self.path).iter("{*}sectPr"):
            shown = ["default", *(["first"] if section.find("{*}titlePg") is not None else [])]
            for kind in ("header", "footer"):
                for stated in section.iterchildren(f"{{*}}{kind}Reference"):
                    path = self.package.named_by(stated, self.path, kind)
                    reader = type(self)(self.package, path, self.styles)
                    if attribute(stated, "type") in shown:
                        yield from reader.blocks(self.package.part(path))

    def comments(self) -> Iterator[str]:
        """Yield the comments, each below the name of who wrote it."""
        reader = type(self)(self.package, self.package.related(self.path, "comments"), self.styles)
        for comment in within(self.package.part(reader.path), "comment"):
            blocks = list(filter(None, reader.blocks(comment)))
            if blocks:
                yield from (comment_by(attribute(comment, "author")), *blocks)

    def notes(self) -> Iterator[str]:
        """Yield the notes, without the separators that Word stores among them."""
        for kind, mark in (("footnotes", ""), ("endnotes", "e")):
            reader = type(self)(self.package, self.package.related(self.path, kind), self.styles)
            for note in within(self.package.part(reader.path), "footnote", "endnote"):
                words = one_line(reader.words(note))
                if words and attribute(note, "type") in ("", "normal"):
                    yield f"[^{mark}{attribute(note, 'id')}]: {words}"


class _Numbers:
    """The numbers of paragraphs in numbered lists, counted as Word counts them."""

    def __init__(self, root: Any) -> None:
        """Start with the lists that a part states, each in levels."""
        stated = {attribute(of, "abstractNumId"): of for of in root.iterchildren("{*}abstractNum")}
        self._lists: dict[str, tuple[str, dict[int, Settings]]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        for own in root.iterchildren("{*}num"):
            name = attribute(own, "numId")
            of = next((attribute(e, "val") for e in own.iterchildren("{*}abstractNumId")), "")
            levels = {
                number(attribute(level, "ilvl")): {
                    local_name(e): attribute(e, "val") for e in level
                }
                for level in (stated[of].iterchildren("{*}lvl") if of in stated else ())
            }
            for start in own.iterfind("{*}lvlOverride/{*}startOverride"):
                level = number(attribute(start.getparent(), "ilvl"))
                levels[level] = levels.get(level, {}) | {"start": attribute(start, "val")}
                of = f"{of} {name}"  # it counts for itself
            self._lists[name] = of, levels

    def next(self, settings: Settings) -> str:
        """Count a paragraph; return its number, empty if it has none or no digits or letters."""
        of, levels = self._lists.get(settings.get("numId", ""), ("", {}))
        depth = number(settings.get("ilvl", ""))
        counts = self._counts.setdefault(of, {})
        for level in [level for level in counts if level > depth]:
            del counts[level]
        for level, own in sorted(levels.items()):
            if level <= depth:
                counts.setdefault(level, number(own.get("start", "1")) - (level == depth))
        counts[depth] = counts.get(depth, 0) + 1
        pattern = levels.get(depth, {}).get("lvlText", "")
        places = [int(place) - 1 for place in _PLACE.findall(pattern)]
        kinds = {levels.get(place, {}).get("numFmt", "") for place in places}
        if not places or not kinds <= _NUMERALS.keys():
            return ""

        def shown(mark: re.Match[str]) -> str:
            place = int(mark[1]) - 1
            return _NUMERALS[levels[place]["numFmt"]](counts.get(place, 0))

        words = _PLACE.sub(shown, pattern).strip(" ().:")
        return f"({words})" if words.isalpha() else f"{words}." if words else ""


class _InnerReader(_WordReader):
    """Reads a document within another; what is inserted into that could be a bomb."""

    inserted = TextReader.inserted


def _heading_level(settings: Settings, style: str, text: str) -> int:
    """Return the level of a heading, 0 for any other paragraph."""
    if named := _HEADING.match(style):
        return min(int(named[1]), 6)
    if style == "title":
        return 1
    level = number(settings.get("outlineLvl", f"{_BODY_LEVEL}"))
    return min(level + 1, 6) if level < _BODY_LEVEL and len(text) <= _LONGEST_HEADING else 0
