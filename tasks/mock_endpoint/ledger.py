"""The endpoint's own record of requests and replies, written before a reply is sent.

A JSON line is written when a request arrives, another when its answer or fault is sent, and a third
if the client had disconnected by then. It never holds prompts, answers or keys, only hashes and
counts.
"""

import itertools
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from tasks.mock_endpoint.chat_request import ChatRequest
from tasks.mock_endpoint.replies import Billed, HttpReply, RequestSummary

LONGEST_PATH = 200


class EndpointLedger:
    """Numbers requests from 1, and appends lines about them."""

    def __init__(self, path: Path | None) -> None:
        """Open the file for appending; without a path nothing is written."""
        self._file = path.open("ab", buffering=0) if path else None
        self._numbers = itertools.count(1)

    def arrived(self, path: str, authorized: bool, summary: RequestSummary, at: float) -> int:
        """Record a request and return its number."""
        number = next(self._numbers)
        fields = {"path": path[:LONGEST_PATH], "authorized": authorized}
        self._append("asked", number, at, **fields, **asdict(summary))
        return number

    def answering(self, number: int, reply: HttpReply) -> None:
        """Record a reply, so that it may be sent."""
        fields = {"status": reply.status, "fault": reply.fault, **asdict(reply.billed)}
        self._append("answered", number, time.time(), **fields)

    def lost(self, number: int) -> None:
        """Record that the client had disconnected before the reply was sent."""
        self._append("lost", number, time.time())

    def in_batch(self, chat: ChatRequest, billed: Billed, batch: str) -> None:
        """Record a request from a batch, and its answer."""
        number, now = next(self._numbers), time.time()
        fields = {"path": "/v1/chat/completions", "authorized": True, "batch": batch}
        self._append("asked", number, now, **fields, **asdict(chat.summary()))
        self._append("answered", number, now, status=200, fault=None, **asdict(billed))

    def _append(self, event: str, number: int, at: float, **fields: Any) -> None:
        if self._file:
            entry = {"event": event, "number": number, "at": round(at, 6), **fields}
            self._file.write(orjson.dumps(entry) + b"\n")

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
