"""The server: connections, the time an answer takes, and an account of everything."""

import asyncio
import contextlib
import itertools
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict

import h11

from tasks.mock_endpoint.connection import Connection
from tasks.mock_endpoint.exchange import Asked, HttpReply, HttpRequest, RefusedError, error_reply
from tasks.mock_endpoint.ledger import EndpointLedger
from tasks.mock_endpoint.options import Options
from tasks.mock_endpoint.routes import Job, Routes

HOST = "127.0.0.1"
SYNC_SECONDS = 0.005  # before an answer is due it is noted, so that noting it takes no time
WATCH_SECONDS = 0.2  # how often somebody who waits long is looked for
BACKLOG = 1024


async def serve(options: Options, announce: Callable[[str], None]) -> None:
    """Serve on the loopback interface until SIGTERM or SIGINT; announce the base URL at once."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    with EndpointLedger(options.ledger) as ledger:
        endpoint = MockEndpoint(options, ledger)
        base_url = await endpoint.start()
        announce(base_url)
        await stop.wait()
        await endpoint.stop()


class MockEndpoint:
    """One endpoint and its open connections."""

    def __init__(self, options: Options, ledger: EndpointLedger) -> None:
        """Read what the options name; nothing listens yet."""
        self._options, self._ledger = options, ledger
        self._routes = Routes(options)
        self._numbers = itertools.count(1)
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        """Listen and return the base URL."""
        self._server = await asyncio.start_server(
            self._meet, HOST, self._options.port, backlog=BACKLOG
        )
        port = self._server.sockets[0].getsockname()[1]
        return f"http://{HOST}:{port}/v1"

    async def stop(self) -> None:
        """Stop listening and leave all connections."""
        assert self._server is not None
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        self._routes.close()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        connection = Connection(reader, writer)
        try:
            # Cancelled when the server stops: nobody waits for this task, so nobody needs to know.
            with contextlib.suppress(
                OSError, TimeoutError, h11.LocalProtocolError, asyncio.CancelledError
            ):
                await self._converse(connection)
        finally:
            self._open.discard(task)
            await connection.close()

    async def _converse(self, connection: Connection) -> None:
        while True:
            try:
                request = await connection.next_request()
            except RefusedError as refused:
                await connection.send(refused.reply)
                return
            if request is None or not await self._answer(connection, request):
                return

    async def _answer(self, connection: Connection, request: HttpRequest) -> bool:
        """Answer one request; return whether the connection may be used again."""
        number, arrived, began = next(self._numbers), time.time(), time.monotonic()
        job = self._understood(request)
        self._ledger.note(
            "asked",
            number,
            arrived,
            path=request.path[:200],
            authorized=request.key is not None,
            **asdict(job.asked),
        )
        reply = await self._worked_out(job)
        due = began + (self._options.latency if job.slow else 0.0)
        await _sleep_until(due - SYNC_SECONDS)
        await self._ledger.sync(
            "answered",
            number,
            max(time.time(), arrived + due - began),
            status=reply.status,
            fault=reply.fault,
            **asdict(reply.billed),
        )
        await _sleep_until(due)
        try:
            await connection.send(reply)
        except (OSError, TimeoutError):
            self._ledger.note("lost", number)
            return False
        return True

    def _understood(self, request: HttpRequest) -> Job:
        try:
            return self._routes.take(request)
        except RefusedError as refused:
            reply = refused.reply

            async def work() -> HttpReply:
                return reply

            return Job(work, Asked())

    async def _worked_out(self, job: Job) -> HttpReply:
        try:
            return await job.work()
        except RefusedError as refused:
            return refused.reply
        except Exception as error:
            print(f"mock endpoint: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            return error_reply(500, f"the mock endpoint failed: {type(error).__name__}")


async def _sleep_until(moment: float) -> None:
    left = moment - time.monotonic()
    if left > 0:
        await asyncio.sleep(left)
