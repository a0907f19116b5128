"""Who asked what, under which number, and what it cost: the ledger's lines."""

import itertools
import time
from dataclasses import asdict

from tasks.mock_endpoint.chat_request import ChatRequest
from tasks.mock_endpoint.exchange import Asked, Billed, HttpReply, HttpRequest
from tasks.mock_endpoint.ledger import EndpointLedger

LONGEST_PATH = 200


class Account:
    """Numbers requests and notes them."""

    def __init__(self, ledger: EndpointLedger) -> None:
        """Begin with number 1."""
        self._ledger = ledger
        self._numbers = itertools.count(1)

    def arrived(self, request: HttpRequest, asked: Asked, at: float) -> int:
        """Note a request and return its number."""
        number = next(self._numbers)
        fields = {"path": request.path[:LONGEST_PATH], "authorized": request.key is not None}
        self._ledger.note("asked", number, at, **fields, **asdict(asked))
        return number

    async def answering(self, number: int, reply: HttpReply, at: float) -> None:
        """Note a reply; return once that is on disk, so that it may be sent."""
        told = {"status": reply.status, "fault": reply.fault, **asdict(reply.billed)}
        await self._ledger.sync("answered", number, at, **told)

    def lost(self, number: int) -> None:
        """Note that nobody was there to take the reply."""
        self._ledger.note("lost", number)

    def note_in_batch(self, chat: ChatRequest, billed: Billed, batch: str) -> None:
        """Note a request that a batch brought, and its answer."""
        number, now = next(self._numbers), time.time()
        asked = Asked(chat.purpose, chat.sha, chat.first_sha, None, chat.model)
        fields = {"path": "/v1/chat/completions", "authorized": True, "batch": batch}
        self._ledger.note("asked", number, now, **fields, **asdict(asked))
        told = {"status": 200, "fault": None, **asdict(billed)}
        self._ledger.note("answered", number, now, **told)

    async def settled(self) -> None:
        """Return once all that was noted is on disk."""
        await self._ledger.settled()
