"""The main job: from sources to a published edition, resuming where the last run stopped.

The stages are plain functions; a flow wraps them, tests and benchmarks call them directly.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas.labels import given_labels
from schemas.observations import Content, Extraction, Override, Read, Scan, SplitPassage
from schemas.settings import Settings
from tasks.cluster import where_run_works
from tasks.extract.batches import engine_for_sensitive, identity
from tasks.extract.pending import PendingExtraction
from tasks.ingest.formats.formats import is_picture
from tasks.ingest.formats.picture import can_read_pictures
from tasks.ingest.ingest import Ingestion, refusal_notes
from tasks.ingest.split import split
from tasks.progress import Each, Report, RunStage, in_order, run_plainly, silent
from tasks.publish.apply_ontology import check_gazetteer
from tasks.publish.publish import PUBLISHING, recipe
from tasks.run import RunReport, Stages, Work, publishing_run, run_stages
from tasks.worker_pool import in_this_process
from warehouse.derivation import Derivation
from warehouse.home import Home

SPLIT_BATCH = 500  # texts per commit
SPLIT_ELSEWHERE = 100
MANY_PICTURES = 20  # of which people are told, as recognising them takes long
PENDING_ROWS = (Scan, Read, Content, SplitPassage, Extraction, Override)  # read by `pending.sql`


@dataclass(frozen=True)
class Pending:
    """The work left at a journal position: texts to split and passages to extract from.

    `hopeless` counts the passages of which no reply could be used in three runs.
    """

    position: int
    contents: pa.Table
    passages: pa.Table
    hopeless: int


@dataclass
class Refresh(Work):
    """The state shared by the stages of a refresh."""

    sources: Sequence[str] = ()
    sensitive: bool = False
    labels: list[str] | None = None
    last_pending: Pending | None = None

    def pending(self) -> Pending:
        """Return the work left; it is computed again only if the journal has grown."""
        position = self.home.journal.position
        if self.last_pending is None or self.last_pending.position != position:
            self.last_pending = pending_work(self.home, self.settings, position)
        return self.last_pending


def read_sources(work: Refresh) -> None:
    """Bring the journal up to date with the sources.

    All sources are listed before any is read, so a vanished one stops the run before it writes.
    So does an ontology that no edition could be built with.
    """
    ontology = work.settings.engine.ontology
    check_gazetteer(work.home.journal, ontology.gazetteer if ontology else ())
    ingestions = [
        Ingestion(
            work.home,
            source,
            work.run.run_id,
            work.settings,
            sensitive=work.sensitive,
            labels=work.labels,
            each=work.cluster,
        )
        for source in work.sources
    ]
    for ingestion in ingestions:
        ingestion.check_listing()
    work.sources_read = {ingestion.source for ingestion in ingestions}
    changed = [item for ingestion in ingestions for item in ingestion.changed]
    total, done = len(changed), 0
    pictures = sum(is_picture(item.file_name) for item in changed) if can_read_pictures() else 0
    if pictures >= MANY_PICTURES:
        work.report(f"read: {pictures} pictures take seconds each; --exclude leaves some out", 0, 0)
    counts: Counter[str] = Counter()
    for ingestion in ingestions:
        for _ in ingestion.read_all():
            done += 1
            work.report("read", done, total)
        counts.update(ingestion.counts)
        if not ingestion.listing.complete:
            work.run.notes.append(f"{ingestion.listing.error}; nothing was deleted there")
        elif not ingestion.listing.items:
            work.run.notes.append(f"{ingestion.listing.source} holds no files to read")
    work.run.notes.extend(refusal_notes(ingestions, work.run.run_id))
    work.run.counts["inputs"] = dict(counts)


def split_texts(work: Refresh) -> None:
    """Split every text that has no passages from the current splitter."""
    contents = work.pending().contents
    budget, done, new = work.settings.read.passage_tokens, 0, 0
    size = SPLIT_ELSEWHERE if work.cluster else SPLIT_BATCH
    batches = (
        (number, budget, contents.slice(start, size).to_pylist())
        for number, start in enumerate(range(0, len(contents), size))
    )
    # In order, because of two texts' same passage that comes first is extracted.
    for texts, passages, notes in in_order((work.cluster or in_this_process)(split_all, batches)):
        work.home.journal.append({SplitPassage: passages})
        work.run.notes.extend(notes)
        new += len(passages)
        done += texts
        work.report("split", done, len(contents))
    work.run.counts["passages"] = {"texts": len(contents), "new": new}


def split_all(
    number: int, budget: int, texts: list[dict[str, Any]]
) -> tuple[int, tuple[int, pa.Table, list[str]]]:
    """Return the number, how many texts there are, their passages, and what was not split."""
    passages: list[dict[str, Any]] = []
    notes = []
    for text in texts:
        try:
            passages += split(**text, budget=budget)
        except Exception as error:  # it is tried again next time
            notes.append(f"{text['title']!r} was not split: {type(error).__name__}: {error}")
    return number, (len(texts), SplitPassage.to_table(passages), notes)


def extract_passages(work: Refresh) -> None:
    """Extract from every passage that the current engine has not extracted from yet."""
    pending = work.pending()
    extraction = PendingExtraction(work, hopeless=pending.hopeless)
    extraction.extract(pending.passages, work.cluster or work.each)


STAGES: Stages[Refresh] = (
    ("read", read_sources, "sources -> texts in the journal, and what is gone"),
    ("split", split_texts, "new texts -> passages"),
    ("extract", extract_passages, "new passages -> statements, triples, notes, aliases"),
    *PUBLISHING,
)


def refresh(
    home: Home,
    sources: Sequence[str],
    settings: Settings,
    *,
    sensitive: bool = False,
    labels: Sequence[str] = (),
    patience: float = 0.0,
    report: Report = silent,
    each: Each | None = None,
    run_stage: RunStage = run_plainly,
) -> RunReport:
    """Bring the almanac up to date with its sources and publish a new edition if it differs.

    The sources get the `labels` and lose those that they had; without any they keep theirs, and
    `none` takes them away. `each` decides where batches of passages are processed, `run_stage` how
    a stage is run; a stage that failed can be run again. Raises ValueError for what cannot be a
    label, and AlmanacError with a plain message; finished work is kept.
    """
    given = given_labels(labels)
    with (
        where_run_works(settings, report) as cluster,
        publishing_run(home, "refresh_knowledge", settings, patience) as run,
    ):
        work = Refresh(
            home,
            settings,
            run,
            report,
            sources=sources,
            sensitive=sensitive,
            labels=given,
            each=each,
            cluster=cluster,
        )
        run_stages(work, STAGES, run_stage)
    return run


def pending_work(home: Home, settings: Settings, position: int | None = None) -> Pending:
    """Return the work left at a position of the journal, by default its end."""
    position = home.journal.position if position is None else position
    made_with = recipe(settings, None)
    name, version = identity(engine_for_sensitive(settings.engine))
    derivation = Derivation(home.journal, position, home.scratch, PENDING_ROWS)
    derivation.settings(
        engine=made_with.engine,
        prompt_sha=made_with.prompt_sha,
        engine_if_sensitive=name,
        prompt_sha_if_sensitive=version,
        splitter=made_with.splitter,
    )
    derivation.step("inputs")
    derivation.step("pending")
    contents, passages = map(derivation.table, ("unsplit_contents", "unextracted_passages"))
    derivation.close()
    hopeful = passages.filter(~pc.field("hopeless")).drop_columns("hopeless")
    return Pending(position, contents, hopeful, len(passages) - len(hopeful))
