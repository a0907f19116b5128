"""Which request means what."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import orjson

from tasks.mock_endpoint.account import Account
from tasks.mock_endpoint.answers import Answers
from tasks.mock_endpoint.batches import Batches
from tasks.mock_endpoint.chat import Chat, streamed
from tasks.mock_endpoint.chat_request import ChatRequest, read_chat
from tasks.mock_endpoint.embeddings import embed
from tasks.mock_endpoint.exchange import (
    Asked,
    HttpReply,
    HttpRequest,
    RefusedError,
    error_reply,
    json_reply,
)
from tasks.mock_endpoint.fault_replies import faulty_reply
from tasks.mock_endpoint.faults import Fault, Schedule, read_faults
from tasks.mock_endpoint.files import Files
from tasks.mock_endpoint.options import Options
from tasks.mock_endpoint.request_rate import RequestRate

MODELS = ("mock-model", "mock-embedding")


@dataclass(slots=True)
class Job:
    """A request understood, and the work that answers it."""

    work: Callable[[], Awaitable[HttpReply]]
    asked: Asked = field(default_factory=Asked)
    slow: bool = False  # it takes the endpoint's latency


class Routes:
    """Everything the endpoint can be asked, with the state that lies behind it."""

    def __init__(self, options: Options, account: Account) -> None:
        """Read what the options name."""
        self._options = options
        self.answers = Answers(options.answers)
        self._chat = Chat(self.answers, obey=options.obey)
        faults = read_faults(options.faults) if options.faults else []
        self._schedule = Schedule(faults, options.fault_share, options.fault_first, options.seed)
        self._files = Files()
        self._batches = Batches(options, self._files, self._chat, account)
        self._rate = RequestRate(options.requests_per_minute)

    def close(self) -> None:
        """Let go of the engine and of what is under way."""
        self._batches.close()
        self.answers.close()

    def take(self, request: HttpRequest) -> Job:
        """Return what to do about a request; raise RefusedError for one that asks nothing known."""
        version, *parts = request.path.strip("/").split("/")
        match request.method, parts:
            case _ if version != "v1":
                pass
            case "POST", ["chat", "completions"]:
                return self._chat_job(request)
            case "POST", ["embeddings"]:
                return self._embeddings_job(request)
            case "GET", ["models"]:
                return _ready(_models())
            case _, ["files", *rest]:
                return _ready(self._files.reply(request, rest))
            case _, ["batches", *rest]:
                return _ready(self._batches.reply(request, rest))
        raise RefusedError(404, f"{request.method} {request.path[:100]} is nothing known here")

    def _embeddings_job(self, request: HttpRequest) -> Job:
        throttled = self._throttled()
        if throttled:
            return _ready(throttled)
        model, reply = embed(request.body)
        return Job(_giving(reply), Asked(model=model), slow=True)

    def _chat_job(self, request: HttpRequest) -> Job:
        options = self._options
        chat = read_chat(
            request.body,
            plain=options.plain,
            json_only=options.json_only,
            logprobs=options.logprobs,
        )
        throttled = self._throttled()
        attempt, fault = (None, None) if throttled else self._schedule.draw(chat.first_sha)
        asked = Asked(chat.purpose, chat.sha, chat.first_sha, attempt, chat.model)

        async def work() -> HttpReply:
            return throttled or await self._completed(chat, fault, request.key)

        return Job(work, asked, slow=throttled is None)

    async def _completed(
        self, chat: ChatRequest, fault: Fault | None, key: str | None
    ) -> HttpReply:
        body, billed = await self._chat.complete(chat, key)
        if fault is not None:
            late = self._options.late_seconds
            return faulty_reply(fault, chat, (body, billed), key, late)
        if chat.stream:
            reply = streamed(body, tells_usage=chat.tells_usage)
        else:
            reply = HttpReply(body=orjson.dumps(body))
        reply.billed = billed
        return reply

    def _throttled(self) -> HttpReply | None:
        seconds = self._rate.wait()
        if not seconds:
            return None
        reply = error_reply(429, "too many requests a minute", "rate_limit_exceeded")
        reply.headers["Retry-After"] = str(seconds)
        return reply


def _ready(reply: HttpReply) -> Job:
    return Job(_giving(reply))


def _giving(reply: HttpReply) -> Callable[[], Awaitable[HttpReply]]:
    async def work() -> HttpReply:
        return reply

    return work


def _models() -> HttpReply:
    models = [
        {"id": name, "object": "model", "created": 0, "owned_by": "almanac"} for name in MODELS
    ]
    return json_reply({"object": "list", "data": models})
