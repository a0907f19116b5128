"""Write an edition's report: every page of a folder that opens from the disk.

Entities and documents are read in one sorted pass over each table, however many there are, and
written as they come; DuckDB sorts on disk what does not fit into its share of the memory.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import schemas
from tasks.report.document import document_page
from tasks.report.entity import FACTS_PER_PAGE, entities_page, facts_page
from tasks.report.first_page import first_page
from tasks.report.links import (
    ENTITIES_PER_PAGE,
    RELATIONS_PER_PAGE,
    FolderLinks,
    document_file,
    entity_file,
    entity_page,
    facts_file,
    list_file,
)
from tasks.report.lists import write_lists
from tasks.report.reading import all_documents, all_entities, in_pages
from tasks.report.records import RECORDS, record_page
from tasks.report.relations import write_relations
from tasks.report.search_index import write_search
from tasks.report.templates import STATIC
from tasks.show import MOST_FACTS, EntityPage
from warehouse.editions import DUCKDB_FILE, Edition
from warehouse.home import Home

DRAWN = 20_000  # entities; in an edition of more, their neighbours are not drawn
MEMORY = "400MB"  # of DuckDB, beyond which it sorts on disk


@dataclass(frozen=True, slots=True)
class Written:
    """What a report consists of."""

    first: Path
    files: int
    size: int  # bytes


def write_report(home: Home, edition: Edition, folder: Path) -> Written:
    """Write the report of an edition into a folder, which is made if it is not there."""
    edition.check(DUCKDB_FILE)
    pages = max(1, edition.rows(schemas.Entity) // ENTITIES_PER_PAGE)
    relation_pages = max(1, edition.rows(schemas.Relation) // RELATIONS_PER_PAGE)
    links = FolderLinks(edition.id, pages, relation_pages)
    for name in ("entities", "documents"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    shutil.copytree(STATIC, folder / "assets", dirs_exist_ok=True)
    with edition.connect() as con:
        con.execute("set memory_limit = $1", [MEMORY])
        _write_entities(edition, folder, links)
        _write_documents(edition, folder, links)
        write_lists(edition, folder, links)
        write_relations(con, folder, links)
        for name in RECORDS:
            text = record_page(name, con, home, edition, links)
            (folder / list_file(name, 0)).write_text(text, encoding="utf-8")
        write_search(con, folder / "search", links)
        first = folder / "index.html"
        first.write_text(first_page(con, home, edition, links), encoding="utf-8")
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return Written(first, len(sizes), sum(sizes))


def _write_entities(edition: Edition, folder: Path, links: FolderLinks) -> None:
    """Write the files with entities, and those with all facts of entities that have many."""
    inside = links.below("../")

    def entities() -> Iterator[EntityPage]:
        for entity, further in all_entities(edition):
            if MOST_FACTS in (len(entity.facts), len(entity.facts_as_tail)):
                _write_facts(entity, further, folder, inside)
            yield entity

    drawings = edition.rows(schemas.Entity) <= DRAWN
    numbered = groupby(entities(), lambda entity: entity_page(entity.entity_id, links.entity_pages))
    for number, group in numbered:
        with (folder / entity_file(number)).open("w", encoding="utf-8") as file:
            file.writelines(entities_page(group, "Things", inside, drawings))


def _write_facts(
    entity: EntityPage, further: Iterable[dict[str, Any]], folder: Path, links: FolderLinks
) -> None:
    """Write all facts of an entity, page by page."""
    rows = chain(entity.facts, entity.facts_as_tail, further)
    for number, facts, last in in_pages(rows, FACTS_PER_PAGE):
        text = facts_page(entity, facts, number, last, links)
        (folder / facts_file(entity.entity_id, number)).write_text(text, encoding="utf-8")


def _write_documents(edition: Edition, folder: Path, links: FolderLinks) -> None:
    """Write the files of each document."""
    for rows in all_documents(edition):
        for part in range(rows.parts):
            path = folder / document_file(rows.document["document_id"], part)
            path.write_text(document_page(rows, links.below("../"), part), encoding="utf-8")
