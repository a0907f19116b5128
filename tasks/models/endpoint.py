"""The transport to an endpoint with OpenAI's chat completions API, by the `openai` client."""

import asyncio
import os
import ssl
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import orjson

from schemas.errors import UsageError
from schemas.settings import ModelSettings
from tasks.models.call import MOCK, CallError, Outcome, RawReply, Sent
from tasks.models.dialect import Dialect
from tasks.models.events import STREAM, Events, Listener
from tasks.models.keys import quieten_clients, scrub
from tasks.models.measures import reported_measures
from tasks.models.validation import BadReply, refuse_repeated_keys

OPENAI = "https://api.openai.com/v1"
MOST_BYTES = 8_000_000  # of one reply, after decompression
MOST_ERROR_BYTES = 1_000_000
MOST_STEPS = 6  # resends in a simpler dialect
TOO_LONG = ("context_length", "context length", "context size", "context window", "too long")
SHOWN = 300  # characters of an endpoint's error
REFUSALS = (400, 422)  # statuses of a request that has a wrong parameter


class Endpoint:
    """Sends calls to one endpoint; every call has a total deadline and a bounded reply."""

    engine = "openai"

    def __init__(self, settings: ModelSettings) -> None:
        # Slow to import, and many commands call no model.
        import httpx2
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        quieten_clients()
        self._settings = settings
        url = _address_in(settings)
        host = host_of(settings)
        self.endpoint: str | None = host
        self.dialect = Dialect()
        connections = settings.concurrency + 4
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        self.client = AsyncOpenAI(
            api_key=_key_for(host),
            base_url=url,
            max_retries=0,
            timeout=settings.deadline_seconds,
            # Compressed replies could grow beyond all bounds, redirects would carry the key away.
            default_headers={"Accept-Encoding": "identity"},
            http_client=DefaultAsyncHttpxClient(
                follow_redirects=False,
                limits=limits,
                verify=_trusted(),
                event_hooks={"response": [cut_error]},
            ),
        )

    async def send(self, sent: Sent) -> RawReply:
        """Return the model's reply; raise CallError if none arrived. Tries once."""
        for _ in range(MOST_STEPS):
            form = None if sent.plain else self.dialect.form
            parameters = self.dialect.parameters(sent)
            # As an extra body: the client would traverse typed parameters, 1 ms per call.
            conversation = {"messages": sent.messages, **parameters}
            create = self.client.chat.completions.with_streaming_response.create
            status, headers, body = await self.post(
                create, sent.listener, messages=[], extra_body=conversation
            )
            if self.steps_down(status, body, parameters):
                continue
            return reply_of(status, body, headers, form)
        raise CallError(Outcome.INVALID, "the endpoint refuses every form of the call")

    def steps_down(self, status: int, body: bytes, refused: dict[str, Any]) -> bool:
        """Return whether a response refuses a parameter that later calls now leave out."""
        words = _error_words(body)
        if status not in REFUSALS or _is_too_long(words):
            return False
        return self.dialect.step_down(words, refused)

    def body_of(self, sent: Sent) -> dict[str, Any]:
        """Return the body of a call as it is written to the input file of a batch."""
        fixed = {"model": self._settings.name, "messages": sent.messages}
        return {**fixed, **self.dialect.parameters(sent)}

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def post(
        self, create: Any, listener: Listener | None = None, **parameters: Any
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send one request; return status, headers and whole body, within deadline and size limit.

        `create` is a streaming method of the client; a `listener` is told the text of a completion
        that arrives as events. Raises CallError if no response arrived.
        """
        from openai import APIStatusError

        try:
            async with asyncio.timeout(self._settings.deadline_seconds):
                async with create(model=self._settings.name, **parameters) as response:
                    kind = str(response.headers.get("content-type", ""))
                    events = Events(listener) if listener and kind.startswith(STREAM) else None
                    body = await _bounded(response.iter_bytes(), events)
                    return response.status_code, response.headers, body
        except APIStatusError as error:
            return error.status_code, error.response.headers, _body_of(error)
        except CallError:
            raise
        except TimeoutError:
            seconds = f"{self._settings.deadline_seconds:g}"
            raise CallError(Outcome.TIMED_OUT, f"no whole reply within {seconds} s") from None
        except Exception as error:
            raise error_of(error) from None


async def _bounded(chunks: Any, events: Events | None) -> bytes:
    """Return all bytes, or the whole that events make; raise CallError once there are too many."""
    body, size = bytearray(), 0
    async for chunk in chunks:
        size += len(chunk)
        if size > MOST_BYTES:
            raise CallError(Outcome.UNAVAILABLE, f"the reply is larger than {MOST_BYTES} bytes")
        if events is not None:
            events.feed(chunk)
        else:
            body += chunk
    return bytes(body) if events is None else events.body


async def cut_error(response: Any) -> None:
    """Keep only the start of an error's body, not decompressed: clients read all there is."""
    import httpx2

    if response.is_error:
        start = bytearray()
        async for chunk in response.stream:
            start += chunk
            if len(start) >= MOST_ERROR_BYTES:
                break
        await response.stream.aclose()
        response.stream = httpx2.ByteStream(bytes(start[:MOST_ERROR_BYTES]))
        response.headers.pop("content-encoding", None)


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates to trust, which take 50 ms to read."""
    import httpx2

    return httpx2.create_ssl_context()


def _body_of(error: Any) -> bytes:
    try:
        return bytes(error.response.content)
    except Exception:
        return orjson.dumps(error.body) if error.body is not None else b""


def error_of(error: Exception) -> CallError:
    """Return the CallError that corresponds to an error of the client or the connection."""
    import httpx2
    import openai

    if isinstance(error, CallError):
        return error
    if isinstance(error, openai.APIStatusError):
        try:
            reply_of(error.status_code, _body_of(error), error.response.headers)
        except CallError as meant:
            return meant
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY" in str(cause):
            return CallError(
                Outcome.STOPPED,
                "The endpoint's certificate is not trusted. Install its authority's certificate, "
                "or check the address",
            )
    root = error.__cause__ or error
    words = scrub(f"{type(root).__name__}: {root}")[:SHOWN]
    if any(isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout)) for cause in causes):
        return CallError(Outcome.UNREACHED, words)
    if isinstance(error, (openai.APITimeoutError, TimeoutError)):
        return CallError(Outcome.TIMED_OUT, "the endpoint did not answer in time")
    return CallError(Outcome.UNAVAILABLE, words)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, the latest first."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


# -- the meaning of status and body ------------------------------------------------------------


def reply_of(
    status: int, body: bytes, headers: Mapping[str, str] | None = None, form: str | None = None
) -> RawReply:
    """Return the reply in a response; raise CallError with the reason if it has none."""
    check_status(status, body, headers)
    return _reply_in(body, form)


def check_status(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Raise CallError with the reason if the status means that there is no reply."""
    if status == 200:
        return
    after = retry_after(headers or {})
    error = _error_words(body)
    where = f"status {status}" + (f": {error}" if error else "")
    if status in (401, 403, 404) or status == 402 or "insufficient_quota" in error:
        raise CallError(Outcome.STOPPED, _advice(status, error))
    if status == 429:
        raise CallError(Outcome.THROTTLED, where, after)
    if status == 413 or (status in REFUSALS and _is_too_long(error)):
        raise CallError(Outcome.TOO_LONG, where)
    if status == 400 and "content_filter" in error:
        raise CallError(Outcome.FILTERED, where)
    if 300 <= status < 400:
        raise CallError(Outcome.UNAVAILABLE, f"status {status}: redirects are not followed")
    if status in REFUSALS:
        raise CallError(Outcome.INVALID, where)
    raise CallError(Outcome.UNAVAILABLE, where, after)


def _advice(status: int, error: str) -> str:
    words = f" ({error})" if error else ""
    if status in (401, 403):
        return f"The endpoint does not accept the key{words}. Check OPENAI_API_KEY"
    if status == 404:
        return f"The endpoint does not know the model or the path{words}. Check --model and the URL"
    return f"The endpoint's account is used up{words}. Fill it, or use another key"


def _is_too_long(error: str) -> bool:
    return any(words in error.lower() for words in TOO_LONG)


def _error_words(body: bytes) -> str:
    """Return an error's code and message, without keys and cut short; "" for other bodies.

    Servers wrap errors in `error`, in a list, in FastAPI's `detail`, or not at all.
    """
    try:
        value = orjson.loads(body[:MOST_BYTES])
        value = value[0] if isinstance(value, list) else value
        error = value.get("error") or value
        if isinstance(error, str):
            parts = [error]
        else:
            parts = [error.get(name) for name in ("code", "message", "param", "type")]
            parts += _details(error.get("detail"))
    except (orjson.JSONDecodeError, IndexError, TypeError, AttributeError):
        return ""
    return scrub(" ".join(str(part) for part in parts if part))[:SHOWN]


def _details(detail: Any) -> list[str]:
    """Return FastAPI's complaints without the inputs that it repeats."""
    if not isinstance(detail, list):
        return [detail] if isinstance(detail, str) else []
    return [f"{'.'.join(map(str, one.get('loc', ())))}: {one.get('msg')}" for one in detail]


def _reply_in(body: bytes, form: str | None) -> RawReply:
    value = object_in(body)
    try:
        choice = value["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise CallError(Outcome.UNAVAILABLE, "status 200, but there is no message in it") from None
    usage = usage_in(value)
    read, written = (usage.get(f"{part}_tokens_details") for part in ("prompt", "completion"))
    return RawReply(
        text=_text_of(content),
        finish=str(choice.get("finish_reason") or "stop"),
        refusal="refused" if refusal else None,
        model=MOCK if value.get("system_fingerprint") == MOCK else model_in(value),
        tokens_in=count_of(usage.get("prompt_tokens")),
        tokens_out=count_of(usage.get("completion_tokens")),
        tokens_cached=count_of(read.get("cached_tokens")) if isinstance(read, dict) else None,
        tokens_thought=_thought(written),
        form=form,
        measures=reported_measures(choice.get("logprobs")),
    )


def _thought(details: Any) -> int | None:
    return count_of(details.get("reasoning_tokens")) if isinstance(details, dict) else None


def _text_of(content: Any) -> str | None:
    """Return a message's text, its parts joined; tool calls are ignored."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def object_in(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body; raise CallError if there is none or it reports an error."""
    try:
        value = orjson.loads(body)
        refuse_repeated_keys(body)
    except orjson.JSONDecodeError:
        raise CallError(Outcome.UNAVAILABLE, "status 200, but the body is not JSON") from None
    except BadReply as bad:
        raise CallError(Outcome.UNAVAILABLE, f"status 200, but {bad.words}") from None
    if not isinstance(value, dict) or value.get("error"):
        raise CallError(Outcome.UNAVAILABLE, f"an error with status 200: {_error_words(body)}")
    return value


def model_in(value: dict[str, Any]) -> str | None:
    """Return the name of the model that a reply reports."""
    model = value.get("model")
    return model if isinstance(model, str) else None


def usage_in(value: dict[str, Any]) -> dict[str, Any]:
    """Return the usage that a reply reports; an empty object if it reports none."""
    usage = value.get("usage")
    return usage if isinstance(usage, dict) else {}


def count_of(value: Any) -> int | None:
    """Return a number of tokens; None for anything else."""
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None


# -- the endpoint's address --------------------------------------------------------------------


def _address_in(settings: ModelSettings) -> str:
    return settings.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI


def host_of(settings: ModelSettings) -> str:
    """Return the endpoint's host and port; UsageError if it must not be sent the key."""
    parts = urlsplit(_address_in(settings))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("The endpoint's address must begin with https:// and name a host.")
    if parts.username or parts.password:
        raise UsageError(
            "The endpoint's address holds a name or password. Put the key into OPENAI_API_KEY."
        )
    elsewhere = parts.scheme == "http" and not is_loopback(parts.hostname)
    if elsewhere and os.environ.get("OPENAI_API_KEY"):
        raise UsageError(
            f"The key would travel to {parts.hostname} unencrypted. Use https://, or unset "
            "OPENAI_API_KEY if the endpoint needs none."
        )
    return parts.netloc


def _key_for(host: str) -> str:
    key = os.environ.get("OPENAI_API_KEY")
    if not key and host == urlsplit(OPENAI).netloc:
        raise UsageError("Put the endpoint's key into the environment variable OPENAI_API_KEY.")
    return key or "none"


def is_loopback(host: str) -> bool:
    """Return whether a host, by name or address, is this machine itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the pause in seconds that a reply's headers request; None if they request none.

    A pause that is over or negative counts as none, so that the usual back-off applies. Supported
    are `retry-after-ms`, and `Retry-After` as seconds or as an HTTP date (RFC 9110, 10.2.3).
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        return seconds if 0 < seconds < float("inf") else None
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    ahead = moment.timestamp() - time.time()
    return ahead if ahead > 0 else None
