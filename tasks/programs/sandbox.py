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
from secrets import token_hex
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
from tasks.programs.plain_values import RESULT, keeping_its_value, plain_prelude

WORKERS = 8  # programs at once; workers start when they are needed
PROGRAMS_PER_WORKER = 1_000
LONGEST_PROGRAM = 100_000  # characters
RESERVED = 1 << 29  # bytes of address space that the interpreter itself may take
SEARCH = re.compile(r"^def\s+search\s*\(", re.MULTILINE)
STOPPED = ("TimeoutError", "MemoryError", "RecursionError")
FORKED = "programs cannot run in a process that was forked after one had run: fork before, or spawn"


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
        hidden = f"_{token_hex(16)}"
        functions = {f"{hidden}_{name}": call for name, call in guarded.functions.items()}

        def feed(text: str) -> Any:
            """Run a text; the value of its last line is converted when `output` is read."""
            if monotonic() > until:
                raise TimeoutError("the program took too long")
            step = session.feed_start(text, external_lookup=functions, print_callback=printed)
            while not isinstance(step, monty.MontyComplete):
                step = step.resume_auto()
            return step

        result, answers = (
            f"{hidden}({value}, {limits.output})[0]"
            for value in ("search()" if SEARCH.search(code) else RESULT, "answers")
        )
        try:
            named = [name for name in guarded.functions if name in code]
            feed(plain_prelude(hidden, named) + prelude_for(code))
            feed(keeping_its_value(code))
            outcome.result, outcome.answers = feed(f"[{result}, {answers}]").output
        except (monty.MontyError, TimeoutError) as error:
            outcome.error = _plain(error)
        if guarded.failed:
            raise guarded.failed
        if guarded.stopped:
            outcome.error = guarded.stopped
        if outcome.error and outcome.error.startswith(STOPPED):
            end_worker(worker)
        elif outcome.error:
            with suppress(monty.MontyError, TimeoutError):
                outcome.answers = feed(answers).output
        if not isinstance(outcome.answers, list):
            outcome.answers = []

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
    return " ".join(str(error).split())[:500]
