"""Values of other texts that contradict an answer from the corpus."""

from contextlib import suppress

import duckdb

from schemas.answers import Answer
from schemas.knowledge import CORPUS
from warehouse.editions import Edition

_OTHERS = """
select distinct other.tail, other.uri
from mentions m
join conflicts given on given.triple_id = m.fact_id
join conflicts other using (head_id, relation)
where m.fact_kind = 'triple' and m.document_id = $document
  and m.span_start < $end and m.span_end > $start
  and contains(lower($answer), lower(given.tail))
  and not contains(lower($answer), lower(other.tail))
order by all
"""


def other_values(edition: Edition, answer: Answer) -> list[tuple[str, str]]:
    """Return the values, with their sources, that contradict the fact behind an answer.

    An edition of an older version may lack the tables that tell.
    """
    place = answer.evidence[0] if answer.answer and answer.evidence else None
    if place is None or place.graph != CORPUS or place.document_id is None:
        return []
    values = {
        "answer": answer.answer,
        "document": place.document_id,
        "start": place.span_start,
        "end": place.span_end,
    }
    with edition.connect() as con, suppress(duckdb.CatalogException, duckdb.BinderException):
        return con.execute(_OTHERS, values).fetchall()
    return []
