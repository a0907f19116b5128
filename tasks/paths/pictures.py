"""Pictures: the curves of a policy and of a bandit."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

POINTS = 100  # of a training curve; each is the mean of consecutive batches
LONGEST_NAME = 30  # characters
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8a8a8a"


def draw_training(name: str, curve: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write a PNG with the loss of a training, by batch."""
    figure, panel = _figure((6.4, 3.6))
    rows = np.array([(row["batch"], row["loss"]) for row in curve], float)
    if len(rows):
        groups = np.array_split(rows, min(POINTS, len(rows)))
        panel.plot(*np.array([g.mean(axis=0) for g in groups]).T, label="loss", color=BLUE)
    panel.set_xlabel("batches")
    panel.set_title(f"Policy of the graph {_shown(name)}")
    panel.grid(alpha=0.3)
    panel.legend()
    figure.savefig(path, format="png", dpi=110, metadata={"Software": None})


def draw_arms(name: str, rewards: np.ndarray, chances: np.ndarray, path: Path) -> None:
    """Write a PNG with a bandit's running mean of rewards (n,).

    A second curve is the self-normalised estimate for choosing all arms equally often, from the
    propensities `chances` (n,) of the chosen arms.
    """
    figure, panel = _figure((6.4, 3.6))
    count = np.arange(1, len(rewards) + 1)
    panel.plot(count, rewards.cumsum() / count, color=ORANGE, label="the bandit")
    weights = 1 / np.maximum(chances, 1e-9)
    level = (weights * rewards).cumsum() / np.maximum(weights.cumsum(), 1e-9)
    panel.plot(count, level, color=GREY, linestyle=(0, (4, 3)), label="all arms alike, estimated")
    panel.set_xlabel("questions")
    panel.set_ylabel("mean reward")
    panel.set_title(f"Bandit of the graph {_shown(name)}")
    panel.grid(alpha=0.3)
    panel.legend()
    figure.savefig(path, format="png", dpi=110, metadata={"Software": None})


def _figure(size: tuple[float, float]) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _shown(name: str) -> str:
    """Return a name for a picture: shortened, and with dollar signs escaped."""
    line = " ".join(name.split())
    short = line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"
    return short.replace("$", r"\$")
