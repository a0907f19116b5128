"""The data that pass through a model client: requests, replies, outcomes and errors."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel

from tasks.models.events import Listener
from tasks.models.measures import Measures

Message = dict[str, str]

MOCK = "almanac-mock"  # how `almanac mock-endpoint` marks replies: fingerprint and header
MOCK_HEADER = "x-served-by"


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model: the task, its text, and the shape of the reply.

    `system` is the fixed part of the prompt and comes first, so that endpoints can cache it;
    `user` holds the text. `most_tokens` limits the reply. A `plain` request is answered in words,
    even if they are cut short, and its `reply` is a MeasuredAnswer. A `continued` request, which
    only a local model supports, is read without a chat template. With `choices` the reply is the
    likeliest of them; if the text `unasked` is given as well, it is the choice whose probability
    after the prompt exceeds that after `unasked` by the largest factor (Holtzman et al. 2021,
    equation 3), so that none wins by its common words. The ledger does not store a reply that is
    not `kept`, but the call is recorded. A `listener` is told the reply's text while it is written,
    by endpoints that stream, at the first try. `doubt` returns why a valid reply is probably wrong;
    the model is then asked once more, and the second reply counts.
    """

    purpose: str
    prompt_sha: str
    system: str
    user: str
    reply: type[BaseModel]
    most_tokens: int
    document_id: str | None = None
    passage_ids: tuple[str, ...] = ()
    sensitive: bool = False
    plain: bool = False
    continued: bool = False
    choices: tuple[str, ...] = ()
    unasked: str | None = None
    kept: bool = True
    listener: Listener | None = field(default=None, compare=False)
    doubt: Callable[[BaseModel], str | None] | None = field(default=None, compare=False)

    def sha(self, model: str, endpoint: str | None) -> str:
        """Return the identity of a request to a model, the same for every caller; 32 hex digits.

        A model in this process has no endpoint. Two endpoints may serve different models under one
        name, so a reply from one of them is not reused for the other.
        """
        where = () if endpoint is None else (endpoint,)
        parts = (
            self.purpose,
            *where,
            model,
            self.prompt_sha,
            self.system,
            self.user,
            *self.choices,
            *(() if self.unasked is None else (self.unasked,)),
        )
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]

    @property
    def messages(self) -> list[Message]:
        """Return the request as a conversation."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.user},
        ]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as the transport gets it: conversation, JSON schema and size limit of the reply.

    A plain reply has no schema; the probabilities of its tokens are requested instead. `continued`,
    `choices`, `unasked` and `listener` are as in a Request.
    """

    messages: list[Message]
    schema_name: str
    schema: dict[str, Any]
    most_tokens: int
    plain: bool = False
    continued: bool = False
    choices: tuple[str, ...] = ()
    unasked: str | None = None
    listener: Listener | None = None


@dataclass(frozen=True, slots=True)
class RawReply:
    """A model's reply, not yet validated; counts are None if they were not reported."""

    text: str | None
    finish: str | None = "stop"  # stop, length, content_filter …
    refusal: str | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    form: str | None = None  # schema, json or text: how JSON was requested; None if it was not
    measures: Measures | None = None  # of a plain reply
    tokens_thought: int | None = None  # of tokens_out: the model's reasoning before its reply


class Outcome(StrEnum):
    """How a call ended."""

    OK = "ok"
    REPAIRED = "repaired"  # valid at the second try, after the model was shown its error
    THROTTLED = "throttled"  # 429: wait, then send again
    UNAVAILABLE = "unavailable"  # server errors, broken connections, bodies without a reply
    UNREACHED = "unreached"  # no connection: the endpoint never saw the call
    TIMED_OUT = "timed_out"  # the total deadline passed
    TOO_LONG = "too_long"  # the prompt does not fit: send less text
    TRUNCATED = "truncated"  # the reply did not fit: allow more tokens, else send less text
    NO_FACTS = "no_facts"  # valid, but empty where the text has names or numbers
    FILTERED = "filtered"  # the endpoint's filter blocked the text
    REFUSED = "refused"  # the model declined
    EMPTY = "empty"  # a reply without content, which is not "no facts"
    INVALID = "invalid"  # no JSON of the requested shape
    SECRET = "secret"  # the reply held the endpoint's key
    STOPPED = "stopped"  # 401, 403, 404, quota: no call will succeed


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The result of a request: a reply that passed all checks, or why there is none.

    `spent` counts the calls, tokens in and tokens out of all tries, and is empty for a reply from
    the ledger.
    """

    reply: BaseModel | None
    outcome: Outcome
    detail: str | None = None
    spent: Counter[str] = field(default_factory=Counter, compare=False)

    @property
    def reason(self) -> str:
        """Return why there is no reply."""
        return f"{self.outcome}: {self.detail}" if self.detail else str(self.outcome)


class CallError(Exception):
    """A call without a reply; `after` is the pause in seconds that the endpoint requested."""

    def __init__(self, outcome: Outcome, detail: str, after: float | None = None) -> None:
        """Store how the call ended and why, without secrets and without text of documents."""
        super().__init__(detail)
        self.outcome, self.detail, self.after = outcome, detail, after


class Transport(Protocol):
    """The connection to a model: to an endpoint, or to a model in this process."""

    engine: str  # openai or transformers
    endpoint: str | None  # host and port, None for a local model

    async def send(self, sent: Sent) -> RawReply:
        """Return the model's reply; raise CallError if none arrived.

        Tries once: limits, retries and records are the client's responsibility.
        """
        ...

    async def close(self) -> None:
        """Release the connections or the model."""
        ...
