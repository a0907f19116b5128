"""JSON from public services: bounded in time, size and number, polite, and cached.

A request has one deadline for everything: waiting for its turn, resolving names, connecting, every
byte, pauses that the service asks for, and further attempts. A service that cannot be reached, or
that asks for a pause, receives no requests from any question for that time. Errors are in plain
words.
"""

import asyncio
import os
import threading
import time
import zlib
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin, urlsplit

import orjson

from schemas.settings import KnowledgeBaseSettings
from tasks.ingest.formats.cleaning import clean_line
from tasks.models.endpoint import retry_after
from tasks.models.keys import quieten_clients, scrub
from tasks.programs.knowledge_bases.remote_call import RemoteCall, RemoteError, RemoteReply
from tasks.programs.knowledge_bases.reply_cache import ReplyCache

if TYPE_CHECKING:
    import httpx2

DAY = 86_400.0
FIRST_PAUSE = 0.5  # seconds before the second attempt; doubled for each further one
REST_SECONDS = 30.0  # how long a service that was not reached is left alone
MOST_REDIRECTS = 3
CLOSING_SECONDS = 5.0
ACCEPTED = "application/json, application/sparql-results+json"
_CONTACT_HINT = " It may wish for an address in knowledge_bases.contact of the settings."
_BUSY = {429, 500, 502, 503, 504}
_MOVED = {301, 302, 303, 307, 308}
Result = TypeVar("Result")


class _PassingError(Exception):
    """An attempt failed temporarily; `pause` is the delay that the service asked for, if any."""

    def __init__(self, words: str, pause: float | None = None, unreached: bool = False) -> None:
        super().__init__(words)
        self.words, self.pause, self.unreached = words, pause, unreached


class Web:
    """Fetches JSON for any thread; its own thread and connections start when first needed."""

    def __init__(self, settings: KnowledgeBaseSettings, cache_file: Path) -> None:
        self._settings = settings
        self.cache = ReplyCache(cache_file, settings.keep_days * DAY)
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: httpx2.AsyncClient | None = None
        self._places: dict[str, asyncio.Semaphore] = {}
        self._resting: dict[str, tuple[float, str]] = {}  # host: until when, and why

    def __enter__(self) -> "Web":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fetch(self, calls: Sequence[RemoteCall], until: float) -> list[RemoteReply | RemoteError]:
        """Return the reply or the error of each call, by `until` (of `time.monotonic`)."""
        return self._run(self._fetch_all(calls, until)) if calls else []

    def close(self) -> None:
        """Close all connections and end the thread."""
        with self._lock:
            if self._loop and self._thread and self._owner == os.getpid():
                if self._client is not None:
                    closing = asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop)
                    with suppress(TimeoutError):
                        closing.result(CLOSING_SECONDS)
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join()
                self._loop.close()
            self._loop = self._thread = self._client = None
            self._places.clear()
        self.cache.close()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        with self._lock:
            if self._loop is None or self._owner != os.getpid():
                self._start()
            assert self._loop is not None
            waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        return waiting.result()

    def _start(self) -> None:
        """Start a thread with an event loop; a forked process starts its own."""
        self._owner, self._client, self._loop = os.getpid(), None, asyncio.new_event_loop()
        self._places.clear()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="knowledge bases", daemon=True
        )
        self._thread.start()

    async def _fetch_all(
        self, calls: Sequence[RemoteCall], until: float
    ) -> list[RemoteReply | RemoteError]:
        return list(await asyncio.gather(*(self._fetch(call, until) for call in calls)))

    async def _fetch(self, call: RemoteCall, until: float) -> RemoteReply | RemoteError:
        """Return a fresh reply from the cache, or a new one, or else an old one with a remark."""
        kept, age = (self.cache.get(call.key) if call.keep else None) or (b"", 0.0)
        old, days = _kept_value(kept), age / DAY
        if old is not None and days <= self._settings.fresh_days:
            return RemoteReply(old)
        try:
            body, value = await self._ask(call, until)
        except RemoteError as error:
            if old is None:
                return error
            return RemoteReply(old, f"{error} A reply from {days:.0f} days ago is used.")
        if call.keep:
            self.cache.put(call.key, body)
        return RemoteReply(value)

    async def _ask(self, call: RemoteCall, until: float) -> tuple[bytes, Any]:
        """Return a reply before the deadline; raises RemoteError if there is none."""
        now, full = time.monotonic(), self._settings.deadline_seconds
        seconds = max(min(until - now, full), 0.0)
        try:
            async with asyncio.timeout(seconds):
                return await self._attempt(call, now + seconds)
        except TimeoutError:
            words = f"{call.host} did not answer within {seconds:.3g} seconds."
            if seconds > full / 2:  # a shorter time says little about the service
                self._leave_alone(call.host, REST_SECONDS, words)
            raise RemoteError(words) from None

    async def _attempt(self, call: RemoteCall, end: float) -> tuple[bytes, Any]:
        """Send until there is a reply, no attempt is left, or a pause would last too long."""
        last = _PassingError("")
        for attempt in range(self._settings.attempts):
            await self._rest(call.host, end)
            try:
                return await self._try(call)
            except _PassingError as failed:
                last = failed
            pause = FIRST_PAUSE * 2**attempt
            if last.pause is not None:
                self._leave_alone(call.host, last.pause, last.words)
            elif attempt + 1 == self._settings.attempts or time.monotonic() + pause >= end:
                break
            else:
                await asyncio.sleep(pause)
        if last.unreached:
            self._leave_alone(call.host, REST_SECONDS, last.words)
        raise RemoteError(last.words)

    def _leave_alone(self, host: str, seconds: float, words: str) -> None:
        self._resting[host] = (time.monotonic() + seconds, words)

    async def _rest(self, host: str, end: float) -> None:
        """Wait until the host may get a request; raises RemoteError if that is too late."""
        until, words = self._resting.get(host, (0.0, ""))
        if until >= end:
            left = until - time.monotonic()
            raise RemoteError(f"{words} It is asked again in {left:.0f} seconds.")
        if (wait := until - time.monotonic()) > 0:
            await asyncio.sleep(wait)

    async def _try(self, call: RemoteCall) -> tuple[bytes, Any]:
        """Send a request once and return its body and the JSON in it."""
        import httpx2

        places = self._places.setdefault(call.host, asyncio.Semaphore(self._settings.concurrency))
        async with places:
            try:
                body = await self._send(call)
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
                reason = scrub(clean_line(str(error), 200)) or type(error).__name__
                raise _PassingError(
                    f"{call.host} was not reached ({reason}).", unreached=True
                ) from None
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise RemoteError(f"{call.host} sent something that is not JSON.") from None
        if refusal := call.refusal(value):
            words = f"{call.host} refused: {scrub(clean_line(refusal.words, 200))}."
            raise _PassingError(words) if refusal.passing else RemoteError(words)
        return body, value

    async def _send(self, call: RemoteCall) -> bytes:
        """Return the body of a good reply; redirects are followed only within the same host."""
        import httpx2

        client = self._client = self._client or self._new_client()
        target = httpx2.URL(call.url, params={**call.params, **call.secret})
        for _ in range(MOST_REDIRECTS + 1):
            async with client.stream("GET", target) as response:
                if response.status_code not in _MOVED:
                    return await self._body(call.host, response)
                target = httpx2.URL(urljoin(str(target), response.headers.get("location", "")))
            if not _is_same_place(call.url, target):
                raise RemoteError(f"{call.host} sends us to another host, which is not followed.")
        raise RemoteError(f"{call.host} sends us from one address to the next without end.")

    async def _body(self, host: str, response: "httpx2.Response") -> bytes:
        status = response.status_code
        if status in _BUSY:
            raise _PassingError(f"{host} is busy (HTTP {status}).", retry_after(response.headers))
        if status != 200:
            hint = "" if status != 403 or self._settings.contact else _CONTACT_HINT
            raise RemoteError(f"{host} refused the request (HTTP {status}).{hint}")
        most, raw = self._settings.max_reply_bytes, bytearray()
        async for chunk in response.aiter_raw():
            raw += chunk
            if len(raw) > most:
                raise RemoteError(_too_large(host, most))
        return _unpacked(bytes(raw), response.headers.get("content-encoding", ""), most, host)

    def _new_client(self) -> "httpx2.AsyncClient":
        import httpx2

        quieten_clients()
        who = f"Almanac/{version('almanac-kb')} ({self._settings.contact or 'knowledge pipelines'})"
        return httpx2.AsyncClient(
            headers={"User-Agent": who, "Accept": ACCEPTED, "Accept-Encoding": "gzip"},
            follow_redirects=False,
            timeout=self._settings.deadline_seconds,
        )


def _kept_value(kept: bytes) -> Any:
    try:
        return orjson.loads(kept) if kept else None
    except orjson.JSONDecodeError:
        return None


def _is_same_place(url: str, target: "httpx2.URL") -> bool:
    """Tell whether a redirect stays at its host; it may lead from HTTP to HTTPS."""
    before = urlsplit(url)
    if target.host != before.hostname or target.scheme not in ("http", "https"):
        return False
    if target.scheme == before.scheme:
        return target.port == before.port
    return before.scheme == "http" and before.port in (None, 80) and target.port is None


def _too_large(host: str, most: int) -> str:
    return f"{host} sent more than {most:,} bytes, which is refused."


def _unpacked(raw: bytes, encoding: str, most: int, host: str) -> bytes:
    if encoding.strip().lower() in ("", "identity"):
        return raw
    if encoding.strip().lower() != "gzip":
        raise RemoteError(f"{host} sent a compression that it was not asked for.")
    try:
        packed = zlib.decompressobj(wbits=31)
        body = packed.decompress(raw, most + 1)
    except zlib.error:
        raise RemoteError(f"{host} sent a damaged reply.") from None
    if len(body) > most:
        raise RemoteError(_too_large(host, most))
    return body


class Visit:
    """Sends the requests of one question to one knowledge base, within the time it has for it.

    A service that fails gets no further requests: its knowledge base then knows less or nothing,
    and `troubles` says why in plain words.
    """

    def __init__(self, web: Web, seconds: float) -> None:
        """Start without requests; the time runs from the first one."""
        self.web = web
        self.troubles: list[str] = []
        self._seconds = seconds
        self._until: float | None = None
        self._lost: set[str] = set()

    def ask(self, calls: Sequence[RemoteCall]) -> list[Any]:
        """Send requests concurrently; return the JSON of each reply, None where there is none."""
        if self._until is None:
            self._until = time.monotonic() + self._seconds
        sent = [call for call in calls if call.host not in self._lost]
        replies = iter(self.web.fetch(sent, self._until))
        lost = set(self._lost)
        return [None if call.host in lost else self._value(call, next(replies)) for call in calls]

    def ask_one(self, call: RemoteCall) -> Any:
        """Return the JSON of a reply; None if there is none."""
        return self.ask([call])[0]

    def _value(self, call: RemoteCall, reply: RemoteReply | RemoteError) -> Any:
        if isinstance(reply, RemoteReply):
            trouble, value = reply.trouble, reply.value
        else:
            trouble, value = str(reply), None
            self._lost.add(call.host)
        if trouble and trouble not in self.troubles:
            self.troubles.append(trouble)
        return value
