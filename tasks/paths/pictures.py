"""Pictures: the paths behind an answer, and the curves of a policy and of a bandit."""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from schemas.answers import GraphPath

POINTS = 100  # of a training curve; each is the mean of consecutive batches
LONGEST_NAME = 30  # characters
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#8a8a8a"


def draw_paths(paths: Sequence[GraphPath], answer: str | None = None) -> bytes:
    """Return an SVG of paths as one graph; equal paths give equal pictures.

    First nodes of paths are blue and last nodes are green; the answer is orange.
    """
    import networkx as nx

    drawn: Any = nx.MultiDiGraph()
    for path in paths:
        for place, relation in enumerate(path.relations):
            head, tail = path.nodes[place], path.nodes[place + 1]
            if path.inverse[place]:
                head, tail = tail, head
            if not drawn.has_edge(head, tail, relation):
                drawn.add_edge(head, tail, key=relation)
    colours = dict.fromkeys(drawn, GREY)
    colours |= {path.nodes[-1]: GREEN for path in paths if path.relations}
    colours |= {path.nodes[0]: BLUE for path in paths if path.relations}
    if answer in colours:
        colours[answer] = ORANGE
    figure, panel = _figure((9.0, 6.0))
    panel.set_axis_off()
    with _fonts_of_viewers():
        if len(drawn):
            places = nx.spring_layout(drawn, seed=1, k=2.2 / np.sqrt(len(drawn)))
            _draw(drawn, places, colours, panel)
        return _svg(figure)


def _draw(
    drawn: Any, places: Mapping[str, np.ndarray], colours: Mapping[str, str], panel: Any
) -> None:
    import networkx as nx

    nx.draw_networkx_nodes(
        drawn, places, ax=panel, node_size=160, node_color=[colours[node] for node in drawn]
    )
    nx.draw_networkx_edges(drawn, places, ax=panel, edge_color=GREY, arrowsize=10, width=0.9)
    above = {node: place + (0, 0.06) for node, place in places.items()}
    names = {node: _shown(node) for node in drawn}
    nx.draw_networkx_labels(drawn, above, names, ax=panel, font_size=8, font_family=FONTS)
    labels: dict[tuple[str, str], str] = {}
    for head, tail, relation in drawn.edges(keys=True):
        known = labels.get((head, tail))
        labels[head, tail] = f"{known}, {_shown(relation)}" if known else _shown(relation)
    nx.draw_networkx_edge_labels(
        nx.DiGraph(drawn), places, labels, ax=panel, font_size=6, font_color=GREY, font_family=FONTS
    )
    panel.margins(0.15)


FONTS = ["DejaVu Sans", "Noto Sans CJK SC", "sans-serif"]  # which viewers of an SVG mostly have


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


@contextmanager
def _fonts_of_viewers() -> Iterator[None]:
    """Silence complaints about fonts and glyphs that are missing here.

    An SVG holds words and the names of fonts; its viewers bring the fonts.
    """
    log = logging.getLogger("matplotlib.font_manager")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            yield
    finally:
        log.setLevel(level)


def _svg(figure: Any) -> bytes:
    import matplotlib as mpl

    picture = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "almanac", "svg.fonttype": "none"}):
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return picture.getvalue()


def _shown(name: str) -> str:
    """Return a name for a picture: shortened, and with dollar signs escaped."""
    line = " ".join(name.split())
    short = line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"
    return short.replace("$", r"\$")
