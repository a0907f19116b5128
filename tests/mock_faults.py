"""The faults of `hostile/llm_faults.jsonl` that only tests serve: broken contents and connections.

Contents are served as faults of the true answer (`tests/broken_answers.py`). Two kinds cannot be
served: an untrusted certificate and a host that does not exist. To refuse connections, the endpoint
stops listening for half a second.
"""

import asyncio
import gzip
import socket
import struct
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import orjson
from aiohttp import web

from tasks.mock_endpoint.chat import completion
from tasks.mock_endpoint.chat_request import ChatRequest
from tasks.mock_endpoint.faults import SERVED, Fault, faulty_reply
from tasks.mock_endpoint.replies import Billed, HttpReply
from tasks.mock_endpoint.server import MockEndpoint
from tasks.models.call import MOCK, MOCK_HEADER
from tasks.models.tokens import estimate_tokens
from tests.broken_answers import broken, loop_of_facts

OF_CONNECTION = {
    "tcp",
    "drip_bytes_per_s",
    "drip_headers",
    "content_length_delta",
    "chunked",
    "encoding",
}
ALL_SERVED = {*SERVED, *OF_CONNECTION, "answer_after_timeout"}
LONGEST_COUNTED = 200_000  # characters; longer texts are billed by their length
FACTS_OF_LOOP = 1_000_000
AT_ONCE = 1_000  # facts of an endless reply that are sent together
PLACE = "@@place@@"


@dataclass(slots=True)
class BrokenReply(HttpReply):
    """A reply whose connection breaks while it is sent, as the fault's line says."""

    connection: dict[str, Any] = field(default_factory=dict)


def served_reply(
    fault: Fault, chat: ChatRequest, body: dict[str, Any], billed: Billed, key: str | None
) -> HttpReply:
    """Return the reply served instead of the answer; a fault without a reply costs nothing."""
    serve = fault.serve
    if OF_CONNECTION & serve.keys():
        reply: HttpReply = BrokenReply(body=orjson.dumps(body), connection=serve)
    elif "answer_after_timeout" in serve:
        reply = HttpReply(body=orjson.dumps(body), billed=billed)
    elif "content" in serve:
        reply = _with_content(fault, chat, body, billed, key)
    else:
        return faulty_reply(fault, chat, body, billed)
    reply.fault = fault.id
    return reply


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
    billed = replace(billed, tokens_out=_tokens(text), obeyed=None)
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
    billed = replace(billed, tokens_out=tokens, obeyed=None)
    before, after = orjson.dumps(completion(chat, PLACE, "stop", billed)).split(PLACE.encode())

    async def parts() -> AsyncIterator[bytes]:
        yield before + start
        for _ in range(FACTS_OF_LOOP // AT_ONCE):
            yield more * AT_ONCE
        yield end + after

    return HttpReply(body=parts(), billed=billed)


def _tokens(text: str) -> int:
    return len(text) // 4 if len(text) > LONGEST_COUNTED else estimate_tokens(text)


# -- connections ---------------------------------------------------------------------------------


MEGABYTE = 1 << 20
GZIP = 31  # zlib's window for a gzip file
PAUSE_SECONDS = 0.05  # so that the data sent arrive before the fault
LONGEST_DRIP_SECONDS = 3600.0
HEADER_BYTES_PER_SECOND = 1.0
REFUSED_SECONDS = 0.5


class FaultyEndpoint(MockEndpoint):
    """An endpoint whose connections break where a fault says so."""

    async def deliver(self, request: web.Request, reply: HttpReply) -> web.StreamResponse:
        """Send a reply, with its fault if it has one; raise OSError if the client has gone."""
        transport = request.transport
        if not isinstance(reply, BrokenReply) or transport is None or transport.is_closing():
            return await super().deliver(request, reply)
        await misbehave(transport, reply)
        transport.close()
        if reply.connection.get("tcp") == "refuse" and self.server.is_serving():
            self.server.close()
            await asyncio.sleep(REFUSED_SECONDS)
            await self.listen()
        return web.Response()  # the server finds the connection closed, and sends nothing


async def misbehave(connection: asyncio.Transport, reply: BrokenReply) -> None:
    """Send a reply with its connection fault; the connection is unusable afterwards."""
    assert isinstance(reply.body, bytes)
    fault, body = reply.connection, reply.body
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
