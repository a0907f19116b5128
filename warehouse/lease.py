"""The lease on building and publishing: one process holds it; others wait or are told by whom.

The operating system frees the lock when its holder dies, however it dies.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path

import orjson
from filelock import FileLock, Timeout

from schemas.errors import BusyError
from warehouse import durable
from warehouse.home import Home


@contextmanager
def lease(folder: Path, run_id: str, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the lease on a home while the body runs.

    Raises BusyError, with the holder's run, process and start time, if it is not free in time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock, holder = FileLock(folder / "refresh.lock"), folder / "refresh.holder.json"
    try:
        lock.acquire(timeout=wait_seconds)
    except Timeout:
        raise BusyError(_who_holds(holder)) from None
    who = {
        "run_id": run_id,
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        with suppress(OSError):  # only a note: on a full disk, pruning still makes room
            durable.write_json(holder, who)
        stored = Home(folder).stored
        with stored.leased(who, wait_seconds) if stored else nullcontext():
            yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def holds(folder: Path, run_id: str) -> bool:
    """Tell whether a run holds the lease on the home in a folder, as seen from this machine."""
    try:
        who = orjson.loads((folder / "refresh.holder.json").read_bytes())
        return bool(who["run_id"] == run_id)
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return False


def _who_holds(holder: Path) -> str:
    try:
        who = orjson.loads(holder.read_bytes())
        return (
            f"Refresh {who['run_id']} has been running since {who['since']} "
            f"(process {who['process']} on {who['host']}). Wait for it, or give "
            "--set publish.wait_seconds=60."
        )
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return (
            "Another refresh has just begun on this home. Try again, or give --set "
            "publish.wait_seconds=60."
        )
