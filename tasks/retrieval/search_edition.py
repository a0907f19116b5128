"""Search an edition's texts for some words: the best passages and notes."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.documents import Document, remembered_on
from schemas.errors import UsageError
from schemas.knowledge import Entity
from schemas.settings import EngineSettings
from tasks.models.encoders.load import load_encoder
from tasks.retrieval.search import Hit, Searcher
from tasks.text.question import LONGEST_QUESTION, analyse
from warehouse.editions import Edition
from warehouse.where import documents_where


def search(
    edition: Edition,
    words: str,
    settings: EngineSettings,
    *,
    limit: int = 8,
    where: str | None = None,
) -> list[dict[str, Any]]:
    """Return the passages, then the notes, that match the words best, each with its source.

    Each kind is sorted by score, best first. Scores lie between 0 and 1 and are comparable within
    one kind only. What is merely nearest is no match: it is left out, but for passages to which
    the graph leads from a match or from a name. With `where`, a condition on documents
    (`warehouse.where`), texts of those that meet it are found. Raises UsageError for no
    words, too many, a limit below 1, or a condition that does not parse, and DamageError if the
    edition's index does not match its manifest.
    """
    checked_search(words, limit)
    searcher = open_searcher(edition, settings)
    return search_opened(edition, searcher, words, limit=limit, where=where)


def checked_search(words: str, limit: int) -> str:
    """Return the words without space around; raise UsageError for none, too many, or a limit."""
    words = words.strip()
    if not words or len(words) > LONGEST_QUESTION:
        raise UsageError(f"Search for between 1 and {LONGEST_QUESTION} characters.")
    if limit < 1:
        raise UsageError("The limit of a search is 1 or more.")
    return words


def open_searcher(edition: Edition, settings: EngineSettings) -> Searcher:
    """Return the search over an edition, with its encoders; raise AlmanacError if it is unfit."""
    edition.check_version()
    edition.check(f"{Entity.table}.parquet", "search/")
    return Searcher(
        edition.path,
        load_encoder(settings.encoder),
        load_encoder(settings.chinese_encoder),
    )


def search_opened(
    edition: Edition, searcher: Searcher, words: str, *, limit: int = 8, where: str | None = None
) -> list[dict[str, Any]]:
    """Return what `search` does, by a searcher open on the edition; one thread at a time."""
    question = analyse(checked_search(words, limit))
    if where is not None:
        searcher = searcher.within(documents_where(edition, where))
    names = searcher.link(question)
    matched = names or any(hit.matches for hit in searcher.alike(question, 1))
    found = searcher.union(question, limit, names) if matched else []
    passages = [_row("passage", hit) for hit in found]
    notes = [_row("note", hit) for hit in searcher.notes(question, limit) if hit.matches]
    hits = passages + notes
    found_in = [hit["document_id"] for hit in hits if hit["document_id"]]
    documents = pq.read_table(
        edition.path / f"{Document.table}.parquet",
        columns=["document_id", "uri", "source", "read_at"],
        filters=pc.field("document_id").isin(pa.array(found_in, pa.string())),
    )
    places = {
        row["document_id"]: {
            "uri": row["uri"],
            "remembered": remembered_on(row["source"], row["read_at"]),
        }
        for row in documents.to_pylist()
    }
    nowhere = {"uri": None, "remembered": None}
    return [hit | places.get(hit["document_id"], nowhere) for hit in hits]


def _row(kind: str, hit: Hit) -> dict[str, Any]:
    fields = hit.fields
    return {
        "kind": fields.get("kind", kind),
        "title": fields.get("title") or fields.get("entity", ""),
        "text": fields["text"],
        "document_id": fields["document_id"],
        "span_start": fields["span_start"],
        "span_end": fields["span_end"],
        "score": round(hit.score, 4),
    }
