"""An endpoint's embeddings as an encoder, for models whose hidden states are not accessible."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from schemas.errors import AlmanacError
from schemas.settings import ModelSettings
from tasks.models.call import Outcome
from tasks.models.client import BlockingClient, ModelClient
from tasks.models.embedding_transport import EmbeddingTransport, Vectors, embedding_request
from tasks.models.encoders import SINGLE
from tasks.models.endpoint import Endpoint
from warehouse.home import Home

TEXTS_A_CALL = 32
SHORTEST = 64  # characters; a text that is still too long is given up
NOTHING = "."  # stands for a text without words, which endpoints refuse


class EndpointEncoder:
    """Encodes texts by one model of the configured endpoint, through the model client.

    The client handles limits, pauses, deadlines, retries, the budget and the records in
    `model_calls`. A text that is too long for the model is cut to its beginning. The id names host
    and model; a new model under the same name is not noticed.
    """

    stored_as = SINGLE  # not every endpoint's vectors have length one

    def __init__(self, model: str, settings: ModelSettings, home: Home, run_id: str) -> None:
        """Open the endpoint that the settings name; send nothing yet."""
        settings = settings.model_copy(update={"name": model, "batch": False})
        self._transport = EmbeddingTransport(Endpoint(settings))
        self._home, self._width = home, settings.concurrency
        self._model = BlockingClient(ModelClient(self._transport, settings, home.ledger, run_id))
        self.id = f"endpoint-{self._transport.endpoint}-{model}"

    @cached_property
    def dimensions(self) -> int:
        """The length of the vectors, found out by requesting one."""
        return int(self.encode([NOTHING]).shape[1])

    def encode(self, texts: list[str], *, sensitive: bool = False) -> np.ndarray:
        """Return float32 (texts, dimensions), each row made from its text only.

        Raises UsageError for sensitive texts unless the settings allow sending them to the
        endpoint, and AlmanacError if the endpoint returns no vectors.
        """
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        valid = [_valid(text) for text in texts]
        batches = [valid[n : n + TEXTS_A_CALL] for n in range(0, len(valid), TEXTS_A_CALL)]
        try:
            with ThreadPoolExecutor(min(self._width, len(batches))) as pool:
                parts = list(pool.map(lambda batch: self._vectors(batch, sensitive), batches))
        finally:
            self._home.ledger.seal()
        if len({part.shape[1] for part in parts}) > 1:
            raise AlmanacError(f"{self.id} gives vectors of several lengths; use another model.")
        return np.concatenate(parts)

    def close(self) -> None:
        """Close the connections."""
        self._model.__exit__()

    def _vectors(self, texts: Sequence[str], sensitive: bool) -> np.ndarray:
        """Return the vectors of a batch; if it is too long, halve it, or cut a single text."""
        answer = self._model.ask(embedding_request(list(texts), sensitive=sensitive))
        if isinstance(answer.reply, Vectors):
            return answer.reply.matrix()
        if answer.outcome is Outcome.TOO_LONG and len(texts) > 1:
            half = len(texts) // 2
            parts = (texts[:half], texts[half:])
            return np.concatenate([self._vectors(part, sensitive) for part in parts])
        if answer.outcome is Outcome.TOO_LONG and len(texts[0]) > SHORTEST:
            return self._vectors([texts[0][: len(texts[0]) // 2]], sensitive)
        raise AlmanacError(
            f"{self.id} gave no vectors ({answer.detail}). Check that the endpoint serves "
            "/embeddings for this model, or choose another encoder."
        )


def _valid(text: str) -> str:
    """Return a text that endpoints accept: without lone surrogates, and not empty."""
    return text.encode(errors="replace").decode() if text.strip() else NOTHING
