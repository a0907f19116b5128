"""An open home: the methods that do from Python what the commands do.

What is slow to load is imported within the methods, so that importing the package is light.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from html import escape
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from almanac.arguments import check_kinds, check_options, check_share, checked

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor
    from datetime import date

    import duckdb
    import pyarrow as pa

    from schemas import Document, Row, Triple
    from schemas.answers import Answer
    from schemas.settings import Settings
    from tasks.ask.asker import Asker
    from tasks.ask.route import AskOptions
    from tasks.remember import Remembered
    from tasks.run import RunReport
    from tasks.show import EntityPage
    from warehouse.comparison import Difference
    from warehouse.editions import Edition

AT_ONCE = 256  # rows in memory


class Almanac:
    """An open home. Calls read the current edition, so a newer one is used at once.

    Models and indexes are opened by the first question and stay open until `close`, or until the
    body of a `with` statement ends, after which every method refuses; warnings about the questions
    are then written to standard error. Where a method takes `edition`, that is the id of an older
    one. Use an object in one thread only.
    """

    @checked
    def __init__(
        self,
        home: str | Path,
        settings: "Settings | None" = None,
        *,
        labels: Collection[str] | None = None,
    ) -> None:
        from flows.home import home_in, reading_settings_of
        from warehouse.disk_errors import refusals_in_words

        check_kinds("labels", labels or (), str)
        if settings is not None:
            from schemas.settings import Settings

            check_kinds("settings", [settings], Settings)
        with refusals_in_words(Path(home)):
            self.home = home_in(Path(home))
            self._reading_settings = settings or reading_settings_of(self.home)
        self._labels = labels
        self._open = ExitStack()
        self._ended = False
        self._asker: Asker | None = None
        self._options: AskOptions | None = None
        self._warnings: list[str] = []
        self._pins = ExitStack()  # of the editions that `connect` opened
        self._thread: ThreadPoolExecutor | None = None  # of `aask` and `asearch`

    def __repr__(self) -> str:
        """Return the home and what its current edition holds."""
        return f"Almanac({str(self.home.path)!r}, {self._in_numbers()})"

    def _repr_html_(self) -> str:
        """Return what notebooks show: the home and what its current edition holds."""
        path, numbers = escape(str(self.home.path)), escape(self._in_numbers())
        return f"<p><strong>Almanac</strong> <code>{path}</code>, {numbers}</p>"

    def _in_numbers(self) -> str:
        from schemas import Document, Entity, Triple
        from schemas.errors import AlmanacError

        try:
            edition = self.home.editions.current() and self._edition()
        except (AlmanacError, OSError):
            return "which cannot be read"
        if edition is None:
            return "no edition yet"
        documents, entities = edition.rows(Document), edition.rows(Entity)
        counts = f"{documents:,} documents, {entities:,} entities, {edition.rows(Triple):,} facts"
        return f"edition {edition.id}: {counts}"

    @property
    def settings(self) -> "Settings":
        """The settings with the ontology, of which only a refresh makes use."""
        from flows.home import settings_of

        return settings_of(self.home, self._reading_settings)

    def __enter__(self) -> "Almanac":
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
        """Release models, indexes and editions; the next question opens them again.

        Warnings about the questions so far are written to standard error.
        """
        self._close_asker()
        self._pins.close()
        if self._thread:
            self._thread.submit(self._apart.close).result()
            self._thread.shutdown()
            self._thread = None

    def _close_asker(self) -> None:
        from flows import terminal

        self._asker = None
        self._open.close()
        for warning in self._warnings:
            terminal.say(warning)
        self._warnings = []

    @checked
    def ask(
        self,
        question: str,
        choices: Sequence[str] = (),
        *,
        route: str = "auto",
        graph: str | None = None,
        min_score: float | None = None,
        as_of: "date | None" = None,
        edition: str | None = None,
        style: str = "full",
        memory: bool = False,
        where: str | None = None,
        history: "Answer | Sequence[Answer]" = (),
        on_text: "Callable[[str], None] | None" = None,
    ) -> "Answer":
        """Return the answer with its sources; `answerable` is false if the almanac does not know.

        Without a model, `answer` is the first of `answers`: `Which moons orbit Mars?` has several.
        With a model it is what the model wrote, and [1] in it is the first of `evidence`. With
        `choices`, at least two, it is one of these. `route`, `graph`, `min_score`, `style`,
        `memory`, `where` and `as_of`, a day, are the options of `almanac ask`. `history` is the
        answer, or answers, to earlier questions, the latest last, which tell what "it" is;
        `on_text` is called with each piece of a model's answer as it is written.

        The answer is recorded in the table `answers`; if the disk is full or read-only, a warning
        says that it was not. Raises UsageError if the route, the graph or an edition of that day
        does not exist, if another value cannot be, and if the question is empty or too long.
        """
        from flows.commands.ask import keep_answers
        from schemas.answers import Answer
        from tasks.ask.route import AskOptions, Watcher, turn_of
        from tasks.text.question import checked_question

        question = checked_question(question)
        check_options(choices, min_score, as_of, edition, style)
        earlier = [history] if isinstance(history, Answer) else history
        check_kinds("history", earlier, Answer)
        options = AskOptions(route, graph, style=style, memory=memory, where=where)
        if min_score is not None:
            options = replace(options, min_score=min_score)
        with self._in_words():
            asker = self._asker_of(self._edition(edition, as_of), options)
            turns = [turn_of(one) for one in earlier]
            watcher = Watcher(lambda _: None, on_text) if on_text else None
            answer = asker.answer(question, choices, turns, watcher)
            self._warnings = asker.warnings
            keep_answers(self.home, answer)
        return answer

    @checked
    def ask_many(
        self,
        questions: Sequence[str],
        *,
        route: str = "auto",
        graph: str | None = None,
        min_score: float | None = None,
        as_of: "date | None" = None,
        edition: str | None = None,
        style: str = "full",
        memory: bool = False,
        where: str | None = None,
    ) -> "list[Answer]":
        """Return the answers in order; with a model, several questions are answered at once.

        The options are those of `ask`, which also says what is raised and recorded.
        """
        from flows.commands.ask import keep_answers
        from schemas.errors import UsageError
        from tasks.ask.route import AskOptions
        from tasks.text.question import checked_question

        if isinstance(questions, str):
            raise UsageError("`questions` is a list of texts; `ask` takes a single one.")
        checked = [checked_question(question) for question in questions]
        check_options((), min_score, as_of, edition, style)
        options = AskOptions(route, graph, style=style, memory=memory, where=where)
        if min_score is not None:
            options = replace(options, min_score=min_score)
        with self._in_words():
            asker = self._asker_of(self._edition(edition, as_of), options)
            answers = asker.answer_all(checked)
            self._warnings = asker.warnings
            keep_answers(self.home, *answers)
        return answers

    ask_all = ask_many  # as programs that were written before `ask_many` call it

    async def aask(self, question: str, choices: Sequence[str] = (), **options: Any) -> "Answer":
        """Return what `ask` does without blocking the event loop; one question at a time.

        It works in a thread of its own, with models of its own.
        """
        return await self._in_a_thread(lambda kb: kb.ask(question, choices, **options))

    async def asearch(self, words: str, **options: Any) -> list[dict[str, Any]]:
        """Return what `search` does without blocking the event loop."""
        return await self._in_a_thread(lambda kb: kb.search(words, **options))

    async def _in_a_thread(self, work: "Callable[[Almanac], Any]") -> Any:
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        with self._in_words():
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, thread_name_prefix="almanac")
                self._apart = Almanac(self.home.path, self._reading_settings, labels=self._labels)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._apart)

    @checked
    def search(
        self,
        words: str,
        *,
        limit: int = 8,
        where: str | None = None,
        edition: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return the `limit` passages and as many notes that match best, with place and score.

        `where` is a condition on their documents, as in `almanac search`. Raises UsageError for no
        words, more than 2,000 characters, a limit below 1, or a condition that does not parse.
        """
        from tasks.retrieval.search_edition import search

        with self._in_words(), self._edition(edition).pinned() as pinned:
            engine = self._reading_settings.engine
            return search(pinned, words, engine, limit=limit, where=where)

    @checked
    def sql(
        self,
        query: str,
        parameters: "Sequence[Any] | Mapping[str, Any] | None" = None,
        *,
        edition: str | None = None,
    ) -> "pa.Table":
        """Return the result of a query as an Arrow table; `.to_pylist()` gives its rows as dicts.

        `parameters` stand where the query has `?` or `$1`, or `$name` if they have names: texts,
        numbers, truth values, days and times.

        The types of the columns are those of the query, whatever the rows are, as far as JSON can
        express them: whole numbers are int64, others float64; a column with a value that has more
        digits is text, as are times without a day, UUIDs and blobs (in hex); intervals are seconds.
        The query runs in a process of its own, which can read the almanac's tables and nothing
        else. Raises UsageError if it does more than that.
        """
        from warehouse.editions import DUCKDB_FILE
        from warehouse.sql_session import live_parts, run_sql

        with (
            self._in_words(),
            self._edition(edition).pinned() as pinned,
            self.home.live.pinned(),
        ):
            live = live_parts(self.home.live, query) if self._labels is None else {}
            pinned.check(DUCKDB_FILE)
            limits = self._reading_settings.sql
            result = run_sql(pinned.database, live, query, limits, parameters=parameters)
            return result.to_arrow()

    @checked
    def connect(self, edition: str | None = None) -> "duckdb.DuckDBPyConnection":
        """Return a read-only DuckDB connection to an edition's tables, without limits.

        Close it after use. The edition is kept from being pruned until this almanac is closed.
        """
        from warehouse.editions import DUCKDB_FILE

        with self._in_words():
            pinned = self._pins.enter_context(self._edition(edition).pinned())
            pinned.check(DUCKDB_FILE)
            return pinned.connect()

    @checked
    def facts(
        self, *, graph: str | None = None, asserted: bool = True, edition: str | None = None
    ) -> "Iterator[Triple]":
        """Yield the facts as rows of `triples`, by entity; few are in memory at a time.

        Without `asserted`, those that are denied, possible, reported and so on are yielded, too.
        """
        from schemas import Triple
        from warehouse.asserted import ASSERTED

        query = "from asserted_triples" if asserted else "from triples"
        if graph is not None:
            query += " where graph = $1"
        return self._rows(Triple, query, [] if graph is None else [graph], edition, ASSERTED)

    @checked
    def documents(self, *, edition: str | None = None) -> "Iterator[Document]":
        """Yield the documents with their texts; few are in memory at a time."""
        from schemas import Document

        return self._rows(Document, "from documents", [], edition, {})

    def _rows(
        self,
        row: "type[Row]",
        query: str,
        parameters: Sequence[str],
        edition: str | None,
        older: Mapping[str, Any],
    ) -> Iterator[Any]:
        """Yield a query's rows; its parameters are graphs, `older` columns of no old edition."""
        from tasks.show import check_graph

        with (
            self._in_words(),
            self._edition(edition).pinned() as pinned,
            pinned.connect() as connection,
        ):
            for graph in parameters:
                check_graph(connection, graph)
            for batch in connection.sql(query, params=parameters).to_arrow_reader(AT_ONCE):
                for values in batch.to_pylist():
                    yield row(**older | values)

    @checked
    def diff(self, old: str | None = None, new: str | None = None) -> "list[Difference]":
        """Return what differs in each table from one edition to another, with examples.

        Without ids, it is the current edition and the one that it was made from. Raises UsageError
        if that is the first.
        """
        from schemas.errors import UsageError
        from warehouse.comparison import compare

        with self._in_words():
            after = self._edition(new)
            parent = old or after.manifest["parent"]
            if not parent:
                raise UsageError(f"Edition {after.id} is the first: there is none to compare with.")
            with self._edition(parent).pinned() as before, after.pinned():
                return compare(before, after)

    @checked
    def entity(
        self, name: str, *, graph: str | None = None, edition: str | None = None
    ) -> "EntityPage":
        """Return everything that is known about the entity with this name, alias or id.

        `graph` restricts the search to one knowledge base; the user's own texts are `corpus`.
        """
        from tasks.show import show_entity

        with self._in_words(), self._edition(edition).pinned() as pinned:
            return show_entity(pinned, name, graph)

    @checked
    def remember(
        self, note: str | Path, *, sensitive: bool = False, labels: Sequence[str] = ()
    ) -> "Remembered":
        """Keep a text, or the file at a Path, extract from it, publish, and return its facts.

        What is `sensitive` never goes to a remote model; `labels` are those of this note alone, as
        `--label` does. Raises UsageError for a text without words and a file that
        cannot be read, and ValueError for what cannot be a label.
        """
        from tasks.extract.batches import check_engine
        from tasks.remember import keep_file, keep_text, remember

        with self._in_words():
            settings = self.settings
            check_engine(self.home, settings.engine)
            marks = [*labels, *(["sensitive"] if sensitive else [])]
            if isinstance(note, Path):
                kept = keep_file(self.home, note, settings, marks)
            else:
                kept = keep_text(self.home, note, settings, marks)
            return remember(self.home, kept, settings)

    @checked
    def refresh(
        self,
        sources: str | Path | Sequence[str | Path],
        *,
        max_delete: float | None = None,
        on_progress: "Callable[[str, int, int], None] | None" = None,
    ) -> "RunReport":
        """Read what is new in the sources, extract, and publish a new edition if it differs.

        `sources` are files, folders, globs and URLs, or a single one of them. Returns the run's
        report. The refresh stops if more than the share `max_delete` of a source's documents is
        gone; without it, the settings' share applies. `on_progress` is called with a stage, how
        much of it is done, and how much there is.
        """
        from schemas.settings import changed_settings
        from tasks.progress import silent
        from tasks.refresh import refresh

        check_share("max_delete", max_delete)
        several = [sources] if isinstance(sources, str | Path) else sources
        check_kinds("sources", several, str, Path)
        changes = {} if max_delete is None else {"publish.max_delete": max_delete}
        with self._in_words():
            settings = changed_settings(self.settings, changes)
            listed = [str(source) for source in several]
            return refresh(self.home, listed, settings, report=on_progress or silent)

    def _edition(self, edition: str | None = None, as_of: "date | None" = None) -> "Edition":
        """Return this edition, that of a day, or the current one; raise AlmanacError if none."""
        from flows.home import edition_of

        return edition_of(self.home, edition, as_of, self._labels)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn errors of the file system into AlmanacError; refuse after a `with` statement."""
        from schemas.errors import UsageError
        from warehouse.disk_errors import refusals_in_words

        if self._ended:
            raise UsageError("The `with` statement of this almanac has ended; open the home again.")
        with refusals_in_words(self.home.path):
            yield

    def _asker_of(self, edition: "Edition", options: "AskOptions") -> "Asker":
        """Return the asker on an edition, opened again only if edition or options have changed."""
        from tasks.ask.asker import Asker
        from warehouse.home import Home

        if self._asker is None or (self._asker.edition.id, self._options) != (edition.id, options):
            self._close_asker()
            pinned = self._open.enter_context(edition.pinned())
            home = Home(self.home.path)  # of its own, since a refresh must record its calls
            home.ledger.required = False
            self._asker = self._open.enter_context(
                Asker(home, pinned, self._reading_settings, options)
            )
            self._options = options
        return self._asker
