"""The pages' templates, filled with rows: everything is escaped, nothing is looked up."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.documents import cited_as
from tasks.report.links import Links, relation_anchor
from tasks.text.english_words import counted

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).with_name("templates")
PAGES = {  # of the navigation, by their file
    "entities": "Things",
    "documents": "Documents",
    "relations": "Relations",
    "sources": "Sources",
    "runs": "Runs",
    "rejections": "Rejections",
    "evaluations": "Evaluations",
    "editions": "Editions",
}
STATIC = Path(__file__).with_name("static")


@cache
def environment() -> "jinja2.Environment":
    """Return the templates; the service adds a folder of its own to `loader.searchpath`."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters |= {
        "percent": lambda share: f"{share:.0%}".replace("%", " %"),
        "count": lambda number: f"{number:,}",
        "counted": counted,
    }
    made.globals |= {"relation_anchor": relation_anchor, "cited_as": cited_as, "pages": PAGES}
    return made


def page(template: str, links: Links, **values: Any) -> str:
    """Return a page; `title` is its title, `here` its place in `PAGES` or empty."""
    return environment().get_template(template).render(links=links, **values)


def page_pieces(template: str, links: Links, **values: Any) -> Iterator[str]:
    """Yield a page in pieces, so that iterables among the values are read as it is written."""
    return environment().get_template(template).generate(links=links, **values)
