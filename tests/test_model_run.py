"""What calls share: the stream of work, the budget, the health of the endpoint."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import AlmanacError
from schemas.settings import ModelSettings
from tasks.models import stream as stream_module
from tasks.models.call import CallError, Outcome
from tasks.models.limits import FREE_RETRIES, Budget, BudgetSpentError, EndpointError, Health
from tasks.models.stream import stream


async def nothing() -> None:
    """Close nothing."""


# --- the stream --------------------------------------------------------------------------


def test_every_unit_is_worked_on_once_and_so_many_at_a_time():
    now, most = 0, 0

    async def work(unit: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return unit * unit

    assert sorted(stream(work, range(100), 7, nothing)) == [n * n for n in range(100)]
    assert most == 7


def test_an_error_ends_the_feed_but_not_what_is_in_flight():
    begun = []

    async def work(unit: int) -> int:
        begun.append(unit)
        if unit == 3:
            raise AlmanacError("stop")
        await asyncio.sleep(0.05)
        return unit

    got = []
    with pytest.raises(AlmanacError, match="stop"):
        for result in stream(work, range(1000), 4, nothing):
            got.append(result)
    assert sorted(got) == [0, 1, 2]
    assert len(begun) <= 8


def test_what_is_in_flight_when_a_run_stops_has_a_bounded_grace(monkeypatch):
    monkeypatch.setattr(stream_module, "GRACE_SECONDS", 0.1)

    async def work(unit: int) -> int:
        if unit == 0:
            raise AlmanacError("stop")
        await asyncio.sleep(60)
        return unit

    began = time.monotonic()
    with pytest.raises(AlmanacError):
        list(stream(work, range(4), 4, nothing))
    assert time.monotonic() - began < 5


def test_who_stops_listening_stops_the_work_and_closes_the_wire():
    closed = []

    async def close() -> None:
        closed.append(True)

    async def work(unit: int) -> int:
        await asyncio.sleep(0.001)
        return unit

    results = stream(work, iter(range(10**9)), 4, close)
    assert next(results) in range(8)
    results.close()  # type: ignore[attr-defined]
    assert closed == [True]


def test_results_wait_for_a_slow_consumer_in_bounded_number():
    begun = 0

    async def work(unit: int) -> int:
        nonlocal begun
        begun += 1
        return unit

    results: Iterator[int] = stream(work, range(1_000), 2, nothing)
    next(results)
    time.sleep(0.2)
    assert begun < 100
    assert len(list(results)) == 999


# --- the budget --------------------------------------------------------------------------


@given(st.floats(0, 10), st.lists(st.tuples(st.floats(0, 3), st.floats(0, 1)), max_size=30))
def test_a_budget_is_never_exceeded(most, calls):
    budget = Budget(most)

    async def one(reserved: float, share: float) -> bool:
        try:
            await budget.reserve(reserved)
        except BudgetSpentError:
            return False
        await asyncio.sleep(0)
        await budget.settle(reserved, reserved * share)
        return True

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*(one(*call) for call in calls))

    made = asyncio.run(all_of_them())
    assert budget.spent <= most + 1e-9
    assert sum(r * s for (r, s), did in zip(calls, made, strict=True) if did) == pytest.approx(
        budget.spent
    )


def test_a_call_of_unknown_cost_counts_as_its_most():
    budget = Budget(1.0)

    async def spend() -> None:
        await budget.reserve(0.6)
        await budget.settle(0.6, None)
        with pytest.raises(BudgetSpentError, match="budget of 1"):
            await budget.reserve(0.6)

    asyncio.run(spend())
    assert budget.spent == 0.6


# --- the endpoint's health ---------------------------------------------------------------

UNAVAILABLE = CallError(Outcome.UNAVAILABLE, "502")


def test_silence_beyond_patience_stops_the_run():
    health = Health(ModelSettings(patience_seconds=0.05))
    health.failed(UNAVAILABLE)
    time.sleep(0.06)
    with pytest.raises(EndpointError, match="answered nothing"):
        health.failed(UNAVAILABLE)
    with pytest.raises(EndpointError):
        health.check()


def test_one_answer_renews_patience():
    health = Health(ModelSettings(patience_seconds=0.05))
    time.sleep(0.06)
    health.answered()
    health.failed(UNAVAILABLE)
    health.check()


def test_silence_counts_from_the_question_that_waits():
    health = Health(ModelSettings(patience_seconds=0.05))
    time.sleep(0.06)
    began = time.monotonic()
    health.failed(UNAVAILABLE, began)
    health.check()
    with pytest.raises(EndpointError, match="answered nothing"):
        health.failed(UNAVAILABLE, began - 0.06)


def test_a_pause_longer_than_allowed_stops_the_run_and_says_when_to_come_back():
    health = Health(ModelSettings())
    with pytest.raises(EndpointError, match="86400 seconds"):
        health.failed(CallError(Outcome.THROTTLED, "429", after=86400))


def test_a_wrong_key_stops_the_run_at_once():
    health = Health(ModelSettings())
    with pytest.raises(EndpointError, match="Check the key"):
        health.failed(CallError(Outcome.STOPPED, "Check the key"))


def test_retries_have_a_budget():
    health = Health(ModelSettings())
    health.calls = 10
    for _ in range(FREE_RETRIES + 10):
        health.retry()
    with pytest.raises(EndpointError, match="made again"):
        health.retry()


def test_refusals_of_calls_sent_before_a_pause_do_not_lengthen_it():
    health = Health(ModelSettings())
    sent = time.monotonic()
    first = health.pause(time.monotonic())
    assert first > 0
    assert health.pause(sent - 1) == 0.0


@given(st.integers(1, 30))
def test_backing_off_is_bounded(tries):
    assert 0 < Health(ModelSettings(), seed=1).back_off(tries) <= 20
