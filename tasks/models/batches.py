"""The Batch API as a transport: calls are gathered, sent as one file, and answered hours later.

    waiting calls -> tag recorded -> input file -> batch -> polled -> results, in any order

The tag is recorded before anything is sent and travels with the batch. After a kill the next run
finds its batches again, by id or by tag among the endpoint's batches, and uses their results
instead of sending the calls again. Calls that a batch left out, or that failed, go into the next.
"""

import asyncio
import hashlib
import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson

from schemas.operations import BatchJob
from schemas.settings import ModelSettings
from tasks.models.call import CallError, Outcome, RawReply, Sent
from tasks.models.endpoint import MOST_STEPS, Endpoint, error_of, reply_of
from tasks.models.validation import BadReply, refuse_repeated_keys
from warehouse.journal import Journal
from warehouse.live import latest, record

MOST_REQUESTS = 50_000  # per batch, by OpenAI's rules
MOST_BYTES = 190_000_000  # their limit is 200 MB
QUIET_SECONDS = 0.5  # without a new call, after which the calls that gathered are sent
TAG = "almanac_tag"
ENDED = {"completed", "failed", "expired", "cancelled"}
OVER = {"done", "never sent"}
Result = dict[str, Any]  # a line of a results file


class BatchTransport:
    """Sends calls through the Batch API of an endpoint."""

    engine = "openai"

    def __init__(
        self, endpoint: Endpoint, settings: ModelSettings, live: Journal, run_id: str
    ) -> None:
        """Send nothing before the first calls have gathered."""
        self._through, self._settings, self._live, self._run_id = endpoint, settings, live, run_id
        self.endpoint: str | None = endpoint.endpoint
        self._client = endpoint.client.with_options(max_retries=5)
        self._waiting: dict[str, asyncio.Future[Result]] = {}
        self._bodies: dict[str, dict[str, Any]] = {}  # not yet in any batch
        self._results: dict[str, Result] = {}  # of calls not yet made in this run
        self._jobs: dict[str, BatchJob] = {}  # by tag, those still under way
        self._collected: list[BatchJob] = []
        self._last_call = 0.0
        self._driver: asyncio.Task[None] | None = None

    async def send(self, sent: Sent) -> RawReply:
        """Wait for the reply from a batch; raise CallError if the batch has none.

        A call with a parameter that the endpoint refuses goes into the next batch without it.
        """
        for _ in range(MOST_STEPS):
            form = None if sent.plain else self._through.dialect.form
            body = self._through.body_of(sent)
            status, reply = response_in(await self._result_of(body))
            if not self._through.steps_down(status, reply, body):
                return reply_of(status, reply, form=form)
        raise CallError(Outcome.INVALID, "the endpoint refuses every form of the call")

    async def _result_of(self, body: dict[str, Any]) -> Result:
        call = hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
        future = self._waiting[call] = asyncio.get_running_loop().create_future()
        self._last_call = time.monotonic()
        self._bodies[call] = body
        if self._driver is None:
            self._driver = asyncio.create_task(self._drive())
        try:
            return await future
        finally:
            self._waiting.pop(call, None)
            self._bodies.pop(call, None)

    async def close(self) -> None:
        """Stop polling; batches in progress continue at the endpoint; the next run finds them."""
        if self._driver is not None:
            self._driver.cancel()
            await asyncio.gather(self._driver, return_exceptions=True)
        await self._through.close()

    def finish(self) -> None:
        """Mark the collected batches as done, once all their replies are in the ledger."""
        for job in self._collected:
            record(self._live, job.model_copy(update={"status": "done"}))
        self._collected = []

    # -- the loop ---------------------------------------------------------------------------

    async def _drive(self) -> None:
        try:
            await self._adopt()
            while True:
                while time.monotonic() - self._last_call < QUIET_SECONDS:
                    await asyncio.sleep(QUIET_SECONDS / 5)
                self._deliver_results()
                await self._submit_new()
                await self._collect_ended()
                await asyncio.sleep(self._settings.batch_poll_seconds if self._jobs else 0.05)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            # All waiting calls fail; the next call restarts the loop.
            self._driver = None
            for future in list(self._waiting.values()):
                if not future.done():
                    future.set_exception(error_of(error))

    async def _adopt(self) -> None:
        """Take over the batches of this model that had not ended in an earlier run."""
        for values in latest(self._live, BatchJob).to_pylist():
            job = BatchJob(**values)
            mine = job.endpoint == self.endpoint and job.model == self._settings.name
            if not mine or job.status in OVER or job.tag in self._jobs:
                continue
            if job.batch_id is None:
                job = await self._find_by_tag(job)
            if job.batch_id is not None:
                self._jobs[job.tag] = job
        await self._collect_ended()

    async def _find_by_tag(self, job: BatchJob) -> BatchJob:
        """Return the job with the endpoint's id, if the endpoint ever received it."""
        async for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(TAG) == job.tag:
                return self._note(job, batch_id=batch.id, status=batch.status)
        return self._note(job, status="never sent")

    async def _submit_new(self) -> None:
        """Send the calls that are in no batch yet."""
        under_way = {call for job in self._jobs.values() for call in orjson.loads(job.requests)}
        new = {
            call: body
            for call, body in self._bodies.items()
            if call not in under_way and not self._waiting[call].done()
        }
        lines: list[bytes] = []
        calls: list[str] = []
        size = 0
        for call, body in new.items():
            line = orjson.dumps(
                {"custom_id": call, "method": "POST", "url": "/v1/chat/completions", "body": body}
            )
            if calls and (len(calls) >= MOST_REQUESTS or size + len(line) >= MOST_BYTES):
                await self._submit(calls, lines)
                lines, calls, size = [], [], 0
            lines.append(line)
            calls.append(call)
            size += len(line) + 1
        if calls:
            await self._submit(calls, lines)

    async def _submit(self, calls: list[str], lines: list[bytes]) -> None:
        job = BatchJob(
            tag=uuid4().hex,
            run_id=self._run_id,
            endpoint=self.endpoint or "",
            model=self._settings.name,
            status="sending",
            requests=orjson.dumps(calls).decode(),
            sent_at=datetime.now(UTC),
        )
        record(self._live, job)  # before it can cost anything
        file = await self._client.files.create(
            file=(f"{job.tag}.jsonl", b"\n".join(lines) + b"\n"), purpose="batch"
        )
        batch = await self._client.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={TAG: job.tag},
        )
        self._jobs[job.tag] = self._note(job, batch_id=batch.id, status=batch.status)

    def _note(self, job: BatchJob, **changes: Any) -> BatchJob:
        noted = job.model_copy(update=changes)
        if noted != job:
            record(self._live, noted)
        return noted

    async def _collect_ended(self) -> None:
        """Fetch the results of the batches that have ended."""
        for job in list(self._jobs.values()):
            assert job.batch_id is not None
            batch = await self._client.batches.retrieve(job.batch_id)
            self._jobs[job.tag] = self._note(job, status=batch.status)
            if batch.status not in ENDED:
                continue
            results: dict[str, dict[str, Any]] = {}
            for file in (batch.output_file_id, batch.error_file_id):
                if file:
                    results.update(await self._results_in(file))
            self._collected.append(self._jobs.pop(job.tag))
            calls = orjson.loads(job.requests)
            self._results.update({call: results[call] for call in calls if call in results})
            self._deliver_results()
            self._fail_left_out([call for call in calls if call not in results], batch)

    async def _results_in(self, file: str) -> dict[str, dict[str, Any]]:
        """Return a file's results by call; skip lines that are broken."""
        content = await self._client.files.content(file)
        results: dict[str, dict[str, Any]] = {}
        for line in content.content.splitlines():
            try:
                result = orjson.loads(line)
                refuse_repeated_keys(line)
                results.setdefault(str(result["custom_id"]), result)
            except (orjson.JSONDecodeError, BadReply, KeyError, TypeError):
                continue
        return results

    def _deliver_results(self) -> None:
        """Give waiting calls their results, good ones first to show that the endpoint works."""
        ready = [call for call in self._waiting if call in self._results]
        results = [(call, self._results.pop(call)) for call in ready]
        for call, result in sorted(results, key=lambda pair: not _is_good(pair[1])):
            future = self._waiting[call]
            if not future.done():
                future.set_result(result)

    def _fail_left_out(self, calls: list[str], batch: Any) -> None:
        """Fail the waiting calls that an ended batch has no result for."""
        why = f"the batch is {batch.status} and left this call out"
        outcome = Outcome.UNAVAILABLE
        if batch.status == "failed":
            messages = [error.message or "" for error in (batch.errors and batch.errors.data) or []]
            why, outcome = f"the batch failed: {'; '.join(messages)[:300]}", Outcome.STOPPED
        for call in calls:
            future = self._waiting.get(call)
            if future is not None and not future.done():
                future.set_exception(CallError(outcome, why))


def _is_good(result: Result) -> bool:
    response = result.get("response")
    return isinstance(response, dict) and response.get("status_code") == 200


def response_in(result: Result) -> tuple[int, bytes]:
    """Return status and body from a line of a results file; raise CallError if it has none."""
    response = result.get("response")
    if not isinstance(response, dict) or not response:
        error = result.get("error")
        words = error.get("message", "no response") if isinstance(error, dict) else "no response"
        raise CallError(Outcome.UNAVAILABLE, f"the batch brought an error: {str(words)[:300]}")
    status = response.get("status_code")
    if not isinstance(status, int):
        raise CallError(Outcome.UNAVAILABLE, "the batch brought a response without a status")
    return status, orjson.dumps(response.get("body"))
