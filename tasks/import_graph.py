"""Import, list and remove graphs from elsewhere, and publish editions with the change.

An import takes effect when its last row is written: an import that was killed leaves rows that
nothing reads.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa

from schemas.errors import AlmanacError, UsageError
from schemas.imports import GraphImport, ImportedAlias, ImportedEntity, ImportedTriple
from schemas.knowledge import CORPUS
from schemas.labels import given_labels
from schemas.operations import Rejection
from schemas.row import Row
from schemas.settings import Settings
from tasks.graphs.formats.batch import GraphBatch
from tasks.graphs.formats.formats import Reading, plan, read_file
from tasks.graphs.imported import current_imports
from tasks.progress import Report, RunStage, run_plainly, silent
from tasks.publish.publish import PUBLISHING
from tasks.run import RunReport, Stages, Work, publishing_run, run_stages
from tasks.text.languages import detect_language
from warehouse.home import Home
from warehouse.live import record_all

COMMIT_ROWS = 1_000_000
COMMIT_BYTES = 128 << 20
MOST_REFUSED = 0.5  # share of lines; above it the file has another format
MOST_LANGUAGES = 10  # that are named of those whose texts were left out
KEPT_REFUSALS = 10_000  # recorded one by one; further ones are only counted
TABLES: tuple[type[Row], ...] = (ImportedTriple, ImportedEntity, ImportedAlias)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def import_graph(
    home: Home,
    source: Path,
    settings: Settings,
    *,
    name: str,
    format: str = "auto",
    mapping: Path | None = None,
    languages: Sequence[str] = (),
    labels: Sequence[str] = (),
    report: Report = silent,
    run_stage: RunStage = run_plainly,
) -> RunReport:
    """Read a file into the journal as the graph `name` and publish an edition with it.

    It replaces an earlier graph of that name, whose labels it keeps unless others are given.
    Raises ValueError for what cannot be a label, UsageError for other wrong arguments and
    AlmanacError for a file that is not as declared; nothing has changed then.
    """
    check_name(name)
    readings, language = plan(source, format, mapping, languages)
    with publishing_run(home, "import_graph", settings) as run:
        work = _Import(
            home,
            settings,
            run,
            report,
            graph=name,
            source=str(source),
            readings=readings,
            language=language or next(iter(languages), None),
            labels=given_labels(labels),
        )
        run_stages(work, STAGES, run_stage)
    return run


def remove_graph(
    home: Home,
    name: str,
    settings: Settings,
    *,
    report: Report = silent,
) -> RunReport:
    """Publish an edition without this graph; raises UsageError if no graph has the name."""
    with publishing_run(home, "import_graph", settings) as run:
        known = {graph["graph"]: graph for graph in list_graphs(home)}
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "none was imported"
            raise UsageError(f"There is no imported graph {name!r}; {there}.")
        row = GraphImport(
            import_id=uuid4().hex,
            graph=name,
            action="remove",
            source="",
            format="",
            language=known[name]["language"],
            triples=0,
            rejected=0,
            run_id=run.run_id,
            imported_at=datetime.now(UTC),
        )
        home.journal.append({GraphImport: GraphImport.to_table([row])})
        run_stages(Work(home, settings, run, report), PUBLISHING)
    return run


def list_graphs(home: Home) -> list[dict[str, Any]]:
    """Return the last import of each graph that has not been removed since, sorted by name."""
    return current_imports(home.journal)


def check_name(name: str) -> None:
    """Raise UsageError if `name` cannot be a graph's name."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be a graph's name: up to 64 letters a to z, digits, - and _ can."
        )
    if name.casefold() == CORPUS:
        raise UsageError("`corpus` is the graph of your own documents; choose another name.")


@dataclass
class _Import(Work):
    """One import in progress: the state shared by its stages."""

    graph: str = ""
    source: str = ""
    readings: Sequence[Reading] = ()
    language: str | None = None
    labels: list[str] | None = None

    def __post_init__(self) -> None:
        self._id = uuid4().hex
        self._counts: Counter[str] = Counter()
        self._left_out_in: Counter[str] = Counter()
        self._waiting: dict[type[Row], list[pa.Table]] = {row: [] for row in TABLES}
        self._first_refusal = ""
        self._likely_language: str | None = None

    def read_all(self) -> None:
        """Read every file into the journal, then write the row that makes the import effective."""
        for reading in self.readings:
            for batch in read_file(reading, partial(self.report, "read bytes"), self.home.spill):
                self._take(batch, reading)
        self._commit()
        languages = self._left_out_in.most_common(MOST_LANGUAGES)
        in_languages = {f"left_out_in_{code}": count for code, count in languages}
        self.run.counts["import"] = {**self._counts, **in_languages}
        self._check(self.source)
        row = GraphImport(
            import_id=self._id,
            graph=self.graph,
            action="import",
            source=self.source,
            format=" + ".join(dict.fromkeys(reading.format for reading in self.readings)),
            language=self.language or self._likely_language or "en",
            triples=self._counts["triples"],
            rejected=self._counts["refused"],
            labels=self.labels,
            run_id=self.run.run_id,
            imported_at=datetime.now(UTC),
        )
        self.home.journal.append({GraphImport: GraphImport.to_table([row])})

    def _take(self, batch: GraphBatch, reading: Reading) -> None:
        if self._likely_language is None and batch.rows(ImportedTriple):
            self._likely_language = _language_of(batch.tables[ImportedTriple])
        for row, table in batch.tables.items():
            self._counts[row.table.removeprefix("imported_")] += len(table)
            self._waiting[row].append(table)
        self._counts["left_out"] += batch.left_out
        self._left_out_in += batch.left_out_in
        self._note_refusals(batch, reading)
        tables = [table for waiting in self._waiting.values() for table in waiting]
        if (
            sum(map(len, tables)) >= COMMIT_ROWS
            or sum(table.nbytes for table in tables) >= COMMIT_BYTES
        ):
            self._commit()

    def _commit(self) -> None:
        filled = {row: pa.concat_tables(tables) for row, tables in self._waiting.items() if tables}
        self.home.journal.append({row: self._marked(table) for row, table in filled.items()})
        self._waiting = {row: [] for row in TABLES}

    def _marked(self, table: pa.Table) -> pa.Table:
        ids = pa.repeat(pa.scalar(self._id), len(table))
        return table.add_column(0, "import_id", ids)

    def _note_refusals(self, batch: GraphBatch, reading: Reading) -> None:
        if batch.refused and not self._first_refusal:
            first = batch.refused[0]
            self._first_refusal = f"line {first.line} is refused as {first.reason}: {first.text}"
        room = max(KEPT_REFUSALS - self._counts["refused"], 0)
        self._counts["refused"] += batch.refusals
        now = datetime.now(UTC)
        rows = [
            Rejection(
                run_id=self.run.run_id,
                stage="import",
                item_id=f"{reading.path.name}:{refused.line}",
                reason=refused.reason,
                detail=f"Line {refused.line} of {reading.path.name} is refused.",
                text=refused.text,
                rejected_at=now,
            )
            for refused in batch.refused[:room]
        ]
        if rows:
            record_all(self.home.live, {Rejection: rows})

    def _check(self, source: str) -> None:
        """Raise AlmanacError if the file turned out not to be a graph."""
        imported = sum(self._counts[row.table.removeprefix("imported_")] for row in TABLES)
        if not imported:
            raise AlmanacError(
                f"Nothing in {source} could be read as a graph. {self._first_refusal[:200]}".strip()
            )
        if self._counts["refused"] > MOST_REFUSED * (imported + self._counts["refused"]):
            raise AlmanacError(
                f"{self._counts['refused']} lines in {source} do not fit its format, too many to "
                f"continue; {self._first_refusal[:200]}. "
                "Say with --format or --mapping how to read it."
            )


STAGES: Stages[_Import] = (
    ("read", _Import.read_all, "files -> triples, entities and aliases in the journal"),
    *PUBLISHING,
)


def _language_of(triples: pa.Table) -> str:
    """Return the language of the heads' names; names in Latin letters count as English."""
    language = detect_language(" ".join(triples["head"][:2000].to_pylist()))
    known = ("zh", "ja", "ko", "ru", "uk", "ar", "fa", "el", "he", "th")
    return language if language in known else "en"
