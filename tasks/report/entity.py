"""Entities as pages: what is known about each, and the sentence behind it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tasks.report.drawings import neighbourhood
from tasks.report.links import Links
from tasks.report.templates import environment, page, page_pieces
from tasks.show import MOST_FACTS, EntityPage

FACTS_PER_PAGE = 1_000  # of an entity that has more than MOST_FACTS


def entities_page(
    entities: Iterable[EntityPage], title: str, links: Links, drawings: bool = True
) -> Iterator[str]:
    """Yield a page with one entity, or with several of which an address shows one.

    `drawings` adds one of each entity's neighbours, which takes a millisecond.
    """

    from markupsafe import Markup

    def draw(entity: EntityPage) -> str:
        several = len(entity.facts) + len(entity.facts_as_tail) > 1
        return Markup(neighbourhood(entity, links)) if drawings and several else ""

    values = {"entities": entities, "timeline": timeline, "draw": draw, "most": MOST_FACTS}
    return page_pieces("entities.html", links, title=title, here="entities", **values)


def facts_page(
    entity: EntityPage, facts: Iterable[dict[str, Any]], number: int, last: bool, links: Links
) -> str:
    """Return a page, from 0, with facts of one entity; `last` says that no page comes after it."""
    values = {"entity": entity, "facts": facts, "number": number, "last": last}
    return page("facts.html", links, title=entity.name, here="entities", **values)


def entity_alone(entity: EntityPage) -> str:
    """Return one entity, with a drawing of its neighbours, as a file that needs no other."""
    template = environment().get_template("alone.html")
    return template.render(entity=entity, drawing=neighbourhood(entity))


def timeline(entity: EntityPage) -> Sequence[tuple[str, dict[str, Any]]]:
    """Return the dates (ISO 8601, as exact as stated) of an entity's facts, in order of time."""
    dated = ((row["valid_from"] or row["date"] or row["valid_to"], row) for row in entity.facts)
    return sorted(((when, row) for when, row in dated if when), key=lambda pair: pair[0])
