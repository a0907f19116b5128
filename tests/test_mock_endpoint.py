"""The mock endpoint as OpenAI's own client sees it: chat, embeddings, files, batches, ledger."""

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI

from tasks.extract.by_model.passages import render
from tasks.mock_endpoint.answers import SIMPLE, Extractor
from tasks.mock_endpoint.chat import cut_to
from tasks.mock_endpoint.chat_request import messages_sha, read_chat
from tasks.mock_endpoint.embeddings import unit_vector
from tasks.mock_endpoint.options import EndpointOptions
from tasks.mock_endpoint.replies import ApiError
from tasks.mock_endpoint.server import RequestRate
from tasks.models.prompts import PURPOSES, examples, load_prompt
from tasks.models.prompts.replies import Extraction
from tasks.models.strict_schema import strict_schema
from tasks.models.tokens import estimate_tokens
from tasks.text.languages import language_of
from tests.mock_endpoint import Running, prepare, read_ledger, running
from tests.mock_server import read_prepared
from tests.schema_example import example_of

KEY = "sk-canary-0123456789abcdef"
EXTRACT = load_prompt("extract", vocabulary="")
ADA = (
    "Ada Lovelace was an English mathematician. She was born in London in 1815. "
    "Ada Lovelace worked with Charles Babbage."
)
RIVER = "长江是中国最长的河流。长江全长约6300公里，发源于青藏高原。"


def extraction(*passages: str, title: str = "Ada Lovelace") -> list[dict[str, str]]:
    return EXTRACT.request(shown(*passages, title=title), most_tokens=2000).messages


def shown(*passages: str, title: str = "Ada Lovelace") -> dict[str, str]:
    row = {"title": title, "headings": ""}
    return render([{**row, "text": text, "language": language_of(text)} for text in passages])


def client_of(endpoint: Running) -> OpenAI:
    return OpenAI(base_url=endpoint.base_url, api_key=KEY, max_retries=0, timeout=300)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("endpoint")
    faults = '{"missing": 0.1, "failing": 0.1, "doubled": 0.1, "unknown": 0.1}'
    with running(folder / "ledger", batch_seconds=0.1, batch_faults=faults) as one:
        yield one


@pytest.fixture(scope="module")
def client(endpoint: Running) -> OpenAI:
    return client_of(endpoint)


def ask(client: OpenAI, messages: Any, **more: Any) -> Any:
    return client.chat.completions.create(model="m", messages=messages, **more)


# -- chat --------------------------------------------------------------------------------------


def test_extracts_by_rules_and_tells_what_it_costs(client, endpoint):
    form = {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": strict_schema(Extraction)},
    }
    first = ask(client, extraction(ADA), response_format=form)
    reply = Extraction.model_validate_json(first.choices[0].message.content)
    facts = [(triple.s, triple.p, triple.o) for triple in reply.triples]
    assert ("Ada Lovelace", "worked with", "Charles Babbage") in facts
    cited = [fact.where for fact in [*reply.triples, *reply.entities, *reply.aspects]]
    assert set(",".join(cited).split(",")) == {"1", "2", "3"}
    assert first.usage.prompt_tokens > estimate_tokens(EXTRACT.system) + estimate_tokens(ADA)
    assert first.usage.completion_tokens == estimate_tokens(first.choices[0].message.content)
    again = ask(client, extraction(ADA), response_format=form)
    assert again.choices[0].message.content == first.choices[0].message.content
    assert again.usage.prompt_tokens_details.cached_tokens == estimate_tokens(EXTRACT.system)
    assert again.system_fingerprint == "almanac-mock"
    call = endpoint.calls[-1]
    assert (call.purpose, call.model, call.attempt) == ("extract", "m", 2)
    assert call.sha == call.first_sha == messages_sha(extraction(ADA))
    billed = again.usage.prompt_tokens, again.usage.completion_tokens
    assert (call.tokens_in, call.tokens_out) == billed


def test_facts_do_not_depend_on_what_shares_the_call():
    extractor = Extractor()

    def facts(*passages: str) -> list[Any]:
        rows = extractor.reply("extract", extraction(*passages)[1]["content"])["triples"]
        return [row[:3] for row in rows]

    assert facts(ADA, RIVER) == facts(ADA) + facts(RIVER)
    assert facts(RIVER)
    whole = extractor.reply("extract", extraction(ADA)[1]["content"])
    triples = extractor.reply("extract_triples", extraction(ADA)[1]["content"])
    assert triples == {"triples": whole["triples"]}


def test_a_repair_round_is_the_same_request(client, endpoint):
    messages = [*extraction(ADA), {"role": "assistant", "content": "?"}]
    messages.append({"role": "user", "content": "That is not JSON."})
    reply = ask(client, messages).choices[0].message.content
    assert Extraction.model_validate_json(reply).triples
    call = endpoint.calls[-1]
    assert call.first_sha == messages_sha(extraction(ADA)) != call.sha


def test_an_answer_that_is_too_long_is_cut(client):
    choice = ask(client, extraction(ADA), max_tokens=20).choices[0]
    assert choice.finish_reason == "length"
    assert estimate_tokens(choice.message.content) <= 20
    assert cut_to("one two three", 2) == "one two "


def test_a_prompt_of_others_gets_what_its_schema_allows(client):
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"$ref": "#/$defs/age"}},
        "required": ["name", "age"],
        "$defs": {"age": {"type": "integer", "minimum": 18}},
    }
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}}
    messages = [{"role": "user", "content": "Who?"}]
    reply = ask(client, messages, response_format=form).choices[0].message.content
    assert json.loads(reply) == {"name": "", "age": 18}
    assert example_of({"anyOf": [{"enum": ["a"]}], "$defs": {}}) == "a"
    assert example_of({"$ref": "#"}) is None
    endless = {"type": "array", "minItems": 1000, "items": {"$ref": "#"}}
    assert len(json.dumps(example_of(endless))) < 1_000_000
    assert ask(client, messages).choices[0].message.content


def test_streams(client):
    options = {"include_usage": True}
    chunks = list(ask(client, extraction(ADA), stream=True, stream_options=options))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert Extraction.model_validate_json(text).triples
    assert chunks[-1].usage.completion_tokens > 0


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'{"model": "m"}',
        b'{"model": "m", "messages": []}',
        b'{"model": "m", "messages": [1]}',
        b'{"model": "m", "messages": [{}], "n": 2}',
        b'{"model": "m", "messages": [{}], "max_tokens": 0}',
        b'{"model": "m", "messages": [{}], "response_format": {"type": "xml"}}',
        b'{"model": "m", "messages": [{}], "response_format": {"type": "json_schema"}}',
    ],
)
def test_what_asks_nothing_sensible_is_refused(body):
    with pytest.raises(ApiError):
        read_chat(body, EndpointOptions())


def test_servers_that_know_fewer_forms_refuse_the_others():
    def body(form: str) -> bytes:
        request: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
        request["response_format"] = {"type": form, "json_schema": {"schema": {}}}
        return json.dumps(request).encode()

    with pytest.raises(ApiError, match="response_format"):
        read_chat(body("json_object"), EndpointOptions(plain=True))
    with pytest.raises(ApiError, match="response_format"):
        read_chat(body("json_schema"), EndpointOptions(json_only=True))
    assert read_chat(body("json_object"), EndpointOptions(json_only=True)).form == "json_object"


def test_the_language_is_that_of_most_letters():
    assert language_of("长江 Yangtze 长江是中国最长的河流。") == "zh"
    assert language_of("The 长江 is a river.") == language_of("1815") == "en"


def test_prepared_answers_are_those_it_would_have_given(tmp_path):
    requests = [EXTRACT.request(shown(text), most_tokens=9) for text in (ADA, ADA, RIVER)]
    path = tmp_path / "answers"
    assert prepare(requests, path) == 2
    answers = read_prepared(path)
    content, tokens, _ = answers[messages_sha(requests[0].messages)]
    assert json.loads(content) == Extractor().reply("extract", requests[0].user)
    assert tokens == estimate_tokens(content)


# -- the server --------------------------------------------------------------------------------


def test_unknown_paths_and_broken_http_are_told(client, endpoint):
    assert {model.id for model in client.models.list()} == {"mock-model", "mock-embedding"}
    with pytest.raises(openai.NotFoundError):
        client.get("/nothing", cast_to=object)
    with socket.create_connection(endpoint.address, timeout=5) as wire:
        wire.sendall(b"nonsense\r\n\r\n")
        assert wire.recv(1000).split()[1] == b"400"
    with socket.create_connection(endpoint.address, timeout=5) as wire:
        wire.sendall(b"GET //[ HTTP/1.1\r\nHost: here\r\n\r\n")
        assert wire.recv(1000).split()[1] == b"404"
    # Who is in the middle of something does not keep others waiting.
    with socket.create_connection(endpoint.address, timeout=5) as wire:
        wire.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
        assert client.models.list().data


def test_one_connection_serves_many_requests(endpoint):
    with socket.create_connection(endpoint.address, timeout=5) as wire:
        for _ in range(3):
            wire.sendall(b"GET /v1/models HTTP/1.1\r\nHost: here\r\n\r\n")
            got = b""
            while b'"mock-embedding"' not in got:
                got += wire.recv(10_000)
            assert got.startswith(b"HTTP/1.1 200 ")


def test_an_answer_takes_the_latency_and_is_on_disk_before_it_comes(tmp_path):
    path = tmp_path / "ledger"
    with running(path, latency=0.2, requests_per_minute=600) as endpoint:
        client = client_of(endpoint)
        messages = [{"role": "user", "content": "Hello"}]
        began = time.monotonic()
        ask(client, messages)
        assert time.monotonic() - began >= 0.2
        (call,) = read_ledger(path)
        assert call.answered is not None
        assert 0.19 < call.answered - call.arrived < 2
        assert call.authorized
        assert KEY not in path.read_text()
        assert "Hello" not in path.read_text()


def test_too_many_requests_a_minute_are_told_to_wait(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    rate = RequestRate(30)
    assert [rate.wait(), rate.wait()] == [0, 2]
    now[0] += 2
    assert rate.wait() == 0
    assert RequestRate(None).wait() == 0


def test_a_line_cut_short_by_a_kill_is_left_out(tmp_path):
    path = tmp_path / "ledger"
    entry = {"event": "asked", "number": 1, "at": 1.0, "path": "/x", "authorized": False}
    path.write_text(json.dumps(entry) + "\n" + '{"event": "answ')
    assert [call.answered for call in read_ledger(path)] == [None]


# -- embeddings --------------------------------------------------------------------------------


def test_embeddings_are_unit_vectors_in_either_form(client):
    texts = ["The river Thames", "the Thames", "quantum chromodynamics"]
    as_floats = client.embeddings.create(model="e", input=texts, encoding_format="float")
    as_base64 = client.embeddings.create(model="e", input=texts)  # what the client asks for itself
    vectors = [one.embedding for one in as_floats.data]
    for one, other in zip(vectors, as_base64.data, strict=True):
        assert one == pytest.approx(other.embedding, abs=1e-6)
        assert sum(x * x for x in one) == pytest.approx(1.0, abs=1e-5)
        assert len(one) == 384
    near, far = (sum(a * b for a, b in zip(vectors[0], v, strict=True)) for v in vectors[1:])
    assert near > 0.5 > far
    assert as_floats.usage.prompt_tokens == sum(map(estimate_tokens, texts))
    assert len(unit_vector("x", 64)) == 64
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="e", input="")


# -- files and batches -------------------------------------------------------------------------


def test_files_come_back_as_they_went(client):
    content = b"one\r\n--two\r\n\r\n\x00three" + bytes(range(256))
    file = client.files.create(file=("some.jsonl", content), purpose="batch")
    assert (file.filename, file.bytes, file.purpose) == ("some.jsonl", len(content), "batch")
    assert client.files.content(file.id).content == content
    with pytest.raises(openai.NotFoundError):
        client.files.content("file-of-nobody")
    for kind in ("text/plain", "multipart/form-data", "multipart/form-data; boundary=x"):
        request = urllib.request.Request(f"{client.base_url}files", b"no form")
        request.add_header("Content-Type", kind)
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(request, timeout=30)


def order(client: OpenAI, count: int, tag: str, first: int = 0, said: Any = None) -> Any:
    lines = [
        {
            "custom_id": f"call-{number}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": "m", "messages": said or extraction(ADA, title=f"Ada {number}")},
        }
        for number in range(first, first + count)
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    file = client.files.create(file=("in.jsonl", data), purpose="batch")
    return client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"tag": tag},
    )


def ended(client: OpenAI, batch_id: str) -> Any:
    for _ in range(200):
        batch = client.batches.retrieve(batch_id)
        if batch.status in ("completed", "failed", "expired", "cancelled"):
            return batch
        time.sleep(0.05)
    raise AssertionError("the batch did not end")


def results_of(client: OpenAI, file_id: str | None) -> list[Any]:
    lines = client.files.content(file_id).content.splitlines() if file_id else []
    return [json.loads(line) for line in lines]


def test_a_batch_brings_results_in_any_order_with_losses(client, endpoint):
    batch = ended(client, order(client, 100, "losses").id)
    good, bad = (results_of(client, file) for file in (batch.output_file_id, batch.error_file_id))
    sent = {f"call-{number}" for number in range(100)}
    answered = [result["custom_id"] for result in good]
    assert batch.status == "completed"
    assert 0 < len(bad) < 30
    assert len(set(answered) - sent) == 1  # nobody's
    assert len(answered) > len(set(answered))  # twice
    assert 0 < len(sent - set(answered) - {result["custom_id"] for result in bad}) < 30  # missing
    assert answered != sorted(answered, key=lambda name: int(name.rpartition("-")[2], 16))
    body = good[0]["response"]["body"]
    assert Extraction.model_validate_json(body["choices"][0]["message"]["content"]).triples
    billed = [call for call in endpoint.calls if call.batch == batch.id]
    assert len(billed) == len(sent & set(answered)) == batch.request_counts.completed
    # Asked again, what failed comes.
    again = ended(client, order(client, 100, "again").id)
    assert again.error_file_id is None
    assert again.request_counts.completed == 100


def test_batches_are_found_again_by_their_metadata(client):
    tags = [order(client, 1, f"page-{number}", first=1000 + number) for number in range(5)]
    listed = [b.id for b in client.batches.list(limit=2) if (b.metadata or {})["tag"][:4] == "page"]
    assert listed == [batch.id for batch in reversed(tags)]


def test_batches_that_make_no_sense_fail(client):
    file = client.files.create(file=("in.jsonl", b'{"custom_id": 1}\n'), purpose="batch")
    with pytest.raises(openai.BadRequestError):
        client.batches.create(
            input_file_id=file.id, endpoint="/v1/responses", completion_window="24h"
        )
    batch = client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    batch = ended(client, batch.id)
    assert batch.status == "failed"
    assert batch.errors.data[0].line == 1


def test_cancelled_and_expired_batches(tmp_path):
    options = {"batch_seconds": 0.5, "batch_faults": '{"outcome": "expired"}'}
    with running(tmp_path / "ledger", **options) as endpoint:
        client = client_of(endpoint)
        messages = [{"role": "user", "content": "Hello"}]
        first = order(client, 10, "first", said=messages)
        second = client.batches.cancel(order(client, 1, "second", said=messages).id)
        assert second.status == "cancelling"
        first = ended(client, first.id)
        assert first.status == "expired"
        assert len(results_of(client, first.output_file_id)) == 5
        errors = results_of(client, first.error_file_id)
        assert {result["error"]["code"] for result in errors} == {"batch_expired"}
        assert ended(client, second.id).status == "cancelled"


# -- the other purposes ------------------------------------------------------------------------


def reply_to(purpose: str, **values: str) -> Any:
    """Return the reply to a prompt of ours, read by its schema."""
    fixed = dict.fromkeys(("style", "memory", "catalogue"), "") if purpose == "cited" else {}
    prompt = load_prompt(purpose, **fixed)
    user = prompt.request(values, most_tokens=100).user
    return prompt.reply.model_validate(SIMPLE[purpose](user))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("purpose", sorted(SIMPLE))
def test_every_purpose_has_an_answer_of_its_shape(purpose, language):
    for example in examples(purpose)[language]:
        reply_to(purpose, **example["values"])
    assert set(SIMPLE) | {name for name in PURPOSES if name.startswith("extract")} == set(PURPOSES)


def test_answers_are_found_by_the_words_they_share():
    knowledge = "Graz lies on the Mur. Vienna lies on the river Danube."
    found = reply_to("answer", question="Which river does Vienna lie on?", knowledge=knowledge)
    assert (found.answerable, found.answer) == ("yes", "Vienna lies on the river Danube.")
    other = reply_to("answer", question="Who baked this bread?", knowledge=knowledge)
    assert other.answerable == "no"


def test_statements_are_checked_by_sentences():
    def verdict(statement: str) -> str:
        evidence = "Iceland joined NATO in 1949. Iceland has no standing army."
        return str(reply_to("yes_no", statement=statement, evidence=evidence).verdict)

    assert verdict("Iceland joined NATO in 1949.") == "support"
    assert verdict("Iceland has a standing army.") == "refute"
    assert verdict("Iceland exports aluminium.") == "unknown"


def test_candidates_are_chosen_by_name_then_by_text():
    candidates = "[ENT 1] Mercury: the nearest planet\n[ENT 2] Mercury: singer of a band"
    question = "Which band had Mercury as its singer?"
    linked = reply_to("link", question=question, aliases="Mercury", candidates=candidates)
    assert linked.choice == "[ENT 2]"
    other = reply_to("link", question="x", aliases="Ben Nevis", candidates=candidates)
    assert other.choice == "[NONE]"


def test_programs_look_names_up_and_sources_are_chosen_by_words():
    code = reply_to("program", question="When was O'Brien born in Cork?", hint="").code
    assert 'get_entity_info(entity_aliases=["O\'Brien"])' in code
    compile(code, "program", "exec")
    sources = "medicine: drugs and treatments\nsports: teams"
    assert reply_to("source", question="Which drugs help?", sources=sources).source == "medicine"
    assert reply_to("source", question="What is 7 times 8?", sources=sources).source == "none"
    described = reply_to("describe_graph", triples="A | knows | B\nB | is | C")
    assert described.text == "A knows B. B is C."
    assert reply_to("rewrite", task="Shorten", text="As it is.").text == "As it is."


# -- the command -------------------------------------------------------------------------------


def test_a_port_that_is_not_available_is_explained(tmp_path, almanac):
    code, _, refusal = almanac(tmp_path, "mock-endpoint", "--port", "99999")
    assert code == 2 and "Port 99999 is not available" in refusal


def test_a_share_of_faults_needs_faults(tmp_path, almanac):
    code, _, refusal = almanac(tmp_path, "mock-endpoint", "--set", "fault_share=0.5")
    assert code == 2 and "--faults" in refusal
