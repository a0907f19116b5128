"""Almanac from Python: open a home; then refresh, ask, search, query and look up entities.

    import almanac

    with almanac.open("almanac-home") as kb:
        kb.refresh(["my-documents/"])
        print(kb.ask("Where was Marie Curie born?").answer)
        kb.sql("select head, relation, tail from triples").to_pylist()

The methods do what the commands of the same names do; none of them starts a server.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from schemas.answers import Answer
    from schemas.settings import Settings
    from tasks.ask.asker import Asker
    from tasks.ask.route import AskOptions
    from tasks.run import RunReport
    from tasks.show import EntityPage
    from warehouse.editions import Edition

__all__ = ["Almanac", "open"]


def open(home: str | Path = "almanac-home", settings: "Settings | None" = None) -> "Almanac":
    """Return the almanac in a folder, which need not exist before the first refresh.

    Without `settings`, those in the home's settings.toml apply.
    """
    return Almanac(home, settings)


class Almanac:
    """An open home. Every call reads the current edition, so a newer one is used at once.

    Models and indexes are opened by the first question and stay open until `close`, or until the
    body of a `with` statement ends, after which every method refuses. Methods raise
    `schemas.errors.AlmanacError`, whose message says what to do. Use an object in one thread only.
    """

    def __init__(self, home: str | Path, settings: "Settings | None" = None) -> None:
        """Remember the home and its settings; nothing is opened yet."""
        from flows.home import settings_of
        from warehouse.home import Home

        self.home = Home(Path(home))
        self.settings = settings or settings_of(self.home)
        self._open = ExitStack()
        self._ended = False
        self._asker: Asker | None = None
        self._options: AskOptions | None = None

    def __enter__(self) -> "Almanac":
        """Return itself."""
        self._ended = False
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close what was opened; nobody would close it after another call, so none is allowed."""
        self.close()
        self._ended = True

    def close(self) -> None:
        """Release models, indexes and the edition; the next question opens them again."""
        self._asker = None
        self._open.close()

    def ask(
        self,
        question: str,
        choices: Sequence[str] = (),
        *,
        route: str = "auto",
        graph: str | None = None,
        min_score: float | None = None,
    ) -> "Answer":
        """Return the answer with its sources; `answerable` is false if the almanac does not know.

        With `choices` it is one of them. `route`, `graph` and `min_score` are the options of
        `almanac ask`. The answer is recorded in the table `answers`. Raises UsageError if the route
        or the graph does not exist.
        """
        from flows.jobs import keep
        from tasks.ask.route import AskOptions

        options = AskOptions(route, graph)
        if min_score is not None:
            options = replace(options, min_score=min_score)
        answer = self._current_asker(options).answer(question, choices)
        keep(self.home, answer)
        return answer

    def search(self, words: str, *, limit: int = 8) -> list[dict[str, Any]]:
        """Return the passages and notes that match the words best, with place and score."""
        from tasks.search import search

        with self._edition().pinned() as edition:
            return search(edition, words, self.settings.engine, limit=limit)

    def sql(self, query: str) -> "pa.Table":
        """Return the result of a query as an Arrow table; `.to_pylist()` gives its rows as dicts.

        The query runs in a process of its own, which can read the almanac's tables and nothing
        else. Raises UsageError if it does more than that.
        """
        from schemas import LIVE
        from warehouse.editions import DUCKDB_FILE
        from warehouse.sql_session import run_sql

        live = {
            row.table: [self.home.live.path(part) for part in self.home.live.parts(row)]
            for row in LIVE
        }
        with self._edition().pinned() as edition:
            edition.check(DUCKDB_FILE)
            return run_sql(edition.database, live, query, self.settings.sql).to_arrow()

    def entity(self, name: str, *, graph: str | None = None) -> "EntityPage":
        """Return everything that is known about the entity with this name, alias or id.

        `graph` restricts the search to one knowledge base; the user's own texts are `corpus`.
        """
        from tasks.show import show_entity

        with self._edition().pinned() as edition:
            return show_entity(edition, name, graph)

    def refresh(
        self, sources: str | Path | Sequence[str | Path], *, max_delete: float | None = None
    ) -> "RunReport":
        """Read what is new in the sources, extract, and publish a new edition if it differs.

        `sources` are files, folders, globs and URLs, or a single one of them. Returns the run's
        report. The refresh stops if more than the share `max_delete` of a source's documents is
        gone; without it, the settings' share applies.
        """
        from tasks.refresh import refresh

        self._refuse_if_ended()
        several = [sources] if isinstance(sources, str | Path) else sources
        return refresh(
            self.home, [str(source) for source in several], self.settings, max_delete=max_delete
        )

    def _edition(self) -> "Edition":
        """Return the current edition; raise AlmanacError if there is none yet."""
        from flows.home import edition_of

        self._refuse_if_ended()
        return edition_of(self.home, None)

    def _refuse_if_ended(self) -> None:
        """Raise UsageError after the end of a `with` statement."""
        from schemas.errors import UsageError

        if self._ended:
            raise UsageError("The `with` statement of this almanac has ended; open the home again.")

    def _current_asker(self, options: "AskOptions") -> "Asker":
        """Return the asker on the current edition, opened once per edition and options."""
        from tasks.ask.asker import Asker

        edition = self._edition()
        if self._asker is None or (self._asker.edition.id, self._options) != (edition.id, options):
            self.close()
            pinned = self._open.enter_context(edition.pinned())
            self._asker = self._open.enter_context(Asker(self.home, pinned, self.settings, options))
            self._options = options
        return self._asker
