"""A home that is served: its editions held open, and the threads that answer questions.

A new edition is opened and warmed beside the old one, which readers keep until they are done. Where
the labels of sources changed, the old one is let go at once: it may show what is hidden now.
"""

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import duckdb

from schemas.answers import Answer
from schemas.errors import AlmanacError, BusyError, NotFoundError
from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.ask.keep_answers import record_answers
from tasks.ask.route import AskOptions, Watcher
from tasks.publish.for_reader import edition_for
from tasks.retrieval.search_edition import open_searcher, search_opened
from tasks.service.messages import AskRequest
from tasks.show import EntityPage, entity_page
from tasks.text.question import checked_question
from warehouse.disk_errors import warned_of_refusals
from warehouse.editions import DUCKDB_FILE, Edition
from warehouse.home import Home
from warehouse.labels import graph_labels, known_labels, source_marks

LOOK_SECONDS = 1.0  # between looks for a new edition
RECORD_SECONDS = 0.2  # in which answers gather that are recorded together
OPEN_ASKERS = 4  # of a thread: editions and options in use
QUERIES = 4  # of a home in SQL that run at once: each may take gigabytes for a minute
READER_SETS = 8  # label sets whose editions are held open
PAGES = 128  # of things that were asked for last, kept for each edition
Labels = tuple[str, ...]
Basis = tuple[str | None, Any]  # the current edition's id, and the labels of sources and graphs

log = logging.getLogger(__name__)


class FullError(BusyError):
    """As many questions wait as may; the caller should come back in a few seconds."""


class OpenEdition:
    """An edition that is held open: a database that threads read by cursors, and a search."""

    def __init__(self, edition: Edition, settings: Settings) -> None:
        """Pin the edition and open its database; raises AlmanacError if it cannot be read."""
        self.edition, self.settings = edition, settings
        edition.check_version()
        self._closing = ExitStack()
        self._closing.enter_context(edition.pinned())
        edition.check(DUCKDB_FILE)
        self._con = self._closing.enter_context(edition.connect())
        self._searching = threading.Lock()
        self._pages = lru_cache(PAGES)(self._page)
        self._users, self._retired, self._lock = 0, False, threading.Lock()

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a connection of a thread's own; close it after use."""
        return self._con.cursor()

    def search(self, words: str, limit: int, where: str | None = None) -> list[dict[str, Any]]:
        """Return the passages and notes that match, as `almanac search` does; one at a time."""
        with self._searching:
            return search_opened(self.edition, self._searcher, words, limit=limit, where=where)

    def entity(self, wanted: str, graph: str | None = None) -> EntityPage:
        """Return the page of a thing, as `almanac show` does; raises what it raises."""
        return self._pages(wanted, graph)

    def _page(self, wanted: str, graph: str | None) -> EntityPage:
        with self.cursor() as con:
            return entity_page(con, wanted, graph)

    @cached_property
    def _searcher(self) -> Any:
        return open_searcher(self.edition, self.settings.engine)

    def hold(self) -> None:
        """Keep it open until `release`, although it may be retired meanwhile."""
        with self._lock:
            self._users += 1

    def release(self) -> None:
        """End one `hold`."""
        with self._lock:
            self._users -= 1
        self._close_if_idle()

    def retire(self) -> None:
        """Close it as soon as nobody uses it."""
        self._retired = True
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        with self._lock:
            if self._retired and not self._users:
                self._closing.close()


class Askers:
    """Threads that answer questions, each with askers of its own, and a queue with an end."""

    def __init__(self, home: Path, settings: Settings, threads: int, waiting: int) -> None:
        """Start no thread yet; at most `waiting` questions wait for one of the `threads`."""
        self._home, self._settings = home, settings
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="asker")
        self._recorder = ThreadPoolExecutor(1)  # of its own: a disk may take long to confirm
        self._unrecorded: deque[Answer] = deque()
        self._places = threading.BoundedSemaphore(threads + waiting)
        self._own = threading.local()
        self._opened: list[OrderedDict[tuple[str, AskOptions], tuple[Asker, ExitStack]]] = []

    def answer(
        self,
        opened: OpenEdition,
        asked: AskRequest,
        watcher: Watcher | None = None,
        *,
        kept: bool = True,
    ) -> "Future[Answer]":
        """Return the answer to come; it is recorded among the live records if it is to be `kept`.

        Raises FullError if too many questions wait, and UsageError for a question that is none.
        """
        question = checked_question(asked.question)
        if not self._places.acquire(blocking=False):
            raise FullError("Many questions are waiting. Ask again in a few seconds.")

        opened.hold()

        def work() -> Answer:
            asker = self._asker_of(opened, asked.options)
            answer = asker.answer(question, asked.choices, asked.turns, watcher)
            if kept:
                self._unrecorded.append(answer)
                self._recorder.submit(self._record)
            return answer

        def done(_: object) -> None:
            opened.release()
            self._places.release()

        try:
            future = self._threads.submit(work)
        except RuntimeError:
            done(None)
            raise FullError("The service is ending.") from None
        future.add_done_callback(done)
        return future

    def settle(self) -> None:
        """Wait until the answers that were given are recorded, so that they can be judged."""
        self._recorder.submit(lambda: None).result()

    def _record(self) -> None:
        """Record the answers that wait, a moment later, when their askers have them."""
        if not self._unrecorded:
            return
        time.sleep(RECORD_SECONDS)
        answers = [self._unrecorded.popleft() for _ in range(len(self._unrecorded))]
        with warned_of_refusals(self._home, "an answer was not recorded.", log.warning):
            record_answers(Home(self._home), *answers)

    def _asker_of(self, opened: OpenEdition, options: AskOptions) -> Asker:
        """Return this thread's asker on an edition; the one unused for longest makes room."""
        askers = getattr(self._own, "askers", None)
        if askers is None:
            askers = self._own.askers = OrderedDict()
            self._opened.append(askers)
        key = (opened.edition.id, options)
        if key not in askers:
            while len(askers) >= OPEN_ASKERS:
                _, (_, closing) = askers.popitem(last=False)
                closing.close()
            home = Home(self._home)
            home.ledger.required = False
            with ExitStack() as opening:
                pinned = opening.enter_context(opened.edition.pinned())
                asker = opening.enter_context(Asker(home, pinned, opened.settings, options))
                askers[key] = asker, opening.pop_all()
        askers.move_to_end(key)
        asker, _ = askers[key]
        return asker

    def close(self) -> None:
        """Wait for the questions that are being answered, drop the others, and close the askers."""
        self._threads.shutdown(cancel_futures=True)
        self._recorder.shutdown()
        for askers in self._opened:
            for _, closing in askers.values():
                closing.close()


class ServedHome:
    """A home whose current edition is held open for each set of labels that somebody has."""

    def __init__(self, home: Home, settings: Settings, *, threads: int, waiting: int) -> None:
        self.home, self.settings = home, settings
        self.askers = Askers(home.path, settings, threads, waiting)
        self.queries = threading.BoundedSemaphore(QUERIES)
        self._threads = threads
        self._open: OrderedDict[Labels, tuple[Basis, OpenEdition]] = OrderedDict()
        self._lock = threading.Lock()
        self._opening: dict[Labels, threading.Lock] = {}
        self._marks: tuple[int, Any] = (-1, None)  # and the journal's position where they were read
        self._ending = threading.Event()
        self.edition = ""  # the id of the one that is served to readers without labels
        self._watch = threading.Thread(target=self._look_for_changes, daemon=True)

    def start(self) -> None:
        """Open and warm the current edition, and begin to look for newer ones.

        Raises UsageError if there is no edition.
        """
        self.edition = self.home.require_edition().id
        with self.reading(()) as opened:
            self._warm(opened)
        self._watch.start()

    def close(self) -> None:
        """Close everything."""
        self._ending.set()
        if self._watch.is_alive():
            self._watch.join()
        self.askers.close()
        while self._open:
            self._open.popitem()[1][1].retire()

    @contextmanager
    def reading(self, labels: Labels) -> Iterator[OpenEdition]:
        """Keep the current edition for readers with these labels open while the body runs."""
        opened = self.take(labels)
        try:
            yield opened
        finally:
            opened.release()

    def take(self, labels: Labels) -> OpenEdition:
        """Return the current edition for readers with these labels, held until its `release`."""
        # A lock for each set of labels: while an edition is made for one, the others are read.
        with self._opening.setdefault(labels, threading.Lock()):
            return self.take_open(labels) or self._opened_for(labels)

    def take_open(self, labels: Labels) -> OpenEdition | None:
        """Return what `take` does, or None if it would have to be opened first."""
        with self._lock:
            if labels not in self._open:
                return None
            self._open.move_to_end(labels)
            _, opened = self._open[labels]
            opened.hold()
            return opened

    def _opened_for(self, labels: Labels, *, warm: bool = False) -> OpenEdition:
        """Open the current edition for readers with these labels, from now on, and hold it."""
        basis = self._basis()  # read first: what changes meanwhile is noticed by the next look
        opened = OpenEdition(edition_of(self.home, labels), self.settings)
        opened.hold()
        if warm:
            self._warm(opened)
        with self._lock:
            dropped = [self._open.pop(labels, None)]
            self._open[labels] = basis, opened
            if len(self._open) > READER_SETS:
                dropped.append(self._open.popitem(last=False)[1])
        for _, old in filter(None, dropped):
            old.retire()
        return opened

    def _basis(self) -> Basis:
        """Return what decides, with their labels, what readers see now."""
        position = self.home.journal.position
        if self._marks[0] != position:
            marks = source_marks(self.home.journal), graph_labels(self.home.journal)
            self._marks = position, marks
        return self.home.editions.pointer()["edition"], self._marks[1]

    def _look_for_changes(self) -> None:
        while not self._ending.wait(LOOK_SECONDS):
            try:
                self.look()
            except Exception:  # a home that is being repaired must not end the service
                log.exception("The newest edition could not be opened; the last one is served on.")

    def look(self) -> None:
        """Change to a new edition once it is warm; let go at once what labels may hide now."""
        newest, marks = self._basis()
        with self._lock:
            stale = {labels: one for labels, one in self._open.items() if one[0] != (newest, marks)}
            hiding = [labels for labels, (basis, _) in stale.items() if basis[1] != marks]
            for labels in hiding:
                del self._open[labels]
        for labels in hiding:
            stale[labels][1].retire()
        for labels in stale if newest else ():
            self._opened_for(labels, warm=True).release()
        self.edition = newest or self.edition

    def _warm(self, opened: OpenEdition) -> None:
        """Search and ask once in each thread, so that models are loaded before somebody waits."""
        with opened.cursor() as con:
            named = con.execute("select name from entities order by mentions desc, name limit 1")
            row = named.fetchone()
        if row is None:
            return
        opened.search(row[0], 1)
        # Several at once, so that every thread gets one.
        futures = [
            self.askers.answer(opened, AskRequest(question=f"What is {row[0]}?"), kept=False)
            for _ in range(self._threads)
        ]
        for future in futures:
            with suppress(AlmanacError):
                future.result()


def edition_of(home: Home, labels: Labels) -> Edition:
    """Return the current edition as readers with these labels see it.

    A label that nothing in the home has any more is passed over.
    """
    edition = home.require_edition()
    return edition_for(home, edition, known_labels(home, edition).intersection(labels))


class Shelf:
    """The homes that are served, by name; the first is the one that is meant without a name."""

    def __init__(self, homes: dict[str, ServedHome]) -> None:
        self.homes = homes
        self.first = next(iter(homes.values()))

    def home(self, name: str | None) -> ServedHome:
        """Return the home of this name, or the first; raise NotFoundError if there is none."""
        if name is None:
            return self.first
        if name not in self.homes:
            raise NotFoundError(f"There is no home {name!r}. The homes: {', '.join(self.homes)}.")
        return self.homes[name]
