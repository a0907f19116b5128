"""Draws the gains of models by knowledge, and the rows of a study of experts, with intervals."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.evaluate.pictures import COLOURS, GREY, give_grid, save, shown

ALL = "all"


def draw_gain(path: Path, report: Mapping[str, Any]) -> None:
    """Draw for each model and data set a line from the score without knowledge to that with it.

    Compare the Thrust paper's figure 7. Bars are 95 % intervals; lines are orange where knowledge
    harms.
    """
    from matplotlib.figure import Figure

    models = [report, *report["baselines"]]
    height = 1.8 + 0.4 * max(len(model["by"]["dataset"]) + 1 for model in models)
    figure = Figure(figsize=(1.4 + 3.8 * len(models), height), layout="constrained")
    panels = figure.subplots(1, len(models), squeeze=False)[0].tolist()
    for panel, model in zip(panels, models, strict=True):
        parts = model["by"]["dataset"]
        drawn = parts if len(parts) == 1 else {ALL: model, **parts}
        for place, part in enumerate(drawn.values()):
            _draw_part(panel, -place, part["metrics"])
        panel.set_yticks([-place for place in range(len(drawn))], list(drawn))
        panel.set_ylim(-len(drawn) + 0.4, 0.6)
        panel.set_xlim(-2, 102)
        panel.set_xlabel("accuracy or F1, %")
        give_grid(panel, "x")
        panel.set_title(model["system"])
    figure.suptitle(f"{report['dataset']}: answers without (○) and with (●) knowledge")
    save(figure, path)


def _draw_part(panel: Any, height: int, metrics: Mapping[str, float]) -> None:
    values = {
        name: [100 * metrics[f"{name}{ending}"] for ending in ("", "_low", "_high")]
        for name in ("without_knowledge", "with_knowledge")
    }
    (before, *_), (after, *_) = values.values()
    colour = COLOURS[0] if after >= before else COLOURS[1]
    for (value, low, high), filled, side in zip(
        values.values(), ("white", colour), (-0.08, 0.08), strict=True
    ):
        panel.plot([low, high], [height + side] * 2, color=GREY, linewidth=1)
        panel.plot([value], [height], "o", color=colour, markerfacecolor=filled, zorder=3)
    panel.plot([before, after], [height, height], color=colour, linewidth=2, alpha=0.5)


def draw_bars(path: Path, title: str, table: Sequence[Mapping[str, Any]], measure: str) -> None:
    """Draw a measure of each row of a table as a point with its 95 % interval, if it has one.

    A row is named by its `row` or `expert`; the rows of each model have a colour of their own.
    """
    from matplotlib.figure import Figure

    rows = [row for row in table if row.get(measure) is not None]
    models = list(dict.fromkeys(row["model"] for row in rows))
    figure = Figure(figsize=(7.5, 1.4 + 0.32 * len(rows)), layout="constrained")
    panel = figure.subplots()
    for place, row in enumerate(rows):
        look: dict[str, Any] = {"color": COLOURS[models.index(row["model"]) % len(COLOURS)]}
        ends = [100 * row.get(f"{measure}{end}", row[measure]) for end in ("_low", "_high")]
        panel.plot(ends, [-place, -place], linewidth=1.5, **look)
        panel.plot([100 * row[measure]], [-place], "o", **look)
    names = [shown(f"{row['model']}: {row.get('row') or row['expert']}") for row in rows]
    panel.set_yticks([-place for place in range(len(rows))], names)
    panel.set_ylim(-len(rows) + 0.4, 0.6)
    panel.set_xlim(-2, 102)
    panel.set_xlabel(f"{measure}, %")
    give_grid(panel, "x")
    figure.suptitle(title)
    save(figure, path)
