"""Runs program texts in worker processes that reach nothing but the functions given to them.

The interpreter (pydantic-monty) has no access to files, network, modules or environment. Around it
the operating system, if it can, keeps a worker from opening, writing or starting anything. A
program that reaches a limit ends with its worker: the next one gets a fresh worker.
"""

import atexit
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from threading import Lock
from time import monotonic
from typing import Any

from tasks.programs.interpreter_gaps import adapted, prelude_for
from tasks.programs.limits import (
    GRACE,
    Calls,
    Guarded,
    Limits,
    SandboxError,
    end_worker,
    watched,
)

WORKERS = 8  # programs at once; workers start when they are needed
PROGRAMS_PER_WORKER = 1_000
LONGEST_PROGRAM = 100_000  # characters
RESERVED = 1 << 29  # bytes of address space that the interpreter itself may take
SEARCH = re.compile(r"^def\s+search\s*\(", re.MULTILINE)
STOPPED = ("TimeoutError", "MemoryError", "RecursionError")


@dataclass(slots=True)
class ProgramOutcome:
    """The result of a program: what `search()` returned, its `answers`, or a plain error."""

    result: Any = None
    answers: list[Any] = field(default_factory=list)
    error: str | None = None


class Sandbox:
    """A pool of workers; one program at a time in each."""

    def __init__(self, workers: int = WORKERS) -> None:
        """Store the number of workers; none starts before the first program."""
        self._workers = workers
        self._pool: Any = None
        self._lock = Lock()
        self._owner = 0

    def run(
        self, code: str, functions: Calls, helpers: Calls, limits: Limits, *, seed: int = 0
    ) -> ProgramOutcome:
        """Run a program; the result is that of its `search()` if it has one, else its last line.

        It may call `functions`, which have a time limit of their own, and `helpers`, which use the
        program's. Errors of the program are returned, not raised; an AlmanacError of a function is
        raised.
        """
        if len(code) > LONGEST_PROGRAM:
            return ProgramOutcome(error=f"the program is longer than {LONGEST_PROGRAM} characters")
        try:
            code = adapted(code)
        except SandboxError as error:
            return ProgramOutcome(error=str(error))
        import pydantic_monty as monty

        checkout = self._open().checkout(
            limits={
                "max_feed_duration_secs": limits.seconds,
                "max_memory": limits.memory,
                "max_recursion_depth": limits.depth,
                # Refused calls return too, so that a program can end in its own way.
                "max_suspensions": limits.calls + 100,
            },
            os_policy={
                "datetime": datetime.now(UTC),
                "timezone": "UTC",
                "sleep": "zero",
                "random_start": {"seed": seed},
            },
        )
        outcome = ProgramOutcome()
        try:
            with checkout as session:
                guarded = Guarded(functions, helpers, limits)  # waiting for a worker took no time
                with watched(guarded):
                    self._run_in(session, code, guarded, limits, outcome)
        except monty.MontyError as error:
            outcome.error = outcome.error or _plain(error)
        return outcome

    def _run_in(
        self, session: Any, code: str, guarded: "Guarded", limits: Limits, outcome: ProgramOutcome
    ) -> None:
        import pydantic_monty as monty

        guarded.worker = worker = session.worker_pid
        confine(worker, limits)
        until = monotonic() + limits.seconds + limits.call_seconds
        printed = monty.CollectString(max_bytes=limits.output)

        def feed(text: str, **inputs: Any) -> Any:
            if monotonic() > until:
                raise TimeoutError("the program took too long")
            return session.feed_run(
                text, inputs=inputs, external_lookup=guarded.functions, print_callback=printed
            )

        try:
            if prelude := prelude_for(code):
                feed(prelude)
            result, answers = feed(code, answers=[]), None
            if SEARCH.search(code):
                result, answers = feed("[search(), answers]")
            outcome.result = _bounded(result, limits)
        except (monty.MontyError, TimeoutError) as error:
            outcome.error, answers = _plain(error), None
        if guarded.failed:
            raise guarded.failed
        if guarded.stopped:
            outcome.error = guarded.stopped
        if outcome.error and outcome.error.startswith(STOPPED):
            end_worker(worker)
            return
        with suppress(monty.MontyError, TimeoutError):
            answers = feed("answers") if answers is None else answers
            outcome.answers = _bounded(answers, limits) if isinstance(answers, list) else []

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            if self._pool is not None and self._owner == os.getpid():
                self._pool.__exit__(None, None, None)
            self._pool = None

    def _open(self) -> Any:
        """Return the pool; a forked process starts its own."""
        with self._lock:
            if self._pool is None or self._owner != os.getpid():
                import pydantic_monty as monty

                self._pool = monty.Monty(
                    min_processes=1,
                    max_processes=self._workers,
                    max_checkouts_per_worker=PROGRAMS_PER_WORKER,
                    feed_duration_limit_grace=GRACE,
                ).__enter__()
                self._owner = os.getpid()
            return self._pool


@cache
def shared_sandbox() -> Sandbox:
    """Return the sandbox of this process."""
    sandbox = Sandbox()
    atexit.register(sandbox.close)
    return sandbox


def confine(worker: int | None, limits: Limits) -> None:
    """Forbid a worker to open or write files and to start processes (on Linux only)."""
    if worker is None or not sys.platform.startswith("linux"):
        return
    import resource

    for limit, most in (
        (resource.RLIMIT_NOFILE, 3),  # the three it has
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, RESERVED + 2 * limits.memory),
    ):
        with suppress(OSError, ValueError):  # already lower, or the worker is gone
            resource.prlimit(worker, limit, (most, most))


def _plain(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"TimeoutError: {error}"
    if type(error).__name__ == "MontyCrashedError":
        return "TimeoutError: the program was stopped"
    return " ".join(str(error).split())[:500]


def _bounded(value: Any, limits: Limits) -> Any:
    """Return a program's value as texts, numbers and lists of bounded size."""
    left = limits.output

    def bound(value: Any, depth: int) -> Any:
        nonlocal left
        if left <= 0 or depth > 4:
            return None
        if isinstance(value, bool | int | float | None):
            left -= 8
            return value if not isinstance(value, int) or abs(value) < 1 << 63 else float("inf")
        if isinstance(value, str):
            value = value[:left]
            left -= len(value) + 1
            return value
        if isinstance(value, list | tuple | set | frozenset):
            return [bound(item, depth + 1) for item in value if left > 0]
        if isinstance(value, dict):
            pairs = ((key, item) for key, item in value.items() if left > 0)
            return {str(bound(key, depth + 1)): bound(item, depth + 1) for key, item in pairs}
        left -= 100
        return str(value)[:100]

    return bound(value, 0)
