"""Errors as problem details (RFC 9457): what went wrong and what to do, without our paths."""

import re
from http import HTTPStatus
from typing import Any

import orjson
from starlette.responses import Response

from schemas.errors import (
    AlmanacError,
    BusyError,
    DamageError,
    HeldError,
    NotFoundError,
    UsageError,
)

RETRY_SECONDS = 2
_STATUS: tuple[tuple[type[AlmanacError], int], ...] = (
    (NotFoundError, HTTPStatus.NOT_FOUND),
    (UsageError, HTTPStatus.BAD_REQUEST),
    (BusyError, HTTPStatus.SERVICE_UNAVAILABLE),
    (HeldError, HTTPStatus.CONFLICT),
)
_PATH = re.compile(r"(?<![\w:.\-/])/(?:[\w.@+-]+/)+[\w.@+-]*")


def problem(
    status: int, detail: str, headers: dict[str, str] | None = None, **more: Any
) -> Response:
    """Return a problem as a response; `more` are members of the object beyond the standard's."""
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": int(status), "detail": detail, **more}
    return Response(
        orjson.dumps(body), status, headers or {}, media_type="application/problem+json"
    )


def status_of(error: AlmanacError) -> int:
    """Return the status for an error: whose fault it is, and whether it passes."""
    return next((int(s) for kind, s in _STATUS if isinstance(error, kind)), _FAILED)


_FAILED = int(HTTPStatus.UNPROCESSABLE_ENTITY)


def words_of(error: AlmanacError) -> str:
    """Return an error's message for somebody elsewhere: places of this machine are left out."""
    if isinstance(error, DamageError):
        return "A file of the almanac is damaged; `almanac doctor` on its machine says which."
    return _PATH.sub("…", str(error))


def problem_of(error: AlmanacError) -> Response:
    """Return an error of ours as a problem."""
    status = status_of(error)
    again = {"Retry-After": str(RETRY_SECONDS)} if isinstance(error, BusyError) else None
    return problem(status, words_of(error), again)
