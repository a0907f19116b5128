"""Entities as pages: what is known about each, and the sentence behind it."""

from collections.abc import Iterable, Iterator

from tasks.report.links import Links
from tasks.report.templates import page_pieces
from tasks.show import EntityPage


def entities_page(entities: Iterable[EntityPage], title: str, links: Links) -> Iterator[str]:
    """Yield a page with one entity, or with several of which an address shows one."""
    return page_pieces("entities.html", links, title=title, here="entities", entities=entities)
