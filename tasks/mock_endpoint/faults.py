"""Decides which requests get a fault, and what is served then instead of the answer.

A file of faults has one JSON object per line: an `id`, and under `serve` either a `status` with
`headers`, a `body` and its type `ctype`, or other `content` than the answer's, or a `delay` of the
answer in seconds. Only the first attempt at a request gets a fault, unless `repeat` is "always".
Faults are drawn by hashes, so that a run can be repeated.
"""

import itertools
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import UsageError
from tasks.mock_endpoint.chat import completion, fraction
from tasks.mock_endpoint.chat_request import ChatRequest
from tasks.mock_endpoint.replies import JSON, Billed, HttpReply, error_reply
from tasks.models.tokens import estimate_tokens

MOST_KEPT = 1_000_000  # requests whose attempts are counted
MOST_BYTES = 1_000_000_000  # of a file of faults
SERVED = ("status", "content", "delay")
DATE = "HTTP-DATE+"


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of a file of faults."""

    id: str
    serve: dict[str, Any]

    @property
    def always(self) -> bool:
        """Whether every attempt gets the fault, not only the first."""
        return self.serve.get("repeat") == "always"


def read_faults(path: Path, served: Collection[str] = SERVED) -> list[Fault]:
    """Return a file's faults; report on standard error those that cannot be served."""
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path} is too large for a file of faults.")
    faults = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = orjson.loads(line)
            fault = Fault(str(entry["id"]), dict(entry["serve"]))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            raise UsageError(
                f"Line {number} of {path} is not a fault: it needs an id and a serve."
            ) from None
        if fault.serve.keys().isdisjoint(served):
            words = f"it has none of {', '.join(served)}"
            print(f"{fault.id} is not served: {words}.", file=sys.stderr, flush=True)
        else:
            faults.append(fault)
    return faults


class Schedule:
    """Draws faults: for a share of the requests, at their first attempt; later ones are clean."""

    def __init__(self, faults: list[Fault], share: float, first: int | None, seed: int) -> None:
        """Begin without having seen any request; `first` limits how many may get a fault."""
        self._faults, self._share, self._first, self._seed = faults, share, first, seed
        self._seen: dict[str, tuple[int, int]] = {}  # each request's number, and its attempts
        self._numbers = itertools.count()

    def draw(self, sha: str) -> tuple[int, Fault | None]:
        """Return the number of this attempt at the request, from 1, and the fault that it gets."""
        known = self._seen.pop(sha) if sha in self._seen else None
        number, attempt = known or (next(self._numbers), 0)
        attempt += 1
        self._seen[sha] = number, attempt
        if len(self._seen) > MOST_KEPT:
            self._seen.pop(next(iter(self._seen)))
        fault = self._fault_of(sha) if self._first is None or number < self._first else None
        return attempt, fault if fault and (attempt == 1 or fault.always) else None

    def _fault_of(self, sha: str) -> Fault | None:
        if not self._faults or fraction(f"{self._seed}/whether/{sha}") >= self._share:
            return None
        return self._faults[int(fraction(f"{self._seed}/which/{sha}") * len(self._faults))]


def faulty_reply(
    fault: Fault, chat: ChatRequest, body: dict[str, Any], billed: Billed
) -> HttpReply:
    """Return the reply served instead of a completion; a fault without an answer costs nothing."""
    serve = fault.serve
    if "content" in serve:
        text = str(serve["content"])
        billed = replace(billed, tokens_out=estimate_tokens(text))
        body = completion(chat, text, "stop", billed)
        reply = HttpReply(body=orjson.dumps(body), billed=billed)
    elif "delay" in serve:
        reply = HttpReply(body=orjson.dumps(body), billed=billed, wait=float(serve["delay"]))
    else:
        reply = _with_status(serve)
    reply.fault = fault.id
    return reply


def _with_status(serve: dict[str, Any]) -> HttpReply:
    status, body = int(serve["status"]), serve.get("body")
    if status == HTTPStatus.NO_CONTENT:
        reply = HttpReply(status)
    elif body is None:
        reply = error_reply(status, f"the mock endpoint serves status {status} on purpose")
    else:
        data, kind = (
            (body.encode(), "text/plain") if isinstance(body, str) else (orjson.dumps(body), JSON)
        )
        reply = HttpReply(status, data, str(serve.get("ctype", kind)))
    for name, value in serve.get("headers", {}).items():
        reply.headers[str(name)] = _header(str(value))
    return reply


def _header(value: str) -> str:
    """Return a header's value; `HTTP-DATE+3` is the date in three seconds."""
    if not value.startswith(DATE):
        return value
    return formatdate(time.time() + float(value.removeprefix(DATE)), usegmt=True)
