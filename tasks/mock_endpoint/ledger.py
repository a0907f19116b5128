"""The endpoint's own account of what it was asked and what it answered, on disk before it is told.

One JSON line when a request arrives and one when its answer or fault goes out; a third if nobody
was there any more to take it. Prompts, answers and keys are never in it, only hashes and counts.
"""

import asyncio
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

import orjson

Line = tuple[bytes, asyncio.Future[None] | None]


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


class EndpointLedger:
    """Appends lines from a thread of its own and syncs them in groups."""

    def __init__(self, path: Path | None) -> None:
        """Open the file for appending; without a path nothing is written."""
        self._file = path.open("ab") if path else None
        self._queue: SimpleQueue[Line | None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._write, name="endpoint-ledger", daemon=True)

    def __enter__(self) -> Self:
        """Start writing; the running event loop will be told what is on disk."""
        if self._file:
            self._loop = asyncio.get_running_loop()
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write what is left and close."""
        if self._file:
            self._queue.put(None)
            self._thread.join()
            self._file.close()

    def note(self, event: str, number: int, at: float | None = None, **fields: Any) -> None:
        """Write a line soon; what is noted later is on disk later."""
        if self._file:
            self._queue.put((_line(event, number, at, fields), None))

    async def sync(self, event: str, number: int, at: float | None = None, **fields: Any) -> None:
        """Write a line and return once it, and all before it, are on disk."""
        self.note(event, number, at, **fields)
        await self.settled()

    async def settled(self) -> None:
        """Return once all that was noted is on disk."""
        if self._file:
            assert self._loop is not None
            done: asyncio.Future[None] = self._loop.create_future()
            self._queue.put((b"", done))
            await done

    def _write(self) -> None:
        assert self._file is not None
        ended = False
        while not ended:
            group = [self._queue.get()]
            while not self._queue.empty():
                group.append(self._queue.get())
            lines = [one for one in group if one is not None]
            ended = len(lines) < len(group)
            self._file.write(b"".join(line for line, _ in lines))
            self._file.flush()
            os.fsync(self._file.fileno())
            self._tell([done for _, done in lines if done is not None])

    def _tell(self, waiting: list[asyncio.Future[None]]) -> None:
        def tell() -> None:
            for done in waiting:
                if not done.done():
                    done.set_result(None)

        assert self._loop is not None
        if waiting and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(tell)


def _line(event: str, number: int, at: float | None, fields: dict[str, Any]) -> bytes:
    at = round(time.time() if at is None else at, 6)
    return orjson.dumps({"event": event, "number": number, "at": at, **fields}) + b"\n"


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
