"""Prefect without ceremony: quiet settings, and a server for as long as a command runs.

Where PREFECT_API_URL or the Prefect profile names a server, that one is used. Otherwise a
temporary one is started beside the home, with its database in the home. It ends with its parent
even if that is killed, which Prefect's own temporary server does not.
"""

import atexit
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from schemas.errors import AlmanacError

START_SECONDS = 120  # two busy cores have taken 30
END_SECONDS = 10
QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": str(START_SECONDS),
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    # A server under load answers 503 for a moment, which alone must not end a flow.
    "PREFECT_CLIENT_RETRY_EXTRA_CODES": "503",
}


def configure(*, debug: bool = False) -> None:
    """Set what Prefect reads when it is imported; what the environment says already counts."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    if debug:
        os.environ["PREFECT_LOGGING_LEVEL"] = "DEBUG"


@contextmanager
def orchestrated(home: Path) -> Iterator[None]:
    """Have a Prefect server to talk to while the body runs flows.

    Raises AlmanacError if a temporary server does not come up in time.
    """
    from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY
    from prefect.settings import temporary_settings as settings

    # With its heartbeat on, every flow waits up to a second for that thread to end.
    quick = {PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}
    if PREFECT_API_URL.value():
        with settings(quick):
            yield
        return
    folder = home / "prefect"
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    server = _start(folder, port)
    try:
        import prefect.flows  # noqa: F401 (takes a second, which the server needs anyway)

        url = f"http://127.0.0.1:{port}/api"
        _wait_until_healthy(server, url, folder)
        with settings({**quick, PREFECT_API_URL: url}):
            try:
                yield
            finally:
                _send_remaining_events()
    finally:
        _end(server)


@cache
def hush_at_exit() -> None:
    """End the use of standard error when the process ends.

    Prefect's last thread still holds this program's functions then, of which DuckDB's binding
    complains in a hundred lines.
    """

    def hush() -> None:
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    atexit.register(hush)  # registered early, so it runs late


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Start a server that ends when the pipe to it closes."""
    database = f"sqlite+aiosqlite:///{(folder / 'prefect.db').resolve()}"
    environment = {
        **os.environ,
        "PREFECT_API_DATABASE_CONNECTION_URL": database,
        "PREFECT_UI_ENABLED": "false",
        "PREFECT__SERVER_EPHEMERAL": "1",
        "PREFECT__SERVER_FINAL": "1",
    }
    with (folder / "server.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "flows.temporary_server", str(port)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=environment,
        )


def _wait_until_healthy(server: subprocess.Popen[bytes], url: str, folder: Path) -> None:
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AlmanacError(
        f"Prefect's temporary server did not start; {folder / 'server.log'} says why. "
        "Or start one with `prefect server start` and set PREFECT_API_URL."
    )


def _send_remaining_events() -> None:
    """Wait for what Prefect still has to tell its server, or it would try after the end."""
    from prefect.events.worker import EventsWorker

    EventsWorker.drain_all(timeout=END_SECONDS)


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.stdin:
        server.stdin.close()
    try:
        server.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
