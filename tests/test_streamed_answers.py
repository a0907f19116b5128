"""Streaming: events are put together, text is passed on as it is written; asyncio goes on."""

import asyncio
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.asynchronous import AsyncAlmanac
from schemas.answers import Evidence
from schemas.errors import UsageError
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks.ask.context import Context, Item
from tasks.ask.streamed import StreamedAnswer
from tasks.ask.verification import Numbering
from tasks.models.events import Events
from tests.mock_endpoint import Running

TEXT = "The mill at Orby was built in 1787."
ANSWER = 'It was built in "1787" [2].\nSo say the sources: 建于1787年[2]。'
REPLY = json.dumps({"quotes": [["2", "built in 1787"]], "found": "yes", "answer": ANSWER})


def numbering(quotes: object) -> Numbering:
    context = Context()
    for text in ("Nothing.", TEXT):
        context.add([Item(text, Evidence(text=text, kind="passage", score=1))], 1_000)
    return Numbering(quotes, context)  # type: ignore[arg-type]


def streamed(pieces: list[str]) -> list[str]:
    shown: list[str] = []
    listen = StreamedAnswer(lambda reply: numbering(reply.quotes), shown.append)
    for piece in pieces:
        listen(piece)
    return shown


@pytest.mark.parametrize("hostile", ["[" * 4_000, "[1]" * 1_500, "`[" * 2_000, "\n" * 4_000])
def test_what_may_go_on_is_found_in_linear_time(hostile):
    began = time.process_time()
    streamed([json.dumps({"quotes": [], "found": "yes", "answer": hostile + "a" * 70})[:-2]])
    assert time.process_time() - began < 1


@given(st.lists(st.integers(1, len(REPLY)), max_size=30))
def test_wherever_a_reply_is_cut_its_answer_is_passed_on(cuts):
    places = [0, *sorted(set(cuts)), len(REPLY)]
    pieces = [REPLY[a:b] for a, b in zip(places, places[1:], strict=False)]
    assert "".join(streamed(pieces)) == ANSWER.replace("[2]", "[1]")


@given(st.lists(st.integers(1, 400), max_size=30))
def test_what_is_no_citation_is_passed_on_wherever_a_reply_is_cut(cuts):
    answer = "At [0, 3], `a[2]` [source 2].\n\n```\nb[2]\n```\nBuilt in 1787【2†source】 (see c)."
    reply = json.dumps({"quotes": [["2", "built in 1787"]], "found": "yes", "answer": answer})
    places = [0, *sorted({cut for cut in cuts if cut < len(reply)}), len(reply)]
    pieces = [reply[a:b] for a, b in zip(places, places[1:], strict=False)]
    shown = answer.replace("[source 2]", "[1]").replace("【2†source】", "[1]")
    assert "".join(streamed(pieces)) == shown


def test_text_arrives_before_the_end():
    cut = REPLY.index("So say")
    assert "".join(streamed([REPLY[:cut]])).startswith('It was built in "1787" [1].')


@pytest.mark.parametrize(
    "reply",
    [REPLY.replace('"yes"', '"partly"'), REPLY.replace('"quotes"', '"sources'), "[1]", ""],
)
def test_what_may_be_answered_again_is_not_passed_on(reply):
    assert streamed([reply]) == []


def event(**value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


STREAM = (
    event(model="m", choices=[{"delta": {"role": "assistant"}}])
    + event(choices=[{"delta": {"content": "Hel"}}])
    + event(choices=[{"delta": {"content": "lo 天"}, "finish_reason": "stop"}])
    + event(choices=[], usage={"prompt_tokens": 3})
    + b": a comment\ndata: [DONE]\n\n"
)


@given(st.lists(st.integers(1, len(STREAM)), max_size=20))
def test_events_are_put_together_wherever_they_are_cut(cuts):
    heard: list[str] = []
    events = Events(heard.append)
    places = [0, *sorted(set(cuts)), len(STREAM)]
    for a, b in zip(places, places[1:], strict=False):
        events.feed(STREAM[a:b])
    whole = json.loads(events.body)
    assert heard == ["Hel", "lo 天"] and whole["usage"] == {"prompt_tokens": 3}
    assert whole["choices"][0]["message"]["content"] == "Hello 天" and whole["model"] == "m"


@pytest.mark.parametrize(
    "stream",
    [event(choices=[{"delta": {"content": "Hel"}}]), b"data: {\n\n", b"\xff\n", event(error="no")],
)
def test_a_stream_that_breaks_off_has_no_reply_in_it(stream):
    events = Events(lambda _: None)
    events.feed(stream)
    assert not json.loads(events.body).get("choices")


@pytest.fixture
def settings(endpoint: Running, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    model = ModelSettings(name="mock", base_url=endpoint.base_url)
    return Settings(engine=EngineSettings(engine="openai", encoder="none", model=model))


def test_asyncio_is_not_held_up(own_home: Path, settings: Settings):
    async def talk() -> None:
        async with AsyncAlmanac(own_home, settings) as kb:
            [before] = (await kb.sql("select count(*) as n from answers")).to_pylist()
            asking = asyncio.ensure_future(kb.ask("Who was Ada Lovelace?"))
            await asyncio.sleep(0)
            assert not asking.done()
            answer = await asking
            pieces = [one async for one in kb.stream("Where was she born?", history=answer)]
            facts = [fact async for fact in kb.facts()]
            documents = [one async for one in kb.documents()]
            assert facts and len(documents) == 9 and await kb.diff()
            [again] = await kb.ask_all(["Who was Ada Lovelace?"])
            rows = (await kb.sql("select count(*) as n from answers")).to_pylist()
        with pytest.raises(UsageError, match="was closed; open the home again"):
            await kb.sql("select 1")
        assert "mathematician" in (answer.answer or "") and again.answer == answer.answer
        assert pieces and rows == [{"n": before["n"] + 3}]

    asyncio.run(talk())


def test_sources_are_shown_then_text_then_footnotes(own_home, endpoint, almanac, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    model = ["--engine", "openai", "--model", "mock", "--base-url", endpoint.base_url]
    ask = ["ask", "Who was Ada Lovelace?", "--stream", "--set", "engine.encoder=none", *model]
    code, out, err = almanac(own_home, *ask)
    first, note, place, *_ = out.splitlines()
    assert code == 0 and "ada.md" in err and "mathematician" in first and "[1]" in first
    assert note.startswith("  [1] “") and "ada.md" in place
