"""The service asked by people and by pages of other sites that mean harm."""

import asyncio
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from uvicorn import Config
from uvicorn.server import ServerState

from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.service import server
from tasks.service.guard import Bucket, Limits
from tasks.service.server import Serving, check_exposure, make_service, open_shelf, serve_stdio
from tasks.service.shelf import Shelf
from tasks.service.tokens import TOKENS_FILE, Tokens
from tests.copied_home import copied_home
from tests.hostile_requests import Hostile, hostile_requests
from tests.served import serving
from warehouse.home import Home

PATHS = re.compile(r"/(root|home|tmp|usr|work|var)/[\w./-]+|Traceback|\.py\b")
EVERY = 6  # the benchmark sends all


@pytest.fixture(scope="module")
def service(small_home: Path) -> Iterator[httpx.Client]:
    with serving(small_home, "--set", "rate=10000", "--set", "burst=10000") as client:
        yield client


@pytest.mark.parametrize("request_", islice(hostile_requests(), 0, None, EVERY), ids=str)
def test_no_request_hurts(service: httpx.Client, request_: Hostile) -> None:
    answered = service.request(request_.method, request_.path, **request_.more)

    assert answered.status_code < 500
    assert not PATHS.search(answered.text)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_pages_of_other_sites_are_refused(
    service: httpx.Client, headers: dict[str, str], status: int
) -> None:
    asked = {"question": "Where was Ada Lovelace born?"}
    assert service.post("/v1/ask", json=asked, headers=headers).status_code == status


def test_a_request_has_a_size(service: httpx.Client) -> None:
    assert service.post("/v1/ask", content=b"a" * (2 << 20)).status_code == 413


def test_a_bucket_refills_at_its_rate() -> None:
    limits = Limits(rate=1_000_000, burst=1)
    bucket = Bucket(1)

    assert bucket.take(Limits(rate=0.001, burst=1)) == 0
    assert bucket.take(Limits(rate=0.001, burst=1)) > 0
    bucket.at -= 1
    assert bucket.take(limits) == 0


@pytest.mark.parametrize(
    ("serving_", "has_tokens"),
    [
        (Serving(host="0.0.0.0"), False),
        (Serving(host="0.0.0.0"), True),
        (Serving(behind_proxy=True), False),
        (Serving(tls_cert=Path("cert.pem")), True),
    ],
)
def test_nothing_is_open_to_others_by_mistake(serving_: Serving, has_tokens: bool) -> None:
    with pytest.raises(UsageError):
        check_exposure(serving_, has_tokens=has_tokens)


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"], ids=["new", "used"])
def test_a_request_that_comes_in_drops_has_an_end(
    before: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)

    async def greeting(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def trickled() -> None:
        config = Config(greeting)
        loop, state = asyncio.get_running_loop(), ServerState()
        listening = await loop.create_server(
            lambda: server.TimedProtocol(config, state, {}), "127.0.0.1"
        )
        host = listening.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(*host)
        writer.write(before)
        assert not before or await reader.readuntil(b"\r\n\r\n")
        reading = asyncio.create_task(reader.read())
        while not reading.done():
            writer.write(b"X")
            await asyncio.wait([reading], timeout=0.05)
        assert reading.exception() or not reading.result()
        listening.close()

    asyncio.run(asyncio.wait_for(trickled(), 5))


@pytest.fixture
def two_homes(small_home: Path, tmp_path: Path) -> Shelf:
    homes = {name: Home(copied_home(small_home, tmp_path / name)) for name in ("films", "news")}
    settings = {name: (home, load_settings(home.path)) for name, home in homes.items()}
    return open_shelf(settings, Serving())


def test_a_token_opens_its_own_home_alone(two_homes: Shelf) -> None:
    tokens = {
        name: Tokens(served.home.path / TOKENS_FILE).add("ann", ["read"])
        for name, served in two_homes.homes.items()
    }
    with TestClient(make_service(two_homes, Serving()), base_url="http://localhost") as client:

        def status(asked: str, token: str) -> int:
            bearer = {"Authorization": f"Bearer {tokens[token]}"}
            return client.get(f"/v1/facts{asked}", headers=bearer).status_code

        assert status("", "films") == status("?home=films", "films") == 200
        assert status("?home=news", "news") == status("?home=films&home=news", "news") == 200
        assert status("?home=news", "films") == status("?home=films&home=news", "films") == 401
        assert status("", "news") == status("?home=none", "news") == 401


def test_a_home_without_tokens_is_not_served_beside_one_with_some(two_homes: Shelf) -> None:
    Tokens(two_homes.homes["news"].home.path / TOKENS_FILE).add("ann", ["read"])
    with pytest.raises(UsageError, match="'films' has no tokens"):
        make_service(two_homes, Serving())


def test_pipes_lead_to_one_home(two_homes: Shelf) -> None:
    with pytest.raises(UsageError, match="one home"):
        serve_stdio(two_homes)


def test_as_many_queries_run_as_may_and_health_is_told(two_homes: Shelf) -> None:
    with TestClient(make_service(two_homes, Serving()), base_url="http://localhost") as client:
        while two_homes.first.queries.acquire(blocking=False):
            pass
        query = {"query": "select 1"}
        full = client.post("/v1/sql", json=query)
        assert (full.status_code, full.headers["retry-after"]) == (503, "2")
        assert client.post("/v1/sql?home=news", json=query).status_code == 200
        assert client.get("/health").status_code == 200
