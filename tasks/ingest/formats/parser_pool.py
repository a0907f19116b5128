"""Parse files in worker processes, which are reused, and killed when they hang.

A worker serves one file at a time; there are as many workers as files are read at once.
"""

import atexit
import dataclasses
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from schemas.errors import AlmanacError
from tasks.ingest.formats.formats import Kind
from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.parsed_text import ParsedText, ParserLimits

_FILES_SERVED = 500  # files after which a worker is replaced, so that leaks do not add up
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": f"{1 << 20}",  # or one picture leaves no room for the next
}
_START = 60.0  # seconds that a worker may take to start on a busy machine
# How a process ends that reads what it must not, or finds no memory within its own limit.
_OWN_FAULTS = {signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGSEGV, signal.SIGTRAP}
_idle: list["_Worker"] = []
_lock = threading.Lock()


def parse_apart(
    file: BinaryIO, kind: Kind, limits: ParserLimits, seconds: float
) -> Iterator[ParsedText]:
    """Yield the texts of an open file, parsed in a worker process.

    Raises `RefusalError` if the file is refused as a whole: for its content, or because its
    parser was silent for more than `seconds`, needed too much memory or died.
    """
    worker = _take()
    try:
        yield from worker.parse(file, kind, limits, seconds)
    finally:
        _give(worker) if worker.is_free else worker.end()


class _Worker:
    """One parser process and the socket to it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.served = 0
        self.is_free = True  # to serve the next file
        self._channel, theirs = socket.socketpair()
        root = Path(__file__).resolve().parents[__package__.count(".") + 1]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-B", "-m", f"{__package__}.parser_process"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT | {"PYTHONPATH": str(root)},
                start_new_session=True,
            )
        if "ready" not in self._receive(time.monotonic() + _START, 1_000):
            raise AlmanacError("The process that parses files did not start; try again.")

    def parse(
        self, file: BinaryIO, kind: Kind, limits: ParserLimits, seconds: float
    ) -> Iterator[ParsedText]:
        """Yield the texts of the file."""
        self.served, self.is_free = self.served + 1, False
        request = {"kind": kind, "limits": dataclasses.asdict(limits), "seconds": seconds}
        socket.send_fds(self._channel, [orjson.dumps(request)], [file.fileno()])
        longest = 12 * limits.max_text_chars + 65_536
        while True:
            frame = self._receive(time.monotonic() + seconds, longest)
            # A worker that ran out of memory exits; any other can serve the next file.
            refused = frame.get("refused")
            self.is_free = "done" in frame or refused not in (None, Reason.OUT_OF_MEMORY)
            if "done" in frame:
                return
            if refused:
                raise RefusalError(Reason(refused), frame["sentence"])
            if "broken" in frame:
                raise AlmanacError(
                    f"A parser cannot be loaded: {frame['broken']}; reinstall almanac."
                )
            if "alive" not in frame:
                yield ParsedText(**frame)

    def is_usable(self) -> bool:
        """Tell whether the worker can serve another file of this process."""
        return self.served < _FILES_SERVED and self._process.poll() is None

    def end(self) -> None:
        """Kill the process and wait for it."""
        self._channel.close()
        if self.owner == os.getpid():
            self._process.kill()
            self._process.wait()

    def _receive(self, deadline: float, longest: int) -> dict[str, Any]:
        size = int.from_bytes(self._exactly(4, deadline), "big")
        if size > longest:
            raise RefusalError(Reason.TOO_LONG, "Its text is too long.")
        frame: dict[str, Any] = orjson.loads(self._exactly(size, deadline))
        return frame

    def _exactly(self, count: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < count:
            self._channel.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                part = self._channel.recv(min(count - len(data), 1 << 20))
            except TimeoutError:
                raise RefusalError(Reason.TIMEOUT, "Its parser took too long.") from None
            except ConnectionError:
                part = b""
            if not part:
                raise self._death()
            data += part
        return bytes(data)

    def _death(self) -> RefusalError:
        """Return the refusal of a file whose parser ended itself, or was ended from outside."""
        with suppress(subprocess.TimeoutExpired):
            if -self._process.wait(1.0) in _OWN_FAULTS:
                return RefusalError(Reason.BAD_FORMAT, "Its parser broke down over it.")
        return RefusalError(Reason.CRASHED, "Its parser's process died.")


def _take() -> _Worker:
    with _lock:
        while _idle:
            worker = _idle.pop()
            # After a fork the workers belong to the parent.
            if worker.owner == os.getpid() and worker.is_usable():
                return worker
            worker.end()
    return _Worker()


def _give(worker: _Worker) -> None:
    with _lock:
        _idle.append(worker)


@atexit.register
def _end_all() -> None:
    with _lock:
        while _idle:
            _idle.pop().end()
