"""The threshold that keeps to a budget while questions change."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.gates.crossfit import threshold
from tasks.gates.live import STEP, LiveThreshold, PastDecision

BUDGETS = (0.25, 0.5, 0.75)


def scores(number: int, seed: int, middle: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(middle, size=number)


def share(live: LiveThreshold, fresh: np.ndarray) -> float:
    return float(np.mean([live.decide(score) for score in fresh]))


# -- budgets --------------------------------------------------------------------------------------


def test_at_first_the_threshold_is_the_calibrations():
    seeds = scores(200, 1)
    for budget in (0.01, *BUDGETS, 0.99):
        assert LiveThreshold(seeds, budget).threshold == pytest.approx(threshold(seeds, budget))


@pytest.mark.parametrize("budget", BUDGETS)
def test_it_keeps_to_the_budget_when_questions_stay_as_they_are(budget):
    live = LiveThreshold(scores(200, 2), budget)
    assert share(live, scores(1000, 3)) == pytest.approx(budget, abs=0.02)
    assert live.rate == pytest.approx(budget, abs=0.04)


@pytest.mark.parametrize("budget", BUDGETS)
def test_it_keeps_to_the_budget_when_questions_become_harder_at_once(budget):
    seeds = scores(200, 4)
    live = LiveThreshold(seeds, budget)
    assert share(live, scores(500, 5)) == pytest.approx(budget, abs=0.03)
    harder = scores(1000, 6, -1.5)
    assert np.mean(harder < threshold(seeds, budget)) > budget + 0.15
    assert share(live, harder) == pytest.approx(budget, abs=0.04)


@pytest.mark.parametrize("budget", BUDGETS)
def test_it_keeps_to_the_budget_when_questions_drift(budget):
    seeds, fresh = scores(200, 7), scores(2000, 8) - np.linspace(0, 2, 2000)
    assert np.mean(fresh < threshold(seeds, budget)) > budget + 0.1
    assert share(LiveThreshold(seeds, budget), fresh) == pytest.approx(budget, abs=0.02)


@given(
    st.lists(st.integers(-3, 3), max_size=30),
    st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.1, *BUDGETS, 1.0]),
    st.integers(2, 60),
)
def test_no_scores_lead_far_from_the_budget(seeds, fresh, budget, window):
    live, count = LiveThreshold(map(float, seeds), budget, window), 0
    fetched, without = 0, not seeds
    for score in fresh * (1200 // len(fresh)):
        fetched += live.decide(score)
        count += 1
    assert abs(fetched - budget * count) <= (1 + 2 * STEP) / STEP + without


def test_forced_fetching_is_paid_for_by_the_other_questions():
    live = LiveThreshold(scores(200, 9), 0.5)
    fetched = [
        live.decide(score, forced=place % 5 == 0) for place, score in enumerate(scores(1000, 10))
    ]
    assert all(fetched[::5]) and np.mean(fetched) == pytest.approx(0.5, abs=0.03)


def test_fetching_after_all_is_paid_for_too():
    live, fetched = LiveThreshold(scores(200, 11), 0.5), 0
    for place, score in enumerate(scores(1000, 12)):
        retrieve = live.decide(score)
        if not retrieve and place % 5 == 0:
            live.fetched_after_all()
        fetched += retrieve or place % 5 == 0
    assert fetched / 1000 == pytest.approx(0.5, abs=0.03)
    assert live.rate == pytest.approx(0.5, abs=0.06)


def test_after_more_forced_fetching_than_the_budget_it_recovers():
    live = LiveThreshold(scores(200, 13), 0.25)
    for score in scores(500, 14):
        live.decide(score, forced=True)
    assert not any(live.decide(score) for score in scores(10, 15))
    assert share(live, scores(600, 16)) == pytest.approx(0.25, abs=0.06)


# -- single scores --------------------------------------------------------------------------------


def test_a_question_without_a_score_fetches_and_leaves_the_threshold_nearly_where_it_was():
    live = LiveThreshold(scores(200, 17), 0.5)
    before = live.threshold
    assert live.decide(math.nan)
    assert live.threshold == pytest.approx(before, abs=0.05)
    assert LiveThreshold([], 0.5).decide(0.0)
    assert LiveThreshold([math.nan] * 20, 0.5).decide(math.nan)


def test_infinite_scores_have_their_way():
    live = LiveThreshold(scores(50, 18), 0.5)
    assert not any(live.decide(math.inf) for _ in range(300))
    assert all(live.decide(-math.inf) for _ in range(300))
    assert not math.isnan(live.threshold)


def test_equal_scores_share_the_budget():
    live = LiveThreshold([0.0] * 200, 0.25)
    assert share(live, np.zeros(400)) == pytest.approx(0.25, abs=0.02)


def test_nothing_and_everything_are_budgets():
    assert share(LiveThreshold(scores(50, 19), 0.0), scores(200, 20, -5)) == 0
    assert share(LiveThreshold(scores(50, 19), 1.0), scores(200, 20, 5)) == 1


# -- the window -----------------------------------------------------------------------------------


def test_the_calibrations_scores_leave_first_and_in_no_order_of_size():
    live = LiveThreshold(np.sort(scores(200, 21)), 0.5, window=200)
    share(live, np.full(100, 100.0))
    half = np.sort(live._sorted)[:100]
    assert half[-1] < 100 and np.mean(half < 0) == pytest.approx(0.5, abs=0.12)
    share(live, np.full(100, 100.0))
    assert set(live._sorted) == {100.0}


@given(st.lists(st.floats(allow_nan=True), max_size=80), st.integers(1, 30))
def test_the_window_is_sorted_and_bounded(fresh, window):
    live = LiveThreshold([0.0, 1.0], 0.5, window)
    for score in fresh:
        live.decide(score)
    assert live._sorted == sorted(live._scores) and len(live._sorted) <= max(window, 2)


@pytest.mark.parametrize("budget", BUDGETS)
def test_it_goes_on_from_what_was_recorded(budget):
    seeds, fresh = scores(200, 22), scores(1500, 23, -0.5)
    whole, past = LiveThreshold(seeds, budget), []
    for score in fresh:
        level = whole.level
        past.append(PastDecision(score, whole.decide(score), budget, level))
    resumed = LiveThreshold(seeds, budget)
    resumed.resume(past[-400:])
    assert list(resumed._scores) == list(whole._scores)
    assert resumed.rate == whole.rate and resumed.drifted() == whole.drifted()
    assert resumed.level == pytest.approx(whole.level)


def test_what_another_budget_fetched_does_not_count():
    live = LiveThreshold(scores(200, 24), 0.5)
    before = live.threshold
    live.resume(PastDecision(0.0, True, 0.75) for _ in range(100))
    assert live.rate is None and live.threshold == pytest.approx(before, abs=0.2)
    live.resume([PastDecision(None, True, 0.5), PastDecision(0.0, None, None)])
    assert live.rate == 1


# -- drift ----------------------------------------------------------------------------------------


def test_drift_is_told_in_words_that_say_what_to_do():
    live = LiveThreshold(scores(200, 25), 0.5)
    share(live, scores(49, 26, -2))
    assert not live.drifted() and live.warnings("films") == []
    live.decide(-2.0)
    assert live.drifted()
    [warning] = live.warnings("films")
    assert "almanac calibrate-gate FILE --task films" in warning


def test_a_budget_that_cannot_be_kept_is_told():
    live, fresh = LiveThreshold(scores(200, 29), 0.25), scores(100, 30)
    for score in fresh[:49]:
        live.decide(score, forced=True)
    assert live.warnings("films") == []
    live.decide(fresh[49], forced=True)
    [warning] = live.warnings("films")
    assert "100% retrieved" in warning and "budget is 25%" in warning


def test_same_questions_are_seldom_taken_for_drift():
    alarms = 0
    for seed in range(100):
        live = LiveThreshold(scores(200, seed), 0.5)
        share(live, scores(200, 1000 + seed))
        alarms += live.drifted()
    assert alarms <= 2


def test_a_decision_takes_no_time():
    live, fresh = LiveThreshold(scores(200, 27), 0.5), scores(20_000, 28)
    began = time.perf_counter()
    share(live, fresh)
    assert time.perf_counter() - began < 5.0
