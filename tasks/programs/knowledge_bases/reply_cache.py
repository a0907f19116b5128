"""A cache of services' replies, in one small SQLite file that may be deleted at any time.

It holds bytes by key. Whatever is wrong with the file (no room, no rights, damage), it returns
nothing: a question never fails because of it.
"""

import logging
import os
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 200_000_000
PRUNED_EVERY = 100  # new replies
_LOCK_SECONDS = 2.0
_log = logging.getLogger(__name__)


class ReplyCache:
    """A file of replies, shared by threads and processes."""

    def __init__(self, path: Path, keep_seconds: float, most_bytes: int = MOST_BYTES) -> None:
        """Open nothing yet; replies older than `keep_seconds` are deleted."""
        self._path, self._keep, self._most_bytes = path, keep_seconds, most_bytes
        self._lock = threading.Lock()
        self._file: sqlite3.Connection | None = None
        self._puts = 0
        self._owner = os.getpid()

    def get(self, key: str) -> tuple[bytes, float] | None:
        """Return the reply with a key and its age in seconds, None if there is none."""
        with self._lock:
            try:
                query = "SELECT body, kept_at FROM replies WHERE key = ?"
                row = self._open().execute(query, (key,)).fetchone()
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
                return None
        if not row or not isinstance(row[0], bytes) or not isinstance(row[1], float):
            return None
        age = max(time.time() - row[1], 0.0)
        return (row[0], age) if age <= self._keep else None

    def put(self, key: str, body: bytes) -> None:
        """Store a reply; the oldest are deleted when the file would become too large."""
        with self._lock:
            try:
                file = self._open()
                row = (key, time.time(), body)
                file.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", row)
                self._puts += 1
                if self._puts % PRUNED_EVERY == 0:
                    self._prune(file)
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)

    def close(self) -> None:
        """Close the file; it opens again when needed."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _open(self) -> sqlite3.Connection:
        if self._file is None or self._owner != os.getpid():  # a forked process opens its own
            self._owner = os.getpid()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = sqlite3.connect(
                self._path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._file = file
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = OFF")  # replies lost in a crash are fetched again
            file.execute(
                "CREATE TABLE IF NOT EXISTS replies "
                "(key TEXT PRIMARY KEY, kept_at REAL NOT NULL, body BLOB NOT NULL)"
            )
            self._prune(file)
        return self._file

    def _prune(self, file: sqlite3.Connection) -> None:
        file.execute("DELETE FROM replies WHERE kept_at < ?", (time.time() - self._keep,))
        file.execute(
            "DELETE FROM replies WHERE key IN (SELECT key FROM (SELECT key, "
            "sum(length(body)) OVER (ORDER BY kept_at DESC, key) AS size FROM replies) "
            "WHERE size > ?)",
            (self._most_bytes,),
        )

    def _give_up(self, error: Exception) -> None:
        """Close the file, and remove it if it is damaged or no cache."""
        _log.debug("the cache of replies was not used: %s", error)
        if self._file is not None:
            self._file.close()
            self._file = None
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError
        )
        if damaged:
            for ending in ("", "-wal", "-shm"):
                with suppress(OSError):
                    self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
