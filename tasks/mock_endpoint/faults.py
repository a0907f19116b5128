"""Decides which requests get a fault, and serves it.

Faults are drawn by hashes, so that a run can be repeated. A file of faults has one JSON object per
line: `id`, `group` and `serve`, which says what to serve: a status with headers and a body, other
content instead of the answer, or a fault of the connection.
"""

import asyncio
import gzip
import itertools
import socket
import struct
import sys
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import UsageError
from tasks.mock_endpoint.broken_answers import broken, loop_of_facts
from tasks.mock_endpoint.chat import completion, fraction
from tasks.mock_endpoint.chat_request import ChatRequest
from tasks.mock_endpoint.replies import JSON, Billed, HttpReply, error_reply
from tasks.models.call import MOCK, MOCK_HEADER
from tasks.models.tokens import estimate_tokens

MOST_KEPT = 1_000_000  # requests whose attempts are counted
MOST_BYTES = 1_000_000_000  # of a file of faults
ELSEWHERE = {
    "tls": "use a server whose certificate nobody trusts",
    "dns": "use an endpoint whose name does not exist, such as http://nowhere.invalid/v1",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of a file of faults."""

    id: str
    serve: dict[str, Any]

    @property
    def always(self) -> bool:
        """Whether every attempt gets the fault, not only the first."""
        return self.serve.get("repeat") == "always"


def read_faults(path: Path) -> list[Fault]:
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
        elsewhere = [advice for kind, advice in ELSEWHERE.items() if kind in fault.serve]
        if elsewhere:
            print(f"{fault.id} is not served: {elsewhere[0]}.", file=sys.stderr, flush=True)
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


OF_CONNECTION = {
    "tcp",
    "drip_bytes_per_s",
    "drip_headers",
    "content_length_delta",
    "chunked",
    "encoding",
}
DATE = "HTTP-DATE+"
LONGEST_COUNTED = 200_000  # characters; longer texts are billed by their length
FACTS_OF_LOOP = 1_000_000
AT_ONCE = 1_000  # facts of an endless reply that are sent together
PLACE = "@@place@@"


def faulty_reply(
    fault: Fault,
    chat: ChatRequest,
    answered: tuple[dict[str, Any], Billed],
    key: str | None,
    late_seconds: float,
) -> HttpReply:
    """Return the reply served instead of the answer; a fault without a reply costs nothing."""
    serve, (body, billed) = fault.serve, answered
    if OF_CONNECTION & serve.keys():
        reply = HttpReply(body=orjson.dumps(body), connection_fault=serve)
    elif "delay" in serve or "answer_after_timeout" in serve:
        reply = HttpReply(body=orjson.dumps(body), billed=billed)
        reply.wait = float(serve.get("delay", late_seconds))
        reply.watched = "delay" in serve
    elif "content" in serve:
        reply = _with_content(fault, chat, body, billed, key)
    else:
        reply = _with_status(serve)
    reply.fault = fault.id
    return reply


def _with_status(serve: dict[str, Any]) -> HttpReply:
    status, body = int(serve.get("status", 500)), serve.get("body")
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


def _with_content(
    fault: Fault, chat: ChatRequest, body: dict[str, Any], billed: Billed, key: str | None
) -> HttpReply:
    content, answer = fault.serve["content"], body["choices"][0]["message"]["content"]
    if fault.id == "body_million_triples":
        return _endless(chat, answer, billed)
    if fault.id == "body_sse_when_not_asked":
        return HttpReply(body=str(content).encode(), content_type="text/event-stream")
    if isinstance(content, dict):
        return _with_parts(fault, content, body, billed)
    prompt = "\n".join(text for _, text in chat.texts)
    text = broken(fault.id, str(content), answer, prompt, key)
    finish = "length" if fault.id == "body_truncated_length" else "stop"
    billed = Billed(billed.tokens_in, _tokens(text), billed.tokens_cached)
    return HttpReply(body=orjson.dumps(completion(chat, text, finish, billed)), billed=billed)


def _with_parts(
    fault: Fault, content: dict[str, Any], body: dict[str, Any], billed: Billed
) -> HttpReply:
    """Return the true completion with some of its parts replaced."""
    content, choice = dict(content), body["choices"][0]
    parts = content.pop("message", None)
    body = {**body, **content}
    if parts is not None:
        if fault.id == "body_content_list":
            parts = {"content": [{"type": "text", "text": choice["message"]["content"]}]}
        finish = "tool_calls" if "tool_calls" in parts else "stop"
        message = {**choice["message"], **parts}
        body["choices"] = [{**choice, "message": message, "finish_reason": finish}]
    if not body["choices"]:
        del body["usage"]
        billed = Billed()
    return HttpReply(body=orjson.dumps(body), billed=billed)


def _endless(chat: ChatRequest, answer: str, billed: Billed) -> HttpReply:
    """Return a completion with a million facts, which is never held in memory as a whole."""
    start, more, end = loop_of_facts(answer)
    tokens = FACTS_OF_LOOP * _tokens(more.decode())
    billed = Billed(billed.tokens_in, tokens, billed.tokens_cached)
    before, after = orjson.dumps(completion(chat, PLACE, "stop", billed)).split(PLACE.encode())

    async def parts() -> AsyncIterator[bytes]:
        yield before + start
        for _ in range(FACTS_OF_LOOP // AT_ONCE):
            yield more * AT_ONCE
        yield end + after

    return HttpReply(body=parts(), billed=billed)


def _tokens(text: str) -> int:
    return len(text) // 4 if len(text) > LONGEST_COUNTED else estimate_tokens(text)


MEGABYTE = 1 << 20
GZIP = 31  # zlib's window for a gzip file
PAUSE_SECONDS = 0.05  # so that the data sent arrive before the fault
LONGEST_DRIP_SECONDS = 3600.0
HEADER_BYTES_PER_SECOND = 1.0


async def misbehave(connection: asyncio.Transport, reply: HttpReply) -> None:
    """Send a reply with its connection fault; the connection is unusable afterwards."""
    assert reply.connection_fault is not None and isinstance(reply.body, bytes)
    fault, body = reply.connection_fault, reply.body
    whole = head(reply, {"Content-Length": str(len(body))})
    match fault:
        case {"tcp": "reset" | "refuse"}:
            reset(connection)
        case {"tcp": "reset_after_bytes"}:
            await _write(connection, whole + body[: int(fault.get("n", 0))])
            reset(connection)
        case {"tcp": "close_after_headers"}:
            await _write(connection, whole)
        case {"drip_bytes_per_s": rate}:
            await _write(connection, whole)
            await _drip(connection, body, float(rate))
        case {"drip_headers": _}:
            await _drip(connection, whole, HEADER_BYTES_PER_SECOND)
            await _write(connection, body)
        case {"content_length_delta": delta}:
            length = max(0, len(body) + int(delta))
            await _write(connection, head(reply, {"Content-Length": str(length)}) + body)
        case {"chunked": _}:
            chunk = b"%x\r\n%b\r\n" % (len(body), body)
            await _write(connection, head(reply, {"Transfer-Encoding": "chunked"}) + chunk)
        case {"encoding": "gzip-bomb"}:
            await _bomb(connection, reply, int(fault.get("mb", 1024)))
        case {"encoding": _}:
            packed = broken_gzip(body)
            headers = {"Content-Encoding": "gzip", "Content-Length": str(len(packed))}
            await _write(connection, head(reply, headers) + packed)
        case _:
            await _write(connection, whole + body)


def head(reply: HttpReply, more: dict[str, str]) -> bytes:
    """Return a reply's status line and headers, even if they do not match its body."""
    phrase = HTTPStatus(reply.status).phrase
    headers = {"Content-Type": reply.content_type, MOCK_HEADER: MOCK, **more}
    lines = [f"HTTP/1.1 {reply.status} {phrase}", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def reset(connection: asyncio.Transport) -> None:
    """Break the connection so that the client sees a reset, not a regular close."""
    raw: Any = connection.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.abort()


def broken_gzip(body: bytes) -> bytes:
    """Return a compressed body whose middle is corrupted and whose end is missing."""
    packed = bytearray(gzip.compress(body, mtime=0))
    middle = len(packed) // 2
    packed[middle : middle + 8] = b"\xff" * 8
    return bytes(packed[: len(packed) * 3 // 4])


async def _write(connection: asyncio.Transport, data: bytes) -> None:
    connection.write(data)
    await asyncio.sleep(PAUSE_SECONDS)


async def _drip(connection: asyncio.Transport, data: bytes, bytes_per_second: float) -> None:
    """Send byte by byte while the client is connected."""
    end = time.monotonic() + LONGEST_DRIP_SECONDS
    for place in range(len(data)):
        if connection.is_closing() or time.monotonic() > end:
            return
        connection.write(data[place : place + 1])
        await asyncio.sleep(1 / bytes_per_second)


async def _bomb(connection: asyncio.Transport, reply: HttpReply, megabytes: int) -> None:
    """Send a small body, ended by closing the connection, that unpacks to megabytes of zeros."""
    await _write(connection, head(reply, {"Content-Encoding": "gzip", "Connection": "close"}))
    packer, zeros = zlib.compressobj(9, wbits=GZIP), bytes(MEGABYTE)
    for _ in range(megabytes):
        if connection.is_closing():
            return
        connection.write(await asyncio.to_thread(packer.compress, zeros))
    await _write(connection, packer.flush())
