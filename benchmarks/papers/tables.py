"""The papers' tables as they were published, and rows of figures measured here to stand in them."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from benchmarks.check import value_at
from benchmarks.command import RESULTS
from flows.terminal import Shown, Table
from schemas.errors import UsageError

PAPERS = ("knowledgpt", "cook", "knowgpt", "thrust")
KEPT = "papers"  # the result file of rows that `--keep` keeps
Figure = list[float]  # a value or, with its 95 % interval, three
Description = dict[str, Any]  # of a table, as in the files beside this one


@dataclass(frozen=True)
class OwnRow:
    """Figures measured here for the columns of a table, None where there is none.

    They stand below the paper's row `beside`, if there is one. `by` names what answers, with its
    number of parameters where it is known, and `cost` what a question costs.
    """

    name: str
    by: str
    questions: str
    values: list[Figure | None]
    beside: str = ""
    cost: str = ""


def tables_of(paper: str, number: int) -> list[Description]:
    """Return the tables of that number; UsageError if the paper has none."""
    file = Path(__file__).with_name(f"{paper}.toml")
    tables: list[Description] = tomllib.loads(file.read_text(encoding="utf-8"))["table"]
    chosen = [table for table in tables if table["number"] == number]
    if not chosen:
        raise UsageError(f"{paper} has the tables 1 to {tables[-1]['number']}, not {number}.")
    return chosen


def kept_rows(paper: str, table: Description) -> list[OwnRow]:
    """Return the rows whose figures are in result files: those of other commands, and own ones."""
    rows = []
    for row in table.get("ours", []):
        values = [_kept(path) if path else None for path in row["values"]]
        counts = [f"{_kept(path)[0]:,}" for path in row["questions"]]
        name, beside = row.get("name", ""), row.get("beside", "")
        rows.append(OwnRow(name or beside, row["by"], " + ".join(counts), values, beside))
    own = _result(KEPT).get(f"{paper} {table['number']}", {}).get(table["title"], [])
    return rows + [OwnRow(**row) for row in own]


def _kept(path: str) -> Figure:
    result, _, rest = path.partition(" > ")
    return figure_at(_result(result), rest)


def _result(name: str) -> dict[str, Any]:
    file = RESULTS / f"{name}.json"
    found: dict[str, Any] = orjson.loads(file.read_bytes()) if file.exists() else {}
    return found


def figure_at(figures: dict[str, Any], path: str) -> Figure:
    """Return the figure at a path, with its interval if it has one; KeyError if it is missing.

    An interval is in the same list, or beside the value as `f1_low` and `f1_high` or as `f1 95 %`.
    """
    value = value_at(figures, path)
    if isinstance(value, list):
        return value
    above, _, name = path.rpartition(" > ")
    beside = value_at(figures, above) if above else figures
    if isinstance(beside, list):
        return [value]
    ends = [beside[end] for end in (f"{name}_low", f"{name}_high") if end in beside]
    return [value, *(ends or beside.get(f"{name} 95 %", []))]


def filled(table: Description, own: Sequence[OwnRow]) -> dict[str, Any]:
    """Return a table with the rows measured here below those that they are beside.

    Figures are in the paper's units. A row of the paper without any says in `not here` why.
    """
    scale, rows, here = table.get("scale", 1), [], [asdict(row) for row in own]
    for row in here:
        row["values"] = [v and [round(scale * one, 4) for one in v] for v in row["values"]]
    for name, model, figures in table["row"]:
        row = {"row": name, "model": model, "published": figures}
        below = [one for one in here if one["beside"] == name]
        reason = table.get("absent", "model not at hand")
        rows.append(row | ({"here": below} if below else {"not here": reason}))
    about = {key: table[key] for key in ("number", "title", "columns", "digits", "notes")}
    return {**about, "rows": rows, "other rows": [one for one in here if not one["beside"]]}


def shown(found: dict[str, Any]) -> Iterator[Shown]:
    """Yield a filled table for people, then its notes."""
    digits, rows = found["digits"], []
    for row in found["rows"]:
        cells = [_number(value, digits) for value in row["published"]]
        rows.append([row["row"], *cells, row["model"], "", row.get("not here", "")])
        rows += [_cells("· here", one, digits) for one in row.get("here", [])]
    rows += [_cells(f"· {one['name']}", one, digits) for one in found["other rows"]]
    yield f"Table {found['number']}. {found['title']}"
    if rows:
        yield Table(["", *found["columns"], "by", "questions", "cost, or why not here"], rows)
    yield from found["notes"]
    yield ""


def _number(value: float | str, digits: int) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.{digits}f}" if isinstance(value, float) else f"{value:,}"


def _cells(name: str, row: dict[str, Any], digits: int) -> list[str]:
    cells = []
    for value in row["values"]:
        first, *ends = [_number(one, digits) for one in value or [""]]
        cells.append(f"{first} [{', '.join(ends)}]" if ends else first)
    return [name, *cells, row["by"], row["questions"], row["cost"]]
