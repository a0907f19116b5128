"""Deterministic embeddings: unit vectors made from the hashes of a text's words.

Texts that share words are close to each other; the vectors have no other meaning.
"""

import base64
import hashlib
import re
from functools import lru_cache
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, Field

from tasks.mock_endpoint.replies import Billed, HttpReply, read_body
from tasks.models.tokens import estimate_tokens
from tasks.text.languages import HAN_CLASS

DIMENSIONS = 384
_WORD = re.compile(rf"[^\W_]+|[{HAN_CLASS}]")
Tokens = Annotated[list[int], Field(min_length=1)]
Text = Annotated[str, Field(min_length=1)]


class EmbeddingBody(BaseModel):
    """The body of a request; a list of token ids is treated as a text of their digits."""

    model: str
    input: Text | Tokens | Annotated[list[Text | Tokens], Field(min_length=1, max_length=2048)]
    dimensions: Annotated[int, Field(ge=1, le=4096)] | None = None
    encoding_format: Literal["float", "base64"] | None = None


def embed(body: bytes) -> tuple[str, HttpReply]:
    """Return the requested model and the reply; raise RefusedError for a bad request."""
    request = read_body(EmbeddingBody, body)
    single = isinstance(request.input, str) or isinstance(request.input[0], int)
    given: list[Any] = [request.input] if single else list(request.input)
    texts = [text if isinstance(text, str) else " ".join(map(str, text)) for text in given]
    vectors = (unit_vector(text, request.dimensions or DIMENSIONS) for text in texts)
    if request.encoding_format == "base64":
        vectors = (base64.b64encode(vector.astype("<f4").tobytes()).decode() for vector in vectors)
    data = [
        {"object": "embedding", "index": place, "embedding": vector}
        for place, vector in enumerate(vectors)
    ]
    tokens = sum(map(estimate_tokens, texts))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    value = {"object": "list", "data": data, "model": request.model, "usage": usage}
    encoded = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    return request.model, HttpReply(body=encoded, billed=Billed(tokens))


def unit_vector(text: str, dimensions: int = DIMENSIONS) -> Any:
    """Return a text's vector, float32, of length one: the sum of its words' vectors."""
    import numpy as np

    words = _WORD.findall(text.lower()) or [text]
    total = sum(_word_vector(word, dimensions) for word in words)
    length = float(np.linalg.norm(total)) or 1.0
    return (total / length).astype(np.float32)


@lru_cache(maxsize=20_000)
def _word_vector(word: str, dimensions: int) -> Any:
    import numpy as np

    digest = hashlib.shake_256(word.encode(errors="replace")).digest(dimensions)
    return np.frombuffer(digest, dtype=np.uint8).astype(np.float32) - 127.5
