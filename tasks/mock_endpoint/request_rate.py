"""A limit on requests a minute, kept the way endpoints keep it: spread over the minute."""

import math
import time


class RequestRate:
    """A bucket that holds a second's worth of requests, at least one."""

    def __init__(self, per_minute: float | None) -> None:
        """Begin with a full bucket; None never refuses."""
        self._each = (per_minute or 0.0) / 60
        self._most = max(1.0, self._each)
        self._left, self._at = self._most, time.monotonic()

    def wait(self) -> int:
        """Return 0 for a request that may pass, else the whole seconds it should wait."""
        if not self._each:
            return 0
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._each)
        self._at = now
        if self._left >= 1:
            self._left -= 1
            return 0
        return max(1, math.ceil((1 - self._left) / self._each))
