"""Whether the endpoint as a whole still answers: decides how long to wait and when a run stops."""

import random
import time

from schemas.errors import AlmanacError
from schemas.settings import ModelSettings
from tasks.models.call import CallError, Outcome

FIRST_WAIT = 0.5  # seconds before the second try, doubled with every further one
LONGEST_BACK_OFF = 20.0
FREE_RETRIES = 50  # beyond these a run may retry as often as it has asked
RESUME = "What was answered is kept; the next refresh goes on from there."


class EndpointError(AlmanacError):
    """The endpoint does not serve this run any more."""


class Health:
    """What one run has seen of its endpoint, shared by all calls in flight."""

    def __init__(self, settings: ModelSettings, seed: int | None = None) -> None:
        """Expect the best."""
        self._settings = settings
        self._random = random.Random(seed)
        self._answered_at = time.monotonic()
        self._level = 0
        self._level_since = 0.0
        self.calls = 0
        self.retries = 0
        self.stopped: EndpointError | None = None

    def check(self) -> None:
        """Raise what stopped the run, if anything did."""
        if self.stopped:
            raise self.stopped

    def answered(self) -> None:
        """A reply came, whatever it says."""
        self._answered_at = time.monotonic()
        self._level = 0

    def answered_since(self, moment: float) -> bool:
        """Return whether anything was answered since, so that a failure is the call's own."""
        return self._answered_at > moment

    def failed(self, error: CallError) -> None:
        """Take note of a call that brought nothing; raise EndpointError if the run must stop."""
        longest = self._settings.longest_wait_seconds
        if error.outcome is Outcome.STOPPED:
            self._stop(error.detail)
        if error.after is not None and error.after > longest:
            self._stop(
                f"The endpoint asks to come back in {error.after:.0f} seconds, longer than "
                f"longest_wait_seconds = {longest:g} allows."
            )
        silent = time.monotonic() - self._answered_at
        if silent > self._settings.patience_seconds:
            self._stop(f"The endpoint has answered nothing for {silent:.0f} s ({error.detail}).")

    def retry(self) -> None:
        """Count one retry; raise EndpointError if the run has made too many."""
        self.retries += 1
        if self.retries > FREE_RETRIES + self.calls:
            self._stop(f"{self.retries} of {self.calls + self.retries} calls had to be made again.")

    def back_off(self, tries: int) -> float:
        """Return how long one call waits before its next try: exponential, with full jitter."""
        longest = min(FIRST_WAIT * 2.0 ** (tries - 1), LONGEST_BACK_OFF)
        return self._random.uniform(longest / 4, longest)

    def pause(self, sent_at: float) -> float:
        """Return how long everybody waits after a 429 that does not say; 0 if they wait already.

        Only a refusal of a call that was sent after the last pause makes the next one longer.
        """
        if sent_at < self._level_since:
            return 0.0
        self._level += 1
        seconds = min(FIRST_WAIT * 2.0 ** (self._level - 1), LONGEST_BACK_OFF)
        self._level_since = time.monotonic() + seconds
        return seconds

    def _stop(self, why: str) -> None:
        if self.stopped is None:
            self.stopped = EndpointError(f"{why.rstrip('.')}. {RESUME}")
        raise self.stopped
