"""PowerPoint presentations (pptx, templates and shows, with macros or without) as Markdown."""

from collections.abc import Iterator
from functools import cache
from typing import Any, BinaryIO

from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.office import join_blocks, opening_heading
from tasks.ingest.formats.open_xml import OpenXml, children
from tasks.ingest.formats.open_xml_text import WHITE, TextReader, colour_in
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.slide_ground import Box, Ground
from tasks.ingest.formats.xml_elements import OFF, local_name, number

_FILLS = ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
_FURNITURE = ("dt", "ftr", "sldNum")  # the date, the footer and the number of each slide
_PLAIN = "1001"  # the number of the background that is one colour


def parse_slides(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the slides' titles, texts, tables, charts, diagrams and speaker's notes, in order."""
    package = OpenXml(file, limits, "presentation", "a PowerPoint presentation (pptx)")
    show = package.part(package.main)
    size = next((_size(size, "cx", "cy") for size in show.iterchildren("{*}sldSz")), None)
    behind = cache(lambda layout: _Behind(package, layout))
    blocks: list[str] = []
    for listed in show.iterfind("{*}sldIdLst/{*}sldId"):
        path = package.named_by(listed, package.main, "slide")
        slide = package.part(path)
        if slide.get("show", "1") not in OFF:
            reader, ground = TextReader(package, path, {}), Ground("", size)
            if any(run.find("{*}solidFill") is not None for run in slide.iter("{*}rPr")):
                master = behind(package.related(path, "slideLayout"))
                reader.colours, ground = master.colours, master.ground_of(slide, size)
            for shapes in slide.iterfind("{*}cSld/{*}spTree"):
                blocks += _shapes(reader, shapes, ground)
            blocks += _notes(package, package.related(path, "notesSlide"))
        yield None
    text = join_blocks(blocks)
    title, metadata = package.properties()
    yield ParsedText(title=title or opening_heading(text), text=text, metadata=metadata)


class _Behind:
    """A layout with its master: their backgrounds, their shapes, and the colours of the theme."""

    def __init__(self, package: OpenXml, layout: str) -> None:
        path = package.related(layout, "slideMaster")
        master = package.part(path)
        self._parts = [package.part(layout), master]
        theme = package.part(package.related(path, "theme"))
        stated = theme.iterfind("{*}themeElements/{*}clrScheme/*")
        self.colours = {local_name(element): colour_in(element, {}) for element in stated}
        for names in master.iterfind("{*}clrMap"):
            own = {name: self.colours.get(of, "") for name, of in names.attrib.items()}
            self.colours |= own

    def ground_of(self, slide: Any, size: Box | None) -> Ground:
        """Return the ground of a slide; without a background it is white."""
        parts = [slide, *self._parts]
        stated = (ground for part in parts for ground in part.iterfind("{*}cSld/{*}bg/*"))
        colour = next((self._colour_of(ground) for ground in stated), WHITE)
        shapes = (s for part in parts for s in part.iterfind("{*}cSld/{*}spTree/*"))
        return Ground(colour, size, [_box(s) for s in shapes if self._is_painted(s, colour)])

    def _colour_of(self, ground: Any) -> str:
        if local_name(ground) == "bgRef":
            return colour_in(ground, self.colours) if ground.get("idx") == _PLAIN else ""
        return next((colour_in(fill, self.colours) for fill in ground), "")

    def _is_painted(self, shape: Any, ground: str) -> bool:
        """Tell whether a shape, or one of a group, may have another colour than the ground."""
        if local_name(shape) == "graphicFrame" or next(shape.iter("{*}pic"), None) is not None:
            return True
        for part in shape.iter("{*}sp"):
            names = ("noFill", *_FILLS)
            fill = next((f for f in part.iterfind("{*}spPr/*") if local_name(f) in names), None)
            if fill is None:
                fill = part.find("{*}style/{*}fillRef")
            is_filled = fill is not None and local_name(fill) != "noFill" and fill.get("idx") != "0"
            if is_filled and colour_in(fill, self.colours) != ground:
                return True
        return False


def _shapes(reader: TextReader, shapes: Any, ground: Ground) -> Iterator[str]:
    """Yield the text of the shapes that lie on the slide, but for words in its own colour."""
    for name, shape in children(shapes):
        box, kind = _box(shape), _kind(shape)
        if kind in _FURNITURE or ground.lies_beside(box):
            continue
        if name == "grpSp":  # the places within are the group's own
            yield from _shapes(reader, shape, Ground(ground.colour_behind(box)))
            continue
        reader.box_ground = ground.colour_behind(box)
        if kind in ("title", "ctrTitle"):
            title = one_line(" ".join(reader.draw(shape)))
            yield f"## {title}" if title else ""
        else:
            yield from reader.draw(shape)


def _notes(package: OpenXml, path: str) -> Iterator[str]:
    """Yield the notes of a slide's speaker, under a heading if there are any."""
    reader, heading = TextReader(package, path, {}), "### Notes"
    for shape in package.part(path).iterfind("{*}cSld/{*}spTree/{*}sp"):
        for words in filter(None, reader.draw(shape) if _kind(shape) == "body" else ()):
            yield from filter(None, (heading, words))
            heading = ""


def _kind(shape: Any) -> str:
    holder = shape.find("*/{*}nvPr/{*}ph")
    return "" if holder is None else holder.get("type", "")


def _box(shape: Any) -> Box | None:
    """Return where a shape lies, if it says so."""
    place = next(shape.iterfind("./{*}xfrm"), None)
    if place is None:
        place = shape.find("*/{*}xfrm")
    if place is None:
        return None
    for at in place.iterchildren("{*}off"):
        for extent in place.iterchildren("{*}ext"):
            left, top = number(at.get("x", "")), number(at.get("y", ""))
            size = _size(extent, "cx", "cy")
            return Box(left, top, left + size.right, top + size.bottom)
    return None


def _size(element: Any, across: str, down: str) -> Box:
    return Box(0, 0, number(element.get(across, "")), number(element.get(down, "")))
