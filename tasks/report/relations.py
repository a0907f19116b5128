"""Relations as pages: how many facts each has, and these facts, best supported first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import duckdb

from schemas.documents import REMEMBERED
from schemas.errors import NotFoundError
from tasks.report.links import (
    FolderLinks,
    Links,
    list_file,
    relation_anchor,
    relation_file,
    relation_page,
)
from tasks.report.reading import in_pages, read
from tasks.report.templates import page, page_pieces

ENTRIES = 500  # relations, or facts of one, on a page
MOST_PAGES = 2  # of facts of one relation; SQL shows the rest

RELATIONS = """
select relation, graph, triples, head_kind, tail_kind, example
from relations order by graph <> 'corpus', graph, triples desc, relation
"""
_FACTS = f"""
select graph, head_id, head, relation, tail_id, tail, valid_from, valid_to, confidence,
       concat_ws(', ', nullif(polarity, 'positive'), nullif(modality, 'asserted')) as manner,
       document_id, uri, {REMEMBERED}, span_start
from triples left join documents using (document_id)
"""
_BEST = "support desc, confidence desc, head, tail"
# In the order of the files that hold the relations, as `relation_page` numbers them.
FACTS = f"""{_FACTS}
qualify row_number() over (partition by graph, relation order by {_BEST}) <= {ENTRIES * MOST_PAGES}
order by md5(graph || chr(10) || relation), {_BEST}
"""
_FACTS_OF_ONE = f"{_FACTS} where relation = ? and graph = ? order by {_BEST} limit ? offset ?"


@dataclass(frozen=True, slots=True)
class RelationRows:
    """A relation with facts of it; `number` counts its pages from 0, `last` is set on the last."""

    relation: str
    graph: str
    facts: list[dict[str, Any]]
    number: int
    last: bool

    @property
    def anchor(self) -> str:
        """The fragment at which it stands."""
        return relation_anchor(self.relation, self.graph)


def relations_page(rows: list[dict[str, Any]], number: int, last: int, links: Links) -> str:
    """Return a page, counted from 0 to `last`, of the list of relations."""
    values = {"rows": rows, "number": number, "last": last}
    return page("relations.html", links, title="Relations", here="relations", **values)


def relation_rows(
    con: duckdb.DuckDBPyConnection, relation: str, graph: str, number: int
) -> RelationRows:
    """Return a page, from 0, of the facts of a relation; raise NotFoundError if it has none."""
    values = [relation, graph, ENTRIES + 1, ENTRIES * number]
    shown = number < MOST_PAGES
    facts = con.sql(_FACTS_OF_ONE, params=values).to_arrow_table().to_pylist() if shown else []
    if not facts:
        raise NotFoundError(f"The edition has no such facts of {relation!r} in {graph!r}.")
    last = len(facts) <= ENTRIES or number + 1 == MOST_PAGES
    return RelationRows(relation, graph, facts[:ENTRIES], number, last)


def relation_pages(relations: Iterable[RelationRows], links: Links) -> Iterator[str]:
    """Yield a page with relations of which an address shows one, in pieces."""
    values: dict[str, Any] = {"title": "Relations", "here": "relations", "relations": relations}
    values |= {"most_pages": MOST_PAGES}
    return page_pieces("relation.html", links, **values)


def write_relations(con: duckdb.DuckDBPyConnection, folder: Path, links: FolderLinks) -> None:
    """Write the list of relations, and the files with the facts of each."""
    rows = con.sql("select count(*) from relations").fetchall()[0][0]
    last = max(0, -(-rows // ENTRIES) - 1)
    relations = read(con.cursor(), RELATIONS)  # of which the last row may end a page
    for number in range(last + 1):
        text = relations_page(list(islice(relations, ENTRIES)), number, last, links)
        (folder / list_file("relations", number)).write_text(text, encoding="utf-8")
    (folder / "relations").mkdir(exist_ok=True)
    inside = links.below("../")

    def place(row: RelationRows) -> int:
        return relation_page(row.relation, row.graph, links.relation_pages)

    for number, group in groupby(_first_pages(con, folder, inside), place):
        with (folder / relation_file(str(number))).open("w", encoding="utf-8") as file:
            file.writelines(relation_pages(group, inside))


def _first_pages(
    con: duckdb.DuckDBPyConnection, folder: Path, links: FolderLinks
) -> Iterator[RelationRows]:
    """Yield each relation with its best facts, and write the pages with its other facts."""
    by_relation = groupby(read(con, FACTS), lambda row: (row["relation"], row["graph"]))
    for (relation, graph), facts in by_relation:
        for number, shown, last in in_pages(facts, ENTRIES):
            rows = RelationRows(relation, graph, shown, number, last)
            if not number:
                yield rows
                continue
            path = folder / relation_file(rows.anchor, number)
            path.write_text("".join(relation_pages([rows], links)), encoding="utf-8")
