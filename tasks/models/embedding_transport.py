"""The transport to an endpoint's embeddings, with the same checks as for chat completions."""

import base64
from typing import Any

import numpy as np
import orjson
from pydantic import BaseModel

from tasks.models.call import MOCK, MOCK_HEADER, CallError, Outcome, RawReply, Request, Sent
from tasks.models.encoders import SINGLE
from tasks.models.endpoint import Endpoint, check_status, count_of, model_in, object_in, usage_in

PURPOSE = "embed"
MOST_DIMENSIONS = 16_384


class Vectors(BaseModel):
    """Vectors in the order of their texts, each as little-endian float32 in base64."""

    vectors: list[str]

    def matrix(self) -> np.ndarray:
        """Return float32 (texts, dimensions)."""
        data = b"".join(base64.b64decode(vector) for vector in self.vectors)
        return np.frombuffer(data, SINGLE).reshape(len(self.vectors), -1)


def embedding_request(texts: list[str], *, sensitive: bool) -> Request:
    """Return a request for the vectors of texts; the ledger does not keep the reply."""
    return Request(
        purpose=PURPOSE,
        prompt_sha="",
        system="",
        user=orjson.dumps(texts).decode(),
        reply=Vectors,
        most_tokens=0,
        sensitive=sensitive,
        kept=False,
    )


class EmbeddingTransport:
    """Sends texts to the embeddings of one endpoint and returns `Vectors`."""

    engine = "openai"

    def __init__(self, endpoint: Endpoint) -> None:
        """Share the endpoint's connections, deadline and key; send nothing yet."""
        self._chat = endpoint
        self.endpoint: str | None = endpoint.endpoint

    async def send(self, sent: Sent) -> RawReply:
        """Return the vectors of the texts in the last message; raise CallError if none arrived."""
        texts = orjson.loads(sent.messages[-1]["content"])
        create = self._chat.client.embeddings.with_streaming_response.create
        status, headers, body = await self._chat.post(create, input=texts, encoding_format="float")
        check_status(status, body, headers)
        value = object_in(body)
        vectors = [base64.b64encode(row.tobytes()).decode() for row in _matrix(value, len(texts))]
        return RawReply(
            text=orjson.dumps({"vectors": vectors}).decode(),
            model=MOCK if headers.get(MOCK_HEADER) == MOCK else model_in(value),
            tokens_in=count_of(usage_in(value).get("prompt_tokens")),
            tokens_out=0,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()


def _matrix(value: dict[str, Any], texts: int) -> np.ndarray:
    """Return float32 (texts, dimensions), ordered by the index of each vector."""
    data = value.get("data")
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise _not_vectors("there are no vectors in it")
    if len(data) != texts:
        raise _not_vectors(f"it holds {len(data)} vectors for {texts} texts")
    by_place = {entry.get("index"): entry.get("embedding") for entry in data}
    if by_place.keys() != set(range(texts)):
        raise _not_vectors("its vectors are not numbered by their texts")
    rows = [by_place[place] for place in range(texts)]
    if not all(_is_vector(row) for row in rows):
        raise _not_vectors("what it holds are not vectors of numbers")
    if len({len(row) for row in rows}) > 1:
        raise _not_vectors("its vectors are not of one length")
    matrix = np.array(rows, np.float64)
    if not (np.abs(matrix) <= np.finfo(np.float32).max).all():
        raise _not_vectors("a number in it is too large")
    return matrix.astype(SINGLE)


def _is_vector(row: Any) -> bool:
    if not isinstance(row, list) or not 0 < len(row) <= MOST_DIMENSIONS:
        return False
    return {type(number) for number in row} <= {int, float}


def _not_vectors(words: str) -> CallError:
    return CallError(Outcome.UNAVAILABLE, f"status 200, but {words}")
