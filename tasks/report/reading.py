"""Read all entities and documents of an edition in sorted passes over its tables."""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any

import duckdb

from tasks.programs.knowledge_bases.statements import statements_of_all
from tasks.report.document import DOCUMENTS, FINDINGS, IN_TEXT, PASSAGES, DocumentRows
from tasks.report.links import entity_order
from tasks.show import (
    ASPECTS,
    BEST_FACTS,
    BEST_NOTES,
    DESCRIPTIONS,
    FACTS,
    LEAST_CONFIDENCE,
    MOST_FACTS,
    MOST_NAMED,
    PLACES,
    PLACES_OF_ONE,
    EntityPage,
    statements_beside,
)
from warehouse.editions import Edition

ROWS_AT_ONCE = 5_000
ENTITIES = "select entity_id, name, kind, graph, mentions, documents, description from entities"

Row = dict[str, Any]


class Groups:
    """Rows sorted by a key, handed out a group at a time to one who goes through the same keys."""

    def __init__(self, rows: Iterable[tuple[str, Any]]) -> None:
        """Read rows behind their keys, by which they are sorted."""
        self._groups = groupby(rows, itemgetter(0))
        self._next = next(self._groups, None)

    def of(self, key: str) -> Iterator[Any]:
        """Yield the rows with a key, before the next call; smaller keys are passed over."""
        while self._next and self._next[0] < key:
            self._next = next(self._groups, None)
        if self._next and self._next[0] == key:
            yield from (row for _, row in self._next[1])

    def best(self, key: str) -> list[Any]:
        """Return the first rows with a key, as many as a page shows."""
        return list(islice(self.of(key), MOST_FACTS))


def read(con: duckdb.DuckDBPyConnection, query: str) -> Iterator[Row]:
    """Yield the rows of a query, of which only one batch is in memory.

    A connection goes through one query at a time.
    """
    for batch in con.sql(query).to_arrow_reader(ROWS_AT_ONCE):
        yield from batch.to_pylist()


def in_pages(rows: Iterator[Row], size: int) -> Iterator[tuple[int, list[Row], bool]]:
    """Yield the rows a page at a time, with its number, from 0, and whether it is the last one."""
    shown, number = list(islice(rows, size)), 0
    while following := list(islice(rows, size)):
        yield number, shown, False
        shown, number = following, number + 1
    yield number, shown, True


def all_documents(edition: Edition) -> Iterator[DocumentRows]:
    """Yield the documents by id, each with its passages and what was understood of it."""

    def grouped(query: str, order: str) -> Groups:
        rows = read(edition.connect(), f"{query} order by document_id, {order}")
        return Groups((row["document_id"], row) for row in rows)

    passages = grouped(PASSAGES, "span_start")
    findings = grouped(FINDINGS, IN_TEXT)
    for document in read(edition.connect(), f"{DOCUMENTS} order by document_id"):
        key = document["document_id"]
        yield DocumentRows(document, list(passages.of(key)), list(findings.of(key)))


def all_entities(edition: Edition) -> Iterator[tuple[EntityPage, Iterator[Row]]]:
    """Yield the entities in the order of the MD5 of their ids, each as `show_entity` returns it.

    Beside each come its facts beyond these, which must be read before the next entity.
    """

    def grouped(query: str, best: str, entity: str = "entity_id") -> Groups:
        columns = query.strip().removeprefix("select ")
        # All parts are constants of the program.
        query = f"select md5({entity}) as place, {columns} order by place, {best}"
        rows = read(edition.connect(), query)
        return Groups((row.pop("place"), row) for row in rows)

    aliases = grouped("select alias from aliases", "weight desc, alias")
    as_head = grouped(FACTS, BEST_FACTS, "head_id")
    as_tail = grouped(f"{FACTS} where tail_id is not null", BEST_FACTS, "tail_id")
    descriptions = grouped(DESCRIPTIONS, BEST_NOTES)
    aspects = grouped(ASPECTS, BEST_NOTES)
    places = grouped(f"{PLACES} {PLACES_OF_ONE}", MOST_NAMED)
    con = edition.connect()
    statements = Groups(statements_of_all(con, LEAST_CONFIDENCE))
    for entity in read(edition.connect(), f"{ENTITIES} order by md5(entity_id)"):
        key = entity_order(entity["entity_id"])
        heads, tails = as_head.of(key), as_tail.of(key)
        facts, facts_as_tail = (list(islice(rows, MOST_FACTS)) for rows in (heads, tails))
        page = EntityPage(
            **entity,
            aliases=[row["alias"] for row in aliases.of(key) if row["alias"] != entity["name"]],
            facts=facts,
            facts_as_tail=facts_as_tail,
            statements=list(statements_beside([*facts, *facts_as_tail], statements.of(key))),
            descriptions=descriptions.best(key),
            aspects=aspects.best(key),
            places=places.best(key),
        )
        yield page, chain(heads, tails)
