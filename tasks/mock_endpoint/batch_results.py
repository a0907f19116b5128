"""What a batch's file asks for, and what comes back: answers, errors, and things nobody sent."""

import hashlib
import random
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import orjson

from tasks.mock_endpoint.chat_request import ChatRequest, chat_of
from tasks.mock_endpoint.exchange import RefusedError
from tasks.mock_endpoint.options import Options

MOST_LINES = 50_000
MOST_BYTES = 200_000_000
MOST_TOLD = 10  # errors of a file


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One request of a batch."""

    custom_id: str
    body: dict[str, Any]


def lines_of(content: bytes, path: str) -> tuple[list[BatchLine], list[dict[str, Any]]]:
    """Return a file's requests, or what is wrong with it."""
    if len(content) > MOST_BYTES:
        return [], [_error("file_too_large", f"the file has more than {MOST_BYTES} bytes")]
    texts = [line for line in content.splitlines() if line.strip()]
    if not texts:
        return [], [_error("empty_file", "the file holds no requests")]
    if len(texts) > MOST_LINES:
        return [], [_error("too_many_tasks", f"the file has more than {MOST_LINES} requests")]
    lines: dict[str, BatchLine] = {}
    errors: list[dict[str, Any]] = []
    for number, text in enumerate(texts, 1):
        line = _line(text, path)
        if line is None:
            errors.append(_error("invalid_json_line", "this line is no request", number))
        elif line.custom_id in lines:
            errors.append(_error("duplicate_custom_id", "the custom_id stands twice", number))
        else:
            lines[line.custom_id] = line
    return list(lines.values()), errors[:MOST_TOLD]


def _line(text: bytes, path: str) -> BatchLine | None:
    try:
        entry = orjson.loads(text)
        line = BatchLine(entry["custom_id"], entry["body"])
        meant = entry["method"] == "POST" and entry["url"] == path
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    good = meant and isinstance(line.custom_id, str) and isinstance(line.body, dict)
    return line if good else None


def _error(code: str, message: str, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "param": None, "line": line}


@dataclass(slots=True)
class Results:
    """The two files of a batch while they are being filled."""

    wanted: list[BatchLine] = field(default_factory=list)  # that are to be answered
    good: dict[str, dict[str, Any]] = field(default_factory=dict)
    bad: dict[str, dict[str, Any]] = field(default_factory=dict)
    doubled: set[str] = field(default_factory=set)
    unknown: int = 0

    def read(self, line: BatchLine, options: Options) -> ChatRequest | None:
        """Return what a line asks for; one that asks nothing sensible becomes an error."""
        try:
            return chat_of(
                line.body,
                plain=options.plain,
                json_only=options.json_only,
                logprobs=options.logprobs,
            )
        except RefusedError as refused:
            assert isinstance(refused.reply.body, bytes)
            self.respond(line, refused.reply.status, orjson.loads(refused.reply.body))
            return None

    def answer(self, line: BatchLine, body: dict[str, Any]) -> None:
        """Note an answer."""
        self.good[line.custom_id] = _result(line.custom_id, _response(200, body), None)

    def respond(self, line: BatchLine, status: int, body: dict[str, Any]) -> None:
        """Note an error with a status."""
        self.bad[line.custom_id] = _result(line.custom_id, _response(status, body), None)

    def expire(self, line: BatchLine) -> None:
        """Note that a request's time was over before it was its turn."""
        error = {"code": "batch_expired", "message": "the completion window is over"}
        self.bad[line.custom_id] = _result(line.custom_id, None, error)

    def good_lines(self, order: random.Random) -> list[bytes]:
        """Return the lines of the results file, in any order, some twice, some of nobody's."""
        chosen = [*self.good.values(), *(self.good[name] for name in sorted(self.doubled))]
        if chosen:
            strange = [{**order.choice(chosen), "custom_id": uuid4().hex}] * self.unknown
            chosen += strange
        return _shuffled(chosen, order)

    def bad_lines(self, order: random.Random) -> list[bytes]:
        """Return the lines of the error file, in any order."""
        return _shuffled(list(self.bad.values()), order)


def draw_results(lines: list[BatchLine], options: Options, seen: set[str]) -> Results:
    """Return who is left out, fails or comes twice; a request is hit once, not again when repeated.

    Drawn by the hash of seed and custom_id, so that a run can be repeated.
    """
    results, batch = Results(), options.batch
    for line in lines:
        drawn = _fraction(options.seed, line.custom_id)
        if line.custom_id in seen:
            drawn = 1.0
        seen.add(line.custom_id)
        if drawn < batch.missing:
            continue
        if drawn < batch.missing + batch.failing:
            error = {"error": {"message": "failed on purpose", "code": "server_error"}}
            results.respond(line, 500, error)
            continue
        results.wanted.append(line)
        if drawn < batch.missing + batch.failing + batch.doubled:
            results.doubled.add(line.custom_id)
    results.unknown = round(batch.unknown * len(lines))
    return results


def _fraction(seed: int, custom_id: str) -> float:
    digest = hashlib.sha256(f"{seed}/batch/{custom_id}".encode(errors="replace")).digest()
    return int.from_bytes(digest[:6]) / 2**48


def _response(status: int, body: dict[str, Any]) -> dict[str, Any]:
    return {"status_code": status, "request_id": uuid4().hex, "body": body}


def _result(custom_id: str, response: Any, error: Any) -> dict[str, Any]:
    name = f"batch_req_{uuid4().hex[:24]}"
    return {"id": name, "custom_id": custom_id, "response": response, "error": error}


def _shuffled(results: list[dict[str, Any]], order: random.Random) -> list[bytes]:
    lines = [orjson.dumps(result) for result in results]
    order.shuffle(lines)
    return lines
