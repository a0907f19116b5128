"""Batches: orders of many requests, worked off after a while, with what goes wrong on the way."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import orjson

from tasks.mock_endpoint.account import Account
from tasks.mock_endpoint.batch_results import BatchLine, Results, draw_results, lines_of
from tasks.mock_endpoint.chat import Chat
from tasks.mock_endpoint.exchange import HttpReply, HttpRequest, RefusedError, json_reply
from tasks.mock_endpoint.files import Files, StoredFile
from tasks.mock_endpoint.options import Options

PATHS = ("/v1/chat/completions",)
STAMPS = (
    "in_progress",
    "finalizing",
    "completed",
    "failed",
    "expired",
    "cancelling",
    "cancelled",
)
MOST_METADATA = 16
MOST_LISTED = 100
MOST_BATCHES = 10_000
MOST_IDS = 1_000_000
DAY = 86_400


@dataclass(slots=True)
class Batch:
    """One order and where it stands."""

    input_file: str
    path: str
    window: str
    metadata: dict[str, str] | None
    id: str = field(default_factory=lambda: f"batch_{uuid4().hex[:24]}")
    status: str = "validating"
    times: dict[str, int] = field(default_factory=lambda: {"created": int(time.time())})
    output_file: str | None = None
    error_file: str | None = None
    errors: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0
    completed: int = 0
    failed: int = 0

    def now(self, status: str) -> None:
        """Note a new status and when it began."""
        self.status = status
        self.times[status] = int(time.time())

    def as_object(self) -> dict[str, Any]:
        """Return the batch as the API describes it."""
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": self.path,
            "errors": {"object": "list", "data": self.errors} if self.errors else None,
            "input_file_id": self.input_file,
            "completion_window": self.window,
            "status": self.status,
            "output_file_id": self.output_file,
            "error_file_id": self.error_file,
            "created_at": self.times["created"],
            "expires_at": self.times["created"] + DAY,
            **{f"{stamp}_at": self.times.get(stamp) for stamp in STAMPS},
            "request_counts": {
                "total": self.total,
                "completed": self.completed,
                "failed": self.failed,
            },
            "metadata": self.metadata,
        }


class Batches:
    """All batches, in the order they came."""

    def __init__(self, options: Options, files: Files, chat: Chat, account: Account) -> None:
        """Begin with none; `account` notes requests and what they cost before they are told."""
        self._options, self._files, self._chat, self._account = options, files, chat, account
        self._batches: dict[str, Batch] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._seen: set[str] = set()  # ids whose faults have been met
        self._random = random.Random(options.seed)

    def close(self) -> None:
        """Leave what is under way."""
        for task in self._running:
            task.cancel()

    def reply(self, request: HttpRequest, parts: list[str]) -> HttpReply:
        """Answer what is asked about batches; `parts` is the path after /v1/batches."""
        match request.method, parts:
            case "POST", []:
                return json_reply(self._order(request.body).as_object())
            case "GET", []:
                return json_reply(self._page(request.query))
            case "GET", [batch_id]:
                return json_reply(self._get(batch_id).as_object())
            case "POST", [batch_id, "cancel"]:
                return json_reply(self._cancel(self._get(batch_id)).as_object())
        raise RefusedError(404, "batches are posted, listed, read and cancelled")

    def _get(self, batch_id: str) -> Batch:
        if batch_id not in self._batches:
            raise RefusedError(404, f"no such batch: {batch_id[:100]}", "not_found")
        return self._batches[batch_id]

    def _page(self, query: dict[str, str]) -> dict[str, Any]:
        """Return the batches after a given one, newest first."""
        newest = list(reversed(self._batches.values()))
        given = query.get("limit", "20")
        limit = max(1, min(MOST_LISTED, int(given) if given.isdecimal() else 20))
        if "after" in query:
            newest = newest[newest.index(self._get(query["after"])) + 1 :]
        page = [batch.as_object() for batch in newest[:limit]]
        return {
            "object": "list",
            "data": page,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": len(newest) > limit,
        }

    def _order(self, body: bytes) -> Batch:
        try:
            asked = orjson.loads(body)
            file, path = asked["input_file_id"], asked["endpoint"]
            window, metadata = asked["completion_window"], asked.get("metadata")
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise RefusedError(
                400, "a batch needs input_file_id, endpoint and completion_window"
            ) from None
        if path not in PATHS:
            raise RefusedError(400, f"batches are for {', '.join(PATHS)}", param="endpoint")
        if metadata is not None and not _fits(metadata):
            raise RefusedError(400, "metadata is up to 16 short texts", param="metadata")
        if len(self._batches) >= MOST_BATCHES:
            raise RefusedError(429, "too many batches", "rate_limit_exceeded")
        self._files.get(str(file))
        batch = Batch(str(file), path, str(window), metadata)
        self._batches[batch.id] = batch
        task = asyncio.get_running_loop().create_task(
            self._see_through(batch, len(self._batches) == 1)
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return batch

    def _cancel(self, batch: Batch) -> Batch:
        if batch.status not in ("validating", "in_progress"):
            raise RefusedError(409, f"a batch that is {batch.status} cannot be cancelled")
        batch.now("cancelling")
        return batch

    async def _see_through(self, batch: Batch, first: bool) -> None:
        """Work a batch off; what goes wrong unasked is told as a batch that failed."""
        try:
            await self._work(batch, first)
        except Exception as error:
            batch.errors = [{"code": "mock_endpoint", "message": str(error)[:300], "line": None}]
            batch.now("failed")

    async def _work(self, batch: Batch, first: bool) -> None:
        """See a batch to its end; only the first one meets the outcome that was ordered."""
        options = self._options.batch
        outcome = options.outcome if first else "completed"
        content = self._files.get(batch.input_file).content
        lines, batch.errors = await asyncio.to_thread(lines_of, content, batch.path)
        if outcome == "failed" and not batch.errors:
            batch.errors = [{"code": "mock_failure", "message": "failed on purpose", "line": None}]
        if batch.errors:
            batch.now("failed")
            return
        batch.total = len(lines)
        if batch.status == "validating":
            batch.now("in_progress")
        await asyncio.sleep(options.seconds)
        if batch.status == "cancelling":
            batch.now("cancelled")
            return
        await self._finish(batch, lines, outcome)

    async def _finish(self, batch: Batch, lines: list[BatchLine], outcome: str) -> None:
        done = lines[: len(lines) // 2] if outcome == "expired" else lines
        results = draw_results(done, self._options, self._seen)
        if len(self._seen) > MOST_IDS:
            self._seen.clear()
        await self._answer(batch, results)
        for line in lines[len(done) :]:
            results.expire(line)
        batch.completed, batch.failed = len(results.good), len(results.bad)
        batch.now("finalizing")
        batch.output_file = self._write(results.good_lines(self._random), "output")
        batch.error_file = self._write(results.bad_lines(self._random), "errors")
        batch.now(outcome)

    async def _answer(self, batch: Batch, results: Results) -> None:
        """Answer the requests that get an answer, and note each before anything is told."""
        for line in results.wanted:
            chat = results.read(line, self._options)
            if chat is not None:
                body, billed = await self._chat.complete(chat)
                results.answer(line, body)
                self._account.note_in_batch(chat, billed, batch.id)
            await asyncio.sleep(0)  # others ask meanwhile
        await self._account.settled()

    def _write(self, lines: list[bytes], what: str) -> str | None:
        if not lines:
            return None
        content = b"\n".join(lines) + b"\n"
        return self._files.keep(StoredFile(f"{what}.jsonl", "batch_output", content)).id


def _fits(metadata: Any) -> bool:
    return (
        isinstance(metadata, dict)
        and len(metadata) <= MOST_METADATA
        and all(isinstance(value, str) and len(value) <= 512 for value in metadata.values())
        and all(len(name) <= 64 for name in metadata)
    )
