"""Write an edition's report: every page of a folder that opens from the disk.

Entities and documents are read in one sorted pass over each table, however many there are, and
written as they come; DuckDB sorts on disk what does not fit into its share of the memory.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb

from tasks.report.document import (
    DOCUMENTS,
    FINDINGS,
    IN_TEXT,
    PASSAGES,
    DocumentRows,
    document_page,
)
from tasks.report.entity import entities_page
from tasks.report.links import (
    ENTITIES_PER_PAGE,
    FolderLinks,
    document_file,
    entity_file,
    entity_page,
)
from tasks.report.templates import STATIC, page
from tasks.show import ASPECTS, BEST_FACTS, BEST_NOTES, DESCRIPTIONS, FACTS, EntityPage
from warehouse.editions import DUCKDB_FILE, Edition
from warehouse.home import Home

BATCH = 5_000  # rows that are read at once
MEMORY = "400MB"  # of DuckDB, beyond which it sorts on disk

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """What a report consists of."""

    index: Path
    files: int
    size: int  # bytes


def write_report(home: Home, edition: Edition, folder: Path) -> Written:
    """Write the report of an edition into a folder, which is made if it is not there."""
    edition.check(DUCKDB_FILE)
    pages = max(1, edition.manifest["tables"]["entities"]["rows"] // ENTITIES_PER_PAGE)
    links = FolderLinks(edition.id, pages)
    for name in ("entities", "documents"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    shutil.copytree(STATIC, folder / "assets", dirs_exist_ok=True)
    with edition.connect() as con:
        con.execute(f"set memory_limit = '{MEMORY}'")
        _write_entities(con, folder, links)
        _write_documents(con, folder, links)
    index = folder / "index.html"
    index.write_text(page("index.html", links, title="Almanac", here="index"), encoding="utf-8")
    files = [path for path in folder.rglob("*") if path.is_file()]
    return Written(index, len(files), sum(path.stat().st_size for path in files))


def _write_entities(con: duckdb.DuckDBPyConnection, folder: Path, links: FolderLinks) -> None:
    """Write the files with entities."""
    numbered = groupby(
        _entities(con), lambda entity: entity_page(entity.entity_id, links.entity_pages)
    )
    for number, entities in numbered:
        with (folder / entity_file(number)).open("w", encoding="utf-8") as file:
            file.writelines(entities_page(entities, "Things", links.below("../")))


def _write_documents(con: duckdb.DuckDBPyConnection, folder: Path, links: FolderLinks) -> None:
    """Write the files of each document."""
    for rows in _documents(con):
        for part in range(rows.parts):
            path = folder / document_file(rows.document["document_id"], part)
            path.write_text(document_page(rows, links.below("../"), part), encoding="utf-8")


def _documents(con: duckdb.DuckDBPyConnection) -> Iterator[DocumentRows]:
    passages = Groups(_read(con, f"{PASSAGES} order by document_id, span_start"), "document_id")
    findings = Groups(_read(con, f"{FINDINGS} {IN_TEXT}"), "document_id")
    for document in _read(con, f"{DOCUMENTS} order by document_id"):
        key = document["document_id"]
        yield DocumentRows(document, passages.of(key), findings.of(key))


def _entities(con: duckdb.DuckDBPyConnection) -> Iterator[EntityPage]:
    """Yield all entities in the order of the MD5 of their ids, with what is known of them."""

    def grouped(query: str, best: str, entity: str = "entity_id") -> "Groups":
        columns = f"select md5({entity}) as place"
        ordered = f"{columns}, {query.strip().removeprefix('select ')} order by place, {best}"
        return Groups(_read(con, ordered), "place")

    aliases = grouped("select alias from aliases", "weight desc, alias")
    facts = grouped(FACTS, BEST_FACTS, "head_id")
    facts_as_tail = grouped(f"{FACTS} where tail_id is not null", BEST_FACTS, "tail_id")
    descriptions = grouped(DESCRIPTIONS, BEST_NOTES)
    aspects = grouped(ASPECTS, BEST_NOTES)
    entities = _read(
        con,
        "select md5(entity_id) as place, entity_id, name, kind, graph, mentions, documents, "
        "description from entities order by place",
    )
    for entity in entities:
        place = entity.pop("place")
        yield EntityPage(
            **entity,
            aliases=[r["alias"] for r in aliases.of(place) if r["alias"] != entity["name"]],
            facts=facts.of(place),
            facts_as_tail=facts_as_tail.of(place),
            statements=[],
            descriptions=descriptions.of(place),
            aspects=aspects.of(place),
        )


class Groups:
    """Rows sorted by a key, handed out a group at a time by those who go through the same keys."""

    def __init__(self, rows: Iterable[Row], key: str) -> None:
        """Read rows that are sorted by the column `key`."""
        self._groups = groupby(rows, itemgetter(key))
        self._next = next(self._groups, None)

    def of(self, key: str) -> list[Row]:
        """Return the rows with a key; groups with smaller keys are passed over."""
        while self._next and self._next[0] < key:
            self._next = next(self._groups, None)
        if not self._next or self._next[0] != key:
            return []
        rows = list(self._next[1])
        self._next = next(self._groups, None)
        return rows


def _read(con: duckdb.DuckDBPyConnection, query: str) -> Iterator[Row]:
    """Yield the rows of a query, of which only one batch is in memory."""
    for batch in con.cursor().sql(query).to_arrow_reader(BATCH):
        yield from batch.to_pylist()
