"""A Dask cluster that does the bulk work of a run: on this machine, or at a scheduler's address.

A batch is one future. What a lost worker had, Dask does elsewhere; what a lost scheduler had is
submitted again once one answers at the address. A batch over which several workers died is halved,
until one item is left to refuse. So work may be done twice and must not mind: rows of the journal
are derived from the newest commit, and replies of models are found in the ledger.
"""

import asyncio
import logging
import os
import pkgutil
import signal
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from schemas.errors import AlmanacError, UsageError
from schemas.settings import Settings
from tasks.progress import Report, silent
from tasks.worker_pool import Batch, parts_over_which_workers_die

CONNECTING_SECONDS = 5.0  # for a connection to a scheduler
SCHEDULER_SECONDS = 10.0  # for its greeting
WORKER_SECONDS = 120.0  # to begin a task in; clusters may have to start a worker first
RETURN_SECONDS = 300.0  # for a scheduler that was lost
LOOK_SECONDS = 2.0  # between looks at which workers there are
AHEAD = 2  # batches in flight for each thread of a worker, so that none waits for the next
CLOSING_SECONDS = 3.0
A_WORKER = "a worker of the Dask cluster"
TLS = ("ca-file", "client.cert", "client.key")  # Dask's settings for who connects
Release = tuple[str, ...]


class SchedulerLostError(AlmanacError):
    """No scheduler answers at the address."""


def where_run_works(
    settings: Settings, report: Report = silent
) -> "AbstractContextManager[Cluster | None]":
    """Return the cluster of a run, which is opened by its first batch; None without Dask.

    The report is told what the cluster waits for.

    Raises UsageError for settings that no cluster can follow.
    """
    if settings.runner != "dask":
        return nullcontext()
    engine = settings.engine
    if engine.engine == "transformers":
        raise UsageError(
            "A model on this machine does not run on a cluster. Leave out --dask, or serve the "
            "model and give --engine openai with its address (engine.model.base_url)."
        )
    for name in ("batch", "budget") if engine.engine == "openai" else ():
        if getattr(engine.model, name):
            raise UsageError(
                f"--{name} is kept by one process, so it does not go with --dask. Leave out one."
            )
    return Cluster(settings, report)


class _Flying(NamedTuple):
    future: Any
    batch: Batch
    lease: list[Any]  # of one or none


class Cluster:
    """The workers of one run, in use from its first batch until the context is left."""

    def __init__(self, settings: Settings, report: Report = silent) -> None:
        """Note where the cluster is; the report is told once what is waited for."""
        self._address, self._report = settings.dask_address, report
        self._here = settings.workers
        bounded = self._address and "workers" in settings.model_fields_set
        self._most = settings.workers if bounded else None
        self._client: Any = None
        self._workers: dict[str, Any] = {}  # those in use, by address
        self._able: set[tuple[str, str]] = set()  # by address, with the name of the work
        self._seen_at = 0.0  # when there last were any
        self._waited_for = ""
        self._was_open = False

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster; one on this machine ends."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):  # of a scheduler that is gone
                client.close(CLOSING_SECONDS if self._address else "10s")

    def __call__(
        self,
        work: Callable[..., Any],
        batches: Iterable[Batch],
        leases: Sequence[Any] = (),
    ) -> Iterator[Any]:
        """Yield `work(*batch)` for each batch in order of completion.

        As many batches are in flight as keep all workers busy. If there are `leases`, only one for
        each of them is, and `work(lease, *batch)` is called. Where `work` has a method `refused`,
        it gives the result of a batch of one item over which workers die. Raises AlmanacError in
        plain words if the cluster cannot do the work.
        """
        coming = iter(batches)
        again: deque[Batch] = deque()
        while True:
            self._open()
            flying: dict[str, _Flying] = {}
            try:
                yield from self._fly(work, coming, again, flying, deque(leases))
                return
            except SchedulerLostError:
                again.extend(one.batch for one in flying.values())
                self.__exit__()
            finally:
                if self._client is not None and flying:
                    with suppress(Exception):
                        futures = [one.future for one in flying.values()]
                        self._client.cancel(futures, force=True)

    def _fly(
        self,
        work: Callable[..., Any],
        coming: Iterator[Batch],
        again: deque[Batch],
        flying: dict[str, "_Flying"],
        leases: deque[Any],
    ) -> Iterator[Any]:
        """Keep batches in flight and yield results; raise SchedulerLostError if they were lost."""
        landed: SimpleQueue[Any] = SimpleQueue()
        looked_at, most = time.monotonic(), len(leases)
        self._check_workers(work)
        while True:
            while len(flying) < (most or self._room):
                again.extend(() if again else islice(coming, 1))
                if not again:
                    break
                lease = [leases.popleft()] if most else []
                future = self._submit(work, (*lease, *again[0]))
                flying[future.key] = _Flying(future, again.popleft(), lease)
                future.add_done_callback(landed.put)
            if not flying:
                return
            if time.monotonic() - looked_at > LOOK_SECONDS:
                self._look()
                self._check_workers(work)
                looked_at = time.monotonic()
            with suppress(Empty):
                future = landed.get(timeout=LOOK_SECONDS)
                result = self._result(future, work, flying[future.key].batch, again)
                leases.extend(flying.pop(future.key).lease)
                yield from result

    def _check_workers(self, work: Callable[..., Any]) -> None:
        """Raise AlmanacError if a worker that is new to the work cannot load it.

        Dask ends a worker that cannot load a task, and logs all of the task, with its texts.
        """
        described = work if hasattr(work, "__qualname__") else type(work)
        name = f"{described.__module__}:{described.__qualname__}"
        new = [address for address in self._workers if (address, name) not in self._able]
        if not new:
            return
        with _lost_in_words(self._address):
            found = self._client.run(pkgutil.resolve_name, name, workers=new, on_error="return")
        for address, result in found.items():
            if isinstance(result, ImportError):
                raise _cannot_load(result, f"The worker at {address}") from result
            self._able.add((address, name))

    def _wait_for(self, what: str) -> None:
        """Report once that something is waited for."""
        if what != self._waited_for:
            self._waited_for = what
            self._report(f"waiting for {what}", 0, 0)

    def _submit(self, work: Callable[..., Any], batch: Batch) -> Any:
        if self._client.status != "running":
            raise _no_scheduler(self._address)
        hosts = Counter(worker["host"] for worker in self._workers.values())
        beside = max(hosts.values(), default=1)
        only = list(self._workers) if self._most else None
        return self._client.submit(
            on_worker, release(), beside, work, batch, pure=False, workers=only
        )

    def _result(
        self, future: Any, work: Callable[..., Any], batch: Batch, again: deque[Batch]
    ) -> list[Any]:
        """Return the result of a future in a list; none if its batch has to be tried again."""
        from distributed.scheduler import KilledWorker

        if future.status == "finished":
            with _lost_in_words(self._address):
                return [future.result()]
        if future.status != "error":
            raise _no_scheduler(self._address)
        error = future.exception()
        if isinstance(error, ImportError):
            raise _cannot_load(error, "A worker of the cluster") from error
        if not isinstance(error, KilledWorker):
            raise error
        why = f"{error.allowed_failures + 1} workers died over it; did memory run out?"
        parts = parts_over_which_workers_die(work, batch, why)
        again.extend(parts)
        return [] if parts else [work.refused(*batch, why)]  # type: ignore[attr-defined]

    @property
    def _room(self) -> int:
        threads = sum(worker["nthreads"] for worker in self._workers.values())
        return AHEAD * max(threads, 1)

    @property
    def threads(self) -> int:
        """How many batches the workers in use do at once; the cluster is opened to find out."""
        self._open()
        return self._room // AHEAD

    def _open(self) -> None:
        """Connect to the cluster, or start one, unless that was done; wait for one that is lost."""
        give_up = time.monotonic() + RETURN_SECONDS
        while self._client is None:
            try:
                self._connect()
            except SchedulerLostError as error:
                self.__exit__()
                if not self._was_open:
                    raise
                if time.monotonic() > give_up:
                    raise AlmanacError(
                        f"The Dask scheduler at {self._address} was lost and did not return for "
                        f"{RETURN_SECONDS:.0f} seconds. What was done is kept; once it runs, the "
                        "same command goes on from there."
                    ) from error
                self._wait_for(f"the Dask scheduler at {self._address}, which was lost")
                time.sleep(1)

    def _connect(self) -> None:
        """Open a client; raise SchedulerLostError if no scheduler answers."""
        from distributed import Client

        with _lost_in_words(self._address):
            self._client = Client(self._address, **self._options())
        self._workers, self._seen_at, self._was_open = {}, time.monotonic(), True
        self._waited_for = ""
        self._able.clear()
        self._look()

    def _options(self) -> dict[str, Any]:
        """Return the options of a cluster on this machine; none if the settings name one.

        Raises AlmanacError if no scheduler answers at the address, or it has no worker.
        """
        # Dask logs many meaningless messages when it opens and closes.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if self._address:
            _check_scheduler(self._address, self._wait_for)
            return {"set_as_default": False, "timeout": SCHEDULER_SECONDS}
        return {
            "n_workers": self._here,
            "threads_per_worker": 1,
            "dashboard_address": "127.0.0.1:0",  # without one, Dask takes port 8787
            "scheduler_kwargs": {"dashboard": False},
            "preload": [__name__],
            "silence_logs": logging.CRITICAL,
            "set_as_default": False,
        }

    def _look(self) -> None:
        """Find out which workers there are and keep to those in use before, if they are bounded.

        Raises SchedulerLostError if it is gone, or all workers that have the batches in flight are,
        and AlmanacError if there has been no worker for WORKER_SECONDS.
        """
        if self._client.status != "running":
            raise _no_scheduler(self._address)
        with _lost_in_words(self._address):
            there = self._client.scheduler_info(n_workers=-1)["workers"]
        if there:
            self._seen_at, self._waited_for = time.monotonic(), ""
        elif time.monotonic() - self._seen_at > WORKER_SECONDS:
            raise _no_worker(self._address)
        else:
            self._wait_for(A_WORKER)
        kept = [address for address in self._workers if address in there]
        if self._most and self._workers and there and not kept:
            raise _no_scheduler(self._address)
        chosen = [*kept, *(address for address in sorted(there) if address not in kept)]
        self._workers = {address: there[address] for address in chosen[: self._most]}


def dask_setup(_: Any) -> None:
    """Leave Ctrl-C to the command, in a worker that it started: Dask calls this when one begins."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def release() -> Release:
    """Return what must be the same everywhere for the same results."""
    from tasks.extract.by_model.grounding import GROUNDING_VERSION
    from tasks.extract.rules import RULES_VERSION
    from tasks.ingest.formats.picture import can_read_pictures
    from tasks.ingest.split import SPLITTER_VERSION
    from tasks.version import code_version

    rules = f"rules {RULES_VERSION}", f"splitter {SPLITTER_VERSION}"
    pictures = "with ocr" if can_read_pictures() else "without ocr"
    return code_version(), *rules, f"grounding {GROUNDING_VERSION}", pictures


def on_worker(wanted: Release, beside: int, work: Callable[..., Any], batch: Batch) -> Any:
    """Do a batch in a worker, one of `beside` on its machine; refuse to in another release."""
    from tasks.models.encoders.minilm import MiniLM

    if (own := release()) != wanted:
        raise AlmanacError(
            f"A worker on {socket.gethostname()} has Almanac {', '.join(own)}; this process has "
            f"{', '.join(wanted)}. Install the same release on every worker."
        )
    MiniLM.threads = max(1, (os.cpu_count() or 1) // beside)
    return work(*batch)


def _check_scheduler(address: str, wait_for: Callable[[str], None]) -> None:
    """Raise AlmanacError unless a scheduler answers at the address and runs a task in time."""
    from distributed.comm import get_address_host_port

    try:
        # Dask itself tries for half a minute.
        socket.create_connection(get_address_host_port(address), CONNECTING_SECONDS).close()
    except OSError as error:
        raise _no_scheduler(address) from error
    except ValueError as error:
        raise UsageError(
            f"{address!r} cannot be the address of a Dask scheduler, such as "
            f"tcp://127.0.0.1:8786: {error}."
        ) from error
    try:
        with ThreadPoolExecutor(1) as thread:  # the caller's may have an event loop of its own
            thread.submit(asyncio.run, _run_a_task(address, wait_for)).result()
    except (OSError, MemoryError) as error:  # MemoryError for the reply of a web server
        raise SchedulerLostError(
            f"What listens at {address} does not answer as a Dask scheduler. Name the address that "
            "the scheduler shows: with TLS it begins with tls://, without with tcp://."
        ) from error
    except TypeError as error:  # of TLS without certificates
        raise UsageError(_lacking_certificates(address)) from error


def _lacking_certificates(address: str) -> str:
    from dask import config

    names = [name for name in TLS if not config.get(f"distributed.comm.tls.{name}")]
    variables = [name.upper().replace("-", "_").replace(".", "__") for name in names]
    wanted = ", ".join(f"DASK_DISTRIBUTED__COMM__TLS__{variable}" for variable in variables)
    return f"{address} needs TLS certificates. Set {wanted} to their files."


async def _run_a_task(address: str, wait_for: Callable[[str], None]) -> None:
    """Have a worker of a cluster do nothing; raise OSError if no scheduler answers."""
    from distributed import Client

    client = Client(address, asynchronous=True, set_as_default=False)
    try:
        # Dask itself waits without end for the greeting of a server that is no scheduler.
        async with asyncio.timeout(SCHEDULER_SECONDS):
            await client
        # A task, because some clusters start workers only for tasks.
        done = asyncio.ensure_future(client.submit(int))
        if not (await asyncio.wait([done], timeout=LOOK_SECONDS))[0]:
            wait_for(A_WORKER)
        try:
            async with asyncio.timeout(WORKER_SECONDS):
                await done
        except TimeoutError:
            raise _no_worker(address) from None
    finally:
        await client.close()


@contextmanager
def _lost_in_words(address: str | None) -> Iterator[None]:
    """Raise what Dask says of a scheduler that is gone as SchedulerLostError."""
    try:
        yield
    except (CancelledError, OSError) as error:
        raise _no_scheduler(address) from error


def _no_scheduler(address: str | None) -> AlmanacError:
    return SchedulerLostError(
        f"No Dask scheduler answers at {address}. Start it (`dask scheduler`), or name the "
        "address that it shows."
    )


def _cannot_load(error: ImportError, who: str) -> AlmanacError:
    return AlmanacError(
        f"{who} cannot load Almanac {release()[0]} ({error}). Install the same release, with the "
        "same extras, on every worker."
    )


def _no_worker(address: str | None) -> AlmanacError:
    return AlmanacError(
        f"The Dask scheduler at {address} had no worker for {WORKER_SECONDS:.0f} seconds. "
        f"Start one (`dask worker {address}`)."
    )
