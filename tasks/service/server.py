"""Builds the guarded application and runs it by uvicorn, on loopback unless it is protected."""

import signal
import socket
import sys
from asyncio import TimerHandle, Transport
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

from schemas.errors import AlmanacError, UsageError
from schemas.settings import Settings
from tasks.models.endpoint import is_loopback
from tasks.service.api import make_app
from tasks.service.explorer import add_pages
from tasks.service.guard import LOOPBACK, Guard, Limits
from tasks.service.mcp_server import make_mcp_server, mount_mcp
from tasks.service.metrics import Metrics
from tasks.service.shelf import ServedHome, Shelf
from tasks.service.tokens import TOKENS_FILE, Reader, Tokens
from warehouse.home import Home

if TYPE_CHECKING:
    from starlette.types import ASGIApp

EVERYBODY = Reader(name="everybody", scopes=("read", "feedback"))
CONNECTIONS = 1_000
CONNECTIONS_OF_ONE = CONNECTIONS // 4  # address
HEAD_SECONDS = 10.0  # in which the first line and the headers of a request must come


@dataclass(frozen=True, slots=True)
class Serving:
    """How homes are served.

    `threads` answer questions of a home at the same time, and `waiting` more may wait. `hosts` are
    names beside loopback and the address under which the service is reached.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    hosts: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    threads: int = 1
    waiting: int = 64
    limits: Limits = field(default_factory=Limits)


def open_shelf(homes: Mapping[str, tuple[Home, Settings]], serving: Serving) -> Shelf:
    """Return the homes by name, not opened yet."""
    return Shelf(
        {
            name: ServedHome(home, settings, threads=serving.threads, waiting=serving.waiting)
            for name, (home, settings) in homes.items()
        }
    )


def make_service(shelf: Shelf, serving: Serving) -> "ASGIApp":
    """Return the application that is served; raise UsageError if it must not be so open."""
    tokens = {name: Tokens(served.home.path / TOKENS_FILE) for name, served in shelf.homes.items()}
    without = [name for name, of_home in tokens.items() if not of_home.all()]
    check_exposure(serving, has_tokens=not without)
    if without and len(without) < len(tokens):
        raise UsageError(
            f"The home {without[0]!r} has no tokens beside others that have some, so nobody could "
            "read it: make one with `almanac --home DIR tokens add NAME`, or serve it by itself."
        )
    metrics = Metrics()
    app = make_app(shelf, metrics)
    add_pages(app)
    mount_mcp(app, make_mcp_server(shelf))
    hosts = LOOPBACK | {serving.host.casefold()} | {name.casefold() for name in serving.hosts}
    return Guard(app, metrics, hosts, tokens, EVERYBODY, serving.limits)


def check_exposure(serving: Serving, *, has_tokens: bool) -> None:
    """Raise UsageError if others could read the almanac, or the tokens, on their way."""
    if (serving.tls_cert is None) != (serving.tls_key is None):
        raise UsageError("Give both --tls-cert and --tls-key.")
    if is_loopback(serving.host) and not serving.behind_proxy:
        return
    if not has_tokens:
        raise UsageError(
            f"{serving.host} can be reached by others, so everybody needs a token: make one with "
            "`almanac tokens add NAME`."
        )
    if serving.tls_cert is None and not serving.behind_proxy:
        raise UsageError(
            f"{serving.host} can be reached by others, who could read tokens on their way: give "
            "--tls-cert and --tls-key, or --set behind_proxy=true if a proxy in front adds TLS."
        )


class TimedProtocol(H11Protocol):
    """HTTP with an end to waiting: uvicorn gives a client any time for the head of a request.

    From one address come at most `CONNECTIONS_OF_ONE` connections, so that others get theirs; that
    of a proxy and those of this machine stand for many people.
    """

    _ends: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or refuse an address that has its share."""
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        clients = (getattr(one, "client", None) for one in self.connections)
        from_it = sum(client is not None and client[0] == host for client in clients)
        of_many = self.config.proxy_headers or is_loopback(host)
        if from_it > CONNECTIONS_OF_ONE and not of_many:
            transport.abort()
        self._time_head()

    def data_received(self, data: bytes) -> None:
        """Read what came, and wait on while it is no whole head."""
        super().data_received(data)
        self._time_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        self._stop_timing()

    def _time_head(self) -> None:
        if self.cycle and not self.cycle.response_complete:
            self._stop_timing()
        elif self._ends is None:
            self._ends = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_timing(self) -> None:
        if self._ends:
            self._ends.cancel()
            self._ends = None


def run_service(app: "ASGIApp", listening: socket.socket, serving: Serving) -> None:
    """Serve until the process is told to end; requests under way are answered first."""
    import uvicorn

    config = uvicorn.Config(
        app,
        http=TimedProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=serving.behind_proxy,
        ssl_certfile=serving.tls_cert,
        ssl_keyfile=serving.tls_key,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=64 << 10,
        limit_concurrency=CONNECTIONS,
    )
    # uvicorn sends itself the signal again at the end, which must leave no temporary files.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    uvicorn.Server(config).run(sockets=[listening])


def listen(serving: Serving) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one. Raises AlmanacError if it cannot."""
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    try:
        listening = socket.create_server((serving.host, serving.port), family=family)
        # Connections inherit it. asyncio sets it only for sockets that name their protocol, and
        # without it the end of each answer waits 40 ms for an acknowledgement.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        raise AlmanacError(
            f"{serving.host}, port {serving.port} cannot be listened on ({error.strerror or error})"
            ". Give another with --port; 0 takes a free one."
        ) from None


def serve_stdio(shelf: Shelf) -> None:
    """Serve MCP on standard input and output until the client ends it.

    Raises UsageError for several homes: a call by pipes has no address that could name one.
    """
    if len(shelf.homes) > 1:
        raise UsageError(
            "By pipes one home is served: give a client one `almanac serve --mcp` for each."
        )
    try:
        shelf.first.start()
        make_mcp_server(shelf).run("stdio")
    finally:
        shelf.first.close()
