"""Which request meets which fault: drawn by hashes, so that a run can be repeated.

A file of faults has one JSON object a line: `id`, `group` and `serve`, which says what is done:
a status with headers and a body, a content instead of the answer's, or a fault of the connection.
"""

import hashlib
import sys
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import UsageError

MOST_KEPT = 1_000_000  # requests whose tries are counted
MOST_BYTES = 1_000_000_000  # of a file of faults
ELSEWHERE = {
    "tls": "start the endpoint with --tls-self-signed for it",
    "dns": "ask an endpoint whose name does not exist, such as http://nowhere.invalid/v1",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of a file of faults."""

    id: str
    serve: dict[str, Any]

    @property
    def always(self) -> bool:
        """Return whether every try meets it, not the first alone."""
        return self.serve.get("repeat") == "always"


def read_faults(path: Path) -> list[Fault]:
    """Return a file's faults; those that no server can serve are named on standard error."""
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path} is too large for a file of faults.")
    faults = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = orjson.loads(line)
            fault = Fault(str(entry["id"]), dict(entry["serve"]))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            raise UsageError(
                f"Line {number} of {path} is no fault: it needs an id and a serve."
            ) from None
        elsewhere = [advice for kind, advice in ELSEWHERE.items() if kind in fault.serve]
        if elsewhere:
            print(f"{fault.id} is not served: {elsewhere[0]}.", file=sys.stderr, flush=True)
        else:
            faults.append(fault)
    return faults


class Schedule:
    """Draws faults: for a share of the requests, on their first try, clean from then on."""

    def __init__(self, faults: list[Fault], share: float, first: int | None, seed: int) -> None:
        """Begin without having seen any request; `first` limits how many may meet a fault."""
        self._faults, self._share, self._first, self._seed = faults, share, first, seed
        self._tries: OrderedDict[str, int] = OrderedDict()
        self._chosen: set[str] = set()  # among the first, if their number is limited
        self._seen = 0

    def draw(self, sha: str) -> tuple[int, Fault | None]:
        """Return which try of the request this is, from 1, and the fault that it meets."""
        attempt = self._tries.pop(sha, 0) + 1
        self._tries[sha] = attempt
        if len(self._tries) > MOST_KEPT:
            self._tries.popitem(last=False)
        if attempt == 1:
            self._seen += 1
            if self._first is not None and self._seen <= self._first:
                self._chosen.add(sha)
        fault = self._fault_of(sha)
        return attempt, fault if fault and (attempt == 1 or fault.always) else None

    def _fault_of(self, sha: str) -> Fault | None:
        if not self._faults or (self._first is not None and sha not in self._chosen):
            return None
        if self._fraction("whether", sha) >= self._share:
            return None
        return self._faults[int(self._fraction("which", sha) * len(self._faults))]

    def _fraction(self, what: str, sha: str) -> float:
        """Return a number from 0 to 1, below 1, that looks random and is always the same."""
        data = f"{self._seed}/{what}/{sha}".encode()
        return int.from_bytes(hashlib.sha256(data).digest()[:6]) / 2**48
