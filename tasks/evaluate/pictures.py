"""Draws accuracy over retrieval rate for gates.

Equal data give equal SVG files: they have no date, and their ids depend only on the drawing.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from schemas.errors import UsageError
from tasks.evaluate.gates.resampled import RATES, GateCurves
from tasks.evaluate.metrics import HIGH, LOW

FORMATS = (".svg", ".png")
# Okabe and Ito's palette, which is safe for colour-blind readers, without its yellow, which is too
# light for lines. Dashes follow when the colours are used up.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)))
GREY, BLACK = "#8a8a8a", "#000000"
CONSTANT = ("always", "never", "random")  # gates whose curve is the random line
LONGEST_NAME = 40  # characters


def check_picture(path: Path) -> None:
    """Raise UsageError if no picture can be written to this path."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path} must end in {' or '.join(FORMATS)}.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {path.absolute().parent} for the picture.")


def draw_curves(
    path: Path,
    dataset: str,
    models: Sequence[str],
    curves: Mapping[str, GateCurves],
    best: GateCurves,
) -> None:
    """Draw accuracy over retrieval rate and, below it, the difference from the random line.

    There is one column per model; curves are means over data sets. The upper row also shows the
    perfect gate and the random line; in the lower row, the first gate has its 95 % interval.
    """
    figure, panels = make_panels(2, len(models), "retrieval rate, %")
    panels[0][0].set_ylabel("accuracy, %")
    panels[1][0].set_ylabel("above the random line, points")
    drawn = {name: curve for name, curve in curves.items() if name not in CONSTANT}
    for number, (panel, below, model) in enumerate(zip(*panels, models, strict=True)):
        ideal = _accuracies(best, number)[0]
        panel.plot(100 * RATES, ideal, color=BLACK, linewidth=1.2, label="perfect gate")
        for place, (name, curve) in enumerate(drawn.items()):
            accuracies = _accuracies(curve, number)
            panel.plot(100 * RATES, accuracies[0], label=shown(name), linewidth=1.8, **style(place))
            _draw_gain(below, accuracies, place)
        line = {"color": GREY, "linestyle": (0, (4, 3))}
        panel.plot([0, 100], ideal[[0, -1]], label="random line", **line)
        below.axhline(0, **line)
        panel.set_title(shown(model))
        panel.set_xlim(0, 100)
    figure.suptitle(f"{shown(dataset)}: accuracy over retrieval rate")
    finish(figure, panels[0][0], path)


def _draw_gain(panel: Any, accuracies: np.ndarray, place: int) -> None:
    """Draw the differences of accuracies (resamples, rates) from the line between their ends."""
    first, last = accuracies[:, :1], accuracies[:, -1:]
    gains = accuracies - first - (last - first) * RATES
    if not place and len(gains) > 1:
        low, high = np.percentile(gains[1:], [LOW, HIGH], axis=0)
        panel.fill_between(100 * RATES, low, high, color=COLOURS[0], alpha=0.15, linewidth=0)
    panel.plot(100 * RATES, gains[0], linewidth=1.8, **style(place))


def make_panels(rows: int, columns: int, below: str) -> tuple[Any, list[list[Any]]]:
    """Return a figure and its panels by row; the panels of a row share their scale."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 + 4.4 * columns + (1.6 if columns == 1 else 0), 1 + 3.6 * rows))
    figure.set_layout_engine("constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey="row", squeeze=False).tolist()
    for panel in [panel for row in panels for panel in row]:
        give_grid(panel, "both")
        panel.set_axisbelow(True)
    for panel in panels[-1]:
        panel.set_xlabel(below)
    return figure, panels


def give_grid(panel: Any, axis: str) -> None:
    """Draw a pale grid across an axis, and no frame at the top and on the right."""
    panel.grid(axis=axis, color="#e4e4e4", linewidth=0.7)
    panel.spines[["top", "right"]].set_visible(False)


def finish(figure: Any, panel: Any, path: Path) -> None:
    """Put one legend beside all panels, where it covers nothing, and write the file."""
    figure.legend(*panel.get_legend_handles_labels(), loc="outside right center", frameon=False)
    save(figure, path)


def save(figure: Any, path: Path) -> None:
    """Write a figure as .svg or .png."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a name may hold dollar signs
    svg = path.suffix.lower() == ".svg"
    with rc_context({"svg.hashsalt": "almanac"}):
        figure.savefig(path, dpi=150, metadata={"Date": None} if svg else None)


def _accuracies(curves: GateCurves, model: int) -> np.ndarray:
    """Return a model's accuracies in per cent (resamples, rates), means over data sets."""
    return np.asarray(100 * curves.accuracies[:, :, model].mean(0))


def shown(name: str) -> str:
    """Return a name fit for a legend: on one line, not too long, without leading underscores."""
    return " ".join(name.split()).lstrip("_")[:LONGEST_NAME] or "?"


def style(place: int) -> dict[str, Any]:
    """Return the colour and dash pattern of a line; combinations repeat only when all are used."""
    styles = [(colour, dashes) for dashes, colour in product(DASHES, COLOURS)]
    colour, dashes = styles[place % len(styles)]
    return {"color": colour, "linestyle": dashes}
