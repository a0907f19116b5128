"""Each fault of the mock endpoint does on the wire what its line says."""

import gzip
import json
import socket
import ssl
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import h11
import pytest

from schemas.errors import UsageError
from tasks.mock_endpoint.chat import completion
from tasks.mock_endpoint.chat_request import messages_sha, read_chat
from tasks.mock_endpoint.faults import Fault, Schedule, faulty_reply, read_faults
from tasks.mock_endpoint.options import EndpointOptions
from tasks.mock_endpoint.replies import Billed
from tasks.models.call import Outcome
from tasks.models.prompts import load_prompt
from tasks.models.prompts.replies import Extraction
from tasks.models.validation import BadReply, parse_reply
from tests.mock_endpoint import Running, running

KEY = "sk-test-0123456789"
SYSTEM = load_prompt("extract", vocabulary="").system
TRUE = {
    "entities": [["Vega", "thing", "a star", "Vega, or Alpha Lyrae, is a star", "Alpha Lyrae"]],
    "triples": [["Ptolemy", "listed", "Vega", "Ptolemy listed it"]],
    "aspects": [["Vega", "colour", "What colour has Vega?", "Vega shines in a bluish white."]],
}
ANSWER = json.dumps(TRUE)

SERVED: dict[str, dict[str, Any]] = {
    "h429": {"status": 429, "headers": {"Retry-After": "2"}},
    "h429_date": {"status": 429, "headers": {"Retry-After": "HTTP-DATE+3"}},
    "h429_forever": {"status": 429, "repeat": "always"},
    "h500": {"status": 500},
    "h502_html": {"status": 502, "body": "<html>Bad gateway</html>", "ctype": "text/html"},
    "h400_ctx": {"status": 400, "body": {"error": {"code": "context_length_exceeded"}}},
    "h301": {"status": 301, "headers": {"Location": "http://127.0.0.2:9/steal"}},
    "h200_error": {"status": 200, "body": {"error": {"message": "overloaded"}}},
    "h204": {"status": 204},
    "reset_before": {"tcp": "reset"},
    "refused": {"tcp": "refuse"},
    "reset_mid_body": {"tcp": "reset_after_bytes", "n": 40},
    "half_close": {"tcp": "close_after_headers"},
    "never_answers": {"delay": 3600},
    "slow_loris": {"drip_bytes_per_s": 20},
    "slow_headers": {"drip_headers": True},
    "content_length_long": {"content_length_delta": 50},
    "content_length_short": {"content_length_delta": -20},
    "chunked_no_end": {"chunked": "no_terminator"},
    "gzip_broken": {"encoding": "gzip-broken"},
    "gzip_bomb": {"encoding": "gzip-bomb", "mb": 64},
    "late": {"answer_after_timeout": True},
    "body_empty": {"status": 200, "content": ""},
    "body_refusal_field": {"content": {"message": {"content": None, "refusal": "I can't"}}},
    "body_tool_call": {"content": {"message": {"content": None, "tool_calls": [{}]}}},
    "body_no_choices": {"content": {"choices": []}},
    "body_content_list": {"content": {"message": {"content": [{"type": "text", "text": ""}]}}},
    "body_sse_when_not_asked": {"content": "data: [DONE]\n\n"},
    "body_usage_missing": {"content": {"usage": None}},
    "body_usage_negative": {"content": {"usage": {"total_tokens": -5}}},
    "body_model_swapped": {"content": {"model": "other-model"}},
    "body_million_triples": {"content": "<1,000,000 triples>"},
}


@dataclass(frozen=True)
class Faulty:
    """An endpoint, and a user message that meets each fault."""

    endpoint: Running
    users: dict[str, str]

    def body(self, fault: str) -> bytes:
        return json.dumps({"model": "m", "messages": messages(self.users[fault])}).encode()

    def request(self, fault: str) -> bytes:
        body = self.body(fault)
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {KEY}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def raw(self, fault: str, seconds: float = 2.0) -> tuple[bytes, str]:
        """Return all that comes over the wire, and how it ended: end, reset or silence."""
        got, end = b"", time.monotonic() + seconds
        with socket.create_connection(self.endpoint.address, timeout=seconds) as wire:
            wire.sendall(self.request(fault))
            while time.monotonic() < end:
                wire.settimeout(max(0.01, end - time.monotonic()))
                try:
                    more = wire.recv(65536)
                except ConnectionResetError:
                    return got, "reset"
                except TimeoutError:
                    break
                if not more:
                    return got, "end"
                got += more
        return got, "silence"

    def response(self, fault: str) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of a reply that keeps to HTTP."""
        with socket.create_connection(self.endpoint.address, timeout=5) as wire:
            wire.sendall(self.request(fault))
            client = h11.Connection(h11.CLIENT)
            client.send(h11.Request(method="POST", target="/", headers=[("Host", "here")]))
            client.send(h11.EndOfMessage())
            head: h11.Response | None = None
            body = bytearray()
            while True:
                event = client.next_event()
                if event is h11.NEED_DATA:
                    client.receive_data(wire.recv(65536))
                elif isinstance(event, h11.Response):
                    head = event
                elif isinstance(event, h11.Data):
                    body += event.data
                elif isinstance(event, h11.EndOfMessage):
                    break
        assert head is not None
        headers = {name.decode(): value.decode() for name, value in head.headers}
        return head.status_code, headers, bytes(body)

    def json(self, fault: str) -> Any:
        status, _, body = self.response(fault)
        assert status == 200
        return json.loads(body)


def messages(user: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": user}]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    folder = tmp_path_factory.mktemp("faulty")
    path = folder / "faults.jsonl"
    path.write_text(
        "\n".join(json.dumps({"id": name, "serve": serve}) for name, serve in SERVED.items())
    )
    users = users_for(read_faults(path))
    answers = folder / "answers.jsonl"
    shas = [messages_sha(messages(user)) for user in users.values()]
    answers.write_text("\n".join(json.dumps({"sha": sha, "content": ANSWER}) for sha in shas))
    with running(folder / "ledger", faults=path, answers=answers, late_seconds=0.7) as endpoint:
        yield Faulty(endpoint, users)


def users_for(faults: list[Fault]) -> dict[str, str]:
    """Return a user message for each fault that will meet it."""
    schedule, users, number = Schedule(faults, 1.0, None, 0), {}, 0
    while len(users) < len(faults):
        user = f"Title: Vega\n\nVega, or Alpha Lyrae, is a star. {number}"
        fault = schedule.draw(messages_sha(messages(user)))[1]
        assert fault is not None
        users.setdefault(fault.id, user)
        number += 1
    return users


# -- statuses ----------------------------------------------------------------------------------


def test_a_fault_comes_once_and_the_second_try_is_clean(faulty):
    assert faulty.response("h500")[0] == 500
    body = faulty.json("h500")
    assert body["choices"][0]["message"]["content"] == ANSWER
    completions = [call for call in faulty.endpoint.calls if call.path.endswith("completions")]
    first, second = completions[-2:]
    assert (first.attempt, first.fault, first.status) == (1, "h500", 500)
    assert (first.tokens_in, first.tokens_out) == (0, 0)
    assert (second.attempt, second.fault, second.status) == (2, None, 200)
    usage = body["usage"]
    billed = usage["prompt_tokens"], usage["completion_tokens"]
    assert (second.tokens_in, second.tokens_out) == billed


def test_a_fault_that_repeats_never_ends(faulty):
    assert [faulty.response("h429_forever")[0] for _ in range(3)] == [429] * 3


def test_pauses_are_asked_for_in_seconds_and_by_date(faulty):
    assert faulty.response("h429")[1]["retry-after"] == "2"
    sent = time.time()
    until = parsedate_to_datetime(faulty.response("h429_date")[1]["retry-after"])
    assert sent + 1 < until.timestamp() < time.time() + 4


def test_errors_have_the_body_of_their_line(faulty):
    status, headers, body = faulty.response("h502_html")
    assert (status, headers["content-type"]) == (502, "text/html")
    assert body == b"<html>Bad gateway</html>"
    status, _, body = faulty.response("h400_ctx")
    assert (status, json.loads(body)["error"]["code"]) == (400, "context_length_exceeded")
    assert faulty.json("h200_error") == {"error": {"message": "overloaded"}}
    assert faulty.response("h204")[::2] == (204, b"")
    status, headers, _ = faulty.response("h301")
    assert (status, headers["location"]) == (301, "http://127.0.0.2:9/steal")


# -- connections -------------------------------------------------------------------------------


def test_resets_before_and_amid_the_body(faulty):
    assert faulty.raw("reset_before") == (b"", "reset")
    got, how = faulty.raw("reset_mid_body")
    assert how == "reset"
    assert len(got.partition(b"\r\n\r\n")[2]) in (0, 40)  # a reset may overtake what was sent


def test_refused_connections_until_it_listens_again(faulty):
    assert faulty.raw("refused") == (b"", "reset")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(faulty.endpoint.address, timeout=1).close()
    time.sleep(0.8)
    assert faulty.response("refused")[0] == 200


def test_ends_after_the_headers(faulty):
    got, how = faulty.raw("half_close")
    assert how == "end"
    assert b"Content-Length: " in got
    assert got.endswith(b"\r\n\r\n")


def test_never_answers_and_lets_go_when_the_client_does(faulty):
    assert faulty.raw("never_answers", seconds=0.5) == (b"", "silence")
    time.sleep(0.5)
    call = faulty.endpoint.calls[-1]
    assert call.lost
    assert call.answered is None


def test_answers_late_whether_or_not_somebody_waits(faulty):
    began = time.monotonic()
    assert faulty.json("late")["choices"]
    assert 0.6 < time.monotonic() - began < 5


def test_drips(faulty):
    got, how = faulty.raw("slow_loris", seconds=0.6)
    assert how == "silence"
    assert 2 < len(got.partition(b"\r\n\r\n")[2]) < 20
    got, how = faulty.raw("slow_headers", seconds=1.6)
    assert (got, how) == (b"HT", "silence")


@pytest.mark.parametrize(("fault", "delta"), [("long", 50), ("short", -20)])
def test_wrong_lengths(faulty, fault, delta):
    got, how = faulty.raw(f"content_length_{fault}")
    head, _, body = got.partition(b"\r\n\r\n")
    declared = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    assert how == "end"
    assert declared - len(body) == delta
    assert json.loads(body)["choices"]


def test_chunks_without_an_end(faulty):
    got, how = faulty.raw("chunked_no_end")
    head, _, body = got.partition(b"\r\n\r\n")
    size, _, chunk = body.partition(b"\r\n")
    assert how == "end"
    assert b"Transfer-Encoding: chunked" in head
    assert len(chunk) == int(size, 16) + 2


def test_broken_gzip(faulty):
    got, _ = faulty.raw("gzip_broken")
    head, _, body = got.partition(b"\r\n\r\n")
    assert b"Content-Encoding: gzip" in head
    with pytest.raises((zlib.error, EOFError, OSError)):
        gzip.decompress(body)


def test_gzip_bomb_is_valid_and_small_on_the_wire(faulty):
    got, _ = faulty.raw("gzip_bomb", seconds=10)
    body = got.partition(b"\r\n\r\n")[2]
    assert len(body) < 200_000
    unpacked = gzip.decompress(body)
    assert len(unpacked) == 64 << 20
    assert not unpacked.strip(b"\0")


# -- contents ----------------------------------------------------------------------------------


def test_contents_replace_parts_of_the_true_reply(faulty):
    def message(fault: str) -> Any:
        return faulty.json(fault)["choices"][0]["message"]

    assert message("body_empty")["content"] == ""
    assert message("body_refusal_field")["refusal"] == "I can't"
    assert message("body_tool_call")["tool_calls"]
    assert message("body_content_list")["content"] == [{"type": "text", "text": ANSWER}]
    assert faulty.json("body_no_choices")["choices"] == []
    assert faulty.json("body_usage_missing")["usage"] is None
    assert faulty.json("body_usage_negative")["usage"] == {"total_tokens": -5}
    assert faulty.json("body_model_swapped")["model"] == "other-model"
    assert faulty.response("body_sse_when_not_asked")[2] == b"data: [DONE]\n\n"


def test_a_million_facts_are_streamed(faulty):
    began = time.monotonic()
    body = faulty.response("body_million_triples")[2]
    assert time.monotonic() - began < 30
    content = json.loads(body)["choices"][0]["message"]["content"]
    assert content.count("Ptolemy listed it") == 1_000_001


def texts_of(data: Path) -> dict[str, tuple[str, str]]:
    """Return, by fault of the public file, the text served and how it is said to have ended."""
    request = {"model": "m", "messages": messages("Title: V\n\nV.")}
    chat = read_chat(json.dumps(request).encode(), EndpointOptions())
    body = completion(chat, ANSWER, "stop", Billed(10, 10))
    texts = {}
    for fault in read_faults(data / "hostile" / "llm_faults.jsonl"):
        reply = faulty_reply(fault, chat, (body, Billed(10, 10)), KEY, 1.0)
        assert reply.fault == fault.id
        if isinstance(fault.serve.get("content"), str) and isinstance(reply.body, bytes):
            if reply.content_type != "application/json":
                continue
            choice = json.loads(reply.body)["choices"][0]
            texts[fault.id] = (choice["message"]["content"], choice["finish_reason"])
    return texts


GOOD = {
    "body_fenced", "body_prose_before", "body_bom", "body_extra_fields", "body_not_in_source",
    "body_echo_key",
}  # fmt: skip


def test_all_public_faults_can_be_served_and_break_what_they_should(almanac_data):
    texts = texts_of(almanac_data)
    assert len(texts) == 30
    true = Extraction.model_validate(TRUE)
    assert SYSTEM in texts["body_echo_prompt"][0]
    for fault, (text, _) in texts.items():
        if fault in GOOD:
            read = parse_reply(text, Extraction)
            assert (read == true) == (fault not in ("body_not_in_source", "body_echo_key"))
        else:
            with pytest.raises(BadReply) as bad:
                parse_reply(text, Extraction)
            if fault in ("body_empty", "body_spaces"):
                assert bad.value.outcome == Outcome.EMPTY
    assert texts["body_truncated_length"][1] == "length"
    assert KEY in texts["body_echo_key"][0]


# -- the schedule ------------------------------------------------------------------------------


def test_a_share_of_the_requests_meets_faults_and_the_same_ones_each_time():
    faults = [Fault("a", {}), Fault("b", {})]

    def drawn(seed: int) -> list[str]:
        schedule = Schedule(faults, 0.3, None, seed)
        met = (schedule.draw(str(number))[1] for number in range(2000))
        return [fault.id if fault else "" for fault in met]

    assert drawn(1) == drawn(1) != drawn(2)
    assert 0.25 < 1 - drawn(1).count("") / 2000 < 0.35
    assert 0.4 < drawn(1).count("a") / (2000 - drawn(1).count("")) < 0.6


def test_only_the_first_requests_meet_faults():
    schedule = Schedule([Fault("a", {"repeat": "always"})], 1.0, 2, 0)
    met = [schedule.draw(sha)[1] is not None for sha in "abcabc"]
    assert met == [True, True, False, True, True, False]


def test_what_no_server_can_serve_is_named(tmp_path, capsys):
    path = tmp_path / "faults"
    path.write_text('{"id": "dns", "serve": {"dns": "nxdomain"}}\n{"id": "x", "serve": {}}\n')
    assert [fault.id for fault in read_faults(path)] == ["x"]
    assert "dns is not served" in capsys.readouterr().err
    path.write_text("[]")
    with pytest.raises(UsageError, match="Line 1"):
        read_faults(path)


def test_a_certificate_of_its_own_is_not_trusted(tmp_path):
    with running(tmp_path / "ledger", tls_self_signed=True) as endpoint:
        assert endpoint.base_url.startswith("https://127.0.0.1:")
        with pytest.raises(urllib.error.URLError) as failed:
            urllib.request.urlopen(f"{endpoint.base_url}/models", timeout=5)
        assert isinstance(failed.value.reason, ssl.SSLCertVerificationError)
