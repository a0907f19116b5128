"""What the documents of an edition say about themselves: where they are, their dates, authors."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq

from schemas.answers import Evidence
from schemas.documents import Document, remembered_on

SENSITIVE = "sensitive"
_COLUMNS = [
    "document_id", "uri", "title", "sensitivity", "page_starts", "metadata", "source", "read_at",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A document's location and title, when and by whom it was written, where its pages begin.

    `remembered` is the day on which the user had it remembered, if it is such a note.
    """

    uri: str
    title: str
    date: str | None
    author: str | None
    sensitive: bool
    page_starts: Sequence[int] = ()
    remembered: str | None = None
    subtitle: str = ""

    @property
    def named(self) -> str:
        """Its title and subtitle: `Policy 14: Travel` where the one alone says little."""
        return ": ".join(filter(None, (self.title, self.subtitle)))

    def page(self, start: int | None) -> int | None:
        """Return the page on which a character stands; None in a text without pages."""
        return (bisect_right(self.page_starts, start) or None) if start is not None else None


class Documents:
    """Looks documents up by their ids; what was looked up is kept."""

    def __init__(self, edition: Path, listed: Collection[str] | None = None) -> None:
        """Take an edition's folder, and the ids of documents with titles to list; reads nothing."""
        self._path = edition / f"{Document.table}.parquet"
        self._listed = listed
        self._known: dict[str, DocumentFacts] = {}

    def about(self, ids: Collection[str]) -> dict[str, DocumentFacts]:
        """Return what the documents with these ids say about themselves."""
        new = [one for one in ids if one not in self._known]
        if new:
            of_these = [("document_id", "in", new)]
            rows = pq.read_table(self._path, columns=_COLUMNS, filters=of_these)
            self._known |= {row["document_id"]: _facts(row) for row in rows.to_pylist()}
        return {one: self._known[one] for one in ids if one in self._known}

    def titles(self, most: int, *, open_only: bool) -> list[tuple[str, str | None]]:
        """Return the documents' titles and dates, by date; none if there are more than `most`.

        With `open_only`, those of sensitive documents are left out.
        """
        file = pq.ParquetFile(self._path)
        if file.metadata.num_rows > most:
            return []
        rows = file.read(columns=_COLUMNS).to_pylist()
        if self._listed is not None:
            rows = [row for row in rows if row["document_id"] in self._listed]
        facts = map(_facts, rows)
        named = {
            (one.named or one.uri, one.date) for one in facts if not (open_only and one.sensitive)
        }
        return sorted(named, key=lambda pair: (pair[1] or "", pair[0]))

    def completed(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        """Return evidence with page, author, date, and when it was remembered, if known."""
        known = self.about({place.document_id for place in evidence if place.document_id})
        return [
            place.model_copy(
                update={
                    "page": facts.page(place.span_start),
                    "author": facts.author,
                    "date": facts.date,
                    "remembered": facts.remembered,
                }
            )
            if (facts := known.get(place.document_id or ""))
            else place
            for place in evidence
        ]


def _facts(row: dict[str, Any]) -> DocumentFacts:
    metadata = orjson.loads(row["metadata"] or "{}")
    return DocumentFacts(
        row["uri"] or "",
        row["title"] or "",
        metadata.get("modified") or metadata.get("date"),
        metadata.get("author"),
        row["sensitivity"] == SENSITIVE,
        row["page_starts"] or (),
        remembered_on(row["source"], row["read_at"]),
        metadata.get("subtitle") or "",
    )
