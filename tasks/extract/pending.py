"""The extraction stage of a refresh: extract from every pending passage."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from schemas.observations import Extraction
from schemas.operations import Rejection
from schemas.settings import EngineSettings
from tasks.extract.batches import (
    BATCH,
    BatchExtraction,
    Tables,
    engine_for_sensitive,
    identity,
    journal_rows,
    where_settings_say,
)
from tasks.progress import Each
from tasks.run import Work
from tasks.text.english_words import counted
from warehouse.live import record_all

MOST_REASONS = 3  # named for passages that failed
COMMIT_SECONDS = 2.0  # facts may wait because the ledger already keeps the replies


class PendingExtraction:
    """Extracts from pending passages and journals the results as they arrive."""

    def __init__(self, work: Work, hopeless: int = 0) -> None:
        """Take the run, and how many passages have failed too often to be tried again."""
        self._work, self._hopeless = work, hopeless
        self._counts: Counter[str] = Counter()
        self._rejected: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._done = self._total = 0

    def extract(self, passages: pa.Table, each: Each | None) -> None:
        """Extract from each passage with an engine that may see it.

        `each` decides where the embedded engine runs; by default the settings do.
        """
        self._total = len(passages)
        here, by_model = shared_out(passages, self._work.settings.engine)
        if len(here):
            self._extract_here(here, each)
        if len(by_model):
            self._extract_by_model(by_model)
        self._work.run.counts["extraction"] = {"passages": self._total, **self._counts}
        if self._hopeless:
            self._work.run.counts["extraction"]["given up"] = self._hopeless
            self._work.run.notes.append(
                f"{counted(self._hopeless, 'passage is', 'passages are')} not tried again: no "
                "reply could be used in three runs"
            )
        if self._failures:
            self._work.run.notes.append(failures_in_words(self._failures, self._total))

    def _extract_here(self, passages: pa.Table, each: Each | None) -> None:
        """Extract with the embedded engine, in batches."""
        settings = self._work.settings
        engine = engine_for_sensitive(settings.engine)
        if each is None:
            each = where_settings_say(settings, len(passages))
        batches = (
            (passages.slice(start, BATCH).to_pylist(),) for start in range(0, len(passages), BATCH)
        )
        for tables in each(BatchExtraction(engine, self._work.run.run_id), batches):
            self._journal(tables)

    def _extract_by_model(self, passages: pa.Table) -> None:
        """Extract with the model named in the settings."""
        from tasks.extract.by_model.engine import ModelEngine
        from tasks.extract.by_model.shared import CallsOfWorker, extract_shared
        from tasks.models.limits import BudgetSpentError
        from tasks.models.transports import finish, open_client, width

        home, run, settings = self._work.home, self._work.run, self._work.settings.engine
        client = open_client(home, settings, run.run_id)
        engine = ModelEngine(settings, client, width(settings))
        name, version = identity(settings)
        rows = passages.to_pylist()
        if anew := engine.asked_anew(rows):
            words = f"{counted(anew, 'passage')} had replies to earlier prompts and cost calls anew"
            self._work.report(f"extract: {words}; `almanac cost` estimates what", 0, 0)
            run.notes.append(words)
        if self._work.cluster is None:
            extraction = engine.extract(rows)
        else:
            calls = CallsOfWorker(home.path.absolute(), settings, run.run_id)
            extraction = extract_shared(engine, calls, self._work.cluster, rows)
        try:
            for results in _gathered(extraction):
                extracted = [passage for result in results for passage in result.extracted]
                self._journal(journal_rows(extracted, name, version, run.run_id))
                self._reject([fact for result in results for fact in result.rejected])
                home.ledger.seal_if_due()
            home.ledger.seal()
            finish(client)
        except BudgetSpentError as spent:
            if not self._done:
                raise
            self._work.run.notes.append(
                f"{spent} {self._total - self._done} of {self._total} passages are left; the "
                "edition has what was paid for"
            )
        finally:
            home.ledger.seal()
            run.counts["calls"] = dict(client.counts)
            run.cost = client.paid
            if run.cost is None and client.budget.spent:
                unknown = client.counts["calls of unknown cost"]
                run.notes.append(
                    f"{client.budget.spent:.4f} is counted for the calls; the cost of {unknown} of "
                    "them, which broke off or told no usage, is not known"
                )

    def _journal(self, tables: Tables) -> None:
        self._work.home.journal.append(tables)
        self._counts.update({row.table: len(table) for row, table in tables.items()})
        failed = [e for e in tables[Extraction].to_pylist() if e["outcome"] == "failed"]
        self._counts["failed"] += len(failed)
        self._failures.update(e["reason"] for e in failed)
        self._record(
            {
                "stage": "extract",
                "item_id": e["passage_id"],
                "reason": "extraction_failed",
                "detail": f"Passage {e['passage_id']} could not be extracted: {e['reason']}",
                "text": e["reason"],
            }
            for e in failed
        )
        self._done += len(tables[Extraction])
        self._work.report("extract", self._done, self._total)

    def _reject(self, facts: list[Any]) -> None:
        """Record the model's facts that the text does not support, with the reason."""
        rejections = []
        for fact in facts:
            place = f"{fact.passage_id}:{fact.form}"
            self._rejected[place] += 1
            item = f"{place}:{self._rejected[place]}"
            detail = f"The text of passage {fact.passage_id} does not support this {fact.form}."
            rejection = {"stage": "ground", "item_id": item, "reason": fact.reason}
            rejections.append({**rejection, "detail": detail, "text": fact.text})
        self._counts["rejected_facts"] += len(facts)
        self._record(rejections)

    def _record(self, rejections: Iterable[dict[str, Any]]) -> None:
        stamp = {"run_id": self._work.run.run_id, "rejected_at": datetime.now(UTC)}
        rows = [{**stamp, **rejection} for rejection in rejections]
        record_all(self._work.home.live, {Rejection: rows})


def failures_in_words(reasons: Counter[str], passages: int) -> str:
    """Return how many passages could not be extracted, and the commonest reasons."""
    shown = (
        f"{times} because of: {reason.rstrip('.')}"
        for reason, times in reasons.most_common(MOST_REASONS)
    )
    return f"{reasons.total()} of {passages} passages could not be extracted, {'; '.join(shown)}"


def shared_out(passages: pa.Table, settings: EngineSettings) -> tuple[pa.Table, pa.Table]:
    """Return the passages for the embedded engine, and the passages for the model."""
    if settings.engine == "rules":
        return passages, passages.slice(0, 0)
    if engine_for_sensitive(settings) is settings:
        return passages.slice(0, 0), passages
    sensitive = passages["sensitive"]
    return passages.filter(sensitive), passages.filter(pa.compute.invert(sensitive))


def _gathered(results: Iterator[Any]) -> Iterator[list[Any]]:
    """Yield results in lists, one per commit; an error is raised after the results before it."""
    waiting: list[Any] = []
    since = time.monotonic()
    try:
        for result in results:
            waiting.append(result)
            if len(waiting) >= BATCH or time.monotonic() - since > COMMIT_SECONDS:
                yield waiting
                waiting, since = [], time.monotonic()
    except Exception:
        if waiting:
            yield waiting
        raise
    if waiting:
        yield waiting
