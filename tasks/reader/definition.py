"""Answer questions that ask who or what something is, by its descriptions."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from schemas.answers import Evidence
from tasks.programs.knowledge_bases.protocol import Place
from tasks.reader.texts import evidence_from
from tasks.retrieval.linked_names import LinkedName
from tasks.retrieval.search import Searcher
from tasks.text.languages import is_chinese, language_of
from tasks.text.question import Question, content_words
from tasks.text.sentences import sentences
from tasks.text.stems import words_of

MOST = 3  # descriptions shown
OPENING = 0.5  # score of the first sentence of a document about it
_ASKING = frozenset(("什么", "谁", "是", "介绍", "一下", "tell", "describ", "explain"))

# Descriptions in the language of the question come first, then those from a document about the
# entity, then the most confident and longest.
_DESCRIPTIONS = """
select d.text, d.document_id, c.uri, d.span_start, d.span_end, d.confidence, d.graph
from descriptions d join entities e using (entity_id)
left join documents c using (document_id)
where d.entity_id = $entity_id and ($all or d.document_id in $documents)
order by (coalesce(c.language, '') = 'zh') = $chinese desc, lower(c.title) = lower(e.name) desc,
         d.confidence desc, length(d.text) desc, d.description_id
limit $most
"""


def name_to_define(question: Question, names: Sequence[LinkedName]) -> LinkedName | None:
    """Return the name in a question that asks for nothing else, such as `Who was Ada Lovelace?`"""
    if len(names) != 1:
        return None
    rest = question.text[: names[0].start] + " " + question.text[names[0].end :]
    rest = rest if is_chinese(rest) else content_words(rest)
    return None if words_of(rest) - _ASKING else names[0]


def describe(
    name: LinkedName,
    question: Question,
    searcher: Searcher,
    con: duckdb.DuckDBPyConnection,
    within: Mapping[str, Any],
) -> list[Evidence]:
    """Return descriptions of a name's usual bearer, best first, else its document's opening.

    Those in the language of the question come first. The usual bearer is the commonest one that
    has descriptions. `within` says whether `all` documents may be cited, or else which.
    """
    values = {"chinese": question.is_chinese, "most": MOST, **within}
    for bearer in name.bearers:
        of_it = {"entity_id": searcher.entity_id(bearer.entity), **values}
        if rows := con.execute(_DESCRIPTIONS, of_it).fetchall():
            return [
                evidence_from(text, "description", Place(*place), confidence, graph)
                for text, *place, confidence, graph in rows
            ]
    return _opening(name, searcher)


def _opening(name: LinkedName, searcher: Searcher) -> list[Evidence]:
    """Return the first sentence of the document about the name, if there is one."""
    hit = searcher.about(name.text)
    if hit is None:
        return []
    text, first = hit.fields["text"], hit.fields["span_start"]
    spans = sentences(text, language_of(text))
    if not spans:
        return []
    start, end = spans[0]
    place = Place(hit.fields["document_id"], hit.fields["uri"], first + start, first + end)
    return [evidence_from(text[start:end], "passage", place, OPENING)]
