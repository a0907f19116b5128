"""Entities as pages: what is known about each, and the sentence behind it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tasks.report.links import Links
from tasks.report.templates import page, page_pieces
from tasks.show import MOST_FACTS, EntityPage

FACTS_PER_PAGE = 1_000  # of an entity that has more than MOST_FACTS


def entities_page(entities: Iterable[EntityPage], title: str, links: Links) -> Iterator[str]:
    """Yield a page with one entity, or with several of which an address shows one."""
    values = {"entities": entities, "timeline": timeline, "most": MOST_FACTS}
    return page_pieces("entities.html", links, title=title, here="entities", **values)


def facts_page(
    entity: EntityPage,
    facts: Iterable[tuple[str, dict[str, Any]]],
    number: int,
    last: bool,
    links: Links,
) -> str:
    """Return a page, from 0, with facts of one entity, each behind the end of it that this is.

    An end is `head` or `tail`; `last` says that no page comes after this one.
    """
    values = {"entity": entity, "facts": facts, "number": number, "last": last}
    return page("facts.html", links, title=entity.name, here="entities", **values)


def timeline(entity: EntityPage) -> Sequence[tuple[str, dict[str, Any]]]:
    """Return the dates (ISO 8601, as exact as stated) of an entity's facts, in order of time."""
    dated = ((row["valid_from"] or row["date"] or row["valid_to"], row) for row in entity.facts)
    return sorted(((when, row) for when, row in dated if when), key=lambda pair: pair[0])
