"""The client that every call to a language model goes through: it sends, validates and records.

    in the ledger? -> budget reserved -> a place in the limiter -> the transport
        -> the reply validated -> a row on disk -> the answer

A request that has an answer is never sent again. A reply that fails a check is never kept: the
model is shown the error once; if its second reply fails too, the request is given up with the
reason.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from threading import Thread
from typing import Any
from uuid import uuid4

from pydantic import BaseModel

from schemas.errors import UsageError
from schemas.observations import ModelReply
from schemas.operations import ModelCall
from schemas.settings import ModelSettings, Price
from tasks.models.call import (
    CallError,
    Message,
    ModelAnswer,
    Outcome,
    RawReply,
    Request,
    Sent,
    Transport,
)
from tasks.models.keys import scrub
from tasks.models.limits import Budget, Health, Limiter
from tasks.models.loaded_model import weights_size
from tasks.models.prices import capped, cost, most_cost, price_of
from tasks.models.strict_schema import strict_schema
from tasks.models.tokens import estimate_tokens
from tasks.models.validation import Validated, ends_in_thought, validate
from warehouse.ledger import Ledger

TRIED_AGAIN = {Outcome.THROTTLED, Outcome.UNAVAILABLE, Outcome.UNREACHED, Outcome.TIMED_OUT}
REFUSALS = {Outcome.THROTTLED, Outcome.UNAVAILABLE, Outcome.UNREACHED}
OF_UNKNOWN_COST = {Outcome.UNAVAILABLE, Outcome.TIMED_OUT}  # refusals are free
MORE_IF_THROTTLED = 10  # times the attempts: waiting is free, and each pause lets a few calls pass
SHOWN = {Outcome.INVALID, Outcome.NO_FACTS}  # shown to the model before its second try
SHOWN_CHARS = 4000  # of a bad reply, when its error is shown
SMALL = 2_000_000_000  # bytes: a billion weights of two bytes


@dataclass(slots=True)
class _Pending:
    """A request in progress: the conversation so far, the tokens allowed and the attempts made."""

    request: Request
    sha: str
    messages: list[Message]
    room: int
    attempt: int = 0
    spent: Counter[str] = field(default_factory=Counter)


class ModelClient:
    """Sends the requests of one run to one model."""

    def __init__(
        self,
        transport: Transport,
        settings: ModelSettings,
        ledger: Ledger,
        run_id: str,
        *,
        batch: bool = False,
    ) -> None:
        """Send nothing yet; raise UsageError for a budget if the model's price is unknown."""
        self.transport, self.settings, self.batch = transport, settings, batch
        self.ledger, self.run_id = ledger, run_id
        self.limiter = Limiter(settings)
        self.health = Health(settings)
        self.budget = Budget(settings.budget)
        self.counts: Counter[str] = Counter()
        self.given_up: Counter[str] = Counter()  # requests, by the reason
        here = transport.endpoint is None
        self.price = Price(input=0, output=0) if here else price_of(settings.name, settings)
        # A local model that was too slow for a text will be too slow again.
        self._tried_again = TRIED_AGAIN - ({Outcome.TIMED_OUT} if here else set())
        self._thinking = 0  # tokens for the reasoning of a model that reasons before it replies
        self._flying: dict[str, asyncio.Future[ModelAnswer]] = {}
        if settings.budget is not None and self.price is None:
            raise UsageError(
                f"A budget needs prices, and those of {settings.name} are not known. Set "
                f'[engine.model.prices."{settings.name}"] input and output, per million tokens.'
            )

    @cached_property
    def is_small(self) -> bool:
        """Whether the model is a small local one, which writes short texts better than JSON."""
        return self.transport.endpoint is None and weights_size(self.settings.name) < SMALL

    @property
    def paid(self) -> float | None:
        """What all calls have cost; None if that of one is not known."""
        return None if self.counts["calls of unknown cost"] else self.budget.spent

    async def ask(self, request: Request) -> ModelAnswer:
        """Return the reply to a request, from the ledger if it was answered before.

        Raises AlmanacError if no further call of this run can succeed or is allowed.
        """
        endpoint = self.transport.endpoint
        sha = request.sha(self.settings.name, endpoint)
        known = known_reply(self.ledger, request, self.settings.name, endpoint)
        if known is not None:
            self.counts["known"] += 1
            return ModelAnswer(request.reply.model_validate_json(known), Outcome.OK)
        if sha in self._flying:
            shared = await asyncio.shield(self._flying[sha])
            return replace(shared, spent=Counter())  # counted for the first caller
        if request.sensitive and endpoint and not self.settings.sensitive:
            raise UsageError(
                f"A text marked as sensitive must not reach {endpoint}. Set sensitive = true under "
                "[engine.model] if that endpoint may see it."
            )
        self._flying[sha] = future = asyncio.get_running_loop().create_future()
        try:
            room = request.most_tokens + self._thinking
            answer = await self._ask(_Pending(request, sha, request.messages, room))
            if answer.reply is None:
                self.given_up[answer.reason] += 1
            future.set_result(answer)
            return answer
        except BaseException as error:
            stopped = CallError(Outcome.UNAVAILABLE, "the run was stopped")
            future.set_exception(error if isinstance(error, Exception) else stopped)
            future.exception()  # retrieved, so that asyncio does not warn if nobody waits
            raise
        finally:
            del self._flying[sha]

    async def _ask(self, pending: _Pending) -> ModelAnswer:
        """Send until a reply passes its checks or the second try has failed too."""
        tried: set[Outcome] = set()
        while True:
            try:
                raw, row = await self._reach(pending)
            except CallError as error:
                return ModelAnswer(None, error.outcome, error.detail, pending.spent)
            # A batch's calls are known by their bodies, which must be the same in the next run.
            if self._reasons(raw) and not self.batch:
                self._thinking = self.settings.reply_tokens
            validated = validate(pending.request, raw)
            doubted = validated.outcome is Outcome.NO_FACTS and Outcome.NO_FACTS not in tried
            if validated.reply is not None and not doubted:
                outcome = validated.outcome
                if outcome is Outcome.OK and tried & SHOWN:
                    outcome = Outcome.REPAIRED
                self.health.kept()
                await self._keep(pending, row, outcome, validated.reply)
                return ModelAnswer(validated.reply, outcome, spent=pending.spent)
            self._note(pending, row, validated.outcome, validated.detail)
            if validated.outcome in tried or not _prepare_second_try(pending, raw, validated):
                if validated.outcome is Outcome.TRUNCATED and self.transport.endpoint is not None:
                    self.health.cut_short()
                return ModelAnswer(None, validated.outcome, validated.detail, pending.spent)
            if self._reasons(raw):
                enough = pending.request.most_tokens + self.settings.reply_tokens
                pending.room = max(pending.room, enough)
            tried.add(validated.outcome)
            self.health.retry()

    def _reasons(self, raw: RawReply) -> bool:
        """Return whether a model behind an endpoint uses up tokens before its reply begins."""
        return self.transport.endpoint is not None and (
            bool(raw.tokens_thought) or ends_in_thought(raw)
        )

    async def _reach(self, pending: _Pending) -> tuple[RawReply, ModelCall]:
        """Send until a reply arrives; raise CallError when the call is given up."""
        began, tries = time.monotonic(), 0
        while True:
            self.health.check()
            try:
                return await self._send(pending)
            except CallError as error:
                tries += 1
                # A local model that is too slow for one text can still process others.
                if self.transport.endpoint or error.outcome is not Outcome.TIMED_OUT:
                    self.health.failed(error, began)
                if error.outcome not in self._tried_again:
                    self.health.answered()  # about this text only
                    raise
                # While no call is answered the endpoint is at fault, and no request is given up.
                throttled = error.outcome is Outcome.THROTTLED
                most = self.settings.attempts * (MORE_IF_THROTTLED if throttled else 1)
                if tries >= most and self.health.answered_since(began):
                    raise
                # Throttled calls wait in the limiter, with all other calls.
                if not throttled:
                    self.health.retry()
                    await asyncio.sleep(max(error.after or 0.0, self.health.back_off(tries)))

    async def _send(self, pending: _Pending) -> tuple[RawReply, ModelCall]:
        """Send once, within limits and budget; return the reply and its row, not yet recorded."""
        request = pending.request
        local = self.transport.endpoint is None
        schema = {} if request.plain else strict_schema(request.reply, lengths=local)
        sent = Sent(
            pending.messages,
            request.purpose,
            schema,
            pending.room,
            plain=request.plain,
            continued=request.continued,
            choices=request.choices,
            unasked=request.unasked,
            listener=None if pending.attempt else request.listener,
        )
        expected = sum(estimate_tokens(m["content"]) for m in pending.messages)
        async with self.limiter.place(expected + pending.room // 4) as place:
            self.health.check()
            reserved = most_cost(self.price, sent)
            await self.budget.reserve(reserved)
            pending.attempt += 1
            self.health.calls += pending.attempt == 1
            started, began = datetime.now(UTC), time.monotonic()
            paid: float | None = 0.0
            try:
                raw = await self.transport.send(sent)
                doubtful = None
                if not local:  # a local model's own counts are reliable
                    raw, doubtful = capped(raw, sent)
                paid = cost(self.price, raw, batch=self.batch)
                place.settle((raw.tokens_in or 0) + (raw.tokens_out or 0))
            except CallError as error:
                charge = None if error.outcome in OF_UNKNOWN_COST and not local else 0.0
                if error.outcome is Outcome.TIMED_OUT:
                    paid = charge  # the endpoint may have gone on writing
                row = self._row(pending, None, started, time.monotonic() - began, charge)
                if error.outcome in REFUSALS and not local:
                    self._pause_everybody(error, began)
                self._note(pending, row, error.outcome, scrub(error.detail))
                raise
            finally:
                await self.budget.settle(reserved, paid)
        self.health.answered()
        self.limiter.answered()
        row = self._row(pending, raw, started, time.monotonic() - began, paid)
        return raw, row.model_copy(update={"detail": doubtful})

    def _pause_everybody(self, error: CallError, sent_at: float) -> None:
        """Let all calls wait if the endpoint is at fault, not one text."""
        if error.outcome is not Outcome.THROTTLED and self.health.answered_since(sent_at):
            return
        after = error.after or 0.0
        if after > self.settings.longest_wait_seconds:
            return
        seconds = self.health.pause(sent_at, after)
        if seconds:
            self.limiter.refused()
        self.limiter.pause(max(seconds, after))

    # -- records ----------------------------------------------------------------------------

    async def _keep(
        self, pending: _Pending, row: ModelCall, outcome: Outcome, reply: BaseModel
    ) -> None:
        """Write the call and its reply to disk; only then may the reply be used."""
        request = pending.request
        row = row.model_copy(update={"outcome": str(outcome)})
        self._count(pending, row)
        if not request.kept:
            await asyncio.wrap_future(self.ledger.write(row))
            return
        kept = ModelReply(
            request_sha=pending.sha,
            purpose=request.purpose,
            model=self.settings.name,
            prompt_sha=request.prompt_sha,
            passage_ids=list(request.passage_ids),
            reply=reply.model_dump_json(),
            call_id=row.call_id,
            replied_at=datetime.now(UTC),
        )
        await asyncio.wrap_future(self.ledger.write(row, kept))

    def _note(
        self, pending: _Pending, row: ModelCall, outcome: Outcome, detail: str | None
    ) -> None:
        """Record a call without a usable reply; nobody waits for the record."""
        details = "; ".join(text for text in (row.detail, detail) if text)
        row = row.model_copy(update={"outcome": str(outcome), "detail": scrub(details)[:300]})
        self._count(pending, row)
        self.ledger.write(row)

    def _count(self, pending: _Pending, row: ModelCall) -> None:
        tokens = {"tokens in": row.tokens_in or 0, "tokens out": row.tokens_out or 0}
        spent = Counter({"calls": 1, **tokens})
        self.counts.update(spent)
        pending.spent.update(spent, millionths=round((row.cost or 0.0) * 1_000_000))
        self.counts[f"calls {row.outcome}"] += 1
        self.counts["calls of unknown cost"] += row.cost is None

    def _row(
        self,
        pending: _Pending,
        raw: RawReply | None,
        started: datetime,
        seconds: float,
        paid: float | None,
    ) -> ModelCall:
        request, model = pending.request, self.settings.name
        values: dict[str, Any] = {
            "call_id": uuid4().hex,
            "run_id": self.run_id,
            "purpose": request.purpose,
            "engine": self.transport.engine,
            "endpoint": self.transport.endpoint,
            "model": model,
            "prompt_sha": request.prompt_sha,
            "request_sha": pending.sha,
            "document_id": request.document_id,
            "passage_id": request.passage_ids[0] if len(request.passage_ids) == 1 else None,
            "passages": len(request.passage_ids),
            "attempt": pending.attempt,
            "cost": paid,
            "seconds": seconds,
            "outcome": "",
            "batch": self.batch,
            "called_at": started,
        }
        if raw is not None:
            values.update(
                answered_by=scrub(raw.model)[:100] if raw.model and raw.model != model else None,
                tokens_in=raw.tokens_in,
                tokens_out=raw.tokens_out,
                tokens_cached=raw.tokens_cached,
                reply_form=raw.form,
            )
        return ModelCall(**values)


def known_reply(ledger: Ledger, request: Request, model: str, endpoint: str | None) -> str | None:
    """Return the kept reply to a request as JSON; None if the request has to be sent."""
    known = ledger.find(request.sha(model, endpoint))
    if known is None and endpoint is not None:
        # From a version whose request identities left out the endpoint.
        return ledger.find_from(endpoint, request.sha(model, None))
    return known


def _prepare_second_try(pending: _Pending, raw: RawReply, validated: Validated) -> bool:
    """Change what is sent for a second try; return False if a second try is not worthwhile."""
    if validated.outcome is Outcome.TRUNCATED:
        pending.room *= 2
        return True
    if validated.outcome in SHOWN:
        shown = scrub(raw.text or "")[:SHOWN_CHARS]
        pending.messages = [
            *pending.request.messages,
            {"role": "assistant", "content": shown},
            {"role": "user", "content": f"{validated.words} Reply again, as one JSON object only."},
        ]
        return True
    return validated.outcome in (Outcome.EMPTY, Outcome.SECRET)


class BlockingClient:
    """A client for plain threads: its event loop runs in a thread, which ends with the context."""

    def __init__(self, client: ModelClient) -> None:
        """Start the loop; nothing is asked yet."""
        self.client = client
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="blocking-client", daemon=True)
        self._thread.start()

    def __enter__(self) -> "BlockingClient":
        return self

    def __exit__(self, *_: object) -> None:
        """Close the transport and end the loop."""
        self._wait(self.client.transport.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def ask(self, request: Request) -> ModelAnswer:
        """Return the answer to a request; raise AlmanacError as `ModelClient.ask` does."""
        answer: ModelAnswer = self._wait(self.client.ask(request))
        return answer

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
