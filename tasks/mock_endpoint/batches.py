"""Files and batches: many requests in one order, answered after a delay."""

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, cast
from uuid import uuid4

import orjson
from aiohttp import web
from pydantic import BaseModel, Field, ValidationError

from tasks.mock_endpoint.chat import Chat
from tasks.mock_endpoint.chat_request import read_chat
from tasks.mock_endpoint.ledger import EndpointLedger
from tasks.mock_endpoint.options import EndpointOptions
from tasks.mock_endpoint.replies import ApiError, read_body


def _now() -> int:
    return int(time.time())


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file with the name and the purpose that its owner gave."""

    name: str
    purpose: str
    content: bytes
    id: str = field(default_factory=lambda: f"file-{uuid4().hex[:24]}")
    created: int = field(default_factory=_now)

    def as_object(self) -> dict[str, Any]:
        """Return the file as the API describes it."""
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created,
            "filename": self.name,
            "purpose": self.purpose,
            "status": "processed",
        }


class Files:
    """All files, by their ids."""

    def __init__(self) -> None:
        """Begin with none."""
        self.all: dict[str, StoredFile] = {}

    def keep(self, file: StoredFile) -> StoredFile:
        """Keep a file and return it."""
        self.all[file.id] = file
        return file

    def get(self, file_id: str) -> StoredFile:
        """Return a file; raise RefusedError if no file has that id."""
        if file_id not in self.all:
            raise ApiError(404, f"no such file: {file_id[:100]}", "not_found")
        return self.all[file_id]


async def uploaded(request: web.Request) -> StoredFile:
    """Return the file in a multipart form; raise RefusedError if there is none."""
    try:
        form = await request.post()
    except ValueError:  # a form without boundaries, or broken ones
        raise ApiError(400, "the form cannot be read") from None
    file, purpose = form.get("file"), form.get("purpose")
    if not isinstance(file, web.FileField) or not isinstance(purpose, str):
        raise ApiError(400, "a form with the fields file and purpose is needed", param="file")
    return StoredFile(file.filename, purpose[:64], file.file.read())


MOST_LINES = 50_000  # as OpenAI allows
MOST_ERRORS = 10  # listed per file


class BatchLine(BaseModel):
    """One request of a batch."""

    custom_id: str
    method: Literal["POST"]
    url: Literal["/v1/chat/completions"]
    body: dict[str, Any]


def lines_of(content: bytes) -> tuple[list[BatchLine], list[dict[str, Any]]]:
    """Return a file's requests and the errors found in it."""
    texts = [line for line in content.splitlines() if line.strip()]
    if not texts:
        return [], [_error("empty_file", "the file holds no requests")]
    if len(texts) > MOST_LINES:
        return [], [_error("too_many_tasks", f"the file has more than {MOST_LINES} requests")]
    lines: dict[str, BatchLine] = {}
    errors: list[dict[str, Any]] = []
    for number, text in enumerate(texts, 1):
        try:
            line = BatchLine.model_validate(orjson.loads(text))
        except (orjson.JSONDecodeError, ValidationError):
            errors.append(_error("invalid_json_line", "this line is not a request", number))
            continue
        if line.custom_id in lines:
            errors.append(_error("duplicate_custom_id", "the custom_id is used twice", number))
        lines[line.custom_id] = line
    return list(lines.values()), errors[:MOST_ERRORS]


def _error(code: str, message: str, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "param": None, "line": line}


@dataclass(slots=True)
class Results:
    """The lines of a batch's two files, and how the batch ends."""

    good: list[dict[str, Any]] = field(default_factory=list)
    bad: list[dict[str, Any]] = field(default_factory=list)
    outcome: str = "completed"


def result(custom_id: str, status: int, body: dict[str, Any]) -> dict[str, Any]:
    """Return the results line of a request, with the status and the body of its reply."""
    response = {"status_code": status, "request_id": uuid4().hex, "body": body}
    name = f"batch_req_{uuid4().hex[:24]}"
    return {"id": name, "custom_id": custom_id, "response": response, "error": None}


MOST_LISTED = 100
DAY = 86_400
Metadata = dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]]


class BatchOrder(BaseModel):
    """The body of a request that orders a batch."""

    input_file_id: str
    endpoint: Literal["/v1/chat/completions"]
    completion_window: str
    metadata: Annotated[Metadata, Field(max_length=16)] | None = None


class Batch(BatchOrder, extra="allow"):
    """One order and its state, as the API describes it, with the time of each status so far."""

    id: str = Field(default_factory=lambda: f"batch_{uuid4().hex[:24]}")
    object: str = "batch"
    errors: dict[str, Any] | None = None
    status: str = "validating"
    output_file_id: str | None = None
    error_file_id: str | None = None
    created_at: int = Field(default_factory=_now)
    expires_at: int = Field(default_factory=lambda: _now() + DAY)
    request_counts: dict[str, int] = {"total": 0, "completed": 0, "failed": 0}

    def now(self, status: str) -> None:
        """Set a new status and the time at which it began."""
        self.status = status
        setattr(self, f"{status}_at", _now())

    def fail(self, errors: list[dict[str, Any]]) -> None:
        """End the batch with errors and without results."""
        self.errors = {"object": "list", "data": errors}
        self.now("failed")


class Batches:
    """All batches, in the order they came."""

    def __init__(
        self, options: EndpointOptions, files: Files, chat: Chat, ledger: EndpointLedger
    ) -> None:
        """Begin with none; the ledger records requests before their results are out."""
        self._options, self._files, self._chat, self._ledger = options, files, chat, ledger
        self._batches: dict[str, Batch] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._random = random.Random(options.seed)

    def close(self) -> None:
        """Cancel the batches in progress."""
        for task in self._running:
            task.cancel()

    def get(self, batch_id: str) -> Batch:
        """Return a batch; raise RefusedError if no batch has that id."""
        if batch_id not in self._batches:
            raise ApiError(404, f"no such batch: {batch_id[:100]}", "not_found")
        return self._batches[batch_id]

    def page(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the batches after a given one, newest first."""
        newest = list(reversed(self._batches.values()))
        given = query.get("limit", "20")
        limit = max(1, min(MOST_LISTED, int(given) if given.isdecimal() else 20))
        if "after" in query:
            newest = newest[newest.index(self.get(query["after"])) + 1 :]
        page = [batch.model_dump() for batch in newest[:limit]]
        return {
            "object": "list",
            "data": page,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": len(newest) > limit,
        }

    def order(self, body: bytes) -> Batch:
        """Begin a batch; raise RefusedError for an order that cannot be met."""
        batch = Batch(**dict(read_body(BatchOrder, body)))
        self._files.get(batch.input_file_id)
        self._batches[batch.id] = batch
        task = asyncio.get_running_loop().create_task(self._run(batch))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return batch

    def cancel(self, batch_id: str) -> Batch:
        """Cancel a batch; raise RefusedError if it is too late."""
        batch = self.get(batch_id)
        if batch.status not in ("validating", "in_progress"):
            raise ApiError(409, f"a batch that is {batch.status} cannot be cancelled")
        batch.now("cancelling")
        return batch

    async def _run(self, batch: Batch) -> None:
        """Process a batch until it ends; an internal error of the endpoint fails the batch."""
        try:
            await self._work(batch)
        except Exception as error:
            batch.fail([_error("mock_endpoint", str(error)[:300])])

    async def _work(self, batch: Batch) -> None:
        content = self._files.get(batch.input_file_id).content
        lines, errors = await asyncio.to_thread(lines_of, content)
        if errors:
            batch.fail(errors)
            return
        batch.request_counts["total"] = len(lines)
        if batch.status == "validating":
            batch.now("in_progress")
        await asyncio.sleep(self._options.batch_seconds)
        if batch.status == "cancelling":
            batch.now("cancelled")
            return
        results = await self.answer(batch, lines)
        batch.now("finalizing")
        batch.output_file_id = self._write(results.good, "output")
        batch.error_file_id = self._write(results.bad, "errors")
        batch.now(results.outcome)

    async def answer(self, batch: Batch, lines: list[BatchLine]) -> Results:
        """Answer requests and record each in the ledger before any result is out."""
        results = Results()
        for line in lines:
            try:
                chat = read_chat(line.body, self._options)
            except ApiError as refused:
                error = orjson.loads(cast(bytes, refused.reply.body))
                results.bad.append(result(line.custom_id, refused.reply.status, error))
                continue
            body, billed = await self._chat.complete(chat)
            results.good.append(result(line.custom_id, 200, body))
            self._ledger.in_batch(chat, billed, batch.id)
            await asyncio.sleep(0)  # other requests have their turn
        batch.request_counts |= {"completed": len(results.good), "failed": len(results.bad)}
        return results

    def _write(self, results: list[dict[str, Any]], name: str) -> str | None:
        """Keep results as a file, in any order."""
        if not results:
            return None
        self._random.shuffle(results)
        content = b"".join(orjson.dumps(line) + b"\n" for line in results)
        return self._files.keep(StoredFile(f"{name}.jsonl", "batch_output", content)).id
