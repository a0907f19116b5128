"""Try a changed model or prompt on a sample, to see the changes and the cost of a full run."""

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from schemas.errors import UsageError
from schemas.operations import ModelCall
from schemas.settings import Settings
from tasks.cost import money
from tasks.extract.batches import engine_for_sensitive, identity
from tasks.extract.by_model.engine import ModelEngine
from tasks.extract.extracted import Extracted
from tasks.extract.pending import shared_out
from tasks.ingest.split import splitter_version
from tasks.models.tokens import estimate_tokens
from tasks.models.transports import open_client, width
from warehouse.derivation import Derivation
from warehouse.home import Home
from warehouse.live import latest

EXAMPLES = 5  # per kind of change
SEED = 1  # for drawing documents
Fact = tuple[str, str, str]  # passage, form, the fact in words
FORMS = ("triple", "description", "aspect", "alias")


@dataclass(frozen=True)
class Trial:
    """A model's facts from a sample compared with the stored ones, and the cost of a full run."""

    model: str
    passages: int
    passages_in_all: int
    failed: int
    same: dict[str, int]
    added: dict[str, int]
    gone: dict[str, int]
    examples_added: list[str]
    examples_gone: list[str]
    rejected_facts: int
    known_calls: int  # answered before, so free
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    cost_in_all: float | None


@dataclass(frozen=True)
class _Sample:
    """Passages of whole documents, the facts stored for them, and the size of the whole corpus."""

    passages: list[dict[str, Any]]
    facts: set[Fact]
    passages_in_all: int
    tokens_in_all: int


def try_on_sample(home: Home, settings: Settings, passages: int, run_id: str) -> Trial:
    """Send at most `passages` passages of the corpus to the model; store nothing but its calls.

    Whole documents are sampled, so that calls are packed as in a refresh. The replies stay in the
    ledger, so a later refresh does not pay for them again. Raises UsageError if no document is
    short enough.
    """
    sample = _draw(home, settings, passages)
    client = open_client(home, settings.engine, run_id)
    engine = ModelEngine(settings.engine, client, width(settings.engine))
    try:
        worked = list(engine.extract(sample.passages)) if sample.passages else []
    finally:
        home.ledger.seal()
    results = [extracted for call in worked for extracted in call.extracted]
    after = {fact for extracted in results for fact in facts_of(extracted)}
    tried = {extracted.passage_id for extracted in results if not extracted.failed}
    before = {fact for fact in sample.facts if fact[0] in tried}
    sample_tokens = sum(estimate_tokens(passage["text"]) for passage in sample.passages)
    scale = sample.tokens_in_all / sample_tokens if sample_tokens else 0.0
    tokens_in, tokens_out = client.counts["tokens in"], client.counts["tokens out"]
    before_in, before_out = _tokens_before(home, engine, sample.passages, run_id)
    in_all = money(settings.engine, tokens_in + before_in, tokens_out + before_out)
    return Trial(
        model=settings.engine.model.name,
        passages=len(sample.passages),
        passages_in_all=sample.passages_in_all,
        failed=len(results) - len(tried),
        same=_counted(before & after),
        added=_counted(after - before),
        gone=_counted(before - after),
        examples_added=_some(after - before),
        examples_gone=_some(before - after),
        rejected_facts=sum(len(call.rejected) for call in worked),
        known_calls=client.counts["known"],
        calls=client.counts["calls"],
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=money(settings.engine, tokens_in, tokens_out),
        cost_in_all=None if in_all is None else in_all * scale,
    )


def _tokens_before(
    home: Home, engine: ModelEngine, passages: list[dict[str, Any]], run_id: str
) -> tuple[int, int]:
    """Return the prompt and reply tokens of the calls about passages in earlier runs."""
    model, endpoint = engine.settings.name, engine.client.transport.endpoint
    requests = [request for unit in engine.units(passages) for request in engine.requests(unit)]
    shas = {request.sha(model, endpoint) for request in requests}
    calls = [
        call
        for call in latest(home.live, ModelCall).to_pylist()
        if call["request_sha"] in shas and call["run_id"] != run_id
    ]
    return sum(c["tokens_in"] or 0 for c in calls), sum(c["tokens_out"] or 0 for c in calls)


def facts_of(extracted: Extracted) -> set[Fact]:
    """Return the facts extracted from a passage, as strings that can be compared."""
    passage = extracted.passage_id
    facts = {
        (passage, "triple", f"{t['head']} | {t['relation']} | {t['tail']}")
        for t in extracted.triples
    }
    facts |= {
        (passage, "description", f"{d['entity']}: {d['text']}") for d in extracted.descriptions
    }
    facts |= {
        (passage, "aspect", f"{a['entity']} | {a['aspect']}: {a['text']}")
        for a in extracted.aspects
    }
    return facts | {(passage, "alias", f"{a['name']} = {a['alias']}") for a in extracted.aliases}


def _draw(home: Home, settings: Settings, most: int) -> _Sample:
    """Return a sample of the current passages with the facts stored for them."""
    name, version = identity(settings.engine)
    inner = identity(engine_for_sensitive(settings.engine))
    derivation = Derivation(home.journal, home.journal.position, home.scratch)
    derivation.settings(
        engine=name,
        prompt_sha=version,
        engine_if_sensitive=inner[0],
        prompt_sha_if_sensitive=inner[1],
        splitter=splitter_version(settings.read.passage_tokens),
    )
    for step in ("inputs", "pending"):
        derivation.step(step)
    everything = derivation.query(
        "select * from current_passages qualify row_number() over "
        "(partition by passage_id order by first_commit, commit, content_id, span_start) = 1 "
        "order by content_id, span_start"
    )
    _, allowed = shared_out(everything, settings.engine)
    sample = whole_documents(allowed, most)
    ids = pa.table({"passage_id": [passage["passage_id"] for passage in sample]})
    derivation.hand_over("sampled", ids)
    derivation.step("sampled_facts")
    rows = derivation.table("sampled_facts").to_pylist()
    derivation.close()
    tokens = sum(estimate_tokens(text) for text in allowed["text"].to_pylist())
    facts = {(row["passage_id"], row["form"], row["fact"]) for row in rows}
    return _Sample(sample, facts, len(allowed), tokens)


def whole_documents(passages: pa.Table, most: int) -> list[dict[str, Any]]:
    """Return the passages of documents drawn at random, at most `most`; no document is cut.

    The draw depends on `SEED` and the texts alone; a document that does not fit is skipped.
    Raises UsageError if none fits.
    """
    documents: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for passage in passages.to_pylist():
        documents[passage["content_id"]].append(passage)
    drawn = sorted(documents, key=lambda text: hashlib.sha256(f"{SEED}{text}".encode()).digest())
    sample: list[dict[str, Any]] = []
    for content_id in drawn:
        if len(sample) + len(documents[content_id]) <= most:
            sample += documents[content_id]
    if documents and not sample:
        raise UsageError(
            f"A sample holds whole documents, and the shortest has "
            f"{min(map(len, documents.values()))} passages; give --sample at least that many."
        )
    return sample


def _counted(facts: set[Fact]) -> dict[str, int]:
    counts = Counter(form for _, form, _ in facts)
    return {form: counts[form] for form in FORMS}


def _some(facts: set[Fact]) -> list[str]:
    """Return a few facts as strings, the same ones every time."""
    ordered = sorted(facts, key=lambda fact: hashlib.sha256("".join(fact).encode()).digest())
    return [f"{form}: {words}" for _, form, words in ordered[:EXAMPLES]]
