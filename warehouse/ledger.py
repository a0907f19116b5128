"""The ledger of model calls: every call is on disk before its reply is used.

Calls are many and small, so each process appends them to a log of its own, synced in groups: all
waiting calls share one fsync. From time to time the log is sealed: its calls become a part of the
live records, its replies a part of the journal. The next run seals the log of a dead process, so
nothing in it is lost and its replies are not requested again.
"""

import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any
from uuid import uuid4

import orjson
import pyarrow as pa

from schemas.observations import ModelReply
from schemas.operations import ModelCall
from warehouse import durable
from warehouse.journal import COMMIT, Journal

SEAL_SECONDS = 10.0  # the time after which `almanac sql` shows a call
CHECK = 16  # hex digits of the checksum before each line, which reveals a torn one

Entry = tuple[bytes, Future[None]]
Replies = dict[str, tuple[str, str]]  # reply and id of its call, by the request's identity


class Ledger:
    """The calls of one process, and all replies that the home holds."""

    def __init__(self, folder: Path, journal: Journal, live: Journal) -> None:
        """Open the ledger; its log is made with the first call."""
        self.folder, self.journal, self.live = folder, journal, live
        self._log: _Log | None = None
        self._lock = threading.Lock()
        self._sealed_at = time.monotonic()
        self._fresh: dict[str, str] = {}
        self._kept: dict[str, int] = {}
        self._known_upto = 0
        self._looked_at = -1  # the journal's size at the last look-up
        self._page: tuple[int, Replies] | None = None
        self._earlier_calls: dict[str, set[str]] = {}  # ids by endpoint
        self.required = True  # false where one question's call may go unrecorded

    # -- writing ----------------------------------------------------------------------------

    def write(self, call: ModelCall, reply: ModelReply | None = None) -> Future[None]:
        """Record a call, with its reply if valid; the future is done when both are on disk."""
        entry = {"call": call.model_dump(), "reply": reply.model_dump() if reply else None}
        try:
            with self._lock:
                if self._log is None:
                    self._log = _Log(self.folder, self.required)
                done = self._log.write(orjson.dumps(entry))
        except OSError:
            if self.required:
                raise
            done = Future()
            done.set_result(None)
        if reply is not None:
            done.add_done_callback(lambda written: self._remember(reply, written))
        return done

    def _remember(self, reply: ModelReply, written: Future[None]) -> None:
        if not written.cancelled() and written.exception() is None:
            self._fresh[reply.request_sha] = reply.reply

    def seal_if_due(self) -> None:
        """Seal the log if SEAL_SECONDS have passed since the last time."""
        if time.monotonic() - self._sealed_at > SEAL_SECONDS:
            self.seal()

    def seal(self) -> None:
        """Move the log's entries into the journal and the live records."""
        with self._lock:
            log, self._log = self._log, None
        self._sealed_at = time.monotonic()
        if log is not None:
            log.close()
            try:
                _into_parts(log.path, self.journal, self.live)
            except OSError:
                if self.required:
                    raise
                return  # the log stays, for the next run to seal
            log.forget()
            kept = self._commits()
            for sha in [sha for sha in list(self._fresh) if sha in kept]:
                del self._fresh[sha]  # in place: calls in flight add to it meanwhile

    # -- reading ----------------------------------------------------------------------------

    def find(self, request_sha: str) -> str | None:
        """Return the reply to a request that was answered before, else None."""
        fresh = self._fresh.get(request_sha)
        if fresh is not None:
            return fresh
        commit = self._commits().get(request_sha)
        return self._replies_of(commit)[request_sha][0] if commit else None

    def find_from(self, endpoint: str, request_sha: str) -> str | None:
        """Return the reply to a request as `find` does, but only if this endpoint gave it."""
        commit = self._commits().get(request_sha)
        if commit is None:
            return None
        reply, call_id = self._replies_of(commit)[request_sha]
        return reply if call_id in self._calls_to(endpoint) else None

    def _calls_to(self, endpoint: str) -> set[str]:
        """Return the ids of an endpoint's calls that were recorded before the first look-up."""
        if endpoint not in self._earlier_calls:
            import pyarrow.compute as pc  # most commands ask no model, and start sooner without

            self._earlier_calls[endpoint] = {
                call
                for table in self.live.tables(ModelCall, ["call_id", "endpoint"])
                for call in table.filter(pc.field("endpoint") == endpoint)["call_id"].to_pylist()
            }
        return self._earlier_calls[endpoint]

    def answered(self, purpose: str, model: str, prompt_sha: str | None) -> list[tuple[str, ...]]:
        """Return the passages of each request with a reply of this kind; None is any prompt."""
        import pyarrow.compute as pc

        requests = []
        wanted = (pc.field("purpose") == purpose) & (pc.field("model") == model)
        if prompt_sha is not None:
            wanted &= pc.field("prompt_sha") == prompt_sha
        columns = ["purpose", "model", "prompt_sha", "passage_ids"]
        for table in self.journal.tables(ModelReply, columns):
            requests += [tuple(ids) for ids in table.filter(wanted)["passage_ids"].to_pylist()]
        return requests

    def _commits(self) -> dict[str, int]:
        """Return the commit that added each reply."""
        size = self.journal.size
        if size == self._looked_at:
            return self._kept  # every call comes here, so the cheap check comes first
        after, upto = self._known_upto, self.journal.position
        names = ["request_sha", COMMIT]
        for table in self.journal.tables(ModelReply, names, after=after, upto=upto):
            self._kept.update(zip(*_columns(table), strict=True))
        self._known_upto, self._looked_at = upto, size
        return self._kept

    def _replies_of(self, commit: int) -> Replies:
        """Return the replies of one commit; the last are cached, since requests come in order."""
        if self._page is None or self._page[0] != commit:
            names = ["request_sha", "reply", "call_id"]
            [table] = self.journal.tables(ModelReply, names, after=commit - 1, upto=commit)
            shas, *columns = _columns(table)
            self._page = commit, dict(zip(shas, zip(*columns, strict=True), strict=True))
        return self._page[1]


def seal_logs_of_the_dead(folder: Path, journal: Journal, live: Journal) -> int:
    """Seal the logs whose writers are gone; return how many calls they held.

    Once it returns, what any of the dead was answered is in the journal, whoever sealed it.
    """
    if not folder.is_dir():
        return 0
    with (folder / "sealing.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return sum(_seal_if_dead(path, journal, live) for path in sorted(folder.glob("*.log")))


def _seal_if_dead(path: Path, journal: Journal, live: Journal) -> int:
    try:
        log = path.open("rb")
    except FileNotFoundError:
        return 0  # its writer has sealed it
    with log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0  # its writer lives
        if _is_removed(log):
            return 0
        calls = _into_parts(path, journal, live)
        path.unlink()
    return calls


def _into_parts(path: Path, journal: Journal, live: Journal) -> int:
    """Commit a log's rows; repeated after a kill, it adds the same rows under the same keys."""
    entries = list(_entries(path))
    replies = [ModelReply.model_validate(entry["reply"]) for entry in entries if entry["reply"]]
    calls = [ModelCall.model_validate(entry["call"]) for entry in entries]
    journal.append({ModelReply: ModelReply.to_table(replies)})
    live.append({ModelCall: ModelCall.to_table(calls)})
    return len(entries)


def _columns(table: pa.Table) -> list[list[Any]]:
    return [column.to_pylist() for column in table.columns]


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of a log; torn lines are skipped, as nobody relied on them."""
    for line in path.read_bytes().splitlines():
        check, _, data = line.partition(b" ")
        if check.decode(errors="replace") == _check(data):
            yield orjson.loads(data)


def _check(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:CHECK]


def _is_removed(file: IO[bytes]) -> bool:
    return os.fstat(file.fileno()).st_nlink == 0


def _locked_log(folder: Path) -> tuple[Path, IO[bytes]]:
    """Create a log and lock it.

    Until it is locked, another process may take it for a dead writer's and remove it.
    """
    while True:
        path = folder / f"{uuid4().hex}.log"
        file = path.open("ab", buffering=0)
        fcntl.flock(file, fcntl.LOCK_EX)
        if not _is_removed(file):
            return path, file
        file.close()


class _Log:
    """A log file that one thread writes, with one sync for all waiting entries."""

    def __init__(self, folder: Path, required: bool) -> None:
        self._required = required
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self._file = _locked_log(folder)
        durable.sync_folder(folder)
        self._waiting: SimpleQueue[Entry | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> Future[None]:
        done: Future[None] = Future()
        self._waiting.put((data, done))
        return done

    def close(self) -> None:
        """Write the waiting entries and end the thread."""
        self._waiting.put(None)
        self._thread.join()

    def forget(self) -> None:
        """Remove the file after its rows were moved."""
        self.path.unlink()
        self._file.close()

    def _work(self) -> None:
        going_on = True
        while going_on:
            entries = [self._waiting.get()]
            while not self._waiting.empty():
                entries.append(self._waiting.get())
            going_on = None not in entries
            self._write_all([entry for entry in entries if entry is not None])

    def _write_all(self, entries: list[Entry]) -> None:
        lines = b"".join(_check(data).encode() + b" " + data + b"\n" for data, _ in entries)
        error: OSError | None = None
        try:
            _write_whole(self._file, lines)
        except OSError as problem:
            error = problem
        for _, done in entries:
            if done.set_running_or_notify_cancel():  # else whoever waited was cancelled
                failed = error if self._required else None
                done.set_exception(failed) if failed else done.set_result(None)


def _write_whole(file: IO[bytes], data: bytes) -> None:
    """Write and sync all of the data; after an error, such as a full disk, restore the file."""
    size = os.fstat(file.fileno()).st_size
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    except OSError:
        os.ftruncate(file.fileno(), size)
        raise
