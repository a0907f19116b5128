"""Connections in small pools: as many at once as allowed, used again, free after any end."""

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator

import httpx2

from tasks.models.connections import MOST_ERROR_BYTES, Spread, cut_error, spread


class Server:
    """Answers every request after a moment and counts who is connected."""

    def __init__(self) -> None:
        self.open = self.most = self.connections = 0
        self.breaks = False

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.open += 1
                self.most = max(self.most, self.open)
                await asyncio.sleep(0.02)
                self.open -= 1
                if self.breaks:
                    break
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


async def ask(server: Server, connections: int, requests: int) -> tuple[Counter[str], list[int]]:
    listening = await asyncio.start_server(server.meet, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    transport = Spread(connections, ssl.create_default_context())

    async def one(client: httpx2.AsyncClient) -> str:
        try:
            return (await client.get(f"http://127.0.0.1:{port}/")).text
        except httpx2.TransportError as error:
            return type(error).__name__

    async with httpx2.AsyncClient(transport=transport) as client:
        answers = await asyncio.gather(*(one(client) for _ in range(requests)))
    listening.close()
    return Counter(answers), transport.busy


def test_all_are_answered_over_no_more_connections_than_allowed():
    server = Server()
    answers, busy = asyncio.run(ask(server, 8, 100))
    assert answers == {"ok": 100}
    assert server.most == 8
    assert server.connections == 8
    assert not any(busy)


def test_a_connection_that_breaks_frees_its_place():
    server = Server()
    server.breaks = True
    answers, busy = asyncio.run(ask(server, 4, 12))
    assert answers == {"RemoteProtocolError": 12}
    assert not any(busy)


def test_where_a_proxy_is_set_it_is_not_gone_around(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert spread(4) is None


def test_of_an_endless_error_only_the_start_is_read():
    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                yield b"x" * 70_000

    async def asked() -> httpx2.Response:
        packed = {"Content-Encoding": "gzip"}
        answer = httpx2.MockTransport(
            lambda _: httpx2.Response(500, headers=packed, stream=Endless())
        )
        hooks = {"response": [cut_error]}
        async with httpx2.AsyncClient(transport=answer, event_hooks=hooks) as client:
            return await client.get("http://127.0.0.1/")

    assert asyncio.run(asyncio.wait_for(asked(), 20)).content == b"x" * MOST_ERROR_BYTES
