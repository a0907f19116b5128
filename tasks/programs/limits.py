"""The limits of a program, and their enforcement.

The interpreter counts its own time and memory. Its clock stops while arguments are passed and while
called functions compute, so that this time is counted here.
"""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Any

from schemas.errors import AlmanacError

Function = Callable[..., Any]
Calls = Mapping[str, Function]

GRACE = 0.3  # seconds from a time limit to the worker's end
EVERY = 0.1  # seconds between two checks of a running program


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a program: `seconds` for itself, `call_seconds` for all of its calls."""

    seconds: float = 5.0
    call_seconds: float = 60.0
    memory: int = 64 << 20  # bytes
    calls: int = 5_000
    depth: int = 200  # of recursion
    output: int = 200_000  # characters that it returns or prints


class SandboxError(Exception):
    """An error that a program may see: plain words, without internal details."""


class Guarded:
    """Functions as programs may call them: counted, timed, and without internal details in errors.

    `functions` query knowledge bases and have their own clock; the time of `helpers` counts as the
    program's own.
    """

    def __init__(self, functions: Calls, helpers: Calls, limits: Limits) -> None:
        self.functions = {name: self._guard(call, asks=True) for name, call in functions.items()}
        self.functions |= {name: self._guard(call, asks=False) for name, call in helpers.items()}
        self.stopped: str | None = None
        self.failed: AlmanacError | None = None
        self.worker: int | None = None
        self.limits = limits
        self._calls = 0
        self._seconds = 0.0  # spent on queries
        self._asking_since: float | None = None
        self._began = monotonic()

    @property
    def own_seconds(self) -> float:
        """Seconds that the program has run, without its queries to knowledge bases."""
        now = monotonic()
        asking = self._asking_since
        return now - self._began - self._seconds - (now - asking if asking is not None else 0.0)

    def stop(self) -> None:
        """End the worker of a program that took too long."""
        self.stopped = f"TimeoutError: more than {self.limits.seconds:g} s"
        end_worker(self.worker)

    def _guard(self, call: Function, *, asks: bool) -> Function:
        def guarded(*args: Any, **kwargs: Any) -> Any:
            self._count()
            began = monotonic()
            self._asking_since = began if asks else None
            try:
                return call(*args, **kwargs)
            except SandboxError as error:
                raise ValueError(str(error)) from None
            except AlmanacError as error:
                self.failed, self.stopped = error, "the work failed"
                raise RuntimeError(self.stopped) from None
            except TypeError:
                raise TypeError(f"{call.__name__}() was called with wrong arguments") from None
            except Exception:
                raise RuntimeError(f"{call.__name__}() failed") from None
            finally:
                self._asking_since = None
                self._seconds += (monotonic() - began) * asks

        return guarded

    def _count(self) -> None:
        self._calls += 1
        if self._calls > self.limits.calls:
            self.stopped = self.stopped or f"more than {self.limits.calls} calls"
        elif self.own_seconds > self.limits.seconds:
            self.stop()
        elif self._seconds > self.limits.call_seconds:
            self.stopped = f"TimeoutError: calls took more than {self.limits.call_seconds:g} s"
            end_worker(self.worker)
        if self.stopped:
            raise RuntimeError(self.stopped)


def end_worker(worker: int | None) -> None:
    """End a worker's process, if it is still there."""
    if worker is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(worker, getattr(signal, "SIGKILL", signal.SIGTERM))


@contextmanager
def watched(guarded: Guarded) -> Iterator[None]:
    """End the program's worker if it does not return soon after its time limit."""
    returned = Event()

    def watch() -> None:
        while not returned.wait(EVERY):
            if guarded.own_seconds > guarded.limits.seconds + GRACE:
                guarded.stop()

    Thread(target=watch, name="program-watch", daemon=True).start()
    try:
        yield
    finally:
        returned.set()
