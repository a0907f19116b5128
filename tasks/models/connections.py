"""Connections to one endpoint in many small pools.

For each request a pool checks all of its connections, the idle ones with a system call. With 64
connections in one pool, these checks take about an eighth of a call's processor time.
"""

import ssl
from collections.abc import AsyncIterator
from functools import cache
from urllib.request import getproxies

import httpx2

CONNECTIONS_A_POOL = 2
MOST_ERROR_BYTES = 1_000_000


class Spread(httpx2.AsyncBaseTransport):
    """Sends each request through the pool with the fewest requests under way."""

    def __init__(self, connections: int, verify: ssl.SSLContext) -> None:
        """Open nothing yet; `connections` is the maximum, rounded up to whole pools."""
        limits = httpx2.Limits(
            max_connections=CONNECTIONS_A_POOL, max_keepalive_connections=CONNECTIONS_A_POOL
        )
        pools = -(-connections // CONNECTIONS_A_POOL)
        self._pools = [
            httpx2.AsyncHTTPTransport(verify=verify, limits=limits) for _ in range(pools)
        ]
        self.busy = [0] * pools

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; its pool counts as busy until the response is closed."""
        number = min(range(len(self.busy)), key=self.busy.__getitem__)
        self.busy[number] += 1
        try:
            response = await self._pools[number].handle_async_request(request)
        except BaseException:
            self.busy[number] -= 1
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Counted(response.stream, self.busy, number)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools:
            await pool.aclose()


class _Counted(httpx2.AsyncByteStream):
    """A response's body; its pool is less busy once it is closed."""

    def __init__(self, stream: httpx2.AsyncByteStream, busy: list[int], number: int) -> None:
        self._stream, self._busy, self._number, self._open = stream, busy, number, True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._busy[self._number] -= self._open
            self._open = False


class _Start(httpx2.AsyncByteStream):
    """The first bytes of a response's body."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_ERROR_BYTES
        async for chunk in self._stream:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()


async def cut_error(response: httpx2.Response) -> None:
    """Keep only the start of an error's body, not decompressed: clients read all there is."""
    if response.is_error:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Start(response.stream)
        response.headers.pop("content-encoding", None)


def spread(connections: int) -> Spread | None:
    """Return a transport with this number of connections; None if a proxy is configured."""
    return None if getproxies() else Spread(connections, _trusted())


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates to trust, which take 50 ms to read."""
    return httpx2.create_ssl_context()
