"""Almanac from Python: open a home; then refresh, ask, search, query and look up entities.

    import almanac

    with almanac.open("almanac-home") as kb:
        kb.refresh(["my-documents/"])
        print(kb.ask("Where was Marie Curie born?").answers)
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
    from datetime import date

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

    Without `settings`, those in the home's settings.toml apply. The home's ontology applies unless
    `settings` has one.
    """
    return Almanac(home, settings)


class Almanac:
    """An open home. Calls read the current edition, so a newer one is used at once.

    Models and indexes are opened by the first question and stay open until `close`, or until the
    body of a `with` statement ends, after which every method refuses; warnings about the questions
    are then written to standard error. Methods raise `schemas.errors.AlmanacError`, whose message
    says what to do. Use an object in one thread only.
    """

    def __init__(self, home: str | Path, settings: "Settings | None" = None) -> None:
        """Remember the home and its settings; nothing is opened yet."""
        from flows.home import settings_of
        from warehouse.home import Home

        self.home = Home(Path(home))
        self.settings = settings_of(self.home, settings)
        self._open = ExitStack()
        self._ended = False
        self._asker: Asker | None = None
        self._options: AskOptions | None = None
        self._warnings: list[str] = []

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
        """Release models, indexes and the edition, which the next question opens again.

        Warnings about the questions so far are written to standard error.
        """
        from flows import terminal

        self._asker = None
        self._open.close()
        for warning in self._warnings:
            terminal.say(warning)
        self._warnings = []

    def ask(
        self,
        question: str,
        choices: Sequence[str] = (),
        *,
        route: str = "auto",
        graph: str | None = None,
        min_score: float | None = None,
        as_of: "date | None" = None,
    ) -> "Answer":
        """Return the answer with its sources; `answerable` is false if the almanac does not know.

        `answer` is the first of `answers`: `Which moons orbit Mars?` has several.
        With `choices` it is one of these. `route`, `graph`, `min_score` and `as_of` are the options
        of `almanac ask`. The answer is recorded in the table `answers`; if the disk is full or
        read-only, a warning says that it was not. Raises UsageError if the route, the graph
        or an edition of that day does not exist, and if the question is empty or too long.
        """
        from flows.jobs import keep_answers
        from tasks.ask.route import AskOptions
        from tasks.text.question import checked_question

        question = checked_question(question)
        options = AskOptions(route, graph)
        if min_score is not None:
            options = replace(options, min_score=min_score)
        asker = self._asker_of(self._edition(as_of), options)
        answer = asker.answer(question, choices)
        self._warnings = asker.warnings
        keep_answers(self.home, answer)
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
        from warehouse.editions import DUCKDB_FILE
        from warehouse.sql_session import live_parts, run_sql

        live = live_parts(self.home.live, query)
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

    def _edition(self, as_of: "date | None" = None) -> "Edition":
        """Return the current edition, or that of a day; raise AlmanacError if there is none."""
        from flows.home import edition_of

        self._refuse_if_ended()
        return edition_of(self.home, None, as_of)

    def _refuse_if_ended(self) -> None:
        """Raise UsageError after the end of a `with` statement."""
        from schemas.errors import UsageError

        if self._ended:
            raise UsageError("The `with` statement of this almanac has ended; open the home again.")

    def _asker_of(self, edition: "Edition", options: "AskOptions") -> "Asker":
        """Return the asker on an edition, opened again only if edition or options have changed."""
        from tasks.ask.asker import Asker
        from warehouse.home import Home

        if self._asker is None or (self._asker.edition.id, self._options) != (edition.id, options):
            self.close()
            pinned = self._open.enter_context(edition.pinned())
            home = Home(self.home.path)  # of its own, since a refresh must record its calls
            home.ledger.required = False
            self._asker = self._open.enter_context(Asker(home, pinned, self.settings, options))
            self._options = options
        return self._asker
