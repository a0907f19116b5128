"""Runs the jobs of the command line: plainly, or as flow runs on a Prefect server.

A job is a flow run if PREFECT_API_URL or the Prefect profile names a server, or if --prefect is
given; then, if no server is named, a temporary one is started, with its database in the home. It
ends with its parent even if that is killed, which Prefect's own temporary server does not.

The outcome is always the job's own: a server that does not start, fails or dies only causes a
warning.
"""

import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flows import progress, terminal
from flows.jobs import Call, Job, Runner
from schemas.errors import AlmanacError
from schemas.extras import missing_library

END_SECONDS = 10
START_TIMEOUT = "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"
PROFILES = {"local": {"PREFECT_API_URL": "http://127.0.0.1:4200/api"}}  # that Prefect brings
QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
    START_TIMEOUT: "120",  # two busy cores have taken 30
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    # A server under load answers 503 for a moment; one that is gone must not hold up the end.
    "PREFECT_CLIENT_RETRY_EXTRA_CODES": "503",
    "PREFECT_CLIENT_MAX_RETRIES": "2",
    "PREFECT_API_REQUEST_TIMEOUT": "20",
}


def run_job(job: Job, call: Call) -> Any:
    """Run a job plainly or as a flow run, whichever is configured; return its result."""
    with progress.shown() as report, ExitStack() as server:
        runner = Runner(report, terminal.say)
        if not (call.prefect or names_server()):
            return job.work(runner)
        configure(debug=call.debug)
        try:
            server.enter_context(served(job.home))
            from flows.deployed import run_as_flow
        except Exception as error:  # whatever failed, the work can be done without Prefect
            why = missing_library(error) or error
            terminal.say(f"Warning: {why} The work is done without Prefect.")
            return job.work(runner)
        return run_as_flow(job, runner)


def names_server() -> bool:
    """Return whether the environment or the Prefect profile names a server.

    Prefect could answer this, but loading it takes a second.
    """
    if "PREFECT_API_URL" in os.environ:
        return bool(os.environ["PREFECT_API_URL"])
    folder = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    path = Path(os.environ.get("PREFECT_PROFILES_PATH") or folder / "profiles.toml")
    try:
        known = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        active = os.environ.get("PREFECT_PROFILE") or known.get("active")
        return bool((PROFILES | known.get("profiles", {})).get(active, {}).get("PREFECT_API_URL"))
    except (OSError, ValueError, TypeError, AttributeError):
        return False  # Prefect could not read it either


def configure(*, debug: bool = False) -> None:
    """Set the variables that Prefect reads on import; those already set are kept."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    if debug:
        os.environ["PREFECT_LOGGING_LEVEL"] = "DEBUG"


@contextmanager
def served(home: Path) -> Iterator[None]:
    """Provide a Prefect server while the body runs flows.

    Raises AlmanacError, before the body runs, if a temporary server does not come up in time.
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
        _wait_until_healthy(server, url, folder / "server.log")
        with settings({**quick, PREFECT_API_URL: url}):
            try:
                yield
            finally:
                if server.poll() is None:
                    _send_remaining_events()
    finally:
        _end(server)


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
        log.write(f"{datetime.now(UTC):%F %T} UTC: starting on port {port}\n".encode())
        log.flush()
        return subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.temporary_server", str(port)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=environment,
        )


def _wait_until_healthy(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    seconds = float(os.environ[START_TIMEOUT])
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as response:
                if response.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    if server.poll() is None:
        server.send_signal(signal.SIGUSR1)  # it logs its stack traces
        time.sleep(0.5)
        what = f"did not start within {seconds:g} seconds ({START_TIMEOUT} allows it more)"
    else:
        what = "ended before it had started"
    raise AlmanacError(f"Prefect's temporary server {what}; {log} says how far it came.")


def _send_remaining_events() -> None:
    """Wait until Prefect has sent its events, or it would try after the server has ended."""
    from prefect.events.worker import EventsWorker

    with suppress(Exception):  # events are only a record; no result depends on them
        EventsWorker.drain_all(timeout=END_SECONDS)


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.stdin:
        server.stdin.close()
    try:
        server.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
