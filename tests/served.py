"""A service in a process of its own, on a free port of this machine, for the tests."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

REPOSITORY = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "almanac"]


@contextmanager
def serving(home: Path, *options: str) -> Iterator[httpx.Client]:
    """Yield a client of `almanac serve` on this home; end the service afterwards."""
    process = subprocess.Popen(
        [*COMMAND, "--home", str(home), "--json", "serve", "--port", "0", *options],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        told: dict[str, Any] = json.loads(process.stdout.readline())
        with httpx.Client(base_url=told["address"], timeout=60) as client:
            client.headers["X-Service-Process"] = str(told["pid"])  # for those who measure it
            yield client
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
