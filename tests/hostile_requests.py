"""Requests that somebody with bad intentions would send to the service; none may hurt it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True)
class Hostile:
    """A request as httpx sends it."""

    method: str
    path: str
    more: dict[str, Any] = field(default_factory=dict)


TEXTS = (
    "' or 1=1 --",
    "'; drop table entities; --",
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "\x00",
    "\ud800",
    "<script>alert(1)</script>",
    "javascript:alert(1)",
    "%s%s%n{0}{{7*7}}${7*7}",
    "A" * 1_900,
    "\u202ereversed",
    "🦆" * 400,
    "-1",
    "NaN",
    "null",
    " ",
)
QUERIES = (
    "select * from read_csv('/etc/passwd')",
    "select * from '/etc/passwd'",
    "attach '/tmp/x.db'",
    "copy entities to '/tmp/out'",
    "install httpfs",
    "select * from duckdb_settings()",
    "select * from duckdb_databases()",
    "pragma database_list",
    "select getenv('HOME')",
    "select 1; select 2",
    "set memory_limit='100GB'",
    "select * from glob('/*')",
    "select current_setting('ho' || 'me_directory')",
    "call dbgen(sf=1)",
    "export database '/tmp/x'",
    "select 1/0::int",
    "select 'a'::int",
    "delete from entities",
    "((((((",
    "--",
)
BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"question": 1}',
    b"\xff\xfe",
    b'{"question": "' + b"a" * 9_000,
)
PATHS = (
    "/v1/entities/{}",
    "/v1/facts/{}",
    "/v1/documents/{}",
    "/v1/statements/{}",
    "/e/{}",
    "/d/{}",
)


def hostile_requests() -> Iterator[Hostile]:
    """Yield the requests, some two hundred."""
    for text in TEXTS:
        escaped = quote(text.encode("utf-8", "surrogatepass"), safe="")
        for path in PATHS:
            yield Hostile("GET", path.format(escaped))
        yield Hostile("GET", f"/v1/search?q={escaped}")
        yield Hostile("GET", f"/v1/facts?after={escaped}&relation={escaped}")
        yield Hostile("GET", f"/v1/entities?home={escaped}")
    for query in QUERIES:
        yield Hostile("POST", "/v1/sql", {"json": {"query": query}})
    for body in BODIES:
        for path in ("/v1/ask", "/v1/sql", "/v1/feedback", "/mcp"):
            yield Hostile("POST", path, {"content": body})
    for headers in (
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:80"},
        {"Host": "["},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Cookie": "almanac_token=x; \x01"},
        {"Authorization": "Bearer " + "x" * 5_000},
        {"If-None-Match": "*" * 3_000},
    ):
        asked = {"question": "Who?"}
        yield Hostile("POST", "/v1/ask", {"json": asked, "headers": headers})
    for path in (
        "//evil.example/%2f..",
        "/assets/../../../etc/passwd",
        "/login?then=//evil.example",
    ):
        yield Hostile("GET", path)
    for method in ("PUT", "DELETE", "TRACE", "PATCH", "OPTIONS", "PROPFIND"):
        yield Hostile(method, "/v1/facts")
