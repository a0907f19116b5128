"""What every request passes first: host, origin, token, rate and size are checked here alone."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import RedirectResponse, Response

from tasks.service.metrics import Metrics
from tasks.service.problems import problem
from tasks.service.tokens import Reader, Tokens

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "almanac_token"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
OPEN_PATHS = frozenset({"/health", "/login", "/assets/style.css", "/assets/report.js"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MOST_CLIENTS = 10_000  # whose rates are remembered
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Vary": "Authorization, Cookie",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may use.

    `rate` is in requests per second, of which `burst` may come at once; a request's body has at
    most `body` bytes, which must come within `body_seconds`.
    """

    rate: float = 50.0
    burst: int = 100
    body: int = 1 << 20
    body_seconds: float = 10.0


@dataclass(slots=True)
class Bucket:
    """A token bucket: it fills at a rate and each request takes one."""

    left: float
    at: float = field(default_factory=time.monotonic)

    def take(self, limits: Limits) -> float:
        """Take one; return 0, or the seconds until there is one."""
        now = time.monotonic()
        self.left = min(limits.burst, self.left + (now - self.at) * limits.rate)
        self.at = now
        if self.left < 1:
            return (1 - self.left) / limits.rate
        self.left -= 1
        return 0.0


class Guard:
    """An ASGI application that lets through what may pass, with `scope["reader"]`."""

    def __init__(
        self,
        app: "ASGIApp",
        metrics: Metrics,
        hosts: frozenset[str],
        tokens: Mapping[str, Tokens],
        everybody: Reader,
        limits: Limits,
    ) -> None:
        """Guard an application; before there are tokens each request is that of `everybody`.

        `tokens` has those of each home by its name; the first is meant without a name.
        """
        self._app, self._metrics, self._hosts = app, metrics, hosts
        self._tokens, self._everybody, self._limits = tokens, everybody, limits
        self._needs_token = False
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request that may not pass, else hand it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        routed = scope
        if scope["method"] == "HEAD" and scope["path"] != "/mcp":  # where a stream would be opened
            routed = {**scope, "method": "GET"}  # the server sends no body

        async def sent(message: "Message") -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            refused = self._refusal(routed)
            body = b""
            if refused is None and scope["method"] not in SAFE_METHODS:
                try:
                    async with asyncio.timeout(self._limits.body_seconds):
                        body = await self._body(receive)
                except (TimeoutError, ValueError) as error:
                    refused = _body_refused(error, self._limits)
            if refused is not None:
                await refused(scope, receive, sent)
                return
            await self._app(routed, _replayed(body, receive), sent)
        finally:
            route = routed.get("route")
            path = getattr(route, "path", None) or ("/mcp" if scope["path"] == "/mcp" else "other")
            seconds = time.perf_counter() - started
            self._metrics.request(path, scope["method"], status, seconds)

    def _refusal(self, scope: "Scope") -> Response | None:
        """Return why a request may not pass; None, and its reader in the scope, if it may."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if hostname(host) not in self._hosts:
            return problem(
                HTTPStatus.MISDIRECTED_REQUEST,
                "This host is not served here; `almanac serve --set allow_host=NAME` allows it.",
            )
        if scope["method"] not in SAFE_METHODS and not _same_origin(headers, host):
            return problem(HTTPStatus.FORBIDDEN, "A page of another site may not do this.")
        home = QueryParams(scope["query_string"]).get("home", next(iter(self._tokens)))
        reader = self._reader(headers, home)
        client = scope["client"][0] if scope.get("client") else ""
        bucket = self._bucket(f"token {reader.name} {home}" if reader else f"host {client}")
        wait = bucket.take(self._limits)
        if wait:
            return problem(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"At most {self._limits.rate:g} requests a second, please.",
                {"Retry-After": str(max(1, round(wait)))},
            )
        if reader is None and scope["path"] not in OPEN_PATHS:
            return _who_are_you(scope, headers)
        scope["reader"] = reader or self._everybody
        return None

    def _reader(self, headers: Headers, home: str) -> Reader | None:
        # Once there was a token of any home, all need one, even if the last is removed.
        self._needs_token = self._needs_token or any(one.all() for one in self._tokens.values())
        if not self._needs_token:
            return self._everybody
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.casefold() != "bearer":
            token = _cookie(headers.get("cookie", ""))
        known = self._tokens.get(home)
        return known.reader_of(token.strip()) if known and token.strip() else None

    def _bucket(self, client: str) -> Bucket:
        bucket = self._buckets.get(client)
        if bucket is None:
            bucket = self._buckets[client] = Bucket(self._limits.burst)
            if len(self._buckets) > MOST_CLIENTS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(client)
        return bucket

    async def _body(self, receive: "Receive") -> bytes:
        """Return a request's body; raise ValueError if it is too long or breaks off."""
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ValueError("broken off")
            part = message.get("body", b"")
            size += len(part)
            if size > self._limits.body:
                raise ValueError("too long")
            parts.append(part)
            more = message.get("more_body", False)
        return b"".join(parts)


def hostname(host: str) -> str:
    """Return the name or address in a Host header, in lower case; empty if it is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _same_origin(headers: Headers, host: str) -> bool:
    """Return whether no page of another site sent a request; programs send neither header."""
    origin = headers.get("origin")
    if origin not in (None, "null"):
        return origin.casefold() in (f"http://{host.casefold()}", f"https://{host.casefold()}")
    trusted = ("same-origin",) if origin else ("same-origin", "none")
    return headers.get("sec-fetch-site", "cross-site" if origin else "none") in trusted


def _cookie(header: str) -> str:
    try:
        morsel = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _who_are_you(scope: "Scope", headers: Headers) -> Response:
    """Return the login page's address to a browser, and a problem to a program."""
    if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
        there = scope["path"] + (f"?{query.decode()}" if (query := scope["query_string"]) else "")
        return RedirectResponse(f"/login?then={quote(there, safe='')}", HTTPStatus.SEE_OTHER)
    return problem(
        HTTPStatus.UNAUTHORIZED,
        "Send a token as `Authorization: Bearer TOKEN`; `almanac tokens add` makes one.",
        {"WWW-Authenticate": 'Bearer realm="almanac"'},
    )


def _body_refused(error: Exception, limits: Limits) -> Response:
    if isinstance(error, TimeoutError):
        return problem(HTTPStatus.REQUEST_TIMEOUT, "The request came too slowly.")
    return problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A request has at most {limits.body:,} bytes."
    )


def _replayed(body: bytes, receive: "Receive") -> "Receive":
    """Return a `receive` that gives the body that was read, then what comes after it."""
    waiting = True

    async def received() -> "Message":
        nonlocal waiting
        if waiting:
            waiting = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return received
