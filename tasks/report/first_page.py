"""The first page: what somebody sees who has never seen the corpus."""

from collections import defaultdict
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

import duckdb
import pyarrow.compute as pc

import schemas
from schemas.documents import REMEMBERED
from tasks.audit import report as audit_report
from tasks.report.links import Links
from tasks.report.records import PLACED_CHANGES
from tasks.report.templates import page
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.live import latest

SUGGESTIONS = 3
CHANGES = 12
BEST_KNOWN = 6  # of each kind

Row = dict[str, Any]

_COUNTS = """
select (select count(*) from documents) as documents, (select count(*) from entities) as entities,
       (select count(*) from triples) as facts
"""
# Questions that notes answer, about what most documents mention; one of each document. The embedded
# engine's general question in Chinese finds no answer, so it suggests nothing.
_QUESTIONS = """
select question, document_id, span_start
from aspects join entities using (entity_id)
where document_id is not null and question <> '' and question not like '%已知什么%'
qualify row_number() over (partition by document_id order by confidence desc, question) = 1
    and row_number() over (partition by entity_id order by confidence desc, question) = 1
order by entities.documents desc, confidence desc, question
limit ?
"""
_CHANGES = f"""
{PLACED_CHANGES}
where c.fact_kind <> 'relation'
order by list_position(['document', 'triple', 'description', 'aspect', 'entity'], c.fact_kind),
         c.kind, c.text
limit ?
"""
_CHANGE_COUNTS = "select fact_kind, kind, count(*) as number from changes group by all"
_CONFLICTS = f"""
select c.head_id, c.head, c.relation, t.graph, c.tail, t.tail_id, t.date, t.number, t.unit,
       c.support, c.confidence, t.document_id, t.span_start, c.uri, {REMEMBERED}
from conflicts c join triples t using (triple_id)
left join documents d on d.document_id = t.document_id
order by c.head, c.head_id, c.relation, c.support desc, c.confidence desc, c.tail
"""
_BEST_KNOWN = """
select kind, graph, entity_id, name, documents, description
from entities where graph = 'corpus' and kind <> 'unknown'
qualify row_number() over (partition by kind order by documents desc, mentions desc, name) <= ?
order by list_position(['person', 'place', 'organisation', 'work', 'event', 'thing'], kind), kind,
         documents desc, mentions desc, name
"""
_GRAPHS = """
select graph, count(*) as triples from triples where graph <> 'corpus'
group by graph order by triples desc, graph
"""
_YIELDS = """
select source, language, documents, sentences, with_statement / sentences as stated,
       with_fact / sentences as known
from yields where sentences > 0
order by known, source, language
limit 10
"""


def first_page(con: duckdb.DuckDBPyConnection, home: Home, edition: Edition, links: Links) -> str:
    """Return the first page of an edition; `con` is a connection to it."""

    def rows(query: str, *values: int) -> list[Row]:
        found: list[Row] = con.sql(query, params=list(values)).to_arrow_table().to_pylist()
        return found

    disagreeing = groupby(rows(_CONFLICTS), itemgetter("head_id", "relation"))
    best: dict[str, list[Row]] = defaultdict(list)
    for row in rows(_BEST_KNOWN, BEST_KNOWN):
        best[row["kind"]].append(row)
    return page(
        "index.html",
        links,
        title="What this almanac knows",
        here="index",
        counts=rows(_COUNTS)[0],
        questions=rows(_QUESTIONS, SUGGESTIONS),
        whole=edition.is_whole,  # what is told of the home is for those who see all of it
        read_at=_read_at(home, edition),
        held=_held(home, edition),
        changes=rows(_CHANGES, CHANGES),
        changed={(r["fact_kind"], r["kind"]): r["number"] for r in rows(_CHANGE_COUNTS)},
        parent=edition.manifest["parent"],
        conflicts=[list(group) for _, group in disagreeing],
        best=best,
        graphs=rows(_GRAPHS),
        yields=rows(_YIELDS),
        precision=[row for row in audit_report(home)["precision"] if row["by"] == "kind"],
        cost=_cost(home),
    )


def _read_at(home: Home, edition: Edition) -> datetime:
    """Return when sources were last read, else when the edition was built (UTC)."""
    runs = latest(home.live, schemas.Run).to_pylist()
    read = [r["ended_at"] for r in runs if r["flow"] == "refresh_knowledge" and r["ended_at"]]
    last: datetime = max(read, default=edition.built_at)
    return last


def _held(home: Home, edition: Edition) -> int:
    """Return how many editions wait behind this one because a check held them back."""
    return sum(
        later.sequence > edition.sequence and home.editions.state(later) == "candidate"
        for later in home.editions.all()
    )


def _cost(home: Home) -> Row:
    """Return the calls of language models, their tokens, and what they cost as far as is known."""
    calls = tokens = 0
    cost = 0.0
    for table in home.live.tables(schemas.ModelCall, ["tokens_in", "tokens_out", "cost"]):
        calls += len(table)
        tokens += sum(pc.sum(table[name]).as_py() or 0 for name in ("tokens_in", "tokens_out"))
        cost += pc.sum(table["cost"]).as_py() or 0.0
    return {"calls": calls, "tokens": tokens, "cost": cost}
