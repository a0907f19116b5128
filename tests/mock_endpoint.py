"""A mock endpoint as a process of its own, for as long as a test needs it."""

import json
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import orjson

from tasks.mock_endpoint.answers import Extractor, written
from tasks.mock_endpoint.chat_request import messages_sha
from tasks.models.call import Request

SERVER = multiprocessing.get_context("forkserver")


@dataclass(slots=True)
class Call:
    """One request with what became of it; times are seconds since 1970.

    `sha` is of all messages, `first_sha` of the first two, which a repair round shares with the
    first try. Tokens are those billed: none for faults that bring no reply. `answered` is None
    while nothing was sent; `lost` says that the client had gone.
    """

    number: int
    path: str
    arrived: float
    authorized: bool
    purpose: str | None = None
    sha: str | None = None
    first_sha: str | None = None
    attempt: int | None = None
    model: str | None = None
    answered: float | None = None
    status: int | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    fault: str | None = None
    obeyed: list[str] | None = None  # kinds of instructions in the text, where they are obeyed
    batch: str | None = None  # the batch that asked
    lost: bool = False


@dataclass(frozen=True)
class Running:
    """Where an endpoint listens and what it writes down."""

    base_url: str
    ledger_path: Path
    pid: int

    @property
    def calls(self) -> list[Call]:
        """Return what the endpoint was asked so far."""
        return read_ledger(self.ledger_path)

    @property
    def address(self) -> tuple[str, int]:
        """Return host and port."""
        host, _, port = self.base_url.split("/")[2].partition(":")
        return host, int(port)


@contextmanager
def running(ledger: Path, **options: Any) -> Iterator[Running]:
    """Run `tests.mock_server` with a ledger; options are the command's, `_` for `-`.

    A flag is given as True; False and None leave an option out.
    """
    arguments = ["--json", "--ledger", str(ledger)]
    for name, value in options.items():
        if value is None or value is False:
            continue
        arguments.append(f"--{name.replace('_', '-')}")
        if value is not True:
            arguments.append(str(value))
    output, input_of_output = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=_serve, args=(input_of_output, arguments), daemon=True)
    process.start()
    input_of_output.close()
    try:
        with open(output.fileno(), closefd=False) as lines:
            announced = json.loads(lines.readline() or "{}")
        if not announced:
            raise RuntimeError("the mock endpoint did not start; see what it wrote above")
        yield Running(announced["base_url"], ledger, announced["pid"])
    finally:
        process.terminate()
        process.join(timeout=10)
        process.kill()
        process.join()
        output.close()


def _serve(output: Connection, arguments: list[str]) -> None:
    """Serve in this process, which writes to a pipe instead of the standard output."""
    from tests import mock_server

    os.setsid()  # out of the way of signals that a test sends to processes of its own
    os.dup2(output.fileno(), sys.stdout.fileno())
    sys.argv[1:] = arguments
    mock_server.main()


def read_ledger(path: Path) -> list[Call]:
    """Return the calls in a ledger in order of arrival; a line that was cut short is left out.

    A ledger that several endpoints wrote one after the other begins its numbers anew with each.
    """
    calls: list[Call] = []
    current: dict[int, Call] = {}
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            continue
        entry = orjson.loads(line)
        event, number, at = entry.pop("event"), entry.pop("number"), entry.pop("at")
        if event == "asked":
            current[number] = Call(number, arrived=at, **entry)
            calls.append(current[number])
        elif event == "answered":
            current[number].answered = at
            for name, value in entry.items():
                setattr(current[number], name, value)
        elif event == "lost":
            current[number].lost = True
    return calls


def prepare(requests: Iterable[Request], path: Path) -> int:
    """Write the answers to requests in advance, so that serving them is no work; return how many.

    The file has one JSON object per line: `sha`, of the messages, and `content`.
    """
    extractor, written_shas = Extractor(), set()
    with path.open("wb") as file:
        for request in requests:
            sha = messages_sha(request.messages)
            if sha not in written_shas:
                written_shas.add(sha)
                content = written(request.purpose, request.user, extractor)
                file.write(orjson.dumps({"sha": sha, "content": content}) + b"\n")
    return len(written_shas)
