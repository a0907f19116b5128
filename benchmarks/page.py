"""Write docs/benchmarks.md from the results, so that no figure is copied by hand.

    python -m benchmarks.page [--check]

`benchmarks/figures.toml` says which figures are shown, in which words, and which data was seen when
the code behind them was developed. A figure is named by its path in the results, such as
`{linking > mentions > almanac > recall_at_10|.2f}`; the part after `|` is its format.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import orjson

from benchmarks.command import RESULTS, parser_of, run_command

FIGURES = Path(__file__).with_name("figures.toml")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_FIGURE = re.compile(r"\{([^{}|]+)(?:\|([^{}]*))?\}")


def page() -> str:
    """Return the page; KeyError names a figure that the results do not hold."""
    described = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
    lines = ["# Benchmarks", "", *described["introduction"].strip().splitlines()]
    for section in described["section"]:
        lines += ["", f"## {section['title']}", ""]
        if "text" in section:
            lines += [*section["text"].strip().splitlines(), ""]
        lines += ["| what | figure | beside it | in view | command |", "| - | - | - | - | - |"]
        lines += [row for figure in section["figure"] for row in _rows(figure)]
        lines += [f"\n{note.strip()}" for note in section.get("notes", [])]
    lines += ["", "## Commands", "", "| name | command | measured | commit |", "| - | - | - | - |"]
    lines += [_measured(name, form["command"]) for name, form in described["command"].items()]
    return "\n".join(lines) + "\n"


def _rows(figure: dict[str, Any]) -> list[str]:
    """Return the rows of a table that come from one result; the first says what was in view."""
    name, rows = figure["result"], []
    for number, (what, value, beside) in enumerate(figure["rows"]):
        cells = [what, f"**{value}**", beside, "" if number else figure["in_view"]]
        rows.append(
            f"| {' | '.join(_filled(cell, name) for cell in cells)} | [{name}](#commands) |"
        )
    return rows


def _measured(name: str, command: str) -> str:
    """Return the row of a command: when and at which commit its results were measured."""
    known = (RESULTS / f"{name}.json").exists()
    about = _results(name) if known else {"measured_on": "", "commit": ""}
    return f"| {name} | `{command}` | {about['measured_on']} | {about['commit']} |"


def _filled(text: str, result: str) -> str:
    """Return the text with every figure in the place of its path."""

    def value(match: re.Match[str]) -> str:
        name, *path = [part.strip() for part in f"{result} > {match[1]}".split(" > ")]
        found: Any = _results(name)
        for part in path:
            found = found[int(part)] if isinstance(found, list) else found[part]
        return _formatted(found, match[2] or "")

    return _FIGURE.sub(value, " ".join(text.split()))


def _formatted(value: Any, form: str) -> str:
    """Return a figure in its format: `points` of a share are per cent, `count` is of a list."""
    if form == "points":
        return f"{100 * value:.1f}"
    if form == "count":
        return str(len(value))
    return format(value, form)


def _results(name: str) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((RESULTS / f"{name}.json").read_bytes())
    return found


def main() -> bool:
    """Write the page, or tell whether it is another than the results make."""
    if parser_of(__doc__, check=False).parse_args().check:
        return PAGE.read_text(encoding="utf-8") != page()
    PAGE.write_text(page(), encoding="utf-8")
    return False


if __name__ == "__main__":
    run_command(main)
