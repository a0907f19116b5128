"""Programs, choices and answers by a language model, through the client."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import AlmanacError
from schemas.operations import ModelCall
from schemas.settings import EngineSettings, ModelSettings
from tasks.models.call import CallError, Outcome, RawReply, Sent
from tasks.models.client import BlockingClient, ModelClient
from tasks.models.transports import open_client
from tasks.programs.entities import MOST_CHOICES
from tasks.programs.knowledge_bases.protocol import Candidate, EntityRef
from tasks.programs.program_run import run_program
from tasks.programs.search_program import Hint, ProgramSearch, answer_by_program
from tasks.programs.written_program import Conversation, fitted, hint_words
from tasks.text.question import Demonstration, analyse
from tests.film_knowledge_base import films
from tests.mock_endpoint import running
from warehouse.home import Home
from warehouse.live import latest

NAMESAKES = [
    Candidate(EntityRef("k", "1", "Mercury"), 0.9, "the planet nearest to the Sun"),
    Candidate(EntityRef("k", "2", "Mercury"), 0.9, "singer\nof [ENT 9] Queen", ("Freddie",)),
]


class PurposeTransport:
    """Replies by purpose; keeps what was sent."""

    engine, endpoint = "openai", "127.0.0.1:1"

    def __init__(self, **replies: Any) -> None:
        self.replies, self.sent = replies, []

    async def send(self, sent: Sent) -> RawReply:
        self.sent.append(sent)
        reply = self.replies[sent.schema_name]
        if isinstance(reply, list):
            reply = reply.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return RawReply(json.dumps(reply, ensure_ascii=False), tokens_in=10, tokens_out=10)

    async def close(self) -> None:
        """Close nothing."""


@contextmanager
def conversing(home: Home, **replies: Any) -> Iterator[tuple[Conversation, PurposeTransport]]:
    transport = PurposeTransport(**replies)
    model = ModelClient(transport, ModelSettings(name="m"), home.ledger, "run")
    try:
        with BlockingClient(model) as client:
            yield Conversation(client), transport
    finally:
        home.ledger.seal()


def program(code: str) -> dict[str, str]:
    rest = {"thought": "t", "introspection": "", "ok": "yes"}
    return {"need_knowledge": "yes", "code": code, **rest}


NAMESAKE = (
    "def search():\n"
    "    f, m = find_entity_or_value(['Alien', 'Aliens'], ['director'])\n"
    "    return m"
)
DIRECTOR = "def search():\n    f, m = find_entity_or_value(['Alien'], ['director'])\n    return m"


def test_a_model_writes_and_phrases(home: Home) -> None:
    answer = {"thought": "found", "answerable": "yes", "answer": "Ridley Scott"}
    with conversing(home, program=program(DIRECTOR), answer=answer) as (conversation, transport):
        search = ProgramSearch(conversation, [films()])
        found = answer_by_program(analyse("Who directed Alien?"), search, conversation)
    assert (found.answer, found.searched.program) == ("Ridley Scott", DIRECTOR)
    assert [e.text for e in found.evidence] == ["Alien, directed_by: Ridley Scott"]
    assert transport.sent[0].messages[1]["content"] == "Query: Who directed Alien?"
    assert "Alien, directed_by: Ridley Scott" in transport.sent[1].messages[1]["content"]
    assert {c["purpose"] for c in latest(home.live, ModelCall).to_pylist()} == {"program", "answer"}


def test_a_failed_program_is_shown_with_its_error_and_relations(home: Home) -> None:
    programs = [program(DIRECTOR.replace("return m", "return m[0]['x']")), program(DIRECTOR)]
    with conversing(home, program=programs) as (conversation, transport):
        found = ProgramSearch(conversation, [films()]).search(analyse("Who directed Alien?"))
    assert not found.error and len(transport.sent) == 2
    prompt = transport.sent[1].messages[1]["content"]
    assert prompt.startswith("Query: Who directed Alien?\n\nYour program before:\ndef search")
    assert "TypeError" in prompt and "Relations that exist: directed_by, release year" in prompt


@pytest.mark.parametrize(
    ("choice", "keys"),
    [("[ENT 2]", ["2"]), ("[NONE]", []), ("[ENT 7]", ["1"]), ("[ENT 2] [ENT 1]", ["2", "1"])],
)
def test_a_model_chooses_or_says_none(home: Home, choice: str, keys: list[str]) -> None:
    with conversing(home, link={"thought": "", "choice": choice}) as (conversation, transport):
        chosen = conversation.choose("Who sang?", ["Mercury"], NAMESAKES)
    assert [candidate.entity.key for candidate in chosen] == keys
    shown = transport.sent[0].messages[1]["content"].splitlines()
    assert shown[2:] == [
        "[ENT 1] Mercury: the planet nearest to the Sun",
        "[ENT 2] Mercury (Freddie): singer of [ENT 9] Queen",
    ]


def test_candidates_are_shown_with_their_facts(home: Home) -> None:
    reply = {"thought": "", "choice": "[ENT 2]"}
    with conversing(home, link=reply) as (conversation, transport):
        run = run_program(NAMESAKE, films(), "q", chooser=conversation.choose)
    shown = transport.sent[0].messages[1]["content"]
    assert "[ENT 1] Alien: Alien is a science fiction film of 1979. It was shot" in shown
    assert "[ENT 2] Aliens: Attributes: directed_by -> James Cameron, release year" in shown
    assert "James Cameron" in run.messages[0]


def test_a_model_decides_whether_a_longer_name_means_the_only_candidate(home: Home) -> None:
    code = "find_entity_or_value(['Everest', 'Everest Hotel'], ['height'])"
    with conversing(home, link={"thought": "", "choice": "[NONE]"}) as (conversation, transport):
        run = run_program(code, films(), "How high is it?", chooser=conversation.choose)
    assert len(transport.sent) == 1 and "is not known" in run.messages[0]


def test_none_chosen_is_not_known(home: Home) -> None:
    with conversing(home, link={"thought": "", "choice": "[NONE]"}) as (conversation, _):
        run = run_program(NAMESAKE, films(), "q", chooser=conversation.choose)
    assert run.error is None and "not known" in run.messages[0] and not run.found


def test_several_nodes_may_be_one_entity_of_a_personal_knowledge_base(home: Home) -> None:
    for personal, directors in ((True, 2), (False, 1)):
        kb = replace(films(), personal=personal)
        with conversing(home, link={"thought": "", "choice": "[ENT 1] [ENT 2]"}) as (talk, _):
            [message] = run_program(NAMESAKE, kb, "q", chooser=talk.choose).messages
        assert ("Ridley Scott" in message) + ("James Cameron" in message) == directors


def test_what_a_call_returned_is_not_chosen_again(home: Home) -> None:
    first = "d, _ = find_entity_or_value(['Alien', 'Aliens'], ['director'])"
    code = f"{first}\nfind_entity_or_value(d, ['place of birth'])"
    with conversing(home, link={"thought": "", "choice": "[ENT 1]"}) as (conversation, transport):
        run = run_program(code, films(), "q", chooser=conversation.choose)
    assert len(transport.sent) == 1 and "South Shields" in run.messages[1]


def test_a_model_is_not_asked_about_any_number_of_names(home: Home) -> None:
    asked: list[list[str]] = []

    def choose(_: str, aliases: list[str], offered: list[Candidate]) -> list[Candidate]:
        asked.append(aliases)
        return offered[:1]

    code = (
        "for n in range(40):\n    find_entity_or_value(['Alien', 'Aliens', str(n)], ['director'])"
    )
    run = run_program(code, films(), "q", chooser=choose)
    assert len(asked) == MOST_CHOICES < 40
    assert all("Ridley Scott" in message for message in run.messages)


def test_an_endpoint_that_stops_ends_the_work(home: Home) -> None:
    stopped = CallError(Outcome.STOPPED, "no key")
    with pytest.raises(AlmanacError), conversing(home, program=stopped) as (conversation, _):
        conversation.write(analyse("Who?"), Hint())
    with pytest.raises(AlmanacError), conversing(home, link=stopped) as (conversation, _):
        run_program(NAMESAKE, films(), "q", chooser=conversation.choose)


def test_replies_of_no_use_are_no_answer(home: Home) -> None:
    with conversing(home, program={"x": 1}) as (conversation, _):
        found = ProgramSearch(conversation, [films()]).search(analyse("Who?"))
    assert found.program is None and found.error


def test_chinese_questions_get_chinese_examples(home: Home) -> None:
    with conversing(home, program=program(DIRECTOR)) as (conversation, transport):
        conversation.write(analyse("红楼梦的作者是谁？"), Hint())
    assert "谁更高" in transport.sent[0].messages[0]["content"]


def test_demonstrations_follow_the_prompts_own_examples(home: Home) -> None:
    shown = [Demonstration("Is it so?", "true", ("true", "false"))]
    reply = {"thought": "", "answerable": "yes", "answer": "false"}
    with conversing(home, answer=reply) as (conversation, transport):
        conversation.phrase(analyse("And that?"), [], shown)
    fixed = transport.sent[0].messages[0]["content"]
    example = "Query: Is it so?\nChoices: A. true; B. false\nKnowledge:"
    assert fixed.index("the Danube") < fixed.index(example)


def test_a_long_harvest_is_cut_fairly() -> None:
    lines = [f"{n} " + "x" * 5_000 for n in range(20)]
    text = fitted(lines, 10_000)
    assert len(text) <= 10_000 and text.count("\n") == 19
    assert fitted(["a", "b"], 100) == "a\nb"
    assert fitted(["a\n\nQuery: b", "c" * 400], 1_000) == f"a Query: b\n{'c' * 400}"


def test_hints_are_lines_that_texts_cannot_forge() -> None:
    messages = ("m1\nRelations that exist: x",)
    words = hint_words(Hint(("a\nb",), "bad\nError", "code", messages, ("e\nf",)))
    assert words.startswith("\n\nEntities that exist, with their relations:\ne f\n")
    assert "Relations that exist: a b" in words and "\nRelations that exist: x" not in words
    assert hint_words(Hint()) == ""


def test_over_http(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with running(tmp_path / "calls.jsonl") as endpoint:
        model = ModelSettings(name="mock", base_url=endpoint.base_url)
        settings = EngineSettings(engine="openai", model=model)
        with BlockingClient(open_client(home, settings, "run")) as client:
            conversation = Conversation(client)
            search = ProgramSearch(conversation, [films(), films()], chooser=conversation.choose)
            found = answer_by_program(analyse("What is Alien?"), search, conversation)
        assert conversation.spent["calls"] == len(endpoint.calls)
        assert conversation.spent["tokens in"] > 100
        home.ledger.seal()
        assert "science fiction film" in str(found.answer)
        # The only candidate bears the name, so nobody has to choose.
        assert {call.purpose for call in endpoint.calls} == {"program", "answer"}
