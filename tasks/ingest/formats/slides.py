"""PowerPoint presentations (pptx, templates and shows, with macros or without) as Markdown."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.office import join_blocks, opening_heading
from tasks.ingest.formats.open_xml import OpenXml, children
from tasks.ingest.formats.open_xml_text import TextReader
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.xml_elements import OFF, number


def parse_slides(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the slides' titles, texts, tables, charts and diagrams, in order."""
    package = OpenXml(file, limits, "presentation", "a PowerPoint presentation (pptx)")
    show = package.part(package.main)
    size = next(show.iterchildren("{*}sldSz"), None)
    blocks: list[str] = []
    for listed in show.iterfind("{*}sldIdLst/{*}sldId"):
        path = package.named_by(listed, package.main, "slide")
        slide = package.part(path)
        if slide.get("show", "1") not in OFF:
            reader = TextReader(package, path, {})
            for shapes in slide.iterfind("{*}cSld/{*}spTree"):
                blocks += _shapes(reader, shapes, size)
        yield None
    text = join_blocks(blocks)
    title, metadata = package.properties()
    yield ParsedText(title=title or opening_heading(text), text=text, metadata=metadata)


def _shapes(reader: TextReader, shapes: Any, size: Any) -> Iterator[str]:
    """Yield the text of the shapes that lie on the slide."""
    for name, shape in children(shapes):
        if _is_off(shape, size):
            continue
        if name == "grpSp":
            yield from _shapes(reader, shape, None)
        elif _kind(shape) in ("title", "ctrTitle"):
            title = one_line(" ".join(reader.draw(shape)))
            yield f"## {title}" if title else ""
        else:
            yield from reader.draw(shape)


def _kind(shape: Any) -> str:
    holder = shape.find("*/{*}nvPr/{*}ph")
    return "" if holder is None else holder.get("type", "")


def _is_off(shape: Any, size: Any) -> bool:
    """Tell whether a shape lies wholly beside the slide; one without a place lies on it."""
    place = next(shape.iterfind("./{*}xfrm"), None)
    if place is None:
        place = shape.find("*/{*}xfrm")
    if place is None or size is None:
        return False
    return any(
        (start := number(at.get(axis, ""))) + number(extent.get(length, "")) <= 0
        or start >= number(size.get(length, ""))
        for at in place.iterchildren("{*}off")
        for extent in place.iterchildren("{*}ext")
        for axis, length in (("x", "cx"), ("y", "cy"))
    )
