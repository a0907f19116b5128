"""Reports the study as Markdown with pictures and as rows of the home's table `evaluations`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.experts_study.figures import (
    Table,
    agreement_table,
    change_table,
    factuality_table,
    need_table,
    selection_table,
    system_table,
)
from benchmarks.experts_study.measure import StudyRow
from benchmarks.study_pictures import draw_bars
from tasks.evaluate.report import figures, record_figures
from warehouse.home import Home


class Section(NamedTuple):
    """A table of the report: its heading, explanation, columns, and the column that is drawn."""

    heading: str
    words: str
    columns: tuple[str, ...]
    drawn: str | None = None


SECTIONS = {
    "systems": Section(
        "Systems",
        "`right` is the share of answers that hold a gold answer, or are the right choice; `gain` "
        "is the paired difference from the model alone.",
        ("model", "row", "items", "right", "em", "f1", "gain", "seconds"),
        "right",
    ),
    "filters": Section(
        "Filters",
        "Bottom-up, with one filter or all of them off; `change` is the paired difference from all "
        "filters on.",
        ("model", "row", "items", "right", "em", "f1", "change"),
        "right",
    ),
    "sweep": Section(
        "How many texts",
        "Bottom-up, with other numbers of texts written (n1), relevant (n2) and kept (n3).",
        ("model", "row", "items", "right", "em", "f1", "change"),
        "right",
    ),
    "needs": Section(
        "Does the model know what it does not know?",
        "Whether it says that it needs more, and whether it is right without knowledge.",
        (
            *("model", "row", "yes_wrong", "yes_right", "no_wrong", "no_right"),
            *("right_if_no", "right_if_yes"),
        ),
    ),
    "agreement": Section(
        "Wordings",
        "How often all wordings of the question whether more is needed get the same reply, and how "
        "often that is yes.",
        ("model", "row", "asked", "agree", "yes"),
    ),
    "selection": Section(
        "Experts by kind of question",
        "The experts that were chosen; bottom-up, those whose texts were kept.",
        ("model", "row", "kind", "choices", "experts"),
    ),
    "factuality": Section(
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
    for dataset, of_dataset in tables.items():
        for name, section in SECTIONS.items():
            if section.drawn and _rows(name, of_dataset[name]):
                about = f"{dataset}: {section.heading.lower()}"
                picture = folder / _picture(tables, dataset, name)
                draw_bars(picture, about, of_dataset[name], section.drawn)
    path = folder / "study.md"
    path.write_text(study_as_markdown(title, tables, pictures=True), encoding="utf-8")
    return path


def study_as_markdown(
    title: str, tables: Mapping[str, Mapping[str, Table]], *, pictures: bool = False
) -> str:
    """Return the study as Markdown, with the pictures that lie beside it if there are any."""
    lines = [f"# {title}", "", "Brackets hold 95 % bootstrap intervals over questions."]
    for dataset, of_dataset in tables.items():
        lines += ["", f"## {dataset}"]
        for name, section in SECTIONS.items():
            columns, rows = shown_table(name, of_dataset[name])
            if not rows:
                continue
            lines += ["", f"### {section.heading}", "", section.words, ""]
            lines += [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *rows)]
            if pictures and section.drawn:
                lines += ["", f"![{section.heading}]({_picture(tables, dataset, name)})"]
    return "\n".join(lines) + "\n"


def _picture(tables: Mapping[str, Any], dataset: str, section: str) -> str:
    return f"{section}-{list(tables).index(dataset) + 1}.svg"


def shown_table(section: str, table: Table) -> tuple[list[str], list[list[str]]]:
    """Return a section's columns that occur in some row, and its rows as texts.

    Without rows other than the reference row, the table has no rows.
    """
    rows = _rows(section, table)
    columns = [c for c in SECTIONS[section].columns if any(c in row for row in rows)]
    return columns, [[_cell(row, name) for name in columns] for row in rows]


def _rows(section: str, table: Table) -> Table:
    return table if any(_says_more(section, row) for row in table) else []


def _says_more(section: str, row: Mapping[str, Any]) -> bool:
    """Return whether a row is more than the reference row of its section."""
    return section not in ("filters", "sweep") or "change" in row


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
