"""Limits on all calls of a run: its budget, its rate limits, and its retries."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from schemas.errors import AlmanacError
from schemas.settings import ModelSettings
from tasks.models.call import CallError, Outcome


class BudgetSpentError(AlmanacError):
    """The next call might exceed the budget."""


class Budget:
    """The budget of one run, in the currency of the price table."""

    def __init__(self, most: float | None) -> None:
        """Allow a total of `most`; None allows any amount."""
        self.most = most
        self.spent = 0.0
        self._reserved = 0.0
        self._flying = 0
        self._freed = asyncio.Condition()

    async def reserve(self, amount: float) -> None:
        """Reserve the maximum cost of a call; wait for calls in flight that could free the amount.

        Raises BudgetSpentError if the amount does not fit and no call is in flight.
        """
        if self.most is None:
            return
        async with self._freed:
            while self.spent + self._reserved + amount > self.most:
                if not self._flying:
                    raise BudgetSpentError(
                        f"The budget of {self.most:g} does not allow the next call: "
                        f"{self.spent:.4g} is spent and it may cost up to {amount:.4g}. What was "
                        "done is kept; the same command goes on from there."
                    )
                await self._freed.wait()
            self._reserved += amount
            self._flying += 1

    async def settle(self, reserved: float, cost: float | None) -> None:
        """Replace a reservation by the call's cost; if that is unknown, it counts in full."""
        self.spent += reserved if cost is None and self.most is not None else cost or 0.0
        if self.most is None:
            return
        async with self._freed:
            self._reserved -= reserved
            self._flying -= 1
            self._freed.notify_all()


MINUTE = 60.0
BURST_SECONDS = 1.0  # seconds; the amount of one second may be used at once


class _Rate:
    """A rate limit per minute, spread evenly: each use books its share of the time."""

    def __init__(self, a_minute: float | None) -> None:
        self._seconds_each = MINUTE / a_minute if a_minute else 0.0
        self._free_at = 0.0

    def book(self, amount: float) -> float:
        """Book an amount and return the moment from which it may be used."""
        if not self._seconds_each:
            return 0.0
        now = time.monotonic()
        begin = max(self._free_at, now - BURST_SECONDS)
        self._free_at = begin + amount * self._seconds_each
        return begin

    def begin_after(self, amount: float) -> None:
        """Allow nothing before as much time as an amount takes has passed."""
        self._free_at = time.monotonic() + amount * self._seconds_each

    def give_back(self, amount: float) -> None:
        """Return an unused amount to the limit; a negative amount books more."""
        self._free_at -= amount * self._seconds_each


class Place:
    """One call's place in the limiter; its expected tokens are replaced by the actual ones."""

    def __init__(self, tokens: _Rate, expected: float) -> None:
        """Remember the number of tokens that was booked."""
        self._tokens, self._expected = tokens, expected

    def settle(self, used: float) -> None:
        """Replace the expected number of tokens by the actual one."""
        if used:
            self._tokens.give_back(self._expected - used)


class Limiter:
    """Admits calls in order of arrival, within all limits at once.

    After a refusal few calls are admitted at once, and one more with every answer.
    """

    def __init__(self, settings: ModelSettings) -> None:
        """Set the limits."""
        self._most = self._open = settings.concurrency
        self._flying = 0
        self._answered = False  # since the last refusal
        self._turn = asyncio.Lock()  # of the call that is admitted next
        self._freed = asyncio.Event()
        self._requests = _Rate(settings.requests_per_minute)
        self._tokens = _Rate(settings.tokens_per_minute)
        self._paused_until = 0.0

    def follow(self, tokens: float) -> None:
        """Begin as if another process had just been admitted, with so many tokens."""
        self._requests.begin_after(1)
        self._tokens.begin_after(tokens)

    def pause(self, seconds: float) -> None:
        """Admit no call for this many seconds."""
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def refused(self) -> None:
        """Admit half as many calls at once from now on; one if none was answered in between."""
        self._open = max(1, self._open // 2) if self._answered else 1
        self._answered = False

    def answered(self) -> None:
        """Admit one call more at once, up to the limit."""
        self._answered = True
        self._open = min(self._open + 1, self._most)
        self._freed.set()

    @asynccontextmanager
    async def place(self, tokens: float) -> AsyncIterator[Place]:
        """Hold one of the places while the body runs; `tokens` is the expected number."""
        async with self._turn:
            await self._wait_for_room()
            ready = max(self._requests.book(1), self._tokens.book(tokens))
            # A pause may grow, and the room shrink, while calls wait for its end.
            while (wait := max(ready, self._paused_until) - time.monotonic()) > 0:
                await asyncio.sleep(wait)
                await self._wait_for_room()
            self._flying += 1
        try:
            yield Place(self._tokens, tokens)
        finally:
            self._flying -= 1
            self._freed.set()

    async def _wait_for_room(self) -> None:
        while self._flying >= self._open:
            self._freed.clear()
            await self._freed.wait()


FIRST_WAIT = 0.5  # seconds before the second try; doubled with every further one
LONGEST_BACK_OFF = 20.0
FREE_RETRIES = 50  # beyond these, a run may make as many retries as calls
MOST_REFUSED = 100  # calls in a row that the endpoint refuses as too many
MOST_CUT_SHORT = 6  # replies in a row that are cut short although they have twice the room
RESUME = "What was answered is kept; the same command goes on from there."


class EndpointError(AlmanacError):
    """The endpoint no longer serves this run."""


class Health:
    """The state of the endpoint as seen by a run, shared by all calls in flight."""

    def __init__(self, settings: ModelSettings, seed: int | None = None) -> None:
        self._settings = settings
        self._random = random.Random(seed)
        self._answered_at = time.monotonic()
        self._level = 0
        self._level_since = 0.0
        self._refused = 0  # in a row
        self._cut_short = 0  # in a row
        self.calls = 0
        self.retries = 0
        self.stopped: EndpointError | None = None

    def check(self) -> None:
        """Raise the error that stopped the run, if one did."""
        if self.stopped:
            raise self.stopped

    def answered(self) -> None:
        """Record that a reply arrived, whatever it contains."""
        self._answered_at = time.monotonic()
        self._level = self._refused = 0

    def kept(self) -> None:
        """Record that a reply passed its checks."""
        self._cut_short = 0

    def cut_short(self) -> None:
        """Record a reply that did not end in twice its room; raise EndpointError after several."""
        self._cut_short += 1
        if self._cut_short >= MOST_CUT_SHORT:
            self._stop(
                f"{self._cut_short} replies in a row were cut short, even with twice the room. "
                "Raise engine.model.reply_tokens, lower call_tokens, or use another model."
            )

    def answered_since(self, moment: float) -> bool:
        """Return whether any call was answered since, so that a failure concerns only that call."""
        return self._answered_at > moment

    def failed(self, error: CallError, began: float = 0.0) -> None:
        """Record a call without a reply, which `began` then; raise EndpointError if the run stops.

        Silence counts while a call waits, not while a person thinks about the next question.
        """
        longest = self._settings.longest_wait_seconds
        if error.outcome is Outcome.STOPPED:
            self._stop(error.detail)
        if error.after is not None and error.after > longest:
            self._stop(
                f"The endpoint asks to come back in {error.after:.0f} seconds, longer than "
                f"longest_wait_seconds = {longest:g} allows."
            )
        self._refused += error.outcome is Outcome.THROTTLED
        if self._refused > MOST_REFUSED:
            self._stop(f"The endpoint refused {self._refused} calls in a row as too many.")
        silent = time.monotonic() - max(self._answered_at, began)
        if silent > self._settings.patience_seconds:
            self._stop(
                f"The endpoint has answered nothing usable for {silent:.0f} s ({error.detail})."
            )

    def retry(self) -> None:
        """Count one retry; raise EndpointError if the run has made too many."""
        self.retries += 1
        if self.retries > FREE_RETRIES + self.calls:
            self._stop(f"{self.retries} of {self.calls + self.retries} calls had to be made again.")

    def back_off(self, tries: int) -> float:
        """Return the seconds before a call's next try: exponential back-off with jitter."""
        longest = min(FIRST_WAIT * 2.0 ** (tries - 1), LONGEST_BACK_OFF)
        return self._random.uniform(longest / 4, longest)

    def pause(self, sent_at: float, after: float = 0.0) -> float:
        """Return the seconds all calls must wait after a refusal; 0 if they wait already.

        The pause grows only if the refused call was sent after the last pause had ended. It is not
        shorter than the endpoint requests, nor than the back-off, whatever it requests.
        """
        if sent_at < self._level_since:
            return 0.0
        self._level += 1
        seconds = max(after, self.back_off(self._level))
        self._level_since = time.monotonic() + seconds
        return seconds

    def _stop(self, why: str) -> None:
        if self.stopped is None:
            self.stopped = EndpointError(f"{why.rstrip('.')}. {RESUME}")
        raise self.stopped
