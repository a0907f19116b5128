"""A picture of what a training or a bandit came to: lines over one axis, as a PNG."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from warehouse import durable

POINTS = 200  # of a smoothed line; each is the mean of consecutive ones
LONGEST_TITLE = 60  # characters
COLOURS = ("#0072b2", "#d55e00")


def draw_lines(title: str, lines: Mapping[str, np.ndarray], across: str, path: Path) -> None:
    """Write a PNG with at most two lines by their names; each has points, float (n, 2)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.add_subplot()
    for (name, points), colour in zip(lines.items(), COLOURS, strict=False):
        if len(points):
            marker = "o" if len(points) == 1 else ""
            panel.plot(*points.T, label=name, color=colour, marker=marker)
    panel.set_xlabel(across)
    line = " ".join(title.split())
    short = line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1] + "…"
    panel.set_title(short.replace("$", r"\$"))
    panel.grid(alpha=0.3)
    panel.legend()
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=110, metadata={"Software": None})
    durable.write_bytes(path, picture.getvalue())


def smoothed(points: Sequence[tuple[Any, Any]]) -> np.ndarray:
    """Return the means of consecutive points, at most POINTS, float (n, 2)."""
    rows = np.array(points, float).reshape(-1, 2)
    groups = np.array_split(rows, min(POINTS, len(rows)) or 1)
    return np.array([group.mean(axis=0) for group in groups if len(group)]).reshape(-1, 2)
