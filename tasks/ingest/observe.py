"""Collect the rows of a scan and journal them in whole commits."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson

from schemas.observations import ContainerRead, Content, Read, Scan
from schemas.operations import Rejection
from schemas.row import Row
from tasks.ingest.formats.inputs import Item, Listing, ReadText, Refusal
from warehouse.home import Home
from warehouse.live import record_all

BATCH_CHARS = 4_000_000  # text journalled in one commit
BATCH_ROWS = 256


def metadata_json(text: ReadText) -> str | None:
    """Return a text's metadata as JSON for the journal, None if it has none."""
    return orjson.dumps(text.metadata).decode() if text.metadata else None


class Observations:
    """The rows of one scan of one source, until they are journalled."""

    def __init__(
        self,
        home: Home,
        run_id: str,
        listing: Listing,
        sensitivity: str,
        labels: list[str] | None = None,
    ) -> None:
        """Start collecting the rows of a scan, which gives the source labels unless it is None."""
        self.home, self.run_id, self.listing, self.sensitivity = home, run_id, listing, sensitivity
        self.labels = labels
        self.scan_id = uuid4().hex
        self._rows: dict[type[Row], list[dict[str, Any]]] = {}
        self._chars = 0

    def ingested(self, text: ReadText, item: Item, content_id: str) -> None:
        """Note that an input holds this text."""
        self._read(
            text.uri,
            item.uri,
            outcome="ingested",
            version=text.version,
            sha256=text.sha256,
            content_id=content_id,
            metadata=metadata_json(text),
        )

    def refused(self, refusal: Refusal, item: Item) -> None:
        """Note that an input was refused, so that its earlier text no longer counts."""
        self._read(
            refusal.uri,
            item.uri,
            outcome="refused",
            reason=str(refusal.reason),
            sha256=refusal.sha256,
        )

    def removed(self, uri: str, container: str, reason: str, version: str = "") -> None:
        """Note that an input is gone, since a version of a change feed or whatever the version."""
        self._read(uri, container, outcome="removed", reason=reason, version=version)

    def _read(self, uri: str, container: str, **values: Any) -> None:
        row = {
            "source": self.listing.source,
            "uri": uri,
            "container": container,
            "version": "",
            "sha256": "",
            "sensitivity": self.sensitivity,
            "run_id": self.run_id,
            "scan_id": self.scan_id,
            "read_at": datetime.now(UTC),
            **values,
        }
        self._add(Read, row)

    def content(self, content_id: str, text: ReadText) -> None:
        """Note a text that no input held before."""
        row = {
            "content_id": content_id,
            "title": text.title,
            "language": text.language,
            "text": text.text,
            "words": text.words,
            "minhash": text.minhash,
            "page_starts": text.page_starts,
        }
        self._add(Content, row)
        self._chars += len(text.text)

    def rejection(self, refusal: Refusal) -> None:
        """Note for users that an input was refused, and why."""
        row = {
            "run_id": self.run_id,
            "stage": "read",
            "item_id": refusal.uri,
            "reason": str(refusal.reason),
            "detail": f"{refusal.uri} in {self.listing.source}: {refusal.text}",
            "text": refusal.text,
            "rejected_at": datetime.now(UTC),
        }
        self._add(Rejection, row)

    def container(
        self, container: str, outcome: str, fingerprint: str = "", records: int = 0
    ) -> None:
        """Note that a file was `read` to its end, or that a complete scan no longer lists it.

        Without a fingerprint it will be read again.
        """
        row = {
            "source": self.listing.source,
            "container": container,
            "fingerprint": fingerprint,
            "records": records,
            "outcome": outcome,
            "run_id": self.run_id,
            "scan_id": self.scan_id,
        }
        self._add(ContainerRead, row)

    def scanned(self) -> None:
        """Note that the scan is complete and journal all that is left of it."""
        row = {
            "scan_id": self.scan_id,
            "run_id": self.run_id,
            "source": self.listing.source,
            "complete": self.listing.complete,
            "items": len(self.listing.items),
            "error": self.listing.error,
            "sensitivity": self.sensitivity,
            "labels": self.labels,
            "scanned_at": datetime.now(UTC),
        }
        self._add(Scan, row)
        self.commit()

    def commit_if_large(self) -> None:
        """Journal the collected rows once there are enough for a commit."""
        if self._chars >= BATCH_CHARS or max(map(len, self._rows.values()), default=0) > BATCH_ROWS:
            self.commit()

    def commit(self) -> None:
        """Journal the collected rows; refusals go to the live records, which users read."""
        record_all(self.home.live, {Rejection: self._rows.pop(Rejection, [])})
        if reads := self._rows.pop(Read, None):  # of several in one commit none would be the last
            self._rows[Read] = list({row["uri"]: row for row in reads}.values())
        self.home.journal.append({row: row.to_table(rows) for row, rows in self._rows.items()})
        self._rows, self._chars = {}, 0

    def _add(self, row: type[Row], values: Mapping[str, Any]) -> None:
        self._rows.setdefault(row, []).append(dict(values))
