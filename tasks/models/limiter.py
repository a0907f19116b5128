"""The limits of a whole run: calls at once, requests and tokens a minute, pauses for everybody."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from schemas.settings import ModelSettings

MINUTE = 60.0
BURST_SECONDS = 1.0  # what a second allows may be used at once


class _Rate:
    """So much a minute, spread evenly: each use books the time it takes."""

    def __init__(self, a_minute: float | None) -> None:
        self._seconds_each = MINUTE / a_minute if a_minute else 0.0
        self._free_at = 0.0

    def book(self, amount: float) -> float:
        """Use so much and return the moment from which it may be used."""
        if not self._seconds_each:
            return 0.0
        now = time.monotonic()
        begin = max(self._free_at, now - BURST_SECONDS)
        self._free_at = begin + amount * self._seconds_each
        return begin

    def give_back(self, amount: float) -> None:
        """Correct a use that turned out smaller, or larger if the amount is negative."""
        self._free_at -= amount * self._seconds_each


class Place:
    """One call's place: what it was expected to use is settled when that is known."""

    def __init__(self, tokens: _Rate, expected: float) -> None:
        """Take note of what was booked."""
        self._tokens, self._expected = tokens, expected

    def settle(self, used: float) -> None:
        """Replace the expected number of tokens by the true one."""
        if used:
            self._tokens.give_back(self._expected - used)


class Limiter:
    """Lets calls through, first come first served, within all limits at once."""

    def __init__(self, settings: ModelSettings) -> None:
        """Set the limits."""
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._requests = _Rate(settings.requests_per_minute)
        self._tokens = _Rate(settings.tokens_per_minute)
        self._paused_until = 0.0

    def pause(self, seconds: float) -> None:
        """Let nobody through for so long."""
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    @asynccontextmanager
    async def place(self, tokens: float) -> AsyncIterator[Place]:
        """Hold one of the places while the body runs; `tokens` is what the call may use."""
        async with self._slots:
            ready = max(self._requests.book(1), self._tokens.book(tokens))
            # A pause may be made longer while it is waited for.
            while (wait := max(ready, self._paused_until) - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            yield Place(self._tokens, tokens)
