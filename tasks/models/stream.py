"""Many concurrent calls: an event loop in a thread, results in order of completion."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

Unit = TypeVar("Unit")
Result = TypeVar("Result")

GRACE_SECONDS = 5.0  # calls in flight when the run stops are already paid for, so they may finish
AHEAD = 4  # results per concurrent call that may wait for their consumer


def stream(
    work: Callable[[Unit], Awaitable[Result]],
    units: Iterable[Unit],
    width: int,
    close: Callable[[], Awaitable[None]],
) -> Iterator[Result]:
    """Yield `work(unit)` for every unit in order of completion, with `width` of them concurrent.

    After a failure no further unit begins; calls in flight have GRACE_SECONDS to finish and their
    results are yielded, then the first error is raised. `close` is always awaited at the end. The
    number of results that wait for their consumer is bounded.
    """
    results: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    loop = asyncio.new_event_loop()
    job = loop.create_task(_run_all(work, iter(units), width, close, results))
    thread = threading.Thread(target=_drive, args=(loop, job, results), name="model calls")
    thread.start()
    try:
        while True:
            kind, value = results.get()
            if kind == "end":
                break
            if kind == "error":
                raise value
            yield value
    finally:
        loop.call_soon_threadsafe(job.cancel) if not job.done() else None
        thread.join()
        loop.close()


def _drive(
    loop: asyncio.AbstractEventLoop, job: "asyncio.Task[None]", results: "SimpleQueue[Any]"
) -> None:
    """Run the loop until the job ends, and queue how it ended."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(job)
        results.put(("end", None))
    except asyncio.CancelledError:
        results.put(("end", None))
    except BaseException as error:
        results.put(("error", error))


async def _run_all(
    work: Callable[[Unit], Awaitable[Result]],
    units: Iterator[Unit],
    width: int,
    close: Callable[[], Awaitable[None]],
    results: "SimpleQueue[Any]",
) -> None:
    failures: list[BaseException] = []

    async def worker() -> None:
        for unit in units:
            if failures:
                return
            try:
                results.put(("result", await work(unit)))
            except Exception as error:
                failures.append(error)
                raise
            while results.qsize() > AHEAD * width:
                await asyncio.sleep(0.01)

    workers = [asyncio.ensure_future(worker()) for _ in range(width)]
    try:
        _, pending = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        if pending:
            await asyncio.wait(pending, timeout=GRACE_SECONDS)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        await close()
    if failures:
        raise failures[0]
