"""`almanac experts`: lists, adds, describes, removes and quarantines experts."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows import progress, terminal
from flows.commands.refresh import show_report
from flows.home import home_of, settings_of
from schemas.errors import UsageError
from schemas.learning import Expert
from warehouse.home import Home

_SHOWN = ("expert", "status", "architecture", "parameters", "perplexity", "stale", "description")


def run(arguments: argparse.Namespace) -> int:
    """List the experts of the current edition, or change one and publish an edition with that."""
    from tasks.curate_experts import add_expert, change_expert

    home = home_of(arguments)
    if arguments.action == "list":
        _show(list_experts(home), arguments.json)
        return 0
    settings = settings_of(home)
    given = {
        name: getattr(arguments, name)
        for name in ("description", "parent", "licence", "reason")
        if getattr(arguments, name, None) is not None
    }
    if arguments.action == "describe" and not given:
        raise UsageError("Say what to change: --description, --parent or --licence.")
    with progress.shown() as report:
        if arguments.action == "add":
            folder = Path(arguments.folder)
            result = add_expert(home, folder, arguments.name, settings, report=report, **given)
        else:
            action = arguments.action
            result = change_expert(home, arguments.name, action, settings, report=report, **given)
    terminal.show_result(asdict(result), show_report, as_json=arguments.json)
    return 0


def list_experts(home: Home) -> list[dict[str, Any]]:
    """Return the experts of the current edition; those that belong to another follow it."""
    if home.editions.current() is None:
        return []
    with home.editions.reading() as edition:
        rows = edition.table(Expert).to_pylist() if edition.rows(Expert) else []
    known = {row["expert"] for row in rows}
    ordered: list[dict[str, Any]] = []

    def add_below(parent: str | None, depth: int) -> None:
        for row in rows:
            above = row["parent"] if row["parent"] in known else None
            if above == parent:
                ordered.append({**row, "depth": depth})
                add_below(row["expert"], depth + 1)

    add_below(None, 0)
    return ordered


def _show(experts: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        terminal.show_json(experts)
    elif experts:
        rows = [
            [
                "  " * expert["depth"] + expert["expert"],
                *(f"{v:.4g}" if isinstance(v, float) else v for v in map(expert.get, _SHOWN[1:])),
            ]
            for expert in experts
        ]
        terminal.table(_SHOWN, rows)
    else:
        terminal.say("There is no expert yet; `almanac train-experts NAME` trains one.")
