"""Replies of the endpoint, errors among them, and request bodies that are checked."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

JSON = "application/json"


@dataclass(slots=True)
class RequestSummary:
    """What the ledger records about a request for an answer."""

    purpose: str | None = None
    sha: str | None = None
    first_sha: str | None = None
    attempt: int | None = None
    model: str | None = None


@dataclass(slots=True)
class Billed:
    """The cost of a reply in tokens, and the kinds of instructions in the text that it obeyed."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    obeyed: list[str] | None = None  # None where instructions in texts are not obeyed


@dataclass(slots=True)
class HttpReply:
    """One reply; `connection_fault` says what goes wrong while it is sent.

    `wait` seconds pass before it is sent; a watched reply is sent only if its client still waits.
    """

    status: int = 200
    body: bytes | AsyncIterator[bytes] = b""
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    billed: Billed = field(default_factory=Billed)
    fault: str | None = None
    connection_fault: dict[str, Any] | None = None
    wait: float = 0.0
    watched: bool = True


def json_reply(value: Any, status: int = 200) -> HttpReply:
    """Return a reply with one JSON value."""
    return HttpReply(status, orjson.dumps(value))


def error_reply(
    status: int, message: str, code: str | None = None, param: str | None = None
) -> HttpReply:
    """Return an error in the form that OpenAI's clients read."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    error = {"message": message, "type": kind, "param": param, "code": code}
    return json_reply({"error": error}, status)


class ApiError(Exception):
    """A request that is answered with an error."""

    def __init__(
        self, status: int, message: str, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.reply = error_reply(status, message, code, param)


Body = TypeVar("Body", bound=BaseModel)


def read_body(model: type[Body], body: bytes | dict[str, Any]) -> Body:
    """Return a JSON body as its model describes it; raise RefusedError, status 400, otherwise."""
    try:
        return model.model_validate(orjson.loads(body) if isinstance(body, bytes) else body)
    except orjson.JSONDecodeError:
        raise ApiError(400, "the body is not JSON") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        param = str(first["loc"][0]) if first["loc"] else None
        raise ApiError(400, f"{param or 'body'}: {first['msg']}"[:300], param=param) from None
