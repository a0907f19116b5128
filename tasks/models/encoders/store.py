"""Vectors of texts, each computed once and journalled under the text's hash."""

import hashlib
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.errors import AlmanacError
from schemas.observations import Vector
from tasks.models.encoders import HALF
from tasks.models.encoders.load import Encoder, load_encoder
from tasks.progress import Each, Report, silent
from warehouse.journal import Journal

TEXTS_A_COMMIT = 512
BATCH_ELSEWHERE = 64  # texts, so that all workers end at about the same time
Text = tuple[str, str]  # the hash of a text, and the text


def encode_elsewhere(name: str, texts: list[Text]) -> tuple[list[str], np.ndarray]:
    """Return the keys of texts and their vectors in half precision, in another process."""
    encoder = _loaded(name)
    assert encoder is not None  # no texts are sent to none
    vectors = encoder.encode([text for _, text in texts]).astype(HALF)
    return [key for key, _ in texts], vectors


_loaded = lru_cache(maxsize=2)(load_encoder)


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
        each: Each | None = None,
        name: str = "",
    ) -> None:
        """Read nothing yet: the journal's vectors are read at first use.

        `each` decides where new vectors are computed, by the encoder of the `name` in a setting.
        """
        self.journal, self.encoder, self.report = journal, encoder, report
        self._each, self._name = each, name
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
        done, todo = 0, sorted(new.items())
        for vectors in self._computed(todo):
            self._check_length(vectors)
            rows = [
                {"encoder": self.encoder.id, "text_sha": key, "vector": vector.tobytes()}
                for key, vector in vectors
            ]
            table = Vector.to_table(rows)
            self.journal.append({Vector: table})
            self._known.update({row["text_sha"]: row["vector"] for row in self._own(table)})
            done += len(vectors)
            self.report("embed", done, len(todo))
        self.computed += done
        if not keys:
            return np.zeros((0, self.dimensions), np.float32)
        data = b"".join(self._known[key] for key in keys)
        return np.frombuffer(data, self._form).astype(np.float32).reshape(len(keys), -1)

    def _computed(self, todo: list[Text]) -> Iterator[list[tuple[str, np.ndarray]]]:
        """Yield the vectors of new texts in lists, one for each commit."""
        if self._each is None or len(todo) < TEXTS_A_COMMIT:
            for start in range(0, len(todo), TEXTS_A_COMMIT):
                batch = todo[start : start + TEXTS_A_COMMIT]
                vectors = self.encoder.encode([text for _, text in batch]).astype(self._form)
                yield [(key, vector) for (key, _), vector in zip(batch, vectors, strict=True)]
            return
        starts = range(0, len(todo), BATCH_ELSEWHERE)
        batches = ((self._name, todo[start : start + BATCH_ELSEWHERE]) for start in starts)
        waiting: list[tuple[str, np.ndarray]] = []
        for keys, vectors in self._each(encode_elsewhere, batches):
            waiting += zip(keys, vectors, strict=True)
            if len(waiting) >= TEXTS_A_COMMIT:
                yield waiting
                waiting = []
        if waiting:
            yield waiting

    def _check_length(self, vectors: list[tuple[str, np.ndarray]]) -> None:
        """Raise AlmanacError if vectors differ in length from those in the journal."""
        known = next(iter(self._known.values()), None)
        if known is not None and len(known) != vectors[0][1].nbytes:
            raise AlmanacError(
                f"The encoder {self.id} gives vectors of another length than it did before. Put "
                "the former model behind that name again, or give the new one a name of its own."
            )

    def _own(self, table: pa.Table) -> list[dict[str, Any]]:
        return [row for row in table.to_pylist() if row["encoder"] == self.encoder.id]
