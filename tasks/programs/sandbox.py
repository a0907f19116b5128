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
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import takewhile
from pathlib import PurePath
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
FORKED = "programs cannot run in a process that was forked after one had run: fork before, or spawn"
NODE = 8  # of the characters that a program returns, for each value beside its own characters
DEEPEST_VALUE = 4  # lists in lists
# What converting a value of the interpreter raises, as of an instance that is a key.
UNCONVERTED = (TypeError, ValueError, OverflowError, RecursionError)


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
        if _first_process() != os.getpid():
            return ProgramOutcome(error=FORKED)
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
        except (monty.MontyError, TimeoutError, *UNCONVERTED) as error:
            outcome.error, answers = _plain(error), None
        if guarded.failed:
            raise guarded.failed
        if guarded.stopped:
            outcome.error = guarded.stopped
        if outcome.error and outcome.error.startswith(STOPPED):
            end_worker(worker)
            return
        with suppress(monty.MontyError, TimeoutError, *UNCONVERTED):
            answers = feed("answers") if answers is None else answers
            outcome.answers = _bounded(answers, limits) if isinstance(answers, list) else []

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            if self._pool is not None and _first_process() == os.getpid():
                self._pool.__exit__(None, None, None)
            self._pool = None

    def _open(self) -> Any:
        """Return the pool."""
        with self._lock:
            if self._pool is None:
                import pydantic_monty as monty

                self._pool = monty.Monty(
                    min_processes=1,
                    max_processes=self._workers,
                    max_checkouts_per_worker=PROGRAMS_PER_WORKER,
                    feed_duration_limit_grace=GRACE,
                ).__enter__()
            return self._pool


@cache
def shared_sandbox() -> Sandbox:
    """Return the sandbox of this process."""
    sandbox = Sandbox()
    atexit.register(sandbox.close)
    return sandbox


@cache
def _first_process() -> int:
    """Return the process that ran the first program: the interpreter's threads live there alone.

    A forked child that touched them would hang, and its parent with it.
    """
    return os.getpid()


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
    if isinstance(error, UNCONVERTED):
        return f"{type(error).__name__}: a value of the program cannot be returned"
    return " ".join(str(error).split())[:500]


def _bounded(value: Any, limits: Limits) -> Any:
    """Return a program's value as texts, numbers and lists of bounded size.

    A list may stand in others a million times without taking memory, so each time counts.
    """
    left = limits.output

    def bound(value: Any, depth: int = 0) -> Any:
        nonlocal left
        left -= NODE
        if left <= 0 or depth > DEEPEST_VALUE:
            return None
        match value:
            case bool() | float() | None:
                return value
            case int():
                return value if abs(value) < 1 << 63 else float("inf")
            case str() | bytes():
                text = value[:left] if isinstance(value, str) else repr(value[:100])
                left -= len(text)
                return text
            case list() | tuple() | set() | frozenset():
                return [bound(item, depth + 1) for item in takewhile(has_room, value)]
            case dict():
                return pairs(value, depth)
            case complex() | date() | time() | timedelta() | PurePath():
                return str(value)[:100]
        # An instance of the program's own class, or a type or function of the interpreter.
        fields = pairs(getattr(value, "attributes", None) or {}, depth)
        name = str(getattr(value, "name", type(value).__name__))[:100]
        return f"{name}({', '.join(f'{key}={field!r}' for key, field in fields.items())})"[:1_000]

    def pairs(values: dict[Any, Any], depth: int) -> dict[str, Any]:
        items = takewhile(has_room, values.items())
        return {str(bound(key, depth + 1)): bound(item, depth + 1) for key, item in items}

    def has_room(_: Any) -> bool:
        return left > 0

    return bound(value)
