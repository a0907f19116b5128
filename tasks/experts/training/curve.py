"""The loss curve of a training, as a picture."""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np

POINTS = 200  # of the training curve; each is the mean of consecutive steps


def draw_curve(name: str, losses: Sequence[tuple[int, float]], epochs: Sequence[Any]) -> bytes:
    """Return a PNG with the smoothed training loss, and the held-out loss after each epoch.

    `losses` has the targets so far and the nats per token of each step; `epochs` are those of
    `Progress.epochs`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.add_subplot()
    steps = np.array(losses, float).reshape(-1, 2)
    groups = np.array_split(steps, min(POINTS, len(steps)) or 1)
    smooth = np.array([group.mean(axis=0) for group in groups if len(group)]).reshape(-1, 2)
    panel.plot(*smooth.T, color="#0072b2", label="training")
    held_out = [(e["targets"], e["held_out"]) for e in epochs if e["held_out"] is not None]
    if held_out:
        panel.plot(*np.array(held_out).T, color="#d55e00", marker="o", label="held out")
    panel.set_xlabel("tokens read")
    panel.set_ylabel("loss, nats per token")
    panel.set_title(f"Expert {name}")
    panel.grid(alpha=0.3)
    panel.legend()
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=110, metadata={"Software": None})
    return picture.getvalue()
