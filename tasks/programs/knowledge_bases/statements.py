"""Statements of the corpus as facts around the entities that they name.

A statement is weaker than a triple: its ends are phrases, which need not be complete. Statements
that are negated, or whose modality is a wish, a supposition, a report or an obligation, are left
out, and so are those attributed to somebody.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from schemas.documents import REMEMBERED
from tasks.programs.knowledge_bases.protocol import Place
from tasks.retrieval.search import Hit, Searcher
from tasks.text.languages import is_chinese
from warehouse.asserted import ASSERTED

MOST_STATEMENTS = 2_000  # around the given entities together
ROWS_AT_ONCE = 5_000  # where all are read
STATEMENT = "statement"
_PREPOSITIONS = frozenset("在于自从由")  # a Chinese place that lacks one gets the first

_STATED = (
    "statement_id", "subject_id", "argument_ids", "subject", "subject_name", "predicate", "object",
    "arguments", "time", "place", "confidence", "passage_id", "document_id", "uri", "span_start",
    "span_end",
)  # fmt: skip
_COLUMNS = f"""s.statement_id, s.subject_id, s.argument_ids, s.subject, s.subject_name, s.predicate,
       s.object, s.arguments, s."time", s.place, s.confidence, s.passage_id,
       s.document_id, d.uri, s.span_start, s.span_end, {REMEMBERED}"""
# A statement with a clause that is negated, not asserted, or attributed is left out.
_DOUBTFUL = """doubtful as (
    select document_id, span_start, span_end from clauses
    where polarity = 'negative' or attribution <> ''
        or modality in ('reported', 'supposed', 'asked')
)"""
_UNDOUBTED = """left join documents d using (document_id)
anti join doubtful u
    on s.document_id = u.document_id and s.span_start <= u.span_start and u.span_end <= s.span_end
"""
_AROUND = f"""
with around as (
    from clauses
    where polarity = 'positive' and modality = 'asserted' and attribution = ''
      and (list_contains($entities, subject_id) or list_has_any(argument_ids, $entities))
      and ($all or sensitivity = 'normal')
    order by confidence desc, statement_id
    limit $most
),
{_DOUBTFUL}
select {_COLUMNS}
from around s
{_UNDOUBTED}
order by s.confidence desc, s.statement_id
"""
# The same for every entity at once: sorted, so that they are read a group at a time.
_ALL = f"""
with linked as (
    select unnest(list_distinct(list_append(argument_ids, subject_id))) as entity_id, s.*
    from asserted_statements s
    where attribution = '' and confidence >= $least
),
{_DOUBTFUL}
select md5(s.entity_id), {_COLUMNS}
from linked s
{_UNDOUBTED}
where s.entity_id is not null
order by md5(s.entity_id), s.confidence desc, s.statement_id
"""
_DOUBTS = frozenset({"reported", "supposed", "asked"})


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement; in `subject`, a pronoun is replaced by the name that it stands for.

    `complements` are the object, the further arguments, time and place. `rest` is their text (in
    Chinese the object alone, if there is one), and `words` is the whole statement as a sentence.
    """

    statement_id: str
    subject_id: str | None
    argument_ids: list[str]
    subject: str
    predicate: str
    object: str
    complements: list[str]
    rest: str
    words: str
    confidence: float
    passage_id: str
    place: Place


def statements_around(
    con: duckdb.DuckDBPyConnection, entity_ids: Sequence[str], *, everything: bool
) -> Iterator[Stated]:
    """Yield the statements that name any of the entities, by decreasing confidence.

    Without `everything`, statements of sensitive passages are withheld.
    """
    values = {"entities": list(entity_ids), "all": everything, "most": MOST_STATEMENTS}
    yield from map(_stated, con.execute(_AROUND, values).fetchall())


def statements_of_all(con: duckdb.DuckDBPyConnection, least: float) -> Iterator[tuple[str, Stated]]:
    """Yield each statement beside the MD5 of the id of each entity that it names, in its order.

    `least` is the least confidence. Of an entity, the most confident statements come first.
    """
    found = con.execute(_ALL, {"least": least})
    while rows := found.fetchmany(ROWS_AT_ONCE):
        yield from ((row[0], _stated(row[1:])) for row in rows)


def statements_in(searcher: Searcher, hits: Iterable[Hit]) -> Iterator[tuple[Stated, Hit]]:
    """Yield the asserted statements of passages, each with its passage."""
    for hit in hits:
        rows = searcher.stated(hit.row)
        doubtful = [
            (row["span_start"], row["span_end"])
            for row in rows
            if row["polarity"] == "negative" or row["attribution"] or row["modality"] in _DOUBTS
        ]
        for row in rows:
            asserted = all(row[column] == value for column, value in ASSERTED.items())
            if asserted and not row["attribution"]:
                fields = row | {"uri": hit.fields["uri"]}
                stated = _stated(tuple(fields[name] for name in _STATED))
                if not _holds(stated.place, doubtful):
                    yield stated, hit


def _holds(place: Place, clauses: Iterable[tuple[int, int]]) -> bool:
    """Return whether a place contains any of the clauses."""
    return any(place.span_start <= start and end <= place.span_end for start, end in clauses)


def _stated(row: tuple[Any, ...]) -> Stated:
    statement_id, subject_id, argument_ids, subject, name, predicate, object_, arguments = row[:8]
    time, place, confidence, passage_id, *where = row[8:]
    subject = subject if name in subject else name
    predication = " ".join((predicate, object_, *arguments))
    aside = [phrase for phrase in (time, place) if phrase and phrase not in predication]
    complements = [phrase for phrase in (object_, *arguments, *aside) if phrase]
    if is_chinese(predication):
        if place in aside and place[:1] not in _PREPOSITIONS:
            aside[-1] = f"在{place}"
        rest = object_ or "".join([*aside, *arguments])
        words = "".join([subject, *aside, *arguments, predicate, object_])
    else:
        rest = " ".join(complements)
        words = f"{subject} {predicate} {rest}"
    return Stated(
        statement_id=statement_id,
        subject_id=subject_id,
        argument_ids=argument_ids or [],
        subject=subject,
        predicate=predicate,
        object=object_,
        complements=complements,
        rest=rest,
        words=words,
        confidence=confidence,
        passage_id=passage_id,
        place=Place(*where),
    )
