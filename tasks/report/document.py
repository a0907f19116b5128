"""A document as a page: its text, with everything that was understood marked where it stands."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import duckdb

from schemas.documents import REMEMBERED, cited_as
from schemas.errors import NotFoundError
from tasks.report.links import PART_CHARS, Links
from tasks.report.templates import page

# In the order in which a mark shows them where several begin and end together.
KINDS = ("triple", "description", "alias", "aspect", "statement")

DOCUMENTS = f"""
select document_id, source, uri, {REMEMBERED}, title, language, text, words, read_at,
       near_duplicate_of
from documents
"""
PASSAGES = "select document_id, span_start, span_end, headings, page from passages"
# What was understood, in one shape: what it is about, how it relates, and to what.
FINDINGS = """
with stated as (
    select m.document_id, m.fact_kind as kind, m.fact_id, m.span_start, m.span_end, m.confidence,
           t.head_id, t.head, t.relation, t.graph, t.tail_id, t.tail,
           concat_ws(', ', nullif(t.polarity, 'positive'), nullif(t.modality, 'asserted')) as manner
    from mentions m join triples t on m.fact_kind = 'triple' and m.fact_id = t.triple_id
    union all
    select m.document_id, m.fact_kind, m.fact_id, m.span_start, m.span_end, m.confidence,
           d.entity_id, d.entity, null, d.graph, null, d.text, ''
    from mentions m join descriptions d
        on m.fact_kind = 'description' and m.fact_id = d.description_id
    union all
    select m.document_id, m.fact_kind, m.fact_id, m.span_start, m.span_end, m.confidence,
           a.entity_id, a.entity, a.aspect, a.graph, null, a.text, ''
    from mentions m join aspects a on m.fact_kind = 'aspect' and m.fact_id = a.aspect_id
    union all
    select m.document_id, m.fact_kind, m.fact_id, m.span_start, m.span_end, m.confidence,
           e.entity_id, e.name, null, e.graph, null, split_part(m.stated, ' = ', 2), ''
    from mentions m join entities e on m.fact_kind = 'alias' and m.fact_id = e.entity_id
    union all
    select document_id, 'statement', statement_id, span_start, span_end, confidence,
           subject_id, subject, predicate, 'corpus', null,
           concat_ws(', ', nullif(object, ''), nullif(array_to_string(arguments, ', '), '')),
           concat_ws(', ', nullif(polarity, 'positive'), nullif(modality, 'asserted'))
    from statements
)
select * from stated
"""
IN_TEXT = "span_start, span_end desc, kind, fact_id"


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """A row of `DOCUMENTS` with its rows of `PASSAGES` and `FINDINGS`, in the order of the text."""

    document: dict[str, Any]
    passages: Sequence[dict[str, Any]]
    findings: Sequence[dict[str, Any]]

    @property
    def parts(self) -> int:
        """The number of pages that the text needs."""
        return max(1, -(-len(self.document["text"]) // PART_CHARS))


def document_rows(con: duckdb.DuckDBPyConnection, document_id: str) -> DocumentRows:
    """Return the rows of one document; raise NotFoundError if there is none with this id."""

    def rows(query: str, order: str = "document_id") -> list[dict[str, Any]]:
        # Both are constants of the program.
        found = con.sql(f"{query} where document_id = ? order by {order}", params=[document_id])
        listed: list[dict[str, Any]] = found.to_arrow_table().to_pylist()
        return listed

    documents = rows(DOCUMENTS)
    if not documents:
        raise NotFoundError(f"The edition has no document {document_id!r}; `documents` has them.")
    return DocumentRows(documents[0], rows(PASSAGES, "span_start"), rows(FINDINGS, IN_TEXT))


def document_page(rows: DocumentRows, links: Links, part: int = 0) -> str:
    """Return the page with a part of a document, from 0."""
    document = rows.document
    return page(
        "document.html",
        links,
        title=document["title"] or cited_as(document["uri"], document["remembered"]),
        here="documents",
        document=document,
        sections=list(_sections(rows, part * PART_CHARS, (part + 1) * PART_CHARS)),
        part=part,
        parts=rows.parts,
        part_chars=PART_CHARS,
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters of the text with the same findings, the closest first.

    `start` is given where a finding begins: the place that links lead to.
    """

    text: str
    start: int | None
    findings: list[dict[str, Any]]

    @property
    def kinds(self) -> str:
        """The kinds of its findings."""
        return " ".join(sorted({finding["kind"] for finding in self.findings}))


@dataclass(frozen=True, slots=True)
class Section:
    """A passage, or text between passages: `blocks` of pieces; a block with findings is a clause.

    `findings` are those to list beside it, each once.
    """

    headings: str
    page: int | None
    blocks: list[list[Piece]]
    findings: list[dict[str, Any]]


def _sections(rows: DocumentRows, start: int, end: int) -> Iterator[Section]:
    """Yield what overlaps a range of the text; a passage at its border stands on both pages."""
    text = rows.document["text"]
    findings = [row for row in rows.findings if row["span_end"] > row["span_start"]]
    spans = [p for p in rows.passages if p["span_start"] < end and p["span_end"] > start]
    place = min([start, *(p["span_start"] for p in spans)])
    for passage in spans:
        gap = text[place : passage["span_start"]]
        if gap.strip(" \n#") not in ("", rows.document["title"]):  # which the page has above
            yield Section("", None, [[Piece(gap, None, [])]], [])
        within = _overlapping(findings, passage["span_start"], passage["span_end"])
        listed, numbered = _numbered(within, passage["span_start"])
        begin = max(place, passage["span_start"])
        blocks = list(_blocks(text, begin, passage["span_end"], numbered))
        yield Section(passage["headings"], passage["page"], blocks, listed)
        place = passage["span_end"]
    rest = text[place:end]
    if rest.strip():
        yield Section("", None, [[Piece(rest, None, [])]], [])


def _overlapping(findings: Iterable[dict[str, Any]], start: int, end: int) -> list[dict[str, Any]]:
    return [row for row in findings if row["span_start"] < end and row["span_end"] > start]


def _numbered(
    findings: Iterable[dict[str, Any]], start: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the facts among a passage's findings, each once, and the findings, with `anchor`.

    It is the fragment at which the fact is listed; statements are not listed.
    """
    listed: dict[tuple[str, str, str], dict[str, Any]] = {}
    numbered = []
    for row in findings:
        key = row["kind"], row["fact_id"], row["tail"]
        known = listed.get(key)
        row = row | {"anchor": known["anchor"] if known else f"f{start}-{len(listed)}"}
        if row["kind"] != "statement":
            listed.setdefault(key, row)
        numbered.append(row)
    return list(listed.values()), numbered


def _blocks(
    text: str, start: int, end: int, findings: Sequence[dict[str, Any]]
) -> Iterator[list[Piece]]:
    """Yield a passage's pieces; those of spans that overlap, notes apart, stand in one block."""
    begins = {start} | {row["span_start"] for row in findings}
    cuts = {end} | begins | {row["span_end"] for row in findings}
    block: list[Piece] = []
    inside = False
    for left, right in pairwise(sorted(cut for cut in cuts if start <= cut <= end)):
        covering = sorted(_overlapping(findings, left, right), key=_closeness)
        clause = any(row["kind"] != "aspect" for row in covering)
        goes_on = any(row["span_start"] < left and row["kind"] != "aspect" for row in covering)
        if block and not (clause and inside and goes_on):
            yield block
            block = []
        piece = text[left:right]
        shown = covering if piece.strip() else []  # a link must have words
        block.append(Piece(piece, left if left in begins else None, shown))
        inside = clause
    if block:
        yield block


def _closeness(row: dict[str, Any]) -> tuple[int, int]:
    return KINDS.index(row["kind"]), row["span_end"] - row["span_start"]
