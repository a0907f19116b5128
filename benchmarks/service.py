"""Measure the service: latency for one client and for sixteen, memory, and requests that harm.

python -m benchmarks.service                         # 20 seconds for sixteen clients
python -m benchmarks.service --minutes 5
python -m benchmarks.service --fuzz                  # 1,000 made requests, and the hostile ones
"""

import argparse
import asyncio
import re
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from benchmarks.command import report
from schemas.settings import Settings
from tasks.refresh import refresh
from tests.hostile_requests import hostile_requests
from tests.served import serving
from warehouse.home import Home

SAMPLE = Path(__file__).parents[1] / "examples" / "corpus"
SHORT_SECONDS = 20.0
CLIENTS = 16
ALONE = 100  # requests of one client, of each kind
RATES = ("--set", "rate=100000", "--set", "burst=100000")
LEAK = re.compile(r"/(root|home|tmp|usr|work|var)/[\w./-]+|Traceback")

Ask = Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]


def requests_of(client: httpx.Client) -> dict[str, list[Ask]]:
    """Return requests by kind, about the best known things and the questions of the home."""

    def rows(query: str) -> list[str]:
        found = client.post("/v1/sql", json={"query": query}).raise_for_status().json()["rows"]
        return [row[0] for row in found]

    names = rows(
        "select entity_id from entities where graph = 'corpus' order by mentions desc limit 50"
    )
    words = rows("select name from entities where graph = 'corpus' order by name limit 50")
    questions = [f"What is {word}?" for word in words[:20]]

    def get(path: str) -> Ask:
        return lambda c: c.get(path)

    def ask(question: str) -> Ask:
        return lambda c: c.post("/v1/ask", json={"question": question})

    return {
        "entity": [get(f"/v1/entities/{name}") for name in names],
        "search": [get(f"/v1/search?q={word}") for word in words],
        "facts": [get(f"/v1/facts?head_id={name}") for name in names],
        "ask": [ask(question) for question in questions],
    }


async def alone(address: str, asked: dict[str, list[Ask]]) -> dict[str, dict[str, float]]:
    """Return milliseconds of one client, by kind of request; of `ask` those beyond its own time."""
    measured = {}
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        for kind, makers in asked.items():
            times = []
            for _, make in zip(range(ALONE), cycle(makers), strict=False):
                began = time.perf_counter()
                response = (await make(client)).raise_for_status()
                seconds = time.perf_counter() - began
                own = response.json()["seconds"] if kind == "ask" else 0.0
                times.append((seconds - own) * 1000)
            measured[kind] = quantiles(times)
    return measured


async def together(address: str, asked: dict[str, list[Ask]], seconds: float) -> dict[str, Any]:
    """Return what sixteen clients saw: milliseconds by kind, and responses by status."""
    times: dict[str, list[float]] = {kind: [] for kind in asked}
    statuses: Counter[int] = Counter()
    ends = time.monotonic() + seconds

    async def one(number: int) -> None:
        kinds = cycle(["entity", "search", "facts", "entity", "facts", "ask"])
        turn = number
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            while time.monotonic() < ends:
                kind = next(kinds)
                turn += 1
                began = time.perf_counter()
                response = await asked[kind][turn % len(asked[kind])](client)
                times[kind].append((time.perf_counter() - began) * 1000)
                statuses[response.status_code] += 1

    await asyncio.gather(*(one(number) for number in range(CLIENTS)))
    return {
        "milliseconds": {kind: quantiles(values) for kind, values in times.items()},
        "statuses": {str(status): count for status, count in statuses.items()},
    }


def quantiles(times: list[float]) -> dict[str, float]:
    """Return the median and the 99th percentile."""
    cuts = statistics.quantiles(times, n=100)
    return {"p50": round(cuts[49], 1), "p99": round(cuts[98], 1), "requests": len(times)}


def memory_mb(pid: int) -> float:
    """Return a process' resident memory in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return round(int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1000, 1)


def fuzzed(client: httpx.Client, cases: int) -> dict[str, Any]:
    """Send requests made from the service's description, and the hostile ones."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.core.result import Ok

    description = client.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(description)
    schema.config.update(base_url=str(client.base_url))
    statuses: Counter[int] = Counter()
    leaks = 0
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]

    def sent(status: int, text: str) -> None:
        nonlocal leaks
        statuses[status] += 1
        leaks += bool(LEAK.search(text))

    for operation in operations:

        @settings(
            max_examples=-(-cases // len(operations)),
            database=None,
            derandomize=True,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def send(case: Any) -> None:
            response = case.call()
            sent(response.status_code, response.text)

        send()
    made = statuses.total()
    for request in hostile_requests():
        try:
            response = client.request(request.method, request.path, **request.more)
        except (httpx.InvalidURL, httpx.LocalProtocolError):
            continue
        sent(response.status_code, response.text)
    return {
        "made": made,
        "hostile": statuses.total() - made,
        "failed": sum(count for status, count in statuses.items() if status >= 500),
        "leaks": leaks,
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
    }


def main() -> None:
    """Measure on a copy of a home, print the figures, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "home", type=Path, nargs="?", help="by default the sample corpus, read anew"
    )
    parser.add_argument("--minutes", type=float, default=SHORT_SECONDS / 60)
    parser.add_argument("--fuzz", action="store_true")
    parser.add_argument("--cases", type=int, default=1_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        if given.home:
            shutil.copytree(given.home, home)
        else:
            refresh(Home(home), [str(SAMPLE)], Settings())
        with serving(home, *RATES) as client:
            if given.fuzz:
                name, result = "service_fuzz", fuzzed(client, given.cases)
            else:
                address, pid = str(client.base_url), int(client.headers["X-Service-Process"])
                asked = requests_of(client)
                name, result = "service", {"one_client": asyncio.run(alone(address, asked))}
                before = memory_mb(pid)
                result |= asyncio.run(together(address, asked, given.minutes * 60))
                result |= {"memory_mb": [before, memory_mb(pid)], "minutes": given.minutes}
    report(name, result)


if __name__ == "__main__":
    main()
