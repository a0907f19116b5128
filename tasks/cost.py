"""Estimate the calls, tokens, money and time of a refresh with a model, without calling it.

Sources are read and split as in a refresh, into a temporary home; the requests are built as in a
refresh, so calls and prompt tokens are as exact as the token count. Reply tokens and seconds per
call are taken from earlier calls with the same prompt.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import orjson
import pyarrow as pa

from schemas.errors import UsageError
from schemas.operations import ModelCall
from schemas.settings import EngineSettings, Settings, changed_settings
from tasks.extract.by_model.engine import ModelEngine
from tasks.extract.pending import shared_out
from tasks.models.call import CallError, Outcome, RawReply, Request, Sent
from tasks.models.client import ModelClient, known_reply
from tasks.models.prices import price_of
from tasks.models.strict_schema import strict_schema
from tasks.models.tokens import estimate_tokens
from tasks.models.transports import endpoint_of
from tasks.refresh import Refresh, pending_work, read_sources, split_texts
from tasks.run import RunReport
from warehouse.home import Home
from warehouse.live import latest

# Assumed without earlier calls of the same prompt: a reply as long as the text, a usual speed.
REPLY_SHARE = 1.0
TOKENS_A_SECOND = 60.0
LEAST_SECONDS = 0.5


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of a refresh with a model, in dollars; None if the price is unknown."""

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
    seconds: float
    assumed: tuple[str, ...]  # figures that no earlier call provides


@dataclass(frozen=True)
class Experience:
    """Averages of earlier calls of one model and prompt; None where there were none."""

    reply_share: float | None  # reply tokens per prompt token
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


def estimate(home: Home, sources: list[str], settings: Settings) -> Estimate:
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


def _estimate(home: Home, read: Home, settings: Settings) -> Estimate:
    pending = pending_work(read, settings).passages
    here, by_model = shared_out(pending, settings.engine)
    requests = list(requests_for(home, settings.engine, by_model))
    model, endpoint = settings.engine.model.name, endpoint_of(settings.engine)
    unknown = [r for r in requests if known_reply(home.ledger, r, model, endpoint) is None]
    return _of_requests(home, settings.engine, unknown, by_model, len(here), len(requests))


def requests_for(home: Home, settings: EngineSettings, passages: pa.Table) -> Iterator[Request]:
    """Yield the requests that a refresh would send for the passages."""
    model = settings.model.model_copy(update={"budget": None})
    engine = ModelEngine(settings, ModelClient(NoTransport(), model, home.ledger, "estimate"), 1)
    for unit in engine.units(passages.to_pylist()):
        yield from engine.requests(unit)


def _of_requests(
    home: Home,
    settings: EngineSettings,
    requests: list[Request],
    passages: pa.Table,
    here: int,
    made: int,
) -> Estimate:
    model = settings.model
    tokens_in = sum(prompt_tokens(request) for request in requests)
    known = experience(home, model.name, {request.prompt_sha for request in requests})
    text = sum(estimate_tokens(text) for text in passages["text"].to_pylist())
    share = known.reply_share
    tokens_out = round(tokens_in * share if share is not None else text * REPLY_SHARE)
    seconds = known.seconds
    if seconds is None:
        seconds = max(tokens_out / max(len(requests), 1) / TOKENS_A_SECOND, LEAST_SECONDS)
    assumed = [
        words
        for words, missing in (
            ("reply tokens: as many as the texts have", share is None),
            (f"seconds per call: {seconds:.1f}", known.seconds is None),
        )
        if missing
    ]
    return Estimate(
        model=model.name,
        documents=len(set(passages["document_id"].to_pylist())),
        passages=len(passages),
        passages_here=here,
        known_calls=made - len(requests),
        calls=len(requests),
        text_tokens=text,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=money(settings, tokens_in, tokens_out),
        seconds=round(_seconds(settings, len(requests), tokens_in + tokens_out, seconds), 1),
        assumed=tuple(assumed),
    )


def prompt_tokens(request: Request) -> int:
    """Return about how many tokens a request's prompt has, including its reply schema."""
    schema = orjson.dumps(strict_schema(request.reply)).decode()
    return sum(map(estimate_tokens, (request.system, request.user, schema)))


def money(settings: EngineSettings, tokens_in: int, tokens_out: int) -> float | None:
    """Return the price of a number of tokens in dollars; None if the model's price is unknown."""
    model = settings.model
    if settings.engine == "transformers":
        return 0.0
    price = price_of(model.name, model)
    if price is None:
        return None
    paid = (tokens_in * price.input + tokens_out * price.output) / 1e6
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


def experience(home: Home, model: str, prompts: set[str]) -> Experience:
    """Return the reply share and median seconds of earlier successful calls of these prompts."""
    calls = [
        call
        for call in latest(home.live, ModelCall).to_pylist()
        if call["model"] == model and call["prompt_sha"] in prompts and call["outcome"] == "ok"
    ]
    counted = [c for c in calls if c["tokens_in"] and c["tokens_out"] is not None]
    tokens_in = sum(call["tokens_in"] for call in counted)
    share = sum(call["tokens_out"] for call in counted) / tokens_in if counted else None
    return Experience(share, median(c["seconds"] for c in calls) if calls else None)


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
