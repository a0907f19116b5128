"""The last stages of every run that publishes: build an edition, check it, make it current."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import schemas
from schemas.errors import HeldError
from schemas.extras import INSTALL_MINILM
from schemas.operations import Rejection
from schemas.settings import Settings
from tasks.extract.batches import identity
from tasks.ingest.split import splitter_version
from tasks.models.encoders.load import load_encoder
from tasks.models.encoders.store import VectorStore
from tasks.publish.build import Recipe, build
from tasks.publish.checks import failed_checks
from tasks.retrieval.index import build_index
from tasks.run import Stages, Work
from tasks.text.english_words import counted
from warehouse.editions import Edition
from warehouse.live import record_all

MOST_SHOWN = 300  # characters of a rejected fact
# A source gets a warning if it has this many sentences, and smaller shares of them than these
# yielded a statement or a fact; the poorest of ten development corpora yields more.
ENOUGH_SENTENCES = 50
LEAST_STATED = 0.5
LEAST_KNOWN = 0.02
# Statements about "we" from which a corpus has one speaker: handbooks have .14 to .24 of them, a
# newspaper .08, manuals .01.
OFTEN_FIRST_PERSON = 0.1

_SILENT_TABLES = r"""
select uri from documents anti join mentions using (document_id)
where source in (select unnest($1)) and regexp_matches(text, '\|( --- \|){2,}(\n\|[^\n]*){3}')
order by uri"""


def build_edition(work: Work) -> None:
    """Build a candidate with its search index from the whole journal, if anything has changed."""
    engine = work.settings.engine
    encoder, chinese = (_encoder(work, n) for n in (engine.encoder, engine.chinese_encoder))
    of_names = _encoder(work, engine.name_encoders[0])
    ids = dict.fromkeys(store.id for store in (encoder, chinese, of_names) if store)
    work.candidate = build(
        work.home,
        recipe(work.settings, " + ".join(ids) or None),
        of_names.encode if of_names else None,
        lambda made: build_index(made.folder, encoder, chinese, work.home.scratch, made),
        work.report,
        partial(_reject, work),
    )
    stores = (encoder, chinese, of_names)
    work.run.counts["vectors"] = {"new": sum(store.computed for store in stores if store)}
    if work.candidate:
        counts = {row.table: work.candidate.rows(row) for row in schemas.EDITION}
        work.run.counts["edition"] = counts
        if corrected := _changed_by_corrections(work.candidate):
            work.run.counts["corrections"] = corrected
        work.run.edition = work.candidate.id
        work.run.yields = work.candidate.table(schemas.SourceYield).to_pylist()
        if encoder is None and "encoder" not in work.settings.engine.model_fields_set:
            work.run.notes.append(f"search is by words alone; {INSTALL_MINILM} adds vectors")
        read = [row for row in work.run.yields if row["source"] in work.sources_read]
        work.run.notes.extend(low_yields(read, engine.engine))
        work.run.notes.extend(silent_tables(work.candidate, work.sources_read))
        if not engine.speaker:
            work.run.notes.extend(unnamed_speaker(read))


def silent_tables(edition: Edition, sources: Collection[str]) -> Iterator[str]:
    """Yield how many documents of some sources are tables of which no row gave a fact, and one."""
    with edition.connect() as con:
        silent = con.execute(_SILENT_TABLES, [[*sources]]).fetchall()
    if silent:
        found = f"{counted(len(silent), 'table')} gave no facts, such as {silent[0][0]}"
        yield f"{found}: no column names what its rows are about, or no head says what it holds"


def _changed_by_corrections(edition: Edition) -> dict[str, int]:
    """Return how many facts people added or took away, by kind of fact and what became of it."""
    changes = edition.table(schemas.Change)
    made = changes.filter(pc.equal(changes["cause"], "override"))
    kinds = zip(made["fact_kind"].to_pylist(), made["kind"].to_pylist(), strict=True)
    return dict(sorted(Counter(f"{fact} {what}" for fact, what in kinds).items()))


def _reject(work: Work, self_loops: pa.Table) -> None:
    """Record triples of a language model that would relate a thing to itself."""
    stamp = {"run_id": work.run.run_id, "stage": "resolve", "rejected_at": datetime.now(UTC)}
    rows = [
        {
            **stamp,
            "item_id": f"{row['passage_id']}:triple:{row['ordinal']}",
            "document_id": row["document_id"],
            "reason": "same_head_and_tail",
            "detail": f"Head and tail are both {row['name']}, after names were resolved.",
            "text": f"{row['head']} | {row['relation']} | {row['tail']}"[:MOST_SHOWN],
        }
        for row in self_loops.to_pylist()
    ]
    if rows:
        record_all(work.home.live, {Rejection: rows})
        work.run.counts["resolution"] = {"rejected_facts": len(rows)}


def low_yields(yields: list[dict[str, Any]], engine: str) -> Iterator[str]:
    """Yield a warning for every source from which little was extracted.

    Only the embedded engine extracts statements, so for a model only the share of facts is checked.
    """
    for row in yields:
        shares = {"facts": (row["with_fact"] / row["sentences"], LEAST_KNOWN)}
        if engine == "rules":
            shares["statements"] = (row["with_statement"] / row["sentences"], LEAST_STATED)
        low = [f"{part:.0%} gave {what}" for what, (part, least) in shares.items() if part < least]
        if row["sentences"] >= ENOUGH_SENTENCES and low:
            yield (
                f"{row['source']}: of {row['sentences']} sentences ({row['language']}) only "
                f"{' and '.join(low)}; look at some of its passages and at what was read of them"
            )


def unnamed_speaker(yields: list[dict[str, Any]]) -> Iterator[str]:
    """Yield advice to name the speaker if many statements have "we" or "our ..." as subject."""
    statements = sum(row["read_statements"] for row in yields)
    about_us = sum(row["about_us"] for row in yields)
    share = about_us / max(statements, 1)
    if statements >= ENOUGH_SENTENCES and share >= OFTEN_FIRST_PERSON:
        yield (
            f"{share:.0%} of the statements are about “we”; name who that is, and they will be "
            'about its name: almanac refresh SOURCE --set engine.speaker="NAME"'
        )


def publish_edition(work: Work) -> None:
    """Make the candidate current if it passes the checks and publishing is not on hold.

    Raises HeldError if it may not be published; it stays a candidate.
    """
    if work.candidate is None:
        work.run.outcome = "unchanged"
        return
    settings = work.settings.publish
    prune = partial(work.home.editions.prune, keep=settings.keep_editions, days=settings.keep_days)
    reasons = _objections(work, work.candidate)
    if reasons:
        work.run.outcome = "held"
        prune()  # or a home that is held for long fills the disk with candidates
        edition = work.candidate.id
        is_first = not work.candidate.manifest["parent"]
        look = f"sql QUERY --edition {edition}" if is_first else "editions diff"
        raise HeldError(
            f"Edition {edition} was built but not published: {'; '.join(reasons)}. Look at it "
            f"with `almanac {look}`; `almanac editions publish {edition}` accepts it."
            + "".join(f"\nNote: {note}." for note in work.run.notes),
            edition,
        )
    work.home.editions.publish(work.candidate)
    prune()
    work.run.outcome, work.run.published = "done", True


PUBLISHING: Stages[Work] = (
    ("build", build_edition, "journal -> a candidate: entities resolved, support counted, indexes"),
    ("publish", publish_edition, "a candidate that passes the checks -> the current edition"),
)


def _encoder(work: Work, name: str) -> VectorStore | None:
    encoder = load_encoder(name)
    if encoder is None:
        return None
    return VectorStore(work.home.journal, encoder, work.report, work.cluster, name)


def _objections(work: Work, candidate: Edition) -> list[str]:
    """Return the reasons, in words, why the candidate may not be published."""
    home, settings = work.home, work.settings

    def answers(edition: Edition, question: str) -> list[str]:
        from tasks.reader.passage_reader import PassageReader
        from tasks.text.question import analyse

        return PassageReader(edition, settings.engine).answer(analyse(question)).answers

    extracted, parent = work.run.counts.get("extraction", {}), candidate.manifest["parent"]
    reasons = failed_checks(
        candidate,
        home.editions.open(parent) if parent else None,
        settings.publish,
        failed_share=failed_share(extracted, candidate.rows(schemas.Passage)),
        golden=home.path / "golden-questions.jsonl",
        ask=answers,
    )
    hold = home.editions.pointer()["hold"]
    if hold:
        reasons.append(f"publishing is held since {hold['since']}: {hold['reason']}")
    return reasons


def failed_share(extraction: Mapping[str, int], passages: int) -> float:
    """Return the share of an edition's passages that lack facts, by the counts of a run's stage.

    Passages that failed earlier are tried again, and may be all that a run has to do.
    """
    failed = extraction.get("failed", 0) + extraction.get("given up", 0)
    return failed / max(passages, extraction.get("passages", 0), 1)


def recipe(settings: Settings, encoder: str | None) -> Recipe:
    """Return the recipe of an edition under these settings."""
    splitter, publish = splitter_version(settings.read.passage_tokens), settings.publish
    made_by = (*identity(settings.engine), splitter, encoder)
    return Recipe(
        *made_by, publish.min_confidence, settings.engine.ontology, publish.min_usefulness
    )
