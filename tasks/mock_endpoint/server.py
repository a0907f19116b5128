"""The server of the mock endpoint: routes, latency, faults, and the ledger."""

import asyncio
import math
import signal
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from aiohttp import web

from schemas.errors import UsageError
from tasks.mock_endpoint.answers import Answers
from tasks.mock_endpoint.batches import Batches, Files, uploaded
from tasks.mock_endpoint.chat import Chat, streamed
from tasks.mock_endpoint.chat_request import ChatRequest, read_chat
from tasks.mock_endpoint.embeddings import embed
from tasks.mock_endpoint.faults import Fault, Schedule, faulty_reply, misbehave, read_faults
from tasks.mock_endpoint.ledger import EndpointLedger
from tasks.mock_endpoint.options import EndpointOptions
from tasks.mock_endpoint.replies import (
    ApiError,
    HttpReply,
    RequestSummary,
    error_reply,
    json_reply,
)
from tasks.models.call import MOCK, MOCK_HEADER


class RequestRate:
    """A bucket that holds a second's worth of requests, at least one."""

    def __init__(self, per_minute: float | None) -> None:
        """Begin with a full bucket; with None, no request is refused."""
        self._per_second = (per_minute or 0.0) / 60
        self._capacity = max(1.0, self._per_second)
        self._level, self._at = self._capacity, time.monotonic()

    def wait(self) -> int:
        """Return 0 for a request that may pass, else the whole seconds it should wait."""
        if not self._per_second:
            return 0
        now = time.monotonic()
        self._level = min(self._capacity, self._level + (now - self._at) * self._per_second)
        self._at = now
        if self._level >= 1:
            self._level -= 1
            return 0
        return max(1, math.ceil((1 - self._level) / self._per_second))


MODELS = ("mock-model", "mock-embedding")


@dataclass(slots=True)
class PendingReply:
    """The reply to a request, or the work that makes it."""

    reply: HttpReply | Callable[[], Awaitable[HttpReply]]
    summary: RequestSummary = field(default_factory=RequestSummary)
    slow: bool = False  # it takes the endpoint's latency


class Routes:
    """The endpoint's routes, with the state behind them."""

    def __init__(
        self,
        options: EndpointOptions,
        ledger: EndpointLedger,
        answers: Answers | None = None,
        batches: Callable[[EndpointOptions, Files, Chat, EndpointLedger], Batches] = Batches,
    ) -> None:
        """Read the faults; by default the embedded engine answers and batches lose nothing."""
        self._options = options
        self._answers = answers or Answers()
        self._chat = Chat(self._answers)
        faults = read_faults(options.faults) if options.faults else []
        self._schedule = Schedule(faults, options.fault_share, options.fault_first, options.seed)
        self._files = Files()
        self._batches = batches(options, self._files, self._chat, ledger)
        self._rate = RequestRate(options.requests_per_minute)

    def close(self) -> None:
        """Release the engine and cancel what is under way."""
        self._batches.close()
        self._answers.close()

    async def take(self, request: web.Request) -> PendingReply:
        """Return the job for a request; raise RefusedError for a bad or unknown request."""
        match request.method, request.path.strip("/").split("/"):
            case "POST", ["v1", "chat", "completions"]:
                return self._chat_job(await request.read(), key_of(request))
            case "POST", ["v1", "embeddings"]:
                return self._embeddings_job(await request.read())
            case "GET", ["v1", "models"]:
                shared = {"object": "model", "created": 0, "owned_by": "almanac"}
                models = [{"id": name, **shared} for name in MODELS]
                return _job({"object": "list", "data": models, "has_more": False})
            case "POST", ["v1", "files"]:
                return _job(self._files.keep(await uploaded(request)).as_object())
            case "GET", ["v1", "files", file_id, "content"]:
                content = self._files.get(file_id).content
                return PendingReply(
                    HttpReply(body=content, content_type="application/octet-stream")
                )
            case "POST", ["v1", "batches"]:
                return _job(self._batches.order(await request.read()).model_dump())
            case "GET", ["v1", "batches"]:
                return _job(self._batches.page(request.query))
            case "GET", ["v1", "batches", batch_id]:
                return _job(self._batches.get(batch_id).model_dump())
            case "POST", ["v1", "batches", batch_id, "cancel"]:
                return _job(self._batches.cancel(batch_id).model_dump())
        raise ApiError(404, f"{request.method} {request.path[:100]} is not known here")

    def _embeddings_job(self, body: bytes) -> PendingReply:
        throttled = self._throttled()
        if throttled:
            return PendingReply(throttled)
        model, reply = embed(body)
        return PendingReply(reply, RequestSummary(model=model), slow=True)

    def read_chat(self, body: bytes) -> ChatRequest:
        """Parse the body of a chat request; raise RefusedError for one that is not served."""
        return read_chat(body, self._options)

    def _chat_job(self, body: bytes, key: str | None) -> PendingReply:
        chat = self.read_chat(body)
        summary = chat.summary()
        throttled = self._throttled()
        if throttled:
            return PendingReply(throttled, summary)
        summary.attempt, fault = self._schedule.draw(chat.first_sha)
        return PendingReply(partial(self._completed, chat, fault, key), summary, slow=True)

    async def _completed(
        self, chat: ChatRequest, fault: Fault | None, key: str | None
    ) -> HttpReply:
        body, billed = await self._chat.complete(chat, key)
        if fault is not None:
            late = self._options.late_seconds
            return faulty_reply(fault, chat, (body, billed), key, late)
        usage = chat.includes_usage
        reply = streamed(body, with_usage=usage) if chat.stream is True else json_reply(body)
        reply.billed = billed
        return reply

    def _throttled(self) -> HttpReply | None:
        seconds = self._rate.wait()
        if not seconds:
            return None
        reply = error_reply(429, "too many requests per minute", "rate_limit_exceeded")
        reply.headers["Retry-After"] = str(seconds)
        return reply


def _job(value: dict[str, object]) -> PendingReply:
    return PendingReply(json_reply(value))


def key_of(request: web.Request) -> str | None:
    """Return the key that a client sent; it is never recorded."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


HOST = "127.0.0.1"
MOST_BYTES = 256_000_000  # of one request
WATCH_SECONDS = 0.2  # how often to check whether the client is still there
REFUSED_SECONDS = 0.5
BACKLOG = 1024
STOP_SECONDS = 0.1  # that a request under way gets when the server stops


async def serve(endpoint: "MockEndpoint", announce: Callable[[str], None]) -> None:
    """Serve on the loopback interface until SIGTERM or SIGINT; announce the base URL at once."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    announce(await endpoint.start())
    await stop.wait()
    await endpoint.stop()


class MockEndpoint:
    """One endpoint and its open connections."""

    def __init__(
        self,
        options: EndpointOptions,
        routes: Callable[[EndpointOptions, EndpointLedger], Routes] = Routes,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._options, self._ledger = options, EndpointLedger(options.ledger)
        self._routes = routes(options, self._ledger)
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=STOP_SECONDS)
        self._server: asyncio.Server | None = None
        self._port, self._tls = options.port, tls

    async def start(self) -> str:
        """Listen and return the base URL; raise UsageError if the port is not available."""
        await self._runner.setup()
        try:
            await self._listen()
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"Port {self._port} is not available ({error}). Choose another, or 0 for any."
            ) from None
        return f"{'https' if self._tls else 'http'}://{HOST}:{self._port}/v1"

    async def _listen(self) -> None:
        assert self._runner.server is not None
        self._server = await asyncio.get_running_loop().create_server(
            self._runner.server, HOST, self._port, backlog=BACKLOG, ssl=self._tls
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and close all connections."""
        assert self._server is not None
        self._server.close()
        await self._runner.cleanup()
        self._routes.close()
        self._ledger.close()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        arrived, began = time.time(), time.monotonic()
        try:
            job = await self._routes.take(request)
        except ApiError as refused:
            job = PendingReply(refused.reply)
        authorized = key_of(request) is not None
        number = self._ledger.arrived(request.path, authorized, job.summary, arrived)
        reply = job.reply if isinstance(job.reply, HttpReply) else await job.reply()
        due = began + (self._options.latency if job.slow else 0.0) + reply.wait
        if reply.wait and reply.watched and not await _waits_until(due, request):
            self._ledger.lost(number)
            return web.Response()
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        self._ledger.answering(number, reply)
        try:
            return await self._deliver(request, reply)
        except OSError:
            self._ledger.lost(number)
            return web.Response()

    async def _deliver(self, request: web.Request, reply: HttpReply) -> web.StreamResponse:
        """Send a reply, with its fault if it has one; raise OSError if the client has gone."""
        response = web.Response(
            status=reply.status,
            body=reply.body,
            headers={MOCK_HEADER: MOCK, "Content-Type": reply.content_type, **reply.headers},
        )
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError
        if reply.connection_fault is None:
            await response.prepare(request)
            await response.write_eof()
            return response
        await misbehave(transport, reply)
        transport.close()
        if reply.connection_fault.get("tcp") == "refuse":
            await self._refuse_for_a_while()
        return response  # the server finds the connection closed, and sends nothing

    async def _refuse_for_a_while(self) -> None:
        """Stop listening, so that connections are refused; then listen at the same port."""
        assert self._server is not None
        if self._server.is_serving():
            self._server.close()
            await asyncio.sleep(REFUSED_SECONDS)
            await self._listen()


def _gone(request: web.Request) -> bool:
    """Return whether the client has closed the connection."""
    return request.transport is None or request.transport.is_closing()


async def _waits_until(moment: float, request: web.Request) -> bool:
    """Wait until the moment or the client's disconnection; return whether it is connected."""
    while (seconds := moment - time.monotonic()) > 0 and not _gone(request):
        await asyncio.sleep(min(seconds, WATCH_SECONDS))
    return not _gone(request)
