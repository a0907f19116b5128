"""The study as Markdown with pictures, and as rows of the home's table `evaluations`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.evaluate.experts_study.figures import (
    Table,
    agreement_table,
    change_table,
    factuality_table,
    need_table,
    selection_table,
    system_table,
)
from tasks.evaluate.experts_study.measure import StudyRow
from tasks.evaluate.pictures import draw_bars
from tasks.evaluate.report import figures, record_figures
from warehouse.home import Home

# Title, what it says, the columns of the table, and the one that is drawn.
SECTIONS: dict[str, tuple[str, str, tuple[str, ...], str | None]] = {
    "systems": (
        "Systems",
        "`right` is the share of answers that hold a gold answer, or are the right choice; `gain` "
        "is the paired difference from the model alone.",
        ("model", "row", "items", "right", "em", "f1", "gain", "seconds"),
        "right",
    ),
    "filters": (
        "Filters",
        "Bottom-up, with one filter or all of them off; `change` is the paired difference from all "
        "filters on.",
        ("model", "row", "items", "right", "em", "f1", "change"),
        "right",
    ),
    "sweep": (
        "How many texts",
        "Bottom-up, with other numbers of texts written (n1), relevant (n2) and kept (n3).",
        ("model", "row", "items", "right", "em", "f1", "change"),
        "right",
    ),
    "needs": (
        "Does the model know what it does not know?",
        "Whether it says that it needs more, and whether it is right without knowledge.",
        (
            *("model", "row", "yes_wrong", "yes_right", "no_wrong", "no_right"),
            *("right_if_no", "right_if_yes"),
        ),
        None,
    ),
    "agreement": (
        "Wordings",
        "How often all wordings of the question whether more is needed get the same reply, and how "
        "often that is yes.",
        ("model", "row", "asked", "agree", "yes"),
        None,
    ),
    "selection": (
        "Experts by kind of question",
        "The experts that were chosen; bottom-up, those whose texts were kept.",
        ("model", "row", "kind", "choices", "experts"),
        None,
    ),
    "factuality": (
        "Factuality by expert",
        "Means over the texts that were scored, and the share of all texts that was kept.",
        (
            *("model", "expert", "texts", "scored", "kept"),
            *("relevance", "support", "refute", "unknown", "score"),
        ),
        "score",
    ),
}


def study_tables(rows: Sequence[StudyRow]) -> dict[str, Table]:
    """Return the tables of `SECTIONS` over these rows."""
    return {
        "systems": system_table(
            [row for row in rows if row.configuration.group in ("systems", "baselines")]
        ),
        "filters": change_table(rows, "filters"),
        "sweep": change_table(rows, "sweep"),
        "needs": need_table(rows),
        "agreement": agreement_table(rows),
        "selection": selection_table(rows),
        "factuality": factuality_table(rows),
    }


def by_dataset(rows: Sequence[StudyRow]) -> dict[str, list[StudyRow]]:
    """Return the rows restricted to the questions of each data set."""
    datasets = dict.fromkeys(q.dataset for q in rows[0].measured.questions) if rows else {}
    return {name: [row.of_dataset(name) for row in rows] for name in datasets}


def record_study(
    home: Home, dataset: str, edition: str, rows: Sequence[StudyRow], warn: Any
) -> None:
    """Write the figures of all rows into the home's table `evaluations`."""
    first, *others = (figures(row.measured) for row in rows)
    record_figures(
        home, {"dataset": dataset, **first, "edition": edition, "baselines": others}, warn
    )


def write_report(folder: Path, title: str, tables: Mapping[str, Mapping[str, Table]]) -> Path:
    """Write `study.md` and its pictures into a folder; `tables` are those of each data set."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {title}", "", "Brackets hold 95 % bootstrap intervals over questions."]
    for number, (dataset, of_dataset) in enumerate(tables.items()):
        lines += ["", f"## {dataset}"]
        for name, (heading, words, columns, drawn) in SECTIONS.items():
            table = of_dataset[name]
            if not any(_says_more(name, row) for row in table):
                continue
            lines += ["", f"### {heading}", "", words, "", *markdown(table, columns)]
            if drawn:
                picture = f"{name}-{number + 1}.svg"
                draw_bars(folder / picture, f"{dataset}: {heading.lower()}", table, drawn)
                lines += ["", f"![{heading}]({picture})"]
    path = folder / "study.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _says_more(section: str, row: Mapping[str, Any]) -> bool:
    """Return whether a row is more than what others are compared with."""
    return section not in ("filters", "sweep") or "change" in row


def markdown(table: Table, columns: Sequence[str]) -> list[str]:
    """Return a table as lines of Markdown; columns that no row has are left out."""
    present = [name for name in columns if any(name in row for row in table)]
    lines = [f"| {' | '.join(present)} |", "|" + " --- |" * len(present)]
    return [*lines, *(f"| {' | '.join(_cell(row, name) for name in present)} |" for row in table)]


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_number(share)}" for key, share in value.items())
    if f"{name}_low" in row:
        return f"{_number(value)} [{_number(row[f'{name}_low'])}, {_number(row[f'{name}_high'])}]"
    return _number(value) if isinstance(value, float) else str(value).replace("|", "/")


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-0.000", "0.000") if abs(value) < 10 else f"{value:.0f}"
