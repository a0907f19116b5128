"""`almanac show`: shows everything that is known about one entity."""

import argparse
from dataclasses import asdict
from typing import Any

from flows import terminal
from flows.home import edition_of, home_of

SHOWN = 20  # rows of each kind


def run(arguments: argparse.Namespace) -> int:
    """Show the entity's page."""
    from tasks.show import EntityPage, show_entity

    home = home_of(arguments)
    with edition_of(home, arguments.edition).pinned() as edition:
        page: EntityPage = show_entity(edition, " ".join(arguments.entity), arguments.graph)
    if arguments.json:
        terminal.show_json(asdict(page))
    else:
        _show(page, None if arguments.all else SHOWN)
    return 0


def _show(page: Any, most: int | None) -> None:
    """Print the entity's description, then the facts about it, each row with its source."""
    mentions = f"{_counted(page.mentions, 'mention')} in {_counted(page.documents, 'document')}"
    terminal.show(terminal.one_line(f"{page.name} ({page.kind}), {page.entity_id}"))
    terminal.show(f"graph {page.graph}, {mentions}")
    if page.aliases:
        listed = [terminal.one_line(alias) for alias in page.aliases]
        terminal.show(f"also called: {_listed(listed, most)}")
    if page.description:
        terminal.show(terminal.one_line(page.description))
    facts = [[row["head"], row["relation"], row["tail"], *_source(row)] for row in page.facts]
    facts += [
        [row["head"], row["relation"], row["tail"], *_source(row)] for row in page.facts_as_tail
    ]
    _table(["head", "relation", "tail", "confidence", "source"], facts, most)
    statements = [[row["statement"], *_source(row)] for row in page.statements]
    _table(["statement", "confidence", "source"], statements, most)
    notes = [[row["text"], *_source(row)] for row in page.descriptions]
    _table(["description", "confidence", "source"], notes, most)
    notes = [[row["aspect"], row["text"], *_source(row)] for row in page.aspects]
    _table(["aspect", "note", "confidence", "source"], notes, most)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _source(row: dict[str, Any]) -> list[Any]:
    """Return the confidence and the document of a fact; imported facts have no document."""
    return [round(row["confidence"], 2), row["uri"] or row.get("graph", "")]


def _table(columns: list[str], rows: list[list[Any]], most: int | None) -> None:
    if not rows:
        return
    terminal.show()
    terminal.table(columns, rows[:most])
    if most is not None and len(rows) > most:
        terminal.show(f"and {len(rows) - most} more (--all)")


def _listed(names: list[str], most: int | None) -> str:
    more = 0 if most is None else max(0, len(names) - most)
    return "; ".join(names[:most]) + (f"; and {more} more" if more else "")
