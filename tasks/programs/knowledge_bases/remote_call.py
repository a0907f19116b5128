"""Requests to services, and typed access to whatever their replies hold."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from tasks.ingest.formats.cleaning import clean_line

LONGEST_NAME = 300
LONGEST_TEXT = 2_000


class RemoteError(Exception):
    """A service gave no reply that can be used; the message says why in plain words."""


@dataclass(frozen=True)
class RemoteRefusal:
    """A refusal in the body of a good HTTP reply; `passing` if another attempt may help."""

    words: str
    passing: bool = False


@dataclass(frozen=True)
class RemoteCall:
    """A request: an address, its parameters, and how to recognise a refusal within a reply.

    `secret` holds parameters that are sent but neither stored nor shown. `keep` allows the reply to
    be cached.
    """

    url: str
    params: Mapping[str, str]
    refusal: Callable[[Any], RemoteRefusal | None] = lambda reply: None
    secret: Mapping[str, str] = field(default_factory=dict, repr=False)
    keep: bool = True

    @property
    def host(self) -> str:
        """The host and port that receive the request."""
        return urlsplit(self.url).netloc

    @property
    def key(self) -> str:
        """The key of the reply in the cache."""
        address = f"{self.url}?{urlencode(sorted(self.params.items()))}"
        return hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class RemoteReply:
    """The value of a reply; if it is an old one, `trouble` says why it is used."""

    value: Any
    trouble: str = ""


def table(value: Any, *path: str) -> dict[str, Any]:
    """Return the object at a path of keys; an empty one where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Any]:
    """Return a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def line(value: Any, longest: int = LONGEST_NAME) -> str:
    """Return a text as one line of bounded length; empty for anything that is not a text."""
    return clean_line(value, longest) if isinstance(value, str) else ""
