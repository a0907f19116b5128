"""A mock endpoint that runs during a benchmark, and figures from its ledger."""

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from benchmarks.command import DATA
from benchmarks.planned import planned_requests
from schemas.settings import Settings
from tests.mock_endpoint import Call, Running, prepare, read_ledger, running

FAULTS = DATA / "hostile" / "llm_faults.jsonl"
CHAT = "/v1/chat/completions"
Shares = Sequence[tuple[str, float]]  # faults, and of how many first tries


@dataclass(frozen=True)
class Standing:
    """A running endpoint."""

    running: Running
    latency: float

    @property
    def base_url(self) -> str:
        """Return where it listens."""
        return self.running.base_url

    def mark(self) -> int:
        """Return how many calls have arrived, so that later ones can be listed from there."""
        return len(self.calls())

    def calls(self, since: int = 0) -> list[Call]:
        """Return its calls from the given one on, in order of arrival."""
        if not self.running.ledger_path.exists():
            return []
        return [call for call in read_ledger(self.running.ledger_path) if call.path == CHAT][since:]

    def wait_until_quiet(self, seconds: float = 10.0) -> None:
        """Return once every call that arrived has its answer, or nobody waits for it any more."""
        give_up = time.monotonic() + seconds
        time.sleep(0.05)
        while time.monotonic() < give_up:
            if all(call.answered is not None or call.lost for call in self.calls()):
                return
            time.sleep(self.latency + 0.01)


@contextmanager
def standing(
    folder: Path, *, latency: float = 0.0, faults: Shares = (), **options: Any
) -> Iterator[Standing]:
    """Run an endpoint; `options` are those of `tests.mock_server`.

    The endpoints of a benchmark stand one after the other at the same address, because requests,
    replies and facts belong to the address that they were sent to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if faults:
        options["faults"] = write_faults(folder / "faults.jsonl", faults)
        options["fault_share"] = sum(share for _, share in faults)
    with running(folder / "ledger.jsonl", latency=latency, port=free_port(), **options) as endpoint:
        yield Standing(endpoint, latency)


@cache
def free_port() -> int:
    """Return a port that was free when this process asked first."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def read_faults() -> dict[str, dict[str, Any]]:
    """Return the known faults by their id."""
    lines = FAULTS.read_bytes().splitlines()
    return {fault["id"]: fault for fault in map(orjson.loads, lines)}


def write_faults(path: Path, shares: Shares) -> Path:
    """Write each fault as often as its share requires, because the endpoint draws evenly from them.

    A name that ends in `!` is served at every try, not only at the first.
    """
    known, least = read_faults(), min(share for _, share in shares)
    lines = []
    for name, share in shares:
        fault = known[name.removesuffix("!")]
        if name.endswith("!"):
            fault = {**fault, "serve": {**fault["serve"], "repeat": "always"}}
        lines += [orjson.dumps(fault) + b"\n"] * round(share / least)
    path.write_bytes(b"".join(lines))
    return path


def prepared_answers(folder: Path, source: Path, settings: Settings) -> Path:
    """Write the answers to what a refresh of the source would ask, and return the file."""
    path = folder / "answers.jsonl"
    prepare(planned_requests(folder / "planned-home", source, settings), path)
    return path


def span(calls: Sequence[Call]) -> float:
    """Return the seconds from the arrival of the first call to the answer of the last."""
    return max(call.answered or call.arrived for call in calls) - min(c.arrived for c in calls)
