"""The main job: from sources to a published edition, going on where the last run stopped.

The work is plain functions; a flow wraps them, tests and benchmarks call them directly.
"""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pyarrow as pa

import schemas
from schemas.errors import HeldError
from schemas.observations import Piece
from schemas.settings import Settings
from tasks.build import Recipe, build
from tasks.embed import load_encoder
from tasks.engine_choice import engine_for_sensitive, identity
from tasks.extract import Each
from tasks.extract_pending import PendingExtraction, Report
from tasks.gates import failed_gates
from tasks.index import build_index
from tasks.ingest import Ingestion
from tasks.run_record import RunReport, recorded, timed
from tasks.split import split, splitter_version
from tasks.vectors import VectorStore
from warehouse.derivation import Derivation
from warehouse.disk import full_disk_in_plain_words
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.lease import lease

SPLIT_BATCH = 500  # texts a commit
Stage = Callable[[str, Callable[[], Any]], Any]


def plainly(name: str, work: Callable[[], Any]) -> Any:
    """Do the work of a stage and nothing else."""
    return work()


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


def refresh(
    home: Home,
    sources: list[str],
    settings: Settings,
    *,
    max_delete: float | None = None,
    sensitive: bool = False,
    wait_seconds: float = 0.0,
    report: Report = silent,
    each: Each | None = None,
    stage: Stage = plainly,
) -> RunReport:
    """Bring the almanac up to date with its sources and publish a new edition if it differs.

    `each(work, batches)` yields `work(*batch)` for every batch, in any order: it decides where
    extraction runs. `stage(name, work)` returns `work()` for every other stage, which can be done
    again after it failed. Raises AlmanacError in plain words; whatever was done before stays done.
    """
    max_delete = settings.publish.max_delete if max_delete is None else max_delete
    run = RunReport(run_id=f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:6]}")
    with (
        full_disk_in_plain_words(home.path),
        lease(home.path, run.run_id, wait_seconds),
        recorded(home, run),
    ):
        home.clean()
        with timed(run, "read"):
            stage(
                "read",
                lambda: read_sources(home, sources, settings, run, max_delete, sensitive, report),
            )
        with timed(run, "split"):
            stage("split", lambda: split_texts(home, settings, run, report))
        with timed(run, "extract"):
            passages = pending_work(home, settings, "unextracted_passages")
            PendingExtraction(home, settings, run, report).extract(passages, each, stage)
        with timed(run, "build"):
            edition = stage("build", lambda: _build(home, settings, run, report))
        with timed(run, "publish"):
            stage("publish", lambda: _publish(home, settings, run, edition, max_delete))
    return run


def read_sources(
    home: Home,
    sources: list[str],
    settings: Settings,
    run: RunReport,
    max_delete: float,
    sensitive: bool,
    report: Report,
) -> None:
    """List every source first, so that a vanished one stops the run before it writes."""
    ingestions = [Ingestion(home, s, run.run_id, settings, sensitive=sensitive) for s in sources]
    for ingestion in ingestions:
        ingestion.check_listing(max_delete)
    total, done = sum(len(ingestion.changed) for ingestion in ingestions), 0
    counts: Counter[str] = Counter()
    for ingestion in ingestions:
        for _ in ingestion.read_all():
            done += 1
            report("read", done, total)
        counts.update(ingestion.counts)
        if not ingestion.listing.complete:
            run.notes.append(f"{ingestion.listing.error}; nothing was deleted there")
    run.counts["inputs"] = dict(counts)


def split_texts(home: Home, settings: Settings, run: RunReport, report: Report) -> None:
    """Cut every text that has no passages of the present splitter."""
    contents = pending_work(home, settings, "unsplit_contents")
    budget, passages = settings.read.passage_tokens, 0
    for start in range(0, len(contents), SPLIT_BATCH):
        rows = contents.slice(start, SPLIT_BATCH).to_pylist()
        pieces = [piece for row in rows for piece in split(**row, budget=budget)]
        home.journal.append({Piece: Piece.to_table(pieces)})
        passages += len(pieces)
        report("split", start + len(rows), len(contents))
    run.counts["passages"] = {"texts": len(contents), "new": passages}


def _build(home: Home, settings: Settings, run: RunReport, report: Report) -> Edition | None:
    """Build an edition from the whole journal, its search index included."""
    encoder = _encoder(home, settings.engine.encoder, report)
    chinese = _encoder(home, settings.engine.chinese_encoder or "none", report)
    names = [e.id for e in (encoder, chinese) if e]
    edition = build(
        home,
        recipe(settings, " + ".join(names) or None),
        encoder.encode if encoder else None,
        lambda folder: build_index(folder, encoder, chinese),
        report,
    )
    run.counts["vectors"] = {"new": sum(e.computed for e in (encoder, chinese) if e)}
    if edition:
        run.counts["edition"] = {row.table: edition.rows(row) for row in schemas.EDITION}
        run.edition = edition.id
    return edition


def _encoder(home: Home, name: str, report: Report) -> VectorStore | None:
    encoder = load_encoder(name)
    return VectorStore(home.journal, encoder, report) if encoder else None


def _publish(
    home: Home, settings: Settings, run: RunReport, edition: Edition | None, max_delete: float
) -> None:
    """Publish what was built if it passes the gates and nobody holds publishing back."""
    from tasks.answer import ask_edition

    if edition is None:
        run.outcome = "unchanged"
        return
    tried, parent = run.counts["extraction"]["passages"], edition.manifest["parent"]
    reasons = failed_gates(
        edition,
        home.editions.open(parent) if parent else None,
        settings.publish,
        max_delete=max_delete,
        failed_share=run.counts["extraction"].get("failed", 0) / tried if tried else 0.0,
        golden=home.path / "golden-questions.jsonl",
        ask=lambda candidate, question: ask_edition(candidate, question, settings.engine),
    )
    hold = home.editions.pointer()["hold"]
    if hold:
        reasons.append(f"publishing is held since {hold['since']}: {hold['reason']}")
    if reasons:
        run.outcome = "held"
        raise HeldError(
            f"Edition {edition.id} was built but not published: {'; '.join(reasons)}. Look at it "
            f"with `almanac editions diff`; `almanac editions publish {edition.id}` accepts it."
        )
    home.editions.publish(edition)
    home.editions.prune(keep=settings.publish.keep_editions, days=settings.publish.keep_days)
    run.outcome, run.published = "done", True


def recipe(settings: Settings, encoder: str | None) -> Recipe:
    """Return what an edition is built with under these settings."""
    engine, prompt_sha = identity(settings.engine)
    return Recipe(engine, prompt_sha, splitter_version(settings.read.passage_tokens), encoder)


def pending_work(home: Home, settings: Settings, what: str) -> pa.Table:
    """Return what the journal says is left to do."""
    made_with = recipe(settings, None)
    name, version = identity(engine_for_sensitive(settings.engine))
    derivation = Derivation(home.journal, home.journal.position, home.spill)
    derivation.settings(
        engine=made_with.engine,
        prompt_sha=made_with.prompt_sha,
        engine_if_sensitive=name,
        prompt_sha_if_sensitive=version,
        splitter=made_with.splitter,
    )
    derivation.step("inputs")
    derivation.step("pending")
    table = derivation.table(what)
    derivation.close()
    return table
