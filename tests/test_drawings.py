"""Drawings: what stands in them, that nothing overlaps, and that no name does harm."""

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.__main__ import main
from schemas.answers import GraphPath
from tasks.report.charts import bars, curves
from tasks.report.drawings import LABEL_SIZE, Branch, Node, draw_paths, text_width, tree

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ("$x_1", "<script>alert(1)</script>&\n", "\x00\x1b[2J", "\u202edlog", "木卫二", "")
# Bounds of a text around its place, in sizes of its font.
ABOVE, BELOW = 0.85, 0.25

Box = tuple[float, float, float, float]


def texts(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{SVG}text"))


def box_of(text: ElementTree.Element) -> Box:
    """Return the bounds (left, top, right, bottom) of a text."""
    size = int(text.get("font-size", LABEL_SIZE))
    x, y, width = (
        float(text.attrib["x"]),
        float(text.attrib["y"]),
        text_width(text.text or "", size),
    )
    left = x - width * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor", "start")]
    return left, y - ABOVE * size, left + width, y + BELOW * size


def head_of(polygon: ElementTree.Element) -> Box:
    """Return the bounds of the head of an arrow."""
    corners = [tuple(map(float, corner.split(","))) for corner in polygon.attrib["points"].split()]
    (left, *_, right), (top, *_, bottom) = (sorted(axis) for axis in zip(*corners, strict=True))
    return left, top, right, bottom


def meet(one: Box, other: Box) -> bool:
    return (one[0] < other[2] and other[0] < one[2]) and (one[1] < other[3] and other[1] < one[3])


names = st.text(max_size=40) | st.sampled_from(HOSTILE)
leaves = st.builds(Node, names, st.sampled_from([None, "0.html#1"]), st.booleans())
trees = st.recursive(
    leaves,
    lambda below: st.builds(
        lambda node, branches: Node(node.name, node.address, node.chosen, branches),
        leaves,
        st.lists(st.builds(Branch, names, st.booleans(), st.lists(below, max_size=3)), max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=25, deadline=None)
@given(st.lists(trees, max_size=3))
def test_nothing_in_a_tree_overlaps_or_leaves_it(roots: list[Node]) -> None:
    svg = tree(roots, "A tree")
    drawn = ElementTree.fromstring(svg)
    said = [box_of(text) for text in texts(svg)]
    heads = [head_of(polygon) for polygon in drawn.iter(f"{SVG}polygon")]
    assert not [pair for pair in combinations(said + heads, 2) if meet(*pair)]
    assert all(box[0] >= 0 and box[2] <= float(drawn.attrib["width"]) for box in said)
    assert all(box[3] <= float(drawn.attrib["height"]) for box in said)


@settings(max_examples=20, deadline=None)
@given(
    st.dictionaries(
        names, st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), min_size=1)
    )
)
def test_nothing_in_curves_overlaps(lines: dict[str, list[tuple[float, float]]]) -> None:
    said = [box_of(text) for text in texts(curves("Curves", lines, "rate", "accuracy"))]
    assert not [pair for pair in combinations(said, 2) if meet(*pair)]


@given(st.lists(st.tuples(names, st.floats(0, 1), st.just("31 %")), max_size=5))
@settings(max_examples=20, deadline=None)
def test_nothing_in_bars_overlaps(values: list[tuple[str, float, str]]) -> None:
    said = [box_of(text) for text in texts(bars("Yields", values))]
    assert not [pair for pair in combinations(said, 2) if meet(*pair)]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str) -> None:
    svg = draw_paths([GraphPath(nodes=[name, name], relations=[name], inverse=[False])], name)
    drawn = ElementTree.fromstring(svg)
    assert not list(drawn.iter(f"{SVG}script"))
    assert not set("\x00\x1b\u202e") & set("".join(drawn.itertext()))


def test_paths_go_together_as_far_as_they_are_the_same() -> None:
    paths = [
        GraphPath(
            nodes=["Io", "Jupiter", "Galileo"], relations=["orbits", "found"], inverse=[False, True]
        ),
        GraphPath(
            nodes=["Io", "Jupiter", "Europa"], relations=["orbits", "orbits"], inverse=[False, True]
        ),
    ]
    svg = draw_paths(paths, "Galileo")
    assert [text.text for text in texts(svg)] == [
        "Io", "orbits", "Jupiter", "found", "Galileo", "orbits", "Europa",
    ]  # fmt: skip
    said = ElementTree.fromstring(svg).findtext(f"{SVG}desc")
    assert said == "Io — orbits → Jupiter; Galileo — found → Jupiter; Europa — orbits → Jupiter"


def test_words_are_large_enough_to_read() -> None:
    svg = tree([Node("Io", branches=[Branch("orbits", False, [Node("Jupiter")])])], "Io")
    assert all(int(text.attrib["font-size"]) >= 12 for text in texts(svg))


def test_show_writes_an_entity_as_a_page_of_its_own(small_home: Path, tmp_path: Path) -> None:
    page = tmp_path / "london.html"
    assert main(["show", "London", "--html", str(page), "--home", str(small_home)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<h1>London</h1>" in text and "<svg" in text
