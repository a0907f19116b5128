"""Say what a refresh with a model would cost: estimate it without a call, or try a sample.

For an estimate, sources are read and split as in a refresh, into a temporary home, and the requests
are built as in a refresh, so calls and prompt tokens are as exact as the token count. Reply tokens
and seconds per call are taken from earlier calls, if possible with the same prompt. A trial sends a
sample of the corpus and compares the facts with those that are stored.
"""

import hashlib
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from schemas.errors import UsageError
from schemas.observations import ModelReply, SplitPassage
from schemas.operations import ModelCall
from schemas.settings import EngineSettings, Settings, changed_settings
from tasks.extract.batches import engine_for_sensitive, identity
from tasks.extract.by_model.engine import ModelEngine
from tasks.extract.extracted import Extracted
from tasks.extract.pending import shared_out
from tasks.ingest.split import splitter_version
from tasks.models.call import CallError, Outcome, RawReply, Request, Sent
from tasks.models.client import ModelClient, known_reply
from tasks.models.prices import currency_of, price_of
from tasks.models.strict_schema import strict_schema
from tasks.models.tokens import estimate_tokens
from tasks.models.transports import endpoint_of, open_client, width
from tasks.refresh import Refresh, pending_work, read_sources, split_texts
from tasks.run import RunReport
from warehouse.derivation import Derivation
from warehouse.home import Home
from warehouse.live import latest

# Assumed without earlier calls for the purpose: a usual speed, and reply tokens per token of
# text. A strong model's recorded replies about 16 documents had 1.58 (tests/played_replies.json
# has those of six).
REPLY_SHARE = 1.6
TOKENS_A_SECOND = 60.0
LEAST_SECONDS = 0.5

EXAMPLES = 5  # per kind of change between a trial and what is stored
SEED = 1  # for drawing documents
Fact = tuple[str, str, str]  # passage, form, the fact in words
FORMS = ("triple", "description", "aspect", "alias")


@dataclass(frozen=True)
class CostEstimate:
    """The estimated cost of a refresh with a model; None if the price is unknown."""

    model: str
    documents: int
    passages: int
    passages_here: int  # sensitive passages, which the embedded engine processes
    known_calls: int  # already in the ledger, so free
    calls: int
    text_tokens: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    currency: str
    seconds: float
    assumed: tuple[str, ...]  # figures that no earlier call provides


@dataclass(frozen=True)
class Experience:
    """Averages of earlier calls of one model for one purpose; None where there were none."""

    reply_share: float | None  # reply tokens per token of text
    cached_share: float  # of the prompt tokens; 0 without calls, as not all endpoints cache
    seconds: float | None


class NoTransport:
    """A transport that sends nothing, for estimates."""

    engine = "openai"
    endpoint: str | None = None

    async def send(self, sent: Sent) -> RawReply:
        """Refuse to send."""
        raise CallError(Outcome.STOPPED, "No model is called while a cost is estimated.")

    async def close(self) -> None:
        """Close nothing."""


def estimate(home: Home, sources: list[str], settings: Settings) -> CostEstimate:
    """Return what a refresh of these sources would cost; without sources, the pending work."""
    if settings.engine.engine == "rules":
        raise UsageError("The embedded engine costs nothing; give --engine and --model.")
    if not sources:
        return _estimate(home, home, settings)
    with _scratch(home) as scratch:
        run = RunReport(run_id="estimate")
        all_may_go = changed_settings(settings, {"publish.max_delete": 1.0})
        work = Refresh(scratch, all_may_go, run, sources=sources)
        read_sources(work)
        split_texts(work)
        return _estimate(home, scratch, settings)


def _estimate(home: Home, read: Home, settings: Settings) -> CostEstimate:
    """Return what the work that is pending in `read` would cost, by the calls of a home."""
    engine, model = settings.engine, settings.engine.model
    here, by_model = shared_out(pending_work(read, settings).passages, engine)
    made = list(requests_for(home, engine, by_model))
    endpoint = endpoint_of(engine)
    requests = [r for r in made if known_reply(home.ledger, r, model.name, endpoint) is None]
    tokens_in = sum(prompt_tokens(request) for request in requests)
    prompts = {request.prompt_sha: request.purpose for request in requests}
    known = experience(home, model.name, prompts)
    share = known.reply_share
    unanswered = {passage for request in requests for passage in request.passage_ids}
    texts = _among(by_model, unanswered)["text"].to_pylist()
    tokens_out = round(sum(map(estimate_tokens, texts)) * (REPLY_SHARE if share is None else share))
    seconds = known.seconds
    if seconds is None:
        seconds = max(tokens_out / max(len(requests), 1) / TOKENS_A_SECOND, LEAST_SECONDS)
    assumed = [
        words
        for words, missing in (
            (f"reply tokens: {REPLY_SHARE} per token of text", share is None),
            (f"seconds per call: {seconds:.1f}", known.seconds is None),
        )
        if missing
    ]
    return CostEstimate(
        model=model.name,
        documents=len(set(by_model["document_id"].to_pylist())),
        passages=len(by_model),
        passages_here=len(here),
        known_calls=len(made) - len(requests),
        calls=len(requests),
        text_tokens=sum(map(estimate_tokens, by_model["text"].to_pylist())),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=money(engine, tokens_in, tokens_out, known.cached_share),
        currency=currency_of(model),
        seconds=round(_seconds(engine, len(requests), tokens_in + tokens_out, seconds), 1),
        assumed=tuple(assumed),
    )


def requests_for(home: Home, settings: EngineSettings, passages: pa.Table) -> Iterator[Request]:
    """Yield the requests that a refresh would send for the passages."""
    model = settings.model.model_copy(update={"budget": None})
    engine = ModelEngine(settings, ModelClient(NoTransport(), model, home.ledger, "estimate"), 1)
    for unit in engine.units(passages.to_pylist()):
        yield from engine.requests(unit)


def prompt_tokens(request: Request) -> int:
    """Return about how many tokens a request's prompt has, including its reply schema."""
    schema = orjson.dumps(strict_schema(request.reply)).decode()
    return sum(map(estimate_tokens, (request.system, schema, request.user)))


def money(
    settings: EngineSettings, tokens_in: int, tokens_out: int, cached_share: float = 0.0
) -> float | None:
    """Return the price of a number of tokens; None if the model's price is unknown.

    `cached_share` of the prompt tokens come from the endpoint's cache.
    """
    model = settings.model
    if settings.engine == "transformers":
        return 0.0
    price = price_of(model.name, model)
    if price is None:
        return None
    cached = price.input if price.cached is None else price.cached
    each = (1.0 - cached_share) * price.input + cached_share * cached
    paid = (tokens_in * each + tokens_out * price.output) / 1e6
    return paid * (price.batch if model.batch else 1.0)


def _seconds(settings: EngineSettings, calls: int, tokens: int, seconds: float) -> float:
    """Return how long the calls take, in seconds; the tightest limit decides."""
    model = settings.model
    bounds = [calls * seconds / model.concurrency]
    if model.requests_per_minute:
        bounds.append(60 * calls / model.requests_per_minute)
    if model.tokens_per_minute:
        bounds.append(60 * tokens / model.tokens_per_minute)
    return max(bounds)


def experience(home: Home, model: str, prompts: Mapping[str, str]) -> Experience:
    """Return the reply share and median seconds of earlier successful calls of some prompts.

    `prompts` has purposes by version; without calls of these versions, those of others count.
    The texts are counted, not the prompts: not all endpoints count the reply schema.
    """
    rows = latest(home.live, ModelCall).to_pylist()
    made = [row for row in rows if row["model"] == model and row["outcome"] == "ok"]
    alike = [call for call in made if call["prompt_sha"] in prompts]
    alike = alike or [call for call in made if call["purpose"] in prompts.values()]
    calls = {call["call_id"]: call for call in alike}
    measured = [c for c in calls.values() if c["tokens_in"] and c["tokens_out"] is not None]
    texts = _texts_of(home, {call["call_id"] for call in measured})
    share = sum(call["tokens_out"] for call in measured) / texts if texts else None
    read, cached = (
        sum(call[column] or 0 for call in measured) for column in ("tokens_in", "tokens_cached")
    )
    seconds = median(call["seconds"] for call in calls.values()) if calls else None
    return Experience(share, cached / read if read else 0.0, seconds)


def _texts_of(home: Home, calls: Collection[str]) -> int:
    """Return how many tokens the passages have that some calls were about."""
    about: set[str] = set()
    for table in home.journal.tables(ModelReply, ["call_id", "passage_ids"]):
        about.update(*(row["passage_ids"] for row in table.to_pylist() if row["call_id"] in calls))
    tokens: dict[str, int] = {}
    for table in home.journal.tables(SplitPassage, ["passage_id", "text"]) if about else ():
        for passage in _among(table, about).to_pylist():
            tokens[passage["passage_id"]] = estimate_tokens(passage["text"])
    return sum(tokens.values())


def _among(passages: pa.Table, ids: Collection[str]) -> pa.Table:
    return passages.filter(pc.field("passage_id").isin(pa.array(ids, pa.string())))


@contextmanager
def _scratch(home: Home) -> Iterator[Home]:
    """Yield a temporary home with the same journal; it can be written to."""
    folder = Path(tempfile.mkdtemp(prefix="almanac-cost-"))
    try:
        journal = folder / "journal"
        journal.mkdir()
        for path in home.journal.folder.glob("*/*.parquet"):
            (journal / path.parent.name).mkdir(exist_ok=True)
            (journal / path.parent.name / path.name).symlink_to(path.resolve())
        for name in ("commits.jsonl", "commits.lock"):
            if (home.journal.folder / name).exists():
                shutil.copy(home.journal.folder / name, journal / name)
        yield Home(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# -- a trial on a sample --------------------------------------------------------------------------


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
    currency: str


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
        currency=currency_of(settings.engine.model),
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
    words = (
        *(("triple", f"{t['head']} | {t['relation']} | {t['tail']}") for t in extracted.triples),
        *(("description", f"{d['entity']}: {d['text']}") for d in extracted.descriptions),
        *(("aspect", f"{a['entity']} | {a['aspect']}: {a['text']}") for a in extracted.aspects),
        *(("alias", f"{a['name']} = {a['alias']}") for a in extracted.aliases),
    )
    return {(extracted.passage_id, *fact) for fact in words}


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
