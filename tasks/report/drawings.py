"""Small drawings as SVG: an entity among its nearest neighbours, and the paths behind an answer.

Both are trees, drawn as outlines: what leads from a node stands below it, one step to the right,
each relation once above its nodes. So no text can meet another or an arrow head, a drawing is as
narrow as a phone's screen, and nothing has to be laid out by trial. Colours are those of the text
around (`currentColor`); style sheets add their own by the classes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width
from xml.etree.ElementTree import Element, SubElement, tostring

from schemas.answers import GraphPath

if TYPE_CHECKING:
    from tasks.report.links import Links
    from tasks.show import EntityPage

WIDTH = 340  # pixels, of the text on a phone's screen
NAME_SIZE, LABEL_SIZE = 14, 12  # pixels
MOST_NEIGHBOURS = 12
STEP = 36  # pixels to the right from a node to those below it
BOX, GAP, LABEL_HEIGHT = 26, 8, 20  # pixels: heights of a node, between nodes and of a label
PADDING = 10  # pixels between a node's name and its border
LEAST_ROOM = 160  # pixels for the deepest nodes
HEAD = 6  # pixels, of an arrow
STANDALONE = (
    ":root{color:#1f2328;background:#fff}"
    "@media(prefers-color-scheme:dark){:root{color:#e6edf3;background:#0d1117}}"
)
# What XML does not allow, and what turns the direction in which text is read.
_HOSTILE = re.compile(
    r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_WIDE, _CAPITAL, _OTHER = 1.0, 0.8, 0.64  # widths of characters over the font's size, at most


@dataclass(frozen=True, slots=True)
class Node:
    """A node with what leads from it; `chosen` ones stand out."""

    name: str
    address: str | None = None
    chosen: bool = False
    branches: "list[Branch]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Branch:
    """Nodes that a relation leads to, or that it comes from if it is `inverse`."""

    relation: str
    inverse: bool
    nodes: list[Node]


def neighbourhood(page: "EntityPage", links: "Links | None" = None) -> str:
    """Return an SVG of an entity's best supported neighbours; empty if it has none."""
    heads = {(f["relation"], False, f["tail_id"]): f["tail"] for f in page.facts if f["tail_id"]}
    tails = {
        (f["relation"], True, f["head_id"]): f["head"]
        for f in page.facts_as_tail
        if f["head_id"] != page.entity_id
    }
    first = MOST_NEIGHBOURS - min(len(tails), MOST_NEIGHBOURS // 2)
    shown = dict(islice(heads.items(), first))
    shown |= dict(islice(tails.items(), MOST_NEIGHBOURS - len(shown)))
    if not shown:
        return ""
    centre = Node(page.name, chosen=True)
    for (relation, inverse, key), name in shown.items():
        _branch(centre, relation, inverse).nodes.append(
            Node(name, links.entity(key) if links else None)
        )
    return tree([centre], f"{page.name} and its nearest neighbours")


def draw_paths(paths: Iterable[GraphPath], answer: str | None = None) -> str:
    """Return an SVG, for a file, of paths that go together as far as they are the same."""
    roots: list[Node] = []
    for path in paths:
        nodes, names = roots, path.nodes
        node = _node(nodes, names[0], answer)
        for relation, inverse, name in zip(path.relations, path.inverse, names[1:], strict=True):
            node = _node(_branch(node, relation, inverse).nodes, name, answer)
    return tree(roots, "The paths behind the answer", STANDALONE)


def _node(nodes: list[Node], name: str, chosen: str | None) -> Node:
    """Return the node of this name, which is added if it is not there."""
    for node in nodes:
        if node.name == name:
            return node
    nodes.append(Node(name, chosen=name == chosen))
    return nodes[-1]


def _branch(node: Node, relation: str, inverse: bool) -> Branch:
    """Return the branch of a node with this relation, which is added if it is not there."""
    for branch in node.branches:
        if (branch.relation, branch.inverse) == (relation, inverse):
            return branch
    node.branches.append(Branch(relation, inverse, []))
    return node.branches[-1]


def tree(roots: Sequence[Node], title: str, style: str = "") -> str:
    """Return an SVG of nodes with everything that leads from them, and with a style sheet."""
    width = max(WIDTH, max(map(_depth, roots), default=0) * STEP + LEAST_ROOM)
    svg = drawing(title, "; ".join(_sentences(roots)), style)
    bottom = GAP
    for root in roots:
        bottom = _draw(svg, root, 1, bottom, width)
    return finished(svg, width, bottom)


def _depth(node: Node) -> int:
    return 1 + max((_depth(n) for branch in node.branches for n in branch.nodes), default=0)


def _sentences(nodes: Iterable[Node]) -> Iterator[str]:
    """Yield what is drawn in words, for those who do not see it."""
    for node in nodes:
        for branch in node.branches:
            for other in branch.nodes:
                ends = (other, node) if branch.inverse else (node, other)
                yield f"{ends[0].name} — {branch.relation} → {ends[1].name}"
            yield from _sentences(branch.nodes)


def _draw(svg: Element, node: Node, left: int, top: int, width: int) -> int:
    """Draw a node whose corner is at (left, top), and what leads from it; return the bottom."""
    _draw_box(svg, node, left, top, width)
    stem = left + STEP // 2  # where the line runs that leads down from it
    bottom, last = top + BOX + GAP, top + BOX
    for branch in node.branches:
        room = width - stem - 2 * GAP
        label = SubElement(svg, "text", at(stem + GAP, bottom + LABEL_SIZE), opacity="0.85")
        label.set("font-size", str(LABEL_SIZE))
        label.set("class", "relation")
        say(label, branch.relation, LABEL_SIZE, room)
        bottom += LABEL_HEIGHT
        for other in branch.nodes:
            last = bottom + BOX // 2
            _draw_arrow(svg, stem, left + STEP, last, branch.inverse)
            bottom = _draw(svg, other, left + STEP, bottom, width)
    if node.branches:
        line(svg, (stem, top + BOX), (stem, last))
    return bottom


def _draw_box(svg: Element, node: Node, left: int, top: int, width: int) -> None:
    """Draw the name of a node in its border, as a link if it has an address."""
    group = SubElement(svg, "a" if node.address else "g")
    group.set("class", "node chosen" if node.chosen else "node")
    if node.address:
        group.set("href", node.address)
    room = width - left - 2 * PADDING - 1
    name = fitted(node.name, NAME_SIZE, room)
    size = text_width(name, NAME_SIZE) + 2 * PADDING
    rect = {"x": left, "y": top, "width": round(size), "height": BOX, "rx": BOX // 2}
    border = SubElement(group, "rect", {key: str(value) for key, value in rect.items()})
    border.attrib |= {"fill": "none", "stroke": "currentColor"}
    border.set("stroke-width", "2" if node.chosen else "1")
    text = SubElement(group, "text", at(left + round(size / 2), top + BOX // 2 + 5))
    text.attrib |= {"text-anchor": "middle", "font-size": str(NAME_SIZE)}
    if node.chosen:
        text.set("font-weight", "600")
    say(text, node.name, NAME_SIZE, room)


def _draw_arrow(svg: Element, start: int, end: int, height: int, inverse: bool) -> None:
    """Draw a line from a stem to a node, with a head at one end."""
    line(svg, (start, height), (end, height))
    tip, back = (start, start + HEAD) if inverse else (end, end - HEAD)
    corners = f"{tip},{height} {back},{height - HEAD // 2} {back},{height + HEAD // 2}"
    SubElement(svg, "polygon", {"class": "head", "points": corners, "fill": "currentColor"})


def drawing(title: str, description: str, style: str = "") -> Element:
    """Return an empty SVG with words for those who do not see it."""
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "class": "drawing"})
    svg.attrib |= {"role": "group", "font-family": "system-ui, sans-serif", "fill": "currentColor"}
    SubElement(svg, "title").text = clean(title)
    SubElement(svg, "desc").text = clean(description)
    if style:
        SubElement(svg, "style").text = style
    return svg


def finished(svg: Element, width: int, height: int) -> str:
    """Return an SVG of this size as text."""
    svg.attrib |= {"width": str(width), "height": str(height), "viewBox": f"0 0 {width} {height}"}
    return tostring(svg, encoding="unicode")


def line(svg: Element, start: tuple[float, float], end: tuple[float, float]) -> Element:
    """Draw a line; return it."""
    places = dict(zip(("x1", "y1", "x2", "y2"), (*start, *end), strict=True))
    drawn = SubElement(svg, "line", {name: f"{value:g}" for name, value in places.items()})
    drawn.attrib |= {"stroke": "currentColor", "stroke-opacity": "0.6"}
    return drawn


def at(x: float, y: float) -> dict[str, str]:
    """Return the attributes of a place."""
    return {"x": f"{x:g}", "y": f"{y:g}"}


def say(text: Element, words: str, size: int, room: float) -> None:
    """Write words into an element, shortened to this room; then all are shown on pointing at it."""
    text.text = fitted(words, size, room)
    if text.text != clean(words):
        SubElement(text, "title").text = clean(words)


def fitted(words: str, size: int, room: float) -> str:
    """Return words on one line, shortened to `room` pixels at a size of the font."""
    words = clean(words)
    if text_width(words, size) <= room:
        return words
    room -= text_width("…", size)
    width = 0.0
    for place, character in enumerate(words):
        width += text_width(character, size)
        if width > room:
            return words[:place].rstrip() + "…"
    return words


def text_width(words: str, size: int) -> float:
    """Return how many pixels words take at most at a size of the font, whichever font it is."""
    return size * sum(map(_character_width, words))


def _character_width(character: str) -> float:
    if combining(character):
        return 0.0
    if east_asian_width(character) in "WF" or character in "mwMW@%…—→":
        return _WIDE
    return _CAPITAL if character.isupper() else _OTHER


def clean(words: str) -> str:
    """Return words on one line, without characters that do harm."""
    return " ".join(_HOSTILE.sub(" ", words).split())
