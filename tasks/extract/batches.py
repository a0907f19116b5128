"""Choose the engine, and extract facts from batches of passages, here or in worker processes."""

import atexit
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from multiprocessing import get_context
from typing import Any, Protocol

import pyarrow as pa

from schemas.errors import UsageError
from schemas.extras import leave_out_pandas
from schemas.observations import (
    AliasMention,
    AspectMention,
    DescriptionMention,
    Extraction,
    NameMention,
    StatementMention,
    TripleMention,
)
from schemas.plug_ins import plug_in, plug_ins
from schemas.row import Row
from schemas.settings import EngineSettings, Settings
from tasks.extract.extracted import Extracted
from tasks.progress import Each
from warehouse.home import Home

BATCH = 64  # passages; a killed run loses no more than these few seconds of parsing
ENGINES = "almanac.engines"
EMBEDDED = {"extractor", "english_pipeline", "speaker", "audience", "ontology"}  # its settings
FEW_BATCHES = 4  # starting workers takes longer than processing so few batches
PassageRow = dict[str, Any]
Tables = dict[type[Row], pa.Table]


class Engine(Protocol):
    """An engine that extracts from batches of passages in processes on this machine.

    `prompt_sha` is the version of all that decides its results; a new one extracts again. A plug-in
    is called with the `EngineSettings` and returns one.
    """

    name: str
    prompt_sha: str

    def extract(self, passages: list[PassageRow]) -> Iterator[Extracted]:
        """Yield one result per passage, in order."""
        ...


def load_engine(settings: EngineSettings) -> Engine:
    """Return the embedded engine; its models are loaded at first use."""
    return _embedded(settings.model_dump_json(include=EMBEDDED))


@lru_cache(maxsize=2)
def _embedded(settings: str) -> Engine:
    chosen = EngineSettings.model_validate_json(settings)
    if chosen.extractor:
        return PlugInEngine(chosen.extractor, chosen)
    from tasks.extract.rules import RulesEngine

    return RulesEngine(chosen)


class PlugInEngine:
    """An engine of another package, whose faults become errors that name it."""

    def __init__(self, name: str, settings: EngineSettings) -> None:
        """Load it; raises UsageError if no plug-in has the name, AlmanacError if it fails."""
        found = plug_in(ENGINES, name)
        if found is None:
            there = ", ".join(plug_ins(ENGINES)) or "none"
            raise UsageError(f"No plug-in extracts as {name!r} (engine.extractor); {there} is.")
        with found.at_work():
            self._engine: Engine = found.load()(settings)
            self.name, self.prompt_sha = self._engine.name, self._engine.prompt_sha
        self._found = found

    def extract(self, passages: list[PassageRow]) -> Iterator[Extracted]:
        """Yield one result per passage, in order; raises AlmanacError if one cannot be stored."""
        stamp = {"engine": self.name, "prompt_sha": self.prompt_sha}
        with self._found.at_work():
            for result in self._engine.extract(passages):
                for row, mentions in _mentions(result).items():
                    for mention in mentions:
                        row.model_validate({**mention, "passage_id": result.passage_id, **stamp})
                yield result


def identity(settings: EngineSettings) -> tuple[str, str]:
    """Return the engine's name and the version of everything that decides its results."""
    if settings.engine == "rules":
        engine = load_engine(settings)
        return engine.name, engine.prompt_sha
    from tasks.extract.by_model import engine as by_model

    return settings.engine, by_model.identity(settings)


def check_engine(home: Home, settings: EngineSettings) -> None:
    """Raise now what the settings of a model would raise once a run has begun."""
    if settings.engine == "rules":
        return
    from tasks.models.transports import open_client

    identity(settings)
    open_client(home, settings, "check")


def engine_for_sensitive(settings: EngineSettings) -> EngineSettings:
    """Return the engine for sensitive passages: the embedded one unless the model may see them."""
    if settings.withholds_sensitive:
        return settings.model_copy(update={"engine": "rules"})
    return settings


@dataclass(frozen=True)
class BatchExtraction:
    """Extracts from one batch with the embedded engine, and returns the journal's rows."""

    settings: EngineSettings
    run_id: str

    def __call__(self, passages: list[PassageRow]) -> Tables:
        """Return what the passages of a batch state."""
        return self._rows(load_engine(self.settings).extract(passages))

    def refused(self, passages: list[PassageRow], why: str) -> Tables:
        """Return rows which say why there is nothing from the passages."""
        return self._rows(Extracted(passage["passage_id"], failed=why) for passage in passages)

    def _rows(self, results: Iterable[Extracted]) -> Tables:
        engine = load_engine(self.settings)
        return journal_rows(results, engine.name, engine.prompt_sha, self.run_id)


def journal_rows(results: Iterable[Extracted], engine: str, prompt_sha: str, run_id: str) -> Tables:
    """Return results as rows of the journal: one extraction per passage, and all its mentions."""
    stamp = {"engine": engine, "prompt_sha": prompt_sha}
    now = datetime.now(UTC)
    rows: dict[type[Row], list[dict[str, Any]]] = {Extraction: []}
    for result in results:
        for row, facts in _mentions(result).items():
            rows.setdefault(row, []).extend(
                {**fact, "passage_id": result.passage_id, **stamp} for fact in facts
            )
        rows[Extraction].append(
            {
                "passage_id": result.passage_id,
                **stamp,
                "outcome": "failed" if result.failed else "complete",
                "reason": result.failed or result.empty_because,
                "triples": len(result.triples),
                "descriptions": len(result.descriptions),
                "aspects": len(result.aspects),
                "aliases": len(result.aliases),
                "names": len(result.names),
                "statements": len(result.statements),
                "sentences": result.sentences,
                "run_id": run_id,
                "extracted_at": now,
            }
        )
    return {row: row.to_table(values) for row, values in rows.items()}


def _mentions(result: Extracted) -> dict[type[Row], list[dict[str, Any]]]:
    """Return a result's mentions by the tables of the journal that hold them."""
    return {
        NameMention: result.names,
        TripleMention: result.triples,
        DescriptionMention: result.descriptions,
        AspectMention: result.aspects,
        AliasMention: result.aliases,
        StatementMention: result.statements,
    }


def where_settings_say(settings: Settings, passages: int) -> Each:
    """Return where to process a number of passages: in worker processes, or here."""
    if settings.workers <= 1 or passages <= FEW_BATCHES * BATCH:
        return in_this_process
    return PoolOfWorkers(lambda: worker_pool(settings.workers), settings.workers)


def in_this_process(work: Callable[..., Any], batches: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Process one batch after another in this process."""
    for batch in batches:
        yield work(*batch)


class PoolOfWorkers:
    """Processes batches in a pool; results come in order of completion."""

    def __init__(
        self, open_pool: Callable[[], AbstractContextManager[Executor]], workers: int
    ) -> None:
        self._open_pool, self._workers = open_pool, workers

    def __call__(
        self, work: Callable[..., Any], batches: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """Yield the results; at most two batches per worker are in flight, to bound memory."""
        with self._open_pool() as pool:
            pending: set[Future[Any]] = set()
            for batch in batches:
                pending.add(pool.submit(work, *batch))
                if len(pending) >= 2 * self._workers:
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            for future in pending:
                yield future.result()


def worker_pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool of processes that end with this one; they start with the first batch."""
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
