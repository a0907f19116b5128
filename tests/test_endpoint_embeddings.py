"""An endpoint's embeddings: asked for with care, checked, ordered, counted; a real server process.

What no mock endpoint serves stands in a scripted one: vectors in another order, too few, too many,
of several lengths, of things that are no numbers.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from schemas.errors import AlmanacError, UsageError
from schemas.observations import ModelReply, Vector
from schemas.operations import ModelCall
from schemas.settings import EngineSettings, ModelSettings, Price
from tasks.mock_endpoint.embeddings import unit_vector
from tasks.models.embedding_transport import PURPOSE
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.endpoint_encoder import NOTHING, TEXTS_A_CALL, EndpointEncoder
from tasks.models.encoders.load import open_question_encoder
from tasks.models.encoders.store import VectorStore
from tasks.models.limits import BudgetSpentError, EndpointError
from tests.mock_endpoint import running
from warehouse.home import Home
from warehouse.live import latest

KEY = "sk-CANARY0123456789xyz"
CHOICE = EncoderChoice("endpoint:mock-embedding")
TEXTS = [f"question number {number} about Ada" for number in range(2 * TEXTS_A_CALL + 5)]
Reply = tuple[int, dict[str, str], bytes]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@contextmanager
def opened(home: Home, base_url: str, **said: Any) -> Iterator[EndpointEncoder]:
    model = ModelSettings(base_url=base_url, **{"concurrency": 4, "patience_seconds": 60, **said})
    encoder = open_question_encoder(CHOICE, EngineSettings(model=model), home, "run")
    assert isinstance(encoder, EndpointEncoder)
    try:
        yield encoder
    finally:
        encoder.close()


@contextmanager
def scripted(reply: Callable[[list[str], int], Reply]) -> Iterator[tuple[str, list[list[str]]]]:
    """Serve what a function says to texts and the number of the call; yield also what was asked."""
    requests: list[list[str]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # noqa: N802 - the library's name
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(body["input"])
            status, headers, content = reply(body["input"], len(requests))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def vectors(*entries: tuple[Any, Any], **more: Any) -> Reply:
    """Return a reply that holds vectors with these numbers."""
    data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in entries]
    value = {"object": "list", "data": data, "usage": {"prompt_tokens": 3}, **more}
    return 200, {}, json.dumps(value).encode()


def calls(home: Home) -> list[dict[str, Any]]:
    return latest(home.live, ModelCall).to_pylist()


# -- the mock endpoint -------------------------------------------------------------------------


def test_each_text_gets_its_own_vector(home, tmp_path):
    with running(tmp_path / "ledger") as endpoint, opened(home, endpoint.base_url) as encoder:
        found = encoder.encode(TEXTS)
        assert encoder.dimensions == 384
        assert encoder.encode([]).shape == (0, 384)
        host = endpoint.base_url.split("/")[2]
        assert encoder.id == f"endpoint-{host}-mock-embedding"
    assert found.dtype == np.float32
    assert np.allclose(found, [unit_vector(text) for text in TEXTS], atol=1e-6)
    noted = calls(home)
    assert {(call["purpose"], call["outcome"]) for call in noted} == {(PURPOSE, "ok")}
    assert {call["answered_by"] for call in noted} == {"almanac-mock"}
    assert len(noted) == 4  # three batches, and one for the length
    assert all(call["tokens_in"] and call["tokens_out"] == 0 for call in noted)
    assert not home.journal.parts(ModelReply)  # vectors have a store of their own


def test_a_text_without_words_is_asked_as_a_stop(home, tmp_path):
    with running(tmp_path / "ledger") as endpoint, opened(home, endpoint.base_url) as encoder:
        found = encoder.encode(["", "  \n", NOTHING])
    assert np.array_equal(found[0], found[2])
    assert np.array_equal(found[1], found[2])


def test_what_is_stored_is_not_asked_again(home, tmp_path):
    with running(tmp_path / "ledger") as endpoint, opened(home, endpoint.base_url) as encoder:
        first = VectorStore(home.journal, encoder).encode(TEXTS[:5])
        before = len(endpoint.calls)
        again = VectorStore(home.journal, encoder)
        assert np.array_equal(again.encode(TEXTS[:5]), first)
        assert len(endpoint.calls) == before == 1
    assert np.allclose(first, [unit_vector(text) for text in TEXTS[:5]], atol=1e-7)


def test_too_many_requests_wait_their_turn(home, tmp_path):
    with (
        running(tmp_path / "ledger", requests_per_minute=60) as endpoint,
        opened(home, endpoint.base_url, concurrency=1) as encoder,
    ):
        assert encoder.encode(TEXTS).shape == (len(TEXTS), 384)


def test_a_budget_is_kept_to(home, tmp_path):
    prices = {"mock-embedding": Price(input=1e4, output=0)}
    with (
        running(tmp_path / "ledger") as endpoint,
        opened(home, endpoint.base_url, prices=prices, budget=0.01) as encoder,
    ):
        with pytest.raises(BudgetSpentError):
            encoder.encode(TEXTS)
        assert not endpoint.calls


def test_sensitive_texts_stay_here(home, tmp_path):
    with running(tmp_path / "ledger") as endpoint:
        with (
            opened(home, endpoint.base_url) as encoder,
            pytest.raises(UsageError, match="sensitive"),
        ):
            encoder.encode(["a secret"], sensitive=True)
        assert not endpoint.calls
        with opened(home, endpoint.base_url, sensitive=True) as encoder:
            assert encoder.encode(["a secret"], sensitive=True).shape == (1, 384)


def test_an_endpoint_needs_a_home_for_its_account():
    with pytest.raises(UsageError, match="home"):
        open_question_encoder(CHOICE, EngineSettings())


# -- replies that no good endpoint gives -------------------------------------------------------


def test_order_is_by_number(home):
    with (
        scripted(lambda texts, _: vectors((1, [0.0, 2.0]), (0, [1.0, 0.0]))) as (url, _),
        opened(home, url) as encoder,
    ):
        assert encoder.encode(["one", "two"]).tolist() == [[1.0, 0.0], [0.0, 2.0]]


BAD: dict[str, Reply] = {
    "few": vectors((0, [1.0])),
    "many": vectors((0, [1.0]), (1, [1.0]), (2, [1.0])),
    "twice": vectors((0, [1.0]), (0, [1.0])),
    "nameless": vectors((None, [1.0]), (1, [1.0])),
    "lengths": vectors((0, [1.0]), (1, [1.0, 2.0])),
    "empty": vectors((0, []), (1, [])),
    "words": vectors((0, ["1.0"]), (1, ["1.0"])),
    "truths": vectors((0, [True]), (1, [False])),
    "nested": vectors((0, [[1.0]]), (1, [[1.0]])),
    "large": vectors((0, [1e300]), (1, [1.0])),
    "base64": vectors((0, "AACAPw=="), (1, "AACAPw==")),
    "list": (200, {}, b"[]"),
    "no json": (200, {}, b"<html>"),
    "error": (200, {}, b'{"error": {"message": "no"}}'),
    "data": (200, {}, b'{"data": {"0": [1]}}'),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_reply_is_asked_for_again(bad, home):
    good = vectors((0, [1.0, 0.0]), (1, [0.0, 1.0]))
    with (
        scripted(lambda texts, number: BAD[bad] if number == 1 else good) as (url, asked),
        opened(home, url) as encoder,
    ):
        assert encoder.encode(["one", "two"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert asked == [["one", "two"]] * 2
    assert sorted(call["outcome"] for call in calls(home)) == ["ok", "unavailable"]


def test_a_pause_that_is_asked_for_is_kept(home):
    def reply(texts: list[str], number: int) -> Reply:
        if number == 1:
            return 429, {"Retry-After": "0.4"}, b'{"error": {"message": "slow down"}}'
        return vectors((0, [1.0]))

    with scripted(reply) as (url, _), opened(home, url) as encoder:
        began = time.monotonic()
        encoder.encode(["one"])
        assert time.monotonic() - began >= 0.4


def test_a_late_reply_is_given_up(home):
    def reply(texts: list[str], number: int) -> Reply:
        if number == 1:
            time.sleep(1.5)
        return vectors((0, [1.0]))

    with scripted(reply) as (url, _), opened(home, url, deadline_seconds=1) as encoder:
        assert encoder.encode(["one"]).tolist() == [[1.0]]
    assert sorted(call["outcome"] for call in calls(home)) == ["ok", "timed_out"]


REFUSALS: dict[str, tuple[Reply, str]] = {
    "redirects": ((307, {"Location": "http://127.0.0.1:1/v1/embeddings"}, b""), "redirects"),
    "key": ((401, {}, f'{{"error": {{"message": "no key {KEY}"}}}}'.encode()), "OPENAI_API_KEY"),
    "model": ((400, {}, b'{"error": {"message": "it makes no embeddings"}}'), "makes no embed"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_is_explained_and_keys_are_not_told(home, refusal):
    reply, words = REFUSALS[refusal]
    with (
        scripted(lambda texts, _: reply) as (url, asked),
        opened(home, url, attempts=1, patience_seconds=0.1) as encoder,
    ):
        with pytest.raises(AlmanacError, match=words) as stopped:
            encoder.encode(["one"])
        assert asked
    assert isinstance(stopped.value, EndpointError) or refusal != "key"
    assert len(asked) == 1 or refusal == "redirects"
    assert KEY not in str(stopped.value) and KEY not in str(calls(home))


def test_texts_that_are_too_long_count_by_their_beginning(home):
    def reply(texts: list[str], number: int) -> Reply:
        if any(len(text) > 100 for text in texts):
            error = {"message": "maximum context length is 512 tokens", "code": None}
            return 400, {}, json.dumps({"error": error}).encode()
        return vectors(*((n, [float(len(text))]) for n, text in enumerate(texts)))

    with scripted(reply) as (url, _), opened(home, url) as encoder:
        found = encoder.encode(["short", "x" * 400, "also"])
    assert found.tolist() == [[5.0], [100.0], [4.0]]


def test_another_model_behind_the_name_is_noticed(home):
    def reply(texts: list[str], number: int) -> Reply:
        return vectors(*((n, [1.0] * number) for n in range(len(texts))))

    with scripted(reply) as (url, _), opened(home, url) as encoder:
        store = VectorStore(home.journal, encoder)
        store.encode(["one"])
        with pytest.raises(AlmanacError, match="another length"):
            store.encode(["one", "two"])
    assert len(home.journal.parts(Vector)) == 1  # nothing of the other model is kept
