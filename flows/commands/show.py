"""`almanac show`: shows everything that is known about one entity."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.jobs import EDITION, READER, Command, Runner, operand, option, switch
from flows.terminal import Shown, Table, one_line
from schemas.documents import cited_as
from schemas.labels import HeldLabels, labels_of_reader
from tasks.text.english_words import counted

SHOWN = 20  # rows of each kind


class Show(Command):
    """Show everything known about one entity."""

    entity: list[str] = operand("ENTITY", "Its name, an alias, or its id.")
    graph: str | None = option(
        "NAME", "Look in this graph only; `corpus` is your texts (all graphs).", None
    )
    all: bool = switch("Show every fact, not only the first 20.")
    html: Path | None = option(
        "FILE", "Also write it, with a drawing of its neighbours, as this page (none).", None
    )
    reader: HeldLabels = READER
    edition: str | None = EDITION

    def work(self, runner: Runner) -> dict[str, Any]:
        """Return the entity's page."""
        from flows.home import edition_of
        from tasks.show import show_entity

        labels = labels_of_reader(self.reader)
        with edition_of(self.place, self.edition, labels=labels).pinned() as edition:
            page = show_entity(edition, " ".join(self.entity), self.graph)
        if self.html:
            from tasks.report.entity import entity_alone

            self.html.write_text(entity_alone(page), encoding="utf-8")
        return asdict(page)

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the entity's description, then the facts about it, each with its source."""
        most = None if self.all else SHOWN
        mentions = counted(result["mentions"], "mention")
        documents = counted(result["documents"], "document")
        yield one_line(f"{result['name']} ({result['kind']}), {result['entity_id']}")
        yield f"graph {result['graph']}, {mentions} in {documents}"
        if result["aliases"]:
            yield f"also called: {_listed(list(map(one_line, result['aliases'])), most)}"
        if result["description"]:
            yield one_line(result["description"])
        tables = {
            ("head", "relation", "tail"): result["facts"] + result["facts_as_tail"],
            ("statement",): result["statements"],
            ("description",): result["descriptions"],
            ("aspect", "note"): result["aspects"],
        }
        for columns, rows in tables.items():
            if rows:
                cells = [
                    [*(row.get(c, row.get("text")) for c in columns), *_source(row)]
                    for row in rows[:most]
                ]
                yield ""
                yield Table([*columns, "confidence", "source"], cells)
            if most is not None and len(rows) > most:
                yield f"and {len(rows) - most} more (--all)"


def _source(row: dict[str, Any]) -> list[Any]:
    """Return the confidence and the document of a fact; imported facts have no document."""
    return [
        round(row["confidence"], 2),
        cited_as(row["uri"], row["remembered"]) or row.get("graph", ""),
    ]


def _listed(names: list[str], most: int | None) -> str:
    more = 0 if most is None else max(0, len(names) - most)
    return "; ".join(names[:most]) + (f"; and {more} more" if more else "")


COMMAND = Show
