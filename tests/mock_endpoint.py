"""A mock endpoint as a process of its own, for as long as a test needs it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.mock_endpoint.ledger import Call, read_ledger


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
    """Run `almanac mock-endpoint` with a ledger; options are the command's, `_` for `-`.

    A flag is given as True; False and None leave an option out.
    """
    command = [sys.executable, "-m", "flows", "mock-endpoint", "--json", "--ledger", str(ledger)]
    for name, value in options.items():
        if value is None or value is False:
            continue
        command.append(f"--{name.replace('_', '-')}")
        if value is not True:
            command.append(str(value))
    # Out of the way of signals that a test sends to processes of its own.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline() or b"{}")
        if not told:
            raise RuntimeError("the mock endpoint did not start; see what it wrote above")
        yield Running(told["base_url"], ledger, told["pid"])
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()
