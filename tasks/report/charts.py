"""Charts as SVG: bars, and curves of several lines, which differ in more than their colour."""

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from tasks.report.drawings import LABEL_SIZE, WIDTH, at, drawing, finished, line, say
from tasks.report.drawings import text_width as width_of

ROW, BAR = 40, 10  # pixels: heights of a bar with its label, and of the bar
LEFT, RIGHT, TOP, HEIGHT = 46, 12, 10, 180  # pixels: the frame of curves
TICKS = 4  # spaces between the lines of a frame
KEY_ROW = 20  # pixels, of a line of the key
DASHES = ("", "6 3", "2 3", "9 3 2 3", "12 4", "1 4")


def bars(title: str, values: Sequence[tuple[str, float, str]], most: float = 1.0) -> str:
    """Return a chart of values from 0 to `most`, each with its label and how it is written."""
    values_in_words = "; ".join(f"{label}: {written}" for label, _, written in values)
    svg = _picture(title, values_in_words)
    for place, (label, value, written) in enumerate(values):
        top = place * ROW + 4
        end = width_of(written, LABEL_SIZE)
        _words(svg, label, (0, top + LABEL_SIZE), WIDTH - end - 10)
        _words(svg, written, (WIDTH, top + LABEL_SIZE), WIDTH, "end")
        share = min(max(value / most, 0.0), 1.0) if most else 0.0
        for extent, opacity in ((WIDTH, "0.15"), (round(WIDTH * share), "0.8")):
            bar = {"y": str(top + LABEL_SIZE + 6), "width": str(extent), "height": str(BAR)}
            SubElement(svg, "rect", bar | {"rx": "3", "opacity": opacity, "class": "bar"})
    return finished(svg, WIDTH, len(values) * ROW + 4)


def curves(
    title: str, lines: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str
) -> str:
    """Return a chart of lines through points (x, y), with what both axes mean and a key."""
    points = [point for curve in lines.values() for point in curve]
    (left, right), (low, high) = (_range([p[axis] for p in points]) for axis in (0, 1))
    svg = _picture(title, f"{up} over {across}: {'; '.join(lines)}")
    _words(svg, up, (0, TOP + LABEL_SIZE), WIDTH)
    top = TOP + LABEL_SIZE + 12
    _draw_frame(svg, top, (left, right), (low, high))
    _words(svg, across, (WIDTH - RIGHT, top + HEIGHT + 2 * KEY_ROW), WIDTH - LEFT, "end")
    bottom = top + HEIGHT + 2 * KEY_ROW + 8
    for place, (name, curve) in enumerate(lines.items()):
        spots = [
            (
                LEFT + (x - left) / (right - left) * (WIDTH - LEFT - RIGHT),
                top + HEIGHT - (y - low) / (high - low) * HEIGHT,
            )
            for x, y in curve
        ]
        _draw_line(svg, spots, place)
        _draw_line(svg, [(0, bottom + 9), (34, bottom + 9)], place)
        _words(svg, name, (LEFT, bottom + LABEL_SIZE + 1), WIDTH - LEFT)
        bottom += KEY_ROW
    return finished(svg, WIDTH, bottom + 4)


def _picture(title: str, description: str) -> Element:
    """Return an empty chart, which holds no links."""
    svg = drawing(title, description)
    svg.attrib |= {"role": "img", "class": "drawing chart", "font-size": str(LABEL_SIZE)}
    return svg


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis: 0 and 1 for shares, else those of the values."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _draw_frame(
    svg: Element, top: int, across: tuple[float, float], up: tuple[float, float]
) -> None:
    """Draw lines across with their values, and values below."""
    for tick in range(TICKS + 1):
        share = tick / TICKS
        height = top + HEIGHT - share * HEIGHT
        line(svg, (LEFT, height), (WIDTH - RIGHT, height)).set("stroke-opacity", "0.2")
        _words(svg, _figure(up, share), (LEFT - 6, height + 4), LEFT - 6, "end")
        if tick % 2 == 0:
            place = LEFT + share * (WIDTH - LEFT - RIGHT)
            anchor = ("start", "middle", "end")[tick * 2 // TICKS]
            _words(svg, _figure(across, share), (place, top + HEIGHT + 16), WIDTH / 3, anchor)


def _figure(ends: tuple[float, float], share: float) -> str:
    return f"{ends[0] + (ends[1] - ends[0]) * share:.3g}"


def _draw_line(svg: Element, spots: Sequence[tuple[float, float]], number: int) -> None:
    """Draw the line with this number."""
    drawn = SubElement(svg, "polyline", {"fill": "none", "stroke": "currentColor"})
    drawn.set("class", f"line line-{number % len(DASHES)}")
    drawn.attrib |= {
        "stroke-width": "2",
        "stroke-dasharray": DASHES[number % len(DASHES)] or "none",
    }
    drawn.set("points", " ".join(f"{x:.1f},{y:.1f}" for x, y in spots))


def _words(
    svg: Element, words: str, place: tuple[float, float], room: float, anchor: str = "start"
) -> None:
    """Write words, shortened to `room`."""
    text = SubElement(svg, "text", at(*place) | {"text-anchor": anchor})
    say(text, words, LABEL_SIZE, room)
