"""Vectors of texts, each computed once and journalled under the text's hash."""

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.errors import AlmanacError
from schemas.observations import Vector
from tasks.models.encoders.load import Encoder
from tasks.progress import Report, silent
from warehouse.journal import Journal

BATCH = 512  # texts per commit
HALF, SINGLE = "<f2", "<f4"


class VectorStore:
    """An encoder with a cache: every vector that it computed is kept in the journal.

    Vectors of length one are kept in half precision. An encoder whose vectors may be longer has the
    attribute `stored_as = SINGLE`.
    """

    def __init__(
        self,
        journal: Journal,
        encoder: Encoder,
        report: Report = silent,
    ) -> None:
        """Read nothing yet: the journal's vectors are read at first use."""
        self.journal, self.encoder, self.report = journal, encoder, report
        self.id = encoder.id
        self._form = getattr(encoder, "stored_as", HALF)
        self.computed = 0

    @cached_property
    def _known(self) -> dict[str, bytes]:
        """The vectors that the journal has for this encoder, by the hash of their text."""
        return {
            row["text_sha"]: row["vector"]
            for table in self.journal.tables(Vector)
            for row in self._own(table)
        }

    @property
    def dimensions(self) -> int:
        """The length of the encoder's vectors; an endpoint is called to find it out."""
        return self.encoder.dimensions

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return (n, dimensions) float32; new vectors are computed and journalled in batches."""
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        todo = sorted(new.items())
        for start in range(0, len(todo), BATCH):
            batch = todo[start : start + BATCH]
            vectors = self.encoder.encode([text for _, text in batch]).astype(self._form)
            self._check_length(vectors)
            rows = [
                {"encoder": self.encoder.id, "text_sha": key, "vector": vector.tobytes()}
                for (key, _), vector in zip(batch, vectors, strict=True)
            ]
            table = Vector.to_table(rows)
            self.journal.append({Vector: table})
            self._known.update({row["text_sha"]: row["vector"] for row in self._own(table)})
            self.computed += len(batch)
            self.report("embed", min(start + BATCH, len(todo)), len(todo))
        if not keys:
            return np.zeros((0, self.dimensions), np.float32)
        data = b"".join(self._known[key] for key in keys)
        return np.frombuffer(data, self._form).astype(np.float32).reshape(len(keys), -1)

    def _check_length(self, vectors: np.ndarray) -> None:
        """Raise AlmanacError if vectors differ in length from those in the journal."""
        known = next(iter(self._known.values()), None)
        if known is not None and len(known) != vectors[0].nbytes:
            raise AlmanacError(
                f"The encoder {self.id} gives vectors of another length than it did before. Put "
                "the former model behind that name again, or give the new one a name of its own."
            )

    def _own(self, table: pa.Table) -> list[dict[str, Any]]:
        return [row for row in table.to_pylist() if row["encoder"] == self.encoder.id]
