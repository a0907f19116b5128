"""Almanac for asyncio: the methods of `almanac.Almanac`, which do not block the event loop.

from almanac.asynchronous import AsyncAlmanac

async with AsyncAlmanac("almanac-home") as kb:
    answer = await kb.ask("Where was Marie Curie born?")
    async for piece in kb.stream("Who was she?", history=[answer]):
        print(piece, end="")
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from almanac.opened import AT_ONCE, Almanac

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from schemas import Document, Triple
    from schemas.answers import Answer
    from schemas.settings import Settings
    from tasks.remember import Remembered
    from tasks.run import RunReport
    from tasks.show import EntityPage
    from warehouse.comparison import Difference

Result = TypeVar("Result")


class AsyncAlmanac:
    """An open home, used in a thread of its own; calls are done one after another.

    Questions that should be answered at the same time go into one `ask_many`.
    """

    def __init__(
        self,
        home: str | Path = "almanac-home",
        settings: "Settings | None" = None,
        *,
        labels: Collection[str] | None = None,
    ) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="almanac")
        self._almanac = Almanac(home, settings, labels=labels)
        self._ended = False

    async def __aenter__(self) -> "AsyncAlmanac":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close what was opened, and end the thread; every later call is refused."""
        if not self._ended:
            await self._done(self._almanac.close)
            self._thread.shutdown()
        self._ended = True

    async def ask(self, question: str, choices: Sequence[str] = (), **options: Any) -> "Answer":
        """Return the answer; the options are those of `Almanac.ask`."""
        return await self._done(lambda: self._almanac.ask(question, choices, **options))

    async def ask_many(self, questions: Sequence[str], **options: Any) -> "list[Answer]":
        """Return the answers in order; with a model, several are answered at once."""
        return await self._done(lambda: self._almanac.ask_many(questions, **options))

    ask_all = ask_many  # as programs that were written before `ask_many` call it

    async def stream(self, question: str, **options: Any) -> AsyncIterator[str]:
        """Yield a model's answer as it is written; what is not streamed comes as a whole."""
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        def put(piece: str | None) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        asking = asyncio.ensure_future(self.ask(question, on_text=put, **options))
        asking.add_done_callback(lambda _: pieces.put_nowait(None))
        shown = False
        while (piece := await pieces.get()) is not None:
            shown = True
            yield piece
        answer = await asking
        if not shown and answer.answer:
            yield answer.answer

    async def search(self, words: str, **options: Any) -> list[dict[str, Any]]:
        """Return the passages and notes that match; as `Almanac.search`."""
        return await self._done(lambda: self._almanac.search(words, **options))

    async def sql(self, query: str, parameters: Any = None, **options: Any) -> "pa.Table":
        """Return the result of a query; as `Almanac.sql`."""
        return await self._done(lambda: self._almanac.sql(query, parameters, **options))

    async def entity(self, name: str, **options: Any) -> "EntityPage":
        """Return what is known about an entity; as `Almanac.entity`."""
        return await self._done(lambda: self._almanac.entity(name, **options))

    async def diff(self, old: str | None = None, new: str | None = None) -> "list[Difference]":
        """Return what differs between two editions; as `Almanac.diff`."""
        return await self._done(lambda: self._almanac.diff(old, new))

    async def connect(self, edition: str | None = None) -> "duckdb.DuckDBPyConnection":
        """Return a read-only DuckDB connection, whose own calls block; as `Almanac.connect`."""
        return await self._done(lambda: self._almanac.connect(edition))

    def facts(self, **options: Any) -> "AsyncIterator[Triple]":
        """Yield the facts, few of which are in memory at a time; as `Almanac.facts`."""
        return self._each(lambda: self._almanac.facts(**options))

    def documents(self, **options: Any) -> "AsyncIterator[Document]":
        """Yield the documents with their texts; as `Almanac.documents`."""
        return self._each(lambda: self._almanac.documents(**options))

    async def remember(self, note: str | Path, **options: Any) -> "Remembered":
        """Keep a text or a file and return its facts; as `Almanac.remember`."""
        return await self._done(lambda: self._almanac.remember(note, **options))

    async def refresh(
        self, sources: str | Path | Sequence[str | Path], **options: Any
    ) -> "RunReport":
        """Read what is new in the sources and publish; as `Almanac.refresh`."""
        return await self._done(lambda: self._almanac.refresh(sources, **options))

    async def _each(self, listed: Callable[[], Iterator[Result]]) -> AsyncIterator[Result]:
        rows = await self._done(listed)
        while some := await self._done(lambda: list(islice(rows, AT_ONCE))):
            for row in some:
                yield row

    async def _done(self, work: Callable[[], Result]) -> Result:
        from schemas.errors import UsageError

        if self._ended:
            raise UsageError("This almanac was closed; open the home again.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
