"""Lists of all entities and all documents, for those who browse, in pages."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import schemas
from schemas.documents import REMEMBERED
from schemas.row import Row
from tasks.report.links import FolderLinks, Links, list_file
from tasks.report.reading import read
from tasks.report.templates import page
from warehouse.editions import Edition

ENTRIES = 1_000  # on a page

LISTS = {  # of what: the rows of the list, a title and a heading above those that belong together
    "entities": """
        select entity_id, name, kind, graph, documents,
               if(graph = 'corpus', kind, 'graph ' || graph) as heading
        from entities order by graph <> 'corpus', heading, name, entity_id
    """,
    "documents": f"""
        select document_id, title, uri, {REMEMBERED}, language, words, source as heading
        from documents order by source, title, document_id
    """,
}
TABLES: dict[str, type[Row]] = {"entities": schemas.Entity, "documents": schemas.Document}
TITLES = {"entities": "Things", "documents": "Documents"}


def list_page(
    name: str, rows: Iterable[dict[str, Any]], number: int, last: int, links: Links
) -> str:
    """Return a page, counted from 0 to `last`, of a list in `LISTS`."""
    values = {"rows": rows, "number": number, "last": last, "name": name}
    return page("list.html", links, title=TITLES[name], here=name, **values)


def write_lists(edition: Edition, folder: Path, links: FolderLinks) -> None:
    """Write the lists into a folder."""
    for name, query in LISTS.items():
        last = max(0, -(-edition.rows(TABLES[name]) // ENTRIES) - 1)
        found = read(edition.connect(), query)
        for number in range(last + 1):
            text = list_page(name, list(islice(found, ENTRIES)), number, last, links)
            (folder / list_file(name, number)).write_text(text, encoding="utf-8")
