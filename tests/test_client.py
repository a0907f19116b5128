"""A request is asked once, its reply validated and noted before use, whatever a transport does."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from schemas.errors import AlmanacError, UsageError
from schemas.operations import ModelCall
from schemas.settings import ModelSettings, Price
from tasks.models import limits
from tasks.models.call import CallError, ModelAnswer, Outcome, RawReply, Request, Sent
from tasks.models.client import ModelClient
from tasks.models.limits import BudgetSpentError, EndpointError
from tasks.models.measures import MeasuredAnswer
from warehouse.home import Home
from warehouse.live import latest

MODEL = ModelSettings(name="m", prices={"m": Price(input=1.0, output=2.0)}, patience_seconds=5)


class Colour(BaseModel):
    colour: str


class ScriptedTransport:
    """Says what it is told to, one thing a call, then the last thing for ever."""

    engine = "openai"

    def __init__(self, *script: RawReply | CallError, endpoint: str | None = "127.0.0.1:1") -> None:
        self.script, self.endpoint = list(script), endpoint
        self.sent: list[Sent] = []

    async def send(self, sent: Sent) -> RawReply:
        self.sent.append(sent)
        await asyncio.sleep(0)
        reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(reply, CallError):
            raise reply
        return reply

    async def close(self) -> None:
        """Close nothing."""


def raw_reply(text: str | None, **more: Any) -> RawReply:
    return RawReply(text, tokens_in=100, tokens_out=10, tokens_cached=40, form="schema", **more)


GOOD = raw_reply('{"colour": "red"}')
RED = Colour(colour="red")


def request(user: str = "Which colour has blood?", **more: Any) -> Request:
    kind = MeasuredAnswer if more.get("plain") else Colour
    return Request("answer", "sha", "# Answer", user, kind, most_tokens=50, **more)


def ask(
    home: Home, transport: ScriptedTransport, *requests: Request, **settings: Any
) -> list[ModelAnswer]:
    """Ask all at once through one client and seal the ledger, as a run does."""
    client = ModelClient(transport, MODEL.model_copy(update=settings), home.ledger, "run")

    async def all_at_once() -> list[ModelAnswer]:
        return await asyncio.gather(*(client.ask(r) for r in requests or (request(),)))

    try:
        return asyncio.run(all_at_once())
    finally:
        home.ledger.seal()


def calls(home: Home) -> list[dict[str, Any]]:
    return sorted(latest(home.live, ModelCall).to_pylist(), key=lambda call: call["attempt"])


def outcomes(home: Home) -> list[str]:
    return [call["outcome"] for call in calls(home)]


# --- asked once --------------------------------------------------------------------------


def test_a_good_reply_is_answered_and_accounted_for(home):
    assert ask(home, ScriptedTransport(GOOD)) == [ModelAnswer(RED, Outcome.OK)]
    [call] = calls(home)
    assert (call["tokens_in"], call["tokens_out"], call["tokens_cached"]) == (100, 10, 40)
    assert call["cost"] == pytest.approx((100 * 1.0 + 10 * 2.0) / 1e6)
    assert (call["outcome"], call["attempt"], call["reply_form"]) == ("ok", 1, "schema")


def test_what_was_answered_is_never_asked_again(home):
    ask(home, ScriptedTransport(GOOD))
    silent = ScriptedTransport(CallError(Outcome.STOPPED, "must not be asked"))
    assert ask(Home(home.path), silent) == [ModelAnswer(RED, Outcome.OK)]
    assert silent.sent == []


def test_equal_requests_at_once_are_one_call(home):
    transport = ScriptedTransport(GOOD)
    answers = ask(home, transport, *[request() for _ in range(5)])
    assert answers == [ModelAnswer(RED, Outcome.OK)] * 5
    assert len(transport.sent) == 1


def test_usage_that_no_call_can_have_is_capped_and_told(home):
    boast = RawReply('{"colour": "red"}', tokens_in=10**18, tokens_out=10**30, tokens_cached=10**40)
    requests = [request(f"{n}?") for n in range(4)]
    answers = ask(home, ScriptedTransport(boast), *requests, budget=0.002, tokens_per_minute=60_000)
    assert [answer.reply for answer in answers] == [RED] * 4
    for call in calls(home):
        assert call["tokens_cached"] <= call["tokens_in"] < 1000 and call["tokens_out"] == 50
        assert call["cost"] < 0.001 and "1e+18" in call["detail"]


def test_an_empty_reply_that_is_doubted_is_asked_for_once_more(home):
    doubting = request(doubt=lambda reply: "No colour?" if reply == Colour(colour="") else None)
    transport = ScriptedTransport(raw_reply('{"colour": ""}'), GOOD)
    [answer] = ask(home, transport, doubting)
    assert (answer.reply, answer.outcome) == (RED, Outcome.REPAIRED)
    assert outcomes(home) == ["no_facts", "repaired"]
    assert not any(call["detail"] for call in calls(home))  # its words are the prompt's
    assert transport.sent[1].messages[-1]["content"].startswith("No colour?")


def test_a_second_empty_reply_is_believed_and_recorded_as_such(home):
    doubting = request(doubt=lambda reply: "No colour?")
    [answer] = ask(home, ScriptedTransport(raw_reply('{"colour": ""}')), doubting)
    assert (answer.reply, answer.outcome) == (Colour(colour=""), Outcome.NO_FACTS)
    assert outcomes(home) == ["no_facts", "no_facts"]
    silent = ScriptedTransport(CallError(Outcome.STOPPED, "must not be asked"))
    assert ask(Home(home.path), silent, doubting)[0].reply == Colour(colour="")


@pytest.mark.parametrize(
    ("endpoint", "other"),
    [
        ("127.0.0.1:1", {"name": "n", "prices": {"n": Price(input=1, output=1)}}),
        ("127.0.0.1:9", {}),  # whose model has the same name
    ],
    ids=["model", "endpoint"],
)
def test_another_model_is_asked_anew(home, endpoint, other):
    ask(home, ScriptedTransport(raw_reply('{"colour": "blue"}')))
    transport = ScriptedTransport(GOOD, endpoint=endpoint)
    assert ask(Home(home.path), transport, **other) == [ModelAnswer(RED, Outcome.OK)]
    assert len(transport.sent) == 1


@pytest.mark.parametrize(("endpoint", "calls_made"), [("127.0.0.1:1", 0), ("127.0.0.1:9", 1)])
def test_replies_kept_without_an_endpoint_answer_for_the_endpoint_that_gave_them(
    home, monkeypatch, endpoint, calls_made
):
    with monkeypatch.context() as before:
        sha = Request.sha
        before.setattr(Request, "sha", lambda self, model, endpoint: sha(self, model, None))
        ask(home, ScriptedTransport(GOOD))
    transport = ScriptedTransport(GOOD, endpoint=endpoint)
    assert ask(Home(home.path), transport) == [ModelAnswer(RED, Outcome.OK)]
    assert len(transport.sent) == calls_made


def test_the_reply_is_on_disk_before_anybody_has_it(home, monkeypatch):
    write = home.ledger.write
    seen: list[bool] = []

    def watched(call: Any, reply: Any = None) -> Any:
        done = write(call, reply)
        done.add_done_callback(lambda _: seen.append(True))
        return done

    monkeypatch.setattr(home.ledger, "write", watched)
    client = ModelClient(ScriptedTransport(GOOD), MODEL, home.ledger, "run")

    async def one() -> bool:
        await client.ask(request())
        return seen == [True]

    assert asyncio.run(one())


# --- validated always -----------------------------------------------------------------------

BAD: dict[str, tuple[RawReply, Outcome]] = {
    "prose": (raw_reply("The colour is red."), Outcome.INVALID),
    "wrong shape": (raw_reply('{"color": "red"}'), Outcome.INVALID),
    "truncated": (raw_reply('{"colour": "r', finish="length"), Outcome.TRUNCATED),
    "whole but said to be truncated": (
        raw_reply('{"colour": "r"}', finish="length"),
        Outcome.TRUNCATED,
    ),
    "empty": (raw_reply(""), Outcome.EMPTY),
    "nothing": (raw_reply(None), Outcome.EMPTY),
    "spaces": (raw_reply("  \n"), Outcome.EMPTY),
}


@pytest.mark.parametrize(("bad", "outcome"), BAD.values(), ids=BAD.keys())
def test_a_bad_reply_is_made_good_by_a_second_try_or_given_up_and_not_kept(home, bad, outcome):
    [answer] = ask(home, ScriptedTransport(bad))
    assert (answer.reply, answer.outcome) == (None, outcome)
    assert len(calls(home)) == 2
    [again] = ask(Home(home.path), ScriptedTransport(GOOD))
    assert again.reply == RED
    other = Home(home.path / "other")
    [repaired] = ask(other, ScriptedTransport(bad, GOOD))
    assert repaired.reply == RED
    assert outcomes(other)[0] == outcome and len(calls(other)) == 2


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (raw_reply(None, refusal="I can't help with that."), Outcome.REFUSED),
        (raw_reply("I'm sorry, but I can't help with that."), Outcome.REFUSED),
        (raw_reply('{"colour": "red"}', finish="content_filter"), Outcome.FILTERED),
    ],
)
def test_a_refusal_is_no_answer_and_is_not_pressed(home, reply, outcome):
    transport = ScriptedTransport(reply)
    [answer] = ask(home, transport)
    assert (answer.reply, answer.outcome) == (None, outcome)
    assert len(transport.sent) == 1


def test_the_repair_round_shows_the_reply_and_its_error(home):
    transport = ScriptedTransport(raw_reply('{"color": "red"}'), GOOD)
    [answer] = ask(home, transport)
    assert answer.outcome == Outcome.REPAIRED
    first, second = transport.sent
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-2]["content"] == '{"color": "red"}'
    assert "colour" in second.messages[-1]["content"]


def test_a_truncated_reply_gets_twice_the_room(home):
    transport = ScriptedTransport(raw_reply("{", finish="length"), GOOD)
    ask(home, transport)
    assert [sent.most_tokens for sent in transport.sent] == [50, 100]


@pytest.mark.parametrize(
    "first",
    [
        raw_reply("", finish="length"),
        raw_reply("<think>Blood is", finish="length"),
        raw_reply('{"colour": "blue', finish="length", tokens_thought=40),
    ],
)
def test_a_model_that_reasons_gets_room_for_it_from_its_first_reply_on(home, first):
    transport = ScriptedTransport(first, GOOD)
    client = ModelClient(transport, MODEL, home.ledger, "run")
    for text in ("Which colour has blood?", "Which colour has rust?"):
        assert asyncio.run(client.ask(request(text))).reply == RED
    assert [sent.most_tokens for sent in transport.sent] == [50, 4146, 4146]


def test_calls_of_a_batch_keep_their_bodies_from_run_to_run(home):
    transport = ScriptedTransport(raw_reply("", finish="length"), GOOD)
    client = ModelClient(transport, MODEL, home.ledger, "run", batch=True)
    for text in ("Which colour has blood?", "Which colour has rust?"):
        assert asyncio.run(client.ask(request(text))).reply == RED
    assert [sent.most_tokens for sent in transport.sent] == [50, 4146, 50]


def test_what_a_model_thinks_is_not_its_plain_answer(home):
    cut, whole = raw_reply("<think>Hm", finish="length"), raw_reply("<think>Hm.</think>\nred")
    plain = request(plain=True)
    [answer] = ask(home, ScriptedTransport(cut, whole), plain)
    assert answer.reply == MeasuredAnswer(answer="red", surprise=None, entropy=None)


def test_a_reply_with_the_key_in_it_is_thrown_away(home, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-CANARY-0123456789")
    [answer] = ask(home, ScriptedTransport(raw_reply('{"colour": "sk-CANARY-0123456789"}')))
    assert answer.outcome == Outcome.SECRET
    written = b"".join(p.read_bytes() for p in home.path.rglob("*") if p.is_file())
    assert b"CANARY" not in written


# --- the endpoint's faults ---------------------------------------------------------------


@pytest.mark.parametrize("fault", [Outcome.UNAVAILABLE, Outcome.TIMED_OUT, Outcome.THROTTLED])
def test_what_may_pass_is_tried_again(home, fault):
    [answer] = ask(home, ScriptedTransport(CallError(fault, "502"), CallError(fault, "502"), GOOD))
    assert answer.reply == RED
    assert outcomes(home) == [fault, fault, "ok"]


def test_a_throttled_call_waits_longer_than_other_failures_may_last(home, monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_BACK_OFF", 0.001)
    slow_down = CallError(Outcome.THROTTLED, "429", after=0.001)
    transport = ScriptedTransport(GOOD, *[slow_down] * 80, GOOD)
    answers = ask(home, transport, *[request(f"Question {n}?") for n in range(8)], attempts=2)
    assert [answer.reply for answer in answers] == [RED] * 8


@pytest.mark.parametrize(
    ("fault", "after"),
    [(Outcome.THROTTLED, None), (Outcome.THROTTLED, 0.001), (Outcome.UNAVAILABLE, 0.0)],
)
def test_a_storm_of_refusals_is_not_answered_by_one(home, fault, after):
    """Sixteen calls at once, then one at a time, after pauses that at least double."""
    transport = ScriptedTransport(CallError(fault, "busy", after=after))
    questions = [request(f"Question {n}?") for n in range(40)]
    with pytest.raises(EndpointError, match="same command goes on"):
        ask(home, transport, *questions, concurrency=16, patience_seconds=0.5)
    assert len(transport.sent) <= 16 + 5


def test_refusals_in_a_row_are_bounded(home, monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_BACK_OFF", 0.001)
    transport = ScriptedTransport(CallError(Outcome.THROTTLED, "429"))
    with pytest.raises(EndpointError, match="refused 101 calls in a row.*same command goes on"):
        ask(home, transport)


def test_replies_that_never_end_stop_the_run_and_it_goes_on_later(home):
    cut = raw_reply('{"colour": "r', finish="length")
    questions = [request(f"Question {n}?") for n in range(40)]
    transport = ScriptedTransport(cut)
    with pytest.raises(EndpointError, match="cut short.*reply_tokens.*same command goes on"):
        ask(home, transport, *questions, concurrency=2)
    assert len(transport.sent) <= len(questions) + limits.MOST_CUT_SHORT + 2
    answers = ask(home, ScriptedTransport(GOOD), *questions, concurrency=1)
    assert [answer.reply for answer in answers] == [RED] * 40


@pytest.mark.parametrize("fault", [Outcome.TOO_LONG, Outcome.FILTERED, Outcome.INVALID])
def test_what_cannot_pass_is_not(home, fault):
    transport = ScriptedTransport(CallError(fault, "no"))
    [answer] = ask(home, transport)
    assert (answer.reply, answer.outcome, len(transport.sent)) == (None, fault, 1)


def test_a_text_that_a_local_model_has_no_time_for_does_not_end_the_run(home):
    transport = ScriptedTransport(CallError(Outcome.TIMED_OUT, "late"), GOOD, endpoint=None)
    requests = request("Slow?"), request("Fast?")
    slow, fast = ask(home, transport, *requests, concurrency=1, patience_seconds=1e-9)
    assert (slow.outcome, fast.reply) == (Outcome.TIMED_OUT, RED)


def test_a_pause_that_one_call_is_asked_for_slows_all_of_them(home):
    sent_at: list[float] = []

    class Timed(ScriptedTransport):
        async def send(self, sent: Sent) -> RawReply:
            sent_at.append(asyncio.get_running_loop().time())
            return await super().send(sent)

    transport = Timed(CallError(Outcome.THROTTLED, "429", after=0.6), GOOD)
    ask(home, transport, *[request(f"Question {n}?") for n in range(6)], concurrency=1)
    first, second, *rest = sent_at
    assert second - first >= 0.6
    assert len(rest) == 5


@pytest.mark.parametrize(
    "fault",
    [CallError(Outcome.STOPPED, "Check the key"), CallError(Outcome.THROTTLED, "", after=86400)],
)
def test_what_will_not_pass_stops_the_run_at_once(home, fault):
    transport = ScriptedTransport(fault)
    with pytest.raises(EndpointError, match="same command goes on"):
        ask(home, transport, *[request(f"Question {n}?") for n in range(100)], concurrency=4)
    assert len(transport.sent) <= 4


def test_while_nobody_is_answered_no_request_is_given_up(home):
    down = CallError(Outcome.UNAVAILABLE, "connection refused")
    transport = ScriptedTransport(down, down, down, GOOD)
    [answer] = ask(home, transport, attempts=2)
    assert answer.reply == RED


def test_an_endpoint_that_never_answers_stops_the_run(home):
    transport = ScriptedTransport(CallError(Outcome.UNAVAILABLE, "connection refused"))
    with pytest.raises(EndpointError, match="connection refused"):
        ask(home, transport, patience_seconds=0.2)


# --- money and secrets -------------------------------------------------------------------


def test_a_budget_stops_the_run_before_it_is_exceeded(home):
    spent = (100 * 1.0 + 10 * 2.0) / 1e6
    budget = 10.5 * spent
    with pytest.raises(BudgetSpentError):
        ask(home, ScriptedTransport(GOOD), *[request(f"{n}?") for n in range(40)], budget=budget)
    costs = [call["cost"] for call in calls(home)]
    assert 0 < sum(costs) <= budget


@pytest.mark.parametrize(
    ("fault", "cost"),
    [(Outcome.THROTTLED, 0.0), (Outcome.UNREACHED, 0.0), (Outcome.UNAVAILABLE, None)],
)
def test_a_refused_call_costs_nothing_and_a_broken_one_an_unknown_sum(home, fault, cost):
    ask(home, ScriptedTransport(CallError(fault, "no"), GOOD))
    assert calls(home)[0]["cost"] == cost


def test_a_call_that_was_too_late_uses_up_its_share_of_the_budget(home):
    transport = ScriptedTransport(CallError(Outcome.TIMED_OUT, "late"))
    with pytest.raises(BudgetSpentError):
        ask(home, transport, budget=0.0005)
    assert transport.sent
    assert calls(home)[0]["cost"] is None


def test_a_budget_without_prices_is_refused(home):
    with pytest.raises(UsageError, match="prices"):
        ask(home, ScriptedTransport(GOOD), name="unheard-of", prices={}, budget=1.0)


def test_usage_that_is_not_told_leaves_the_cost_unknown(home):
    ask(home, ScriptedTransport(RawReply('{"colour": "red"}')))
    [call] = calls(home)
    assert (call["cost"], call["tokens_in"], call["tokens_out"]) == (None, None, None)


@pytest.mark.parametrize(
    ("endpoint", "allowed", "goes"),
    [("127.0.0.1:1", False, False), ("127.0.0.1:1", True, True), (None, False, True)],
)
def test_what_is_sensitive_reaches_no_endpoint_unless_it_is_allowed(home, endpoint, allowed, goes):
    transport = ScriptedTransport(GOOD, endpoint=endpoint)
    if goes:
        assert ask(home, transport, request(sensitive=True), sensitive=allowed)[0].reply == RED
    else:
        with pytest.raises(UsageError, match="sensitive"):
            ask(home, transport, request(sensitive=True))
        assert transport.sent == []


def test_a_model_that_calls_itself_otherwise_is_noted(home):
    ask(home, ScriptedTransport(raw_reply('{"colour": "red"}', model="other-model")))
    assert calls(home)[0]["answered_by"] == "other-model"


def test_errors_of_the_disk_are_not_swallowed(home, monkeypatch):
    def full(*_: Any) -> Callable[[], None]:
        raise AlmanacError("The disk is full")

    monkeypatch.setattr(home.ledger, "write", full)
    with pytest.raises(AlmanacError, match="disk is full"):
        ask(home, ScriptedTransport(GOOD))
