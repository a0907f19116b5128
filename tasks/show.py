"""Show what an edition knows about one entity, on one page."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice, takewhile
from typing import Any

import duckdb

from schemas.documents import REMEMBERED
from schemas.errors import NotFoundError, UsageError
from tasks.programs.knowledge_bases.statements import Stated, statements_around
from tasks.text.names import disambiguator, normalise_name
from warehouse.editions import DUCKDB_FILE, Edition

MOST_FACTS = 200  # per page; a hub of an imported graph has thousands
LEAST_CONFIDENCE = 0.5  # of statements, which are published whatever their confidence
MOST_NAMESAKES = 20  # listed when a name is ambiguous
MOST_WORDS = 80  # characters that describe each of them
MOST_SIMILAR = 3  # names offered where none is the same
MOST_IN_DOCUMENT = 5  # names offered where a document's path is given
LEAST_SIMILAR = 0.88  # Jaro-Winkler similarity of a name that may be meant

_ENTITY = "entity_id, name, kind, entities.graph, mentions, documents, description"
_ALIASES = "select alias from aliases where entity_id = ? order by weight desc, alias"
# What a page shows of a fact and of a note, and which of them come first.
FACTS = f"""
    select triple_id, graph, head_id, head, relation, tail_id, tail, date, valid_from, valid_to,
           support, confidence, document_id, uri, {REMEMBERED}, span_start, span_end
    from asserted_triples left join documents using (document_id)
"""
BEST_FACTS = "support desc, confidence desc, relation, head, tail"
DESCRIPTIONS = f"""
    select notes.text, notes.document_id, uri, {REMEMBERED}, language, span_start, span_end,
           confidence
    from descriptions as notes left join documents using (document_id)
"""
ASPECTS = f"""
    select aspect, notes.text, question, notes.document_id, uri, {REMEMBERED},
           span_start, span_end, confidence
    from aspects as notes left join documents using (document_id)
"""
# In the language of most documents (Chinese or not) first, then the surest.
BEST_NOTES = """
    (language = 'zh') = (select 2 * count_if(language = 'zh') > count(*) from documents) desc,
    confidence desc, notes.text
"""
# The passage of each document that names it most.
PLACES = f"""
    select document_id, title, uri, {REMEMBERED}, sum(times) as times,
           arg_max(span_start, times) as span_start
    from entity_passages join passages using (document_id, passage_id)
        join documents using (document_id)
"""
PLACES_OF_ONE = "group by entity_id, document_id, title, uri, source, read_at"
MOST_NAMED = "times desc, title, document_id"
_SIMILAR = """
    select alias, max(jaro_winkler_similarity(lower(alias), $1)) as similarity
    from aliases join entities using (entity_id)
    where $2 in ('', entities.graph)
    group by alias
    having similarity >= $3
    order by similarity desc, alias
    limit 20
"""
_NAMED_IN = """
    select name from documents join entity_passages using (document_id)
        join entities using (entity_id)
    where ends_with('/' || $1, '/' || uri)
    group by entity_id, name order by sum(times) desc, name limit $2
"""


@dataclass(frozen=True, slots=True)
class EntityPage:
    """One entity with everything stated about it, each fact with its source.

    `facts` have the entity as their head, `facts_as_tail` as their tail, best supported first.
    `statements` are what sentences say about it beyond these facts, with a confidence of at least
    LEAST_CONFIDENCE, the most confident first. `places` are the documents that name it, each with
    the passage that does so most. Each list has at most MOST_FACTS rows.
    """

    entity_id: str
    name: str
    kind: str
    graph: str
    mentions: int
    documents: int
    description: str | None
    aliases: list[str]
    facts: list[dict[str, Any]]
    facts_as_tail: list[dict[str, Any]]
    statements: list[dict[str, Any]]
    descriptions: list[dict[str, Any]]
    aspects: list[dict[str, Any]]
    places: list[dict[str, Any]]


def show_entity(edition: Edition, wanted: str, graph: str | None = None) -> EntityPage:
    """Return the page of the entity with this id, name or alias.

    Raises NotFoundError if no entity has the name, and UsageError if several have it; the message
    lists them.
    """
    edition.check(DUCKDB_FILE)
    with edition.connect() as con:
        return entity_page(con, wanted, graph)


def entity_page(
    con: duckdb.DuckDBPyConnection, wanted: str, graph: str | None = None
) -> EntityPage:
    """Return the page of an entity of the edition that is open, as `show_entity` does."""
    wanted = wanted.encode("utf-8", "replace").decode()  # DuckDB takes no lone surrogates
    entity = _choose(con, wanted, graph)
    entity_id = entity["entity_id"]
    aliases = _rows(con, _ALIASES, [entity_id])
    of_it: list[str | int | float] = [entity_id, MOST_FACTS]
    # The parts of these queries are constants of this module.
    facts = _rows(con, f"{FACTS} where head_id = ? order by {BEST_FACTS} limit ?", of_it)
    facts_as_tail = _rows(con, f"{FACTS} where tail_id = ? order by {BEST_FACTS} limit ?", of_it)
    return EntityPage(
        **entity,
        aliases=[row["alias"] for row in aliases if row["alias"] != entity["name"]],
        facts=facts,
        facts_as_tail=facts_as_tail,
        statements=list(statements_beside([*facts, *facts_as_tail], _statements(con, entity_id))),
        descriptions=_rows(
            con, f"{DESCRIPTIONS} where entity_id = ? order by {BEST_NOTES} limit ?", of_it
        ),
        aspects=_rows(con, f"{ASPECTS} where entity_id = ? order by {BEST_NOTES} limit ?", of_it),
        places=_rows(
            con,
            f"{PLACES} where entity_id = ? {PLACES_OF_ONE} order by {MOST_NAMED} limit ?",
            of_it,
        ),
    )


def _statements(con: duckdb.DuckDBPyConnection, entity_id: str) -> Iterator[Stated]:
    """Yield the confident statements about an entity, the most confident first."""
    stated = statements_around(con, [entity_id], everything=True)
    yield from takewhile(lambda row: row.confidence >= LEAST_CONFIDENCE, stated)


def statements_beside(
    facts: list[dict[str, Any]], stated: Iterable[Stated]
) -> Iterator[dict[str, Any]]:
    """Yield statements without those that repeat a fact, at most MOST_FACTS."""
    beside = (row for row in stated if not any(_says(row, fact) for fact in facts))
    for row in islice(beside, MOST_FACTS):
        yield {"statement": row.words, "confidence": row.confidence, **asdict(row.place)}


def _says(stated: Stated, fact: dict[str, Any]) -> bool:
    """Return whether a statement repeats a fact, at the place that states the fact."""
    place = stated.place
    return (
        place.document_id == fact["document_id"]
        and place.span_start < fact["span_end"]
        and fact["span_start"] < place.span_end
        and fact["head"] in stated.words
        and fact["tail"] in stated.words
    )


def _choose(con: duckdb.DuckDBPyConnection, wanted: str, graph: str | None) -> dict[str, Any]:
    """Return the entity that is called so; else the one whose name is the same in another spelling.

    Raises NotFoundError if there is none, or no such graph, UsageError if there are several.
    """
    rows = _called(con, wanted, graph)
    values: list[str | int | float] = [normalise_name(wanted), graph or "", LEAST_SIMILAR]
    similar = [] if rows else [row["alias"] for row in _rows(con, _SIMILAR, values)]
    spelling = next((alias for alias in similar if _is_same(alias, wanted)), None)
    if spelling:
        rows = _called(con, spelling, graph)
    if len(rows) == 1:
        return rows[0]
    if rows:
        raise UsageError(_ambiguous(wanted, rows))
    if graph is not None:
        check_graph(con, graph)
    if named := _rows(con, _NAMED_IN, [wanted, MOST_IN_DOCUMENT]):
        listed = "; ".join(row["name"] for row in named)
        raise NotFoundError(f"{wanted!r} is a document, which names above all: {listed}.")
    place = f" in the graph {graph!r}" if graph else ""
    listed = f" Similar names: {'; '.join(similar[:MOST_SIMILAR])}." if similar else ""
    raise NotFoundError(
        f"No entity{place} has the name or the id {wanted!r}.{listed} `almanac search` finds texts "
        "that mention it."
    )


def check_graph(con: duckdb.DuckDBPyConnection, graph: str) -> None:
    """Raise NotFoundError for the name of a graph that the edition does not have."""
    listed = con.execute("select distinct graph from entities order by graph").fetchall()
    if (graph,) not in listed:
        names = ", ".join(name for (name,) in listed) or "none"
        raise NotFoundError(f"There is no graph {graph!r}. The graphs: {names}.")


def _called(con: duckdb.DuckDBPyConnection, wanted: str, graph: str | None) -> list[dict[str, Any]]:
    """Return the entity with this id, else those with this name, else those with this alias."""
    redirected = "entity_id in (select entity_id from entity_redirects where old_entity_id = ?)"
    called = "entity_id in (select entity_id from aliases where"
    for condition in (
        "entity_id = ?",
        redirected,
        "name = ?",
        f"{called} alias = ?)",
        f"{called} lower(alias) = lower(?))",
    ):
        query = f"select {_ENTITY} from entities where {condition} order by entity_id"
        rows = [r for r in _rows(con, query, [wanted]) if graph is None or r["graph"] == graph]
        if rows:
            return rows
    return []


def _is_same(name: str, other: str) -> bool:
    """Return whether two names differ in spelling alone, and not in what stands in parentheses."""
    return normalise_name(name) == normalise_name(other) and (
        disambiguator(name)[1] == disambiguator(other)[1]
    )


def _ambiguous(wanted: str, rows: list[dict[str, Any]]) -> str:
    """Return the message that asks which of several entities is meant."""
    rows = sorted(rows, key=lambda row: -row["mentions"])
    listed = "; ".join(
        f"{row['entity_id']} ({row['name']}, {row['kind']}, graph {row['graph']}{_known_as(row)})"
        for row in rows[:MOST_NAMESAKES]
    )
    more = "" if len(rows) <= MOST_NAMESAKES else f"; and {len(rows) - MOST_NAMESAKES} more"
    return f"{len(rows)} entities have the name {wanted!r}. Give the id of one: {listed}{more}."


def _known_as(row: dict[str, Any]) -> str:
    """Return the beginning of an entity's description, which tells it from its namesakes."""
    words = " ".join((row["description"] or "").split())
    cut = words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]}…"
    return f": {cut}" if cut else ""


def _rows(
    con: duckdb.DuckDBPyConnection, query: str, values: list[str | int | float]
) -> list[dict[str, Any]]:
    """Return the rows of a query as dictionaries."""
    found = con.execute(query, values)  # `sql` with values takes twice as long
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
