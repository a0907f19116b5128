"""The transport to an endpoint: limits, pauses, keys, prices, and what each answer means."""

import asyncio
import base64
import contextlib
import json
import logging
import socket
import time
from collections.abc import AsyncIterator, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import UsageError
from schemas.settings import ModelSettings, Price
from tasks.models.call import CallError, Outcome, RawReply, Sent
from tasks.models.dialect import Dialect
from tasks.models.endpoint import MOST_ERROR_BYTES, Endpoint, cut_error, reply_of, retry_after
from tasks.models.keys import HIDDEN, holds_secret, quieten_clients, scrub
from tasks.models.limits import Limiter
from tasks.models.prices import cost, currency_of, most_cost, price_of
from tasks.models.tokens import estimate_tokens, most_tokens

KEY = "sk-CANARY/0123+456789=xyz"
SENT = Sent([{"role": "user", "content": "hello"}], "answer", {"type": "object"}, 100)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield KEY


# --- where it is and who may go there ----------------------------------------------------


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://user:pass@example.org/v1", "OPENAI_API_KEY"),
        ("http://example.org/v1", "unencrypted"),
        ("ftp://example.org", "https://"),
        ("not a url", "https://"),
    ],
)
def test_an_address_the_key_must_not_go_to_is_refused(key, url, why):
    with pytest.raises(UsageError, match=why) as refused:
        Endpoint(ModelSettings(name="m", base_url=url))
    assert "pass@" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/v1", "http://localhost:1/v1", "https://example.org/v1"]
)
def test_a_good_address_is_taken_and_told_without_its_path(key, url):
    endpoint = Endpoint(ModelSettings(name="m", base_url=url))
    assert endpoint.endpoint == url.split("/")[2]


def test_without_a_key_openai_itself_is_not_asked(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        Endpoint(ModelSettings(name="m"))


# --- what an answer means ----------------------------------------------------------------

MEANINGS = [
    (401, b'{"error": {"message": "bad key"}}', Outcome.STOPPED),
    (403, b"", Outcome.STOPPED),
    (404, b'{"error": {"code": "model_not_found"}}', Outcome.STOPPED),
    (429, b'{"error": {"code": "insufficient_quota"}}', Outcome.STOPPED),
    (402, b"", Outcome.STOPPED),
    (429, b"", Outcome.THROTTLED),
    (400, b'{"error": {"code": "context_length_exceeded"}}', Outcome.TOO_LONG),
    (413, b"", Outcome.TOO_LONG),
    (400, b'{"object": "error", "message": "Maximum Context Length is 9"}', Outcome.TOO_LONG),
    (400, b'{"error": {"message": "exceeds the available context size"}}', Outcome.TOO_LONG),
    (400, b'[{"error": {"code": 400, "message": "prompt too long"}}]', Outcome.TOO_LONG),
    (422, b'{"detail": "the prompt is too long"}', Outcome.TOO_LONG),
    (400, b'{"error": {"code": "content_filter"}}', Outcome.FILTERED),
    (400, b'{"error": {"message": "what?"}}', Outcome.INVALID),
    (301, b"", Outcome.UNAVAILABLE),
    (408, b"", Outcome.UNAVAILABLE),
    (500, b"<html>", Outcome.UNAVAILABLE),
    (503, b"", Outcome.UNAVAILABLE),
    (529, b"", Outcome.UNAVAILABLE),
    (204, b"", Outcome.UNAVAILABLE),
    (200, b"", Outcome.UNAVAILABLE),
    (200, b"<html>", Outcome.UNAVAILABLE),
    (200, b"[]", Outcome.UNAVAILABLE),
    (200, b'{"error": {"message": "overloaded"}}', Outcome.UNAVAILABLE),
    (200, b'{"choices": null}', Outcome.UNAVAILABLE),
    (200, b'{"choices": []}', Outcome.UNAVAILABLE),
    (200, b'{"choices": [{"message": null}]}', Outcome.UNAVAILABLE),
    (200, b'{"choices": [{"message": {"content": "a"}}], "choices": []}', Outcome.UNAVAILABLE),
    (200, b'{"choices": [{"message": {"content": "a", "content": "b"}}]}', Outcome.UNAVAILABLE),
]


@pytest.mark.parametrize(("status", "body", "outcome"), MEANINGS)
def test_what_brings_no_reply_is_an_error_of_its_kind(status, body, outcome):
    with pytest.raises(CallError) as error:
        reply_of(status, body)
    assert error.value.outcome is outcome


def message(**message: object) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


def test_a_reply_is_read_whole():
    body = {
        "model": "m-2",
        "choices": [{"message": {"content": "hello"}, "finish_reason": "length"}],
        "usage": {
            "prompt_tokens": 7, "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 5}
        },
    }  # fmt: skip
    reply = reply_of(200, json.dumps(body).encode(), form="json")
    assert reply == RawReply("hello", "length", None, "m-2", 7, 3, 5, "json")


def test_parts_are_joined_and_calls_of_tools_are_not_looked_at():
    parts = [{"type": "text", "text": "he"}, {"type": "image"}, {"type": "text", "text": "llo"}]
    assert reply_of(200, message(content=parts)).text == "hello"
    tools = [{"function": {"name": "run_shell", "arguments": "{}"}}]
    assert reply_of(200, message(content=None, tool_calls=tools)).text is None


def test_tokens_of_reasoning_are_read():
    usage = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}}
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    assert reply_of(200, json.dumps(body).encode()).tokens_thought == 7


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": -5}, {"prompt_tokens": "7"}])
def test_usage_that_makes_no_sense_is_unknown(usage):
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    assert reply_of(200, json.dumps(body).encode()).tokens_in is None


@given(st.integers(100, 599), st.binary(max_size=200))
def test_any_answer_is_a_reply_or_an_error_of_ours(status, body):
    with contextlib.suppress(CallError):
        assert isinstance(reply_of(status, body), RawReply)


def test_a_call_that_met_no_connection_was_never_made(key):
    with socket.socket() as taken:  # bound and not listening: whoever connects is refused
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"

        async def ask() -> None:
            endpoint = Endpoint(ModelSettings(name="m", base_url=url))
            try:
                await endpoint.send(SENT)
            finally:
                await endpoint.close()

        with pytest.raises(CallError) as error:
            asyncio.run(ask())
    assert error.value.outcome is Outcome.UNREACHED


def test_what_the_endpoint_says_is_scrubbed(key):
    body = json.dumps({"error": {"message": f"Incorrect API key: {key}"}}).encode()
    with pytest.raises(CallError) as error:
        reply_of(401, body)
    assert "CANARY" not in error.value.detail and HIDDEN in error.value.detail


# --- how long to wait --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "86400"}, 86400.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after-ms": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_the_pause_is_read_in_every_form(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_date_is_a_pause_until_then():
    pause = retry_after({"retry-after": formatdate(time.time() + 10, usegmt=True)})
    assert pause is not None and 8.5 <= pause <= 10
    assert retry_after({"retry-after": formatdate(time.time() - 10, usegmt=True)}) is None


@given(st.text(max_size=40))
def test_any_header_is_a_pause_or_none(value):
    pause = retry_after({"retry-after": value})
    assert pause is None or 0 <= pause < float("inf")


# --- limits ------------------------------------------------------------------------------


def paced(settings: ModelSettings, calls: int, tokens: float = 1, work: float = 0.0) -> list[float]:
    """Return when each of some calls got its place."""
    began = time.monotonic()
    times: list[float] = []

    async def call(limiter: Limiter) -> None:
        async with limiter.place(tokens):
            times.append(time.monotonic() - began)
            await asyncio.sleep(work)

    async def all_of_them() -> None:
        limiter = Limiter(settings)
        await asyncio.gather(*(call(limiter) for _ in range(calls)))

    asyncio.run(all_of_them())
    return times


def test_so_many_at_once_and_no_more():
    times = paced(ModelSettings(concurrency=5), 15, work=0.05)
    assert [sum(t < end for t in times) for end in (0.04, 0.09, 0.14)] == [5, 10, 15]


def test_requests_are_spread_over_the_minute():
    times = paced(ModelSettings(requests_per_minute=600), 20)  # ten a second, one second's burst
    assert sum(t < 0.05 for t in times) <= 12
    assert times[-1] >= 0.8


def test_tokens_are_spread_over_the_minute():
    times = paced(ModelSettings(tokens_per_minute=60_000), 4, tokens=500)  # a thousand a second
    assert times[-1] >= 0.4


def test_a_call_larger_than_the_limit_waits_but_not_for_ever():
    times = paced(ModelSettings(tokens_per_minute=6_000), 2, tokens=50)
    assert len(times) == 2


def test_a_pause_holds_everybody_and_is_never_cut_short():
    async def held() -> float:
        limiter = Limiter(ModelSettings())
        limiter.pause(0.2)
        limiter.pause(0.05)
        began = time.monotonic()
        async with limiter.place(1):
            return time.monotonic() - began

    assert 0.2 <= asyncio.run(held()) < 0.6


def test_who_gives_up_waiting_takes_no_place_away():
    async def one_gives_up() -> int:
        limiter = Limiter(ModelSettings(concurrency=1))

        async def call() -> None:
            async with limiter.place(1):
                await asyncio.sleep(0.05)

        first, second, third = (asyncio.ensure_future(call()) for _ in range(3))
        await asyncio.sleep(0.01)
        second.cancel()
        return len(await asyncio.gather(first, second, third, return_exceptions=True))

    assert asyncio.run(asyncio.wait_for(one_gives_up(), 2)) == 3


# --- what it understands -----------------------------------------------------------------


def test_the_fullest_dialect_comes_first_and_refusals_step_down_once():
    dialect = Dialect()
    spoken = dialect.parameters(SENT)
    assert spoken["response_format"]["type"] == "json_schema"
    assert dialect.step_down("response_format json_schema is not supported", spoken)
    assert dialect.step_down("response_format json_schema is not supported", spoken)  # a late one
    spoken = dialect.parameters(SENT)
    assert spoken["response_format"]["type"] == "json_object"
    assert dialect.step_down("'response_format' unknown", spoken)
    spoken = dialect.parameters(SENT)
    assert "response_format" not in spoken
    assert not dialect.step_down("'response_format' unknown", spoken)


def test_room_and_temperature_are_given_up_when_refused():
    dialect = Dialect()
    assert dialect.step_down(
        "unsupported_parameter max_tokens, use max_completion_tokens", dialect.parameters(SENT)
    )
    assert dialect.step_down("temperature does not support 0", dialect.parameters(SENT))
    spoken = dialect.parameters(SENT)
    assert spoken["max_completion_tokens"] == 100
    assert "temperature" not in spoken and "max_tokens" not in spoken
    assert not dialect.step_down("the text is bad", spoken)


@pytest.mark.parametrize(
    "error",
    [
        {"object": "error", "message": "response_format is not supported"},
        {"detail": [{"loc": ["body", "response_format"], "msg": "extra", "input": "a text"}]},
        [{"error": {"message": 'Unknown name "response_format"'}}],
    ],
)
def test_refusals_are_understood_in_the_forms_of_many_servers(key, error):
    endpoint = Endpoint(ModelSettings(name="m", base_url="http://127.0.0.1:1/v1"))
    spoken = endpoint.dialect.parameters(SENT)
    assert endpoint.steps_down(422, json.dumps(error).encode(), spoken)
    assert endpoint.dialect.form == "json"


def test_a_prompt_that_is_too_long_refuses_no_parameter(key):
    endpoint = Endpoint(ModelSettings(name="m", base_url="http://127.0.0.1:1/v1"))
    body = b'{"error": {"message": "max_tokens exceeds the context length"}}'
    assert not endpoint.steps_down(400, body, endpoint.dialect.parameters(SENT))


def test_what_fastapi_repeats_of_a_text_is_not_told():
    body = b'{"detail": [{"loc": ["body", 0], "msg": "too big", "input": "a private text"}]}'
    with pytest.raises(CallError, match=r"^status 422: body\.0: too big$"):
        reply_of(422, body)


def test_the_form_that_worked_before_comes_first():
    dialect = Dialect()
    dialect.start_with("text")
    assert "response_format" not in dialect.parameters(SENT)


# --- keys --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(b"Authorization: " + KEY.encode() + b"\n").decode(),
        base64.urlsafe_b64encode(b"ab" + KEY.encode()).decode(),
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
        quote(KEY, safe=""),
        json.dumps(KEY),
    ],
)
def test_a_key_is_known_in_every_form(key, form):
    assert holds_secret(f"before {form} after")
    hidden = scrub(f"before {form} after")
    assert not holds_secret(hidden)
    assert "CANARY" not in hidden and hidden.startswith("before ")


def test_other_words_are_left_alone(key):
    text = "The sky is blue. 天是蓝的。 a" * 20
    assert scrub(text) == text and not holds_secret(text)


def test_what_looks_like_a_key_of_somebody_else_is_hidden_too():
    assert scrub("sk-proj-abcdefgh12345678 said") == f"{HIDDEN} said"


def test_clients_say_nothing_at_any_level(monkeypatch):
    monkeypatch.setenv("OPENAI_LOG", "debug")
    logging.getLogger("openai").setLevel(logging.DEBUG)
    quieten_clients()
    for name in ("openai", "httpx2", "httpcore2", "openai._base_client"):
        assert not logging.getLogger(name).isEnabledFor(logging.DEBUG)


# --- money and tokens --------------------------------------------------------------------


def test_what_a_call_costs():
    price = Price(input=2.0, output=8.0, cached=0.5)
    reply = RawReply("x", tokens_in=1000, tokens_out=100, tokens_cached=400)
    paid = (600 * 2.0 + 400 * 0.5 + 100 * 8.0) / 1e6
    assert cost(price, reply) == pytest.approx(paid)
    assert cost(price, reply, batch=True) == pytest.approx(paid / 2)


@pytest.mark.parametrize("said", [RawReply("x"), RawReply("x", tokens_in=3)])
def test_unknown_tokens_are_an_unknown_cost_and_not_zero(said):
    assert cost(Price(input=1, output=1), said) is None
    assert cost(None, RawReply("x", tokens_in=1, tokens_out=1)) is None


def test_the_users_price_comes_first():
    mine = Price(input=9, output=9)
    assert price_of("gpt-4.1-mini", ModelSettings(prices={"gpt-4.1-mini": mine})) is mine
    assert price_of("gpt-4.1-mini", ModelSettings()) is not None
    assert price_of("unheard-of", ModelSettings()) is None


def test_a_file_of_prices_takes_the_place_of_the_built_in_one(tmp_path):
    own = tmp_path / "prices.toml"
    own.write_text('currency = "EUR"\n["m"]\ninput = 1.5\noutput = 3.0\n')
    settings = ModelSettings(prices_file=str(own))
    assert price_of("m", settings) == Price(input=1.5, output=3.0)
    assert price_of("gpt-4.1-mini", settings) is None
    assert (currency_of(settings), currency_of(ModelSettings())) == ("EUR", "USD")


@pytest.mark.parametrize("broken", ["", "currency = 'EUR'\n[m]\ninput = -1\n", "[m"])
def test_a_broken_file_of_prices_is_named(tmp_path, broken):
    own = tmp_path / "prices.toml"
    own.write_text(broken)
    with pytest.raises(UsageError, match=r"prices\.toml cannot be read"):
        price_of("m", ModelSettings(prices_file=str(own)))


@given(st.text(max_size=200), st.integers(1, 500))
def test_no_call_costs_more_than_its_most(text, out):
    price = Price(input=2.0, output=8.0)
    sent = Sent([{"role": "user", "content": text}], "answer", {}, out)
    reply = RawReply("x", tokens_in=most_tokens(text), tokens_out=out)
    paid = cost(price, reply)
    assert paid is not None and paid <= most_cost(price, sent)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("The cat sat on the mat.", 7),
        ("In 1969 two men walked on the Moon.", 9),
        ("长江是中国最长的河流。", 9),
    ],
)
def test_tokens_are_about_right(text, tokens):
    assert abs(estimate_tokens(text) - tokens) <= max(2, tokens * 0.35)


@given(st.text(max_size=300))
def test_an_estimate_is_never_more_than_the_most(text):
    assert 0 <= estimate_tokens(text) <= most_tokens(text)


def test_of_an_endless_error_only_the_start_is_read():
    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                yield b"x" * 70_000

    async def asked() -> httpx2.Response:
        packed = {"Content-Encoding": "gzip"}
        answer = httpx2.MockTransport(
            lambda _: httpx2.Response(500, headers=packed, stream=Endless())
        )
        hooks = {"response": [cut_error]}
        async with httpx2.AsyncClient(transport=answer, event_hooks=hooks) as client:
            return await client.get("http://127.0.0.1/")

    assert asyncio.run(asyncio.wait_for(asked(), 20)).content == b"x" * MOST_ERROR_BYTES


def test_where_a_proxy_is_set_it_is_not_gone_around(monkeypatch, key):
    paths = []

    class Proxy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            paths.append(self.path)
            self.send_error(500)

    with HTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        Thread(target=proxy.serve_forever, daemon=True).start()
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.server_port}")
        monkeypatch.setenv("OPENAI_API_KEY", "")
        endpoint = Endpoint(ModelSettings(name="m", base_url="http://nowhere.invalid/v1"))
        with pytest.raises(CallError, match="500"):
            asyncio.run(endpoint.send(SENT))
        proxy.shutdown()
    assert paths == ["http://nowhere.invalid/v1/chat/completions"]
