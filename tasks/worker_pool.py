"""Process batches in processes of this machine, which may be killed, or in this process.

A killed process breaks its pool, and nothing tells which batch it died over. So each batch that was
in flight is tried again in a process of its own. One that kills this, too, is halved; a single item
that does is refused.
"""

import atexit
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from schemas.errors import AlmanacError
from schemas.extras import leave_out_pandas

DEATHS = 2  # of a process of its own over one batch, until it is halved or refused
Batch = tuple[Any, ...]


def in_this_process(work: Callable[..., Any], batches: Iterable[Batch]) -> Iterator[Any]:
    """Process one batch after another in this process."""
    for batch in batches:
        yield work(*batch)


class WorkerPool:
    """A pool of processes that end with this one; they start with the first batch."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = _processes(workers)
        self._lock = threading.Lock()

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def submit(self, work: Callable[..., Any], batch: Batch) -> Future[Any]:
        """Give a batch to the pool, to a new one if a process of this was killed."""
        with self._lock:
            try:
                return self._pool.submit(work, *batch)
            except BrokenProcessPool:
                self._pool.shutdown(wait=False)
                self._pool = _processes(self.workers)
                return self._pool.submit(work, *batch)

    def results(self, future: Future[Any], work: Callable[..., Any], batch: Batch) -> list[Any]:
        """Return the result of a batch, or those of its parts if processes were killed.

        Raises AlmanacError if they die over a batch that cannot be refused.
        """
        try:
            return [future.result()]
        except BrokenProcessPool:
            return list(_alone(work, batch))


class PoolOfWorkers:
    """Processes batches in a pool; results come in order of completion."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def __call__(self, work: Callable[..., Any], batches: Iterable[Batch]) -> Iterator[Any]:
        """Yield the results; at most two batches per worker are in flight, to bound memory."""
        flying: dict[Future[Any], Batch] = {}
        with WorkerPool(self._workers) as pool:
            for batch in batches:
                flying[pool.submit(work, batch)] = batch
                if len(flying) >= 2 * self._workers:
                    for future in wait(flying, return_when=FIRST_COMPLETED).done:
                        yield from pool.results(future, work, flying.pop(future))
            for future, batch in flying.items():
                yield from pool.results(future, work, batch)


def parts_over_which_workers_die(work: Callable[..., Any], batch: Batch, why: str) -> list[Batch]:
    """Return the halves of a batch over which workers die; none of a single item.

    Raises AlmanacError if that cannot be refused by a method of the work, `refused`.
    """
    *same, items = batch
    if isinstance(items, list) and len(items) > 1:
        middle = len(items) // 2
        return [(*same, items[:middle]), (*same, items[middle:])]
    if isinstance(items, list) and hasattr(work, "refused"):
        return []
    raise AlmanacError(f"A batch could not be done: {why}")


def _alone(work: Callable[..., Any], batch: Batch) -> Iterator[Any]:
    """Yield the results of a batch, each part of which has a process of its own."""
    for _ in range(DEATHS):
        with _processes(1) as process:
            try:
                result = process.submit(work, *batch).result()
            except BrokenProcessPool:
                continue
        yield result
        return
    why = f"{DEATHS + 1} processes died over it; did memory run out?"
    parts = parts_over_which_workers_die(work, batch, why)
    for part in parts:
        yield from _alone(work, part)
    if not parts:
        yield work.refused(*batch, why)  # type: ignore[attr-defined]


def _processes(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_end_with_parent
    )


def _end_with_parent() -> None:
    """End this worker when its parent dies, even if the parent was killed."""
    os.environ["OMP_NUM_THREADS"] = "1"
    leave_out_pandas()
    parent, done = os.getppid(), threading.Event()

    def watch() -> None:
        while os.getppid() == parent:
            if done.wait(0.5):
                return
        os._exit(1)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    # What a thread still holds at the end cannot be freed, of which DuckDB's bindings complain.
    atexit.register(watcher.join)
    atexit.register(done.set)
