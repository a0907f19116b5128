"""Charts as tables and diagrams (SmartArt) as lists, from the data that Office stores with them.

Charts are those of DrawingML (ECMA-376 part 1, chapter 21.2), in which a series has its categories
and values, and those of Office 2016 (`cx`), in which series share the data of the chart.
"""

from collections.abc import Iterator
from typing import Any

from tasks.ingest.formats.markdown import Cell, one_line, table
from tasks.ingest.formats.number_formats import displayed
from tasks.ingest.formats.xml_elements import local_name

_LABELS = ("cat", "xVal", "strDim")
_NUMBERS = ("val", "yVal", "numDim", "bubbleSize")
_AXES = ("{*}catAx", "{*}dateAx", "{*}valAx", "{*}serAx", "{*}axis")
_NODES = (None, "node", "asst")


def chart_table(chart: Any) -> str:
    """Return a chart as a table with a row for each category and a column for each series.

    Series with categories of their own have their own table.
    """
    axes = [_text(axis.find("{*}title")) for axis in chart.iter(*_AXES)] or [""]
    by_labels: dict[tuple[tuple[int, str], ...], list[tuple[str, dict[int, str]]]] = {}
    for name, labels, numbers in _series(chart):
        labels = labels or {place: str(place + 1) for place in numbers}
        by_labels.setdefault(tuple(labels.items()), []).append((name, numbers))
    tables = []
    for stated, columns in by_labels.items():
        rows = [[axes[0], *(name for name, _ in columns)]]
        rows += [[label, *(c.get(place, "") for _, c in columns)] for place, label in stated]
        tables.append(table([[Cell(words) for words in row] for row in rows], is_headed=True))
    title = _text(chart.find("{*}chart/{*}title"))
    return "\n\n".join(filter(None, (title, *axes[1:], *tables)))


def diagram_list(data: Any) -> str:
    """Return the words of a diagram's data as a list, nested as the diagram is."""
    nodes = {
        point.get("modelId"): one_line(_text(point))
        for point in data.iter("{*}pt")
        if point.get("type") in _NODES
    }
    below: dict[str | None, list[tuple[int, str]]] = {}
    for link in data.iter("{*}cxn"):
        if link.get("type", "parOf") == "parOf" and link.get("destId") in nodes:
            order = link.get("srcOrd", "0")
            place = int(order) if order.isdecimal() else 0
            below.setdefault(link.get("srcId"), []).append((place, link.get("destId")))
    lines: list[str] = []

    def add(node: str, depth: int) -> None:
        words = nodes.pop(node, "")
        if words:
            lines.append(f"{'  ' * depth}- {words}")
        for _, child in sorted(below.pop(node, [])):
            add(child, depth + bool(words))

    for root in [node for node in below if node not in nodes] + list(nodes):
        add(root or "", 0)
    return "\n".join(lines)


def _series(chart: Any) -> Iterator[tuple[str, dict[int, str], dict[int, str]]]:
    """Yield the name, the labels and the numbers of each series, these by their places."""
    names = {
        series.find("{*}dataId").get("val"): _text(series.find("{*}tx"))
        for series in chart.iter("{*}series")
        if series.find("{*}dataId") is not None
    }
    for series in chart.iter("{*}ser", "{*}data"):
        labels: dict[int, str] = {}
        name = names.get(series.get("id"), "") or _text(series.find("{*}tx"))
        numbers = []
        for part in series:
            if local_name(part) in _LABELS:
                labels = labels or _points(part)
            elif local_name(part) in _NUMBERS:
                numbers.append(_points(part))
        for some in numbers:
            yield name, labels, some


def _points(data: Any) -> dict[int, str]:
    """Return the points of a dimension by their places; a label of a group stands before each."""
    points: dict[int, str] = {}
    for level in [*data.iter("{*}lvl")] or [data]:
        code = _code(data, level)
        own = {
            int(point.get("idx")): _shown(one_line("".join(point.itertext())), code)
            for point in level.iter("{*}pt")
            if (point.get("idx") or "").isdecimal()
        }
        if not points:
            points = own
            continue
        above = ""
        for place in sorted(points):
            above = own.get(place, above)
            points[place] = f"{above} {points[place]}".strip()
    return points


def _code(data: Any, level: Any) -> str:
    """Return the number format of a dimension's points; an empty one if they are words."""
    for numbers in data.iter("{*}numCache", "{*}numLit"):
        return numbers.findtext("{*}formatCode") or "General"
    return level.get("formatCode", "General") if local_name(data) == "numDim" else ""


def _shown(words: str, code: str) -> str:
    """Return a point as its format displays it; an empty string for an error such as #N/A."""
    try:
        return displayed(float(words), code) if code else words
    except ValueError:
        return ""


def _text(element: Any) -> str:
    """Return the words of a title or a name: those that are set, else those of a cell."""
    if element is None:
        return ""
    words = " ".join("".join(t.text or "" for t in p.iter("{*}t")) for p in element.iter("{*}p"))
    return words or " ".join(value.text or "" for value in element.iter("{*}v"))
