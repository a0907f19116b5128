"""Gates behind one interface: what each makes of questions, and how budgets are kept to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import UsageError
from tasks.gates.crossfit import cross_fitted, fetches, folds_of, threshold
from tasks.gates.gate import GATES, make_gate
from tasks.gates.questions import NO_ANSWER, GateQuestions, kind_of_answer
from tasks.gates.thrust import ThrustGate


def questions(number: int, seed: int = 0, width: int = 8) -> GateQuestions:
    rng = np.random.default_rng(seed)
    return GateQuestions(
        [f"which river flows through town {n}" for n in range(number)],
        vectors=rng.normal(size=(number, width)),
        popularity=rng.uniform(1, 1e5, number),
        uncertainty=rng.uniform(0, 3, number),
        answers=np.array(rng.choice(["yes", "no"], number), dtype=object),
        gains=rng.choice([-1.0, 0.0, 1.0], number),
    )


@pytest.mark.parametrize("name", GATES)
def test_every_gate_scores_every_question_and_again_the_same(name):
    gate = make_gate(name)
    gate.fit(questions(40))
    fresh = questions(15, seed=1)
    scores = gate.score(fresh)
    assert scores.shape == (15,)
    assert scores.dtype == np.float64
    np.testing.assert_array_equal(scores, gate.score(fresh))


@pytest.mark.parametrize("name", sorted(set(GATES) - {"always", "never"}))
def test_a_gate_does_not_see_what_it_does_not_name(name):
    gate = make_gate(name)
    seeds, fresh = questions(40), questions(15, seed=1)
    kept = {column: getattr(fresh, column) for column in gate.needs - {"gains"}}
    gate.fit(seeds)
    np.testing.assert_array_equal(gate.score(GateQuestions(fresh.texts, **kept)), gate.score(fresh))


def test_always_fetches_and_never_does_not_whatever_the_threshold():
    fresh = questions(5)
    for below in (-np.inf, 0.0, np.inf):
        assert fetches(make_gate("always").score(fresh), below).all()
        assert not fetches(make_gate("never").score(fresh), below).any()


def test_known_subjects_and_sure_answers_score_high():
    fresh = GateQuestions(
        ["a", "b", "c"],
        popularity=np.array([10.0, 5000.0, np.nan]),
        uncertainty=np.array([2.0, 0.1, np.nan]),
    )
    for name in ("popularity", "entropy"):
        rare, known, untold = make_gate(name).score(fresh)
        assert known > rare
        assert np.isnan(untold)


def test_an_own_answer_of_a_kind_that_knowledge_corrects_scores_low():
    gate = make_gate("own_answer")
    gate.fit(
        GateQuestions(
            [str(n) for n in range(60)],
            answers=np.array(["yes", "no", "maybe"] * 20, dtype=object),
            gains=np.array([0.0, 0.0, 1.0] * 20),
        )
    )
    answers = np.array(["yes", "maybe", "unheard"], dtype=object)
    yes, maybe, unheard = gate.score(GateQuestions(["p", "q", "r"], answers=answers))
    assert yes > unheard > maybe


def test_a_learned_gate_finds_the_direction_in_which_knowledge_helps():
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(400, 16))
    gains = (vectors[:, 3] + rng.normal(size=400) > 1).astype(float)
    gate = make_gate("learned")
    gate.fit(GateQuestions([str(n) for n in range(400)], vectors=vectors, gains=gains))
    helped, not_helped = np.zeros((2, 16))
    helped[3], not_helped[3] = 2, -2
    low, high = gate.score(GateQuestions(["a", "b"], vectors=np.array([helped, not_helped])))
    assert low < high


@pytest.mark.parametrize(
    ("answer", "choices", "kind"),
    [
        (None, ("yes", "no"), NO_ANSWER),
        ("  ", (), NO_ANSWER),
        ("B", ("yes", "no"), "no"),
        ("Yes", ("yes", "no"), "yes"),
        ("b", ("the left ventricle", "the right one"), "B"),
        ("the left ventricle", ("the left ventricle", "the right one"), "A"),
        ("perhaps", ("yes", "no"), NO_ANSWER),
        ("Paris", (), "answered"),
        ("Yes.", (), "yes"),
    ],
)
def test_kinds_of_answers(answer, choices, kind):
    assert kind_of_answer(answer, choices) == kind


def test_what_there_is_not_is_refused_by_name():
    with pytest.raises(UsageError, match="no gate 'thurst'.*thrust"):
        make_gate("thurst")
    with pytest.raises(UsageError, match="no variant"):
        make_gate("thrust", variant="half")
    with pytest.raises(UsageError, match="no such option"):
        make_gate("random", variant="full")


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="2 values for 1"):
        GateQuestions(["a"], vectors=np.zeros((2, 3)))


# -- cross-fitting and budgets ------------------------------------------------------------------


def test_equal_questions_are_never_on_both_sides_of_a_fold():
    texts = ["a", "b", "a", "c", "b", "d", "e"]
    seen = []
    for others, own in folds_of(texts, folds=3):
        assert not {texts[n] for n in others} & {texts[n] for n in own}
        seen += list(own)
    assert sorted(seen) == list(range(7))


def test_one_question_has_nothing_to_be_scored_by():
    assert np.isnan(cross_fitted(ThrustGate, questions(1))).all()


def test_cross_fitted_scores_are_in_the_units_of_the_whole():
    seeds = questions(400, width=3)
    gate = ThrustGate()
    gate.fit(seeds)
    fresh = gate.score(questions(4000, seed=9, width=3))
    assert np.median(cross_fitted(ThrustGate, seeds)) == pytest.approx(np.median(fresh), rel=0.1)


@pytest.mark.parametrize(("width", "number"), [(64, 200), (768, 200)])
def test_cross_fitted_thresholds_keep_to_budgets_where_seed_fitted_ones_overspend(width, number):
    budgets, cross, own = (0.25, 0.5, 0.75), [], []
    for draw in range(6):
        rng = np.random.default_rng(draw)
        centres = rng.normal(size=(3, width)) * 0.5
        vectors = centres[rng.integers(3, size=number + 1500)] + rng.normal(
            size=(number + 1500, width)
        )
        seeds = GateQuestions([str(n) for n in range(number)], vectors=vectors[:number])
        fresh = GateQuestions([str(n) for n in range(1500)], vectors=vectors[number:])
        gate = ThrustGate()
        gate.fit(seeds)
        scores, fitted = gate.score(fresh), gate.score(seeds)
        held_out = cross_fitted(ThrustGate, seeds)
        cross.append([fetches(scores, threshold(held_out, share)).mean() for share in budgets])
        own.append([fetches(scores, threshold(fitted, share)).mean() for share in budgets])
    np.testing.assert_allclose(np.mean(cross, 0), budgets, atol=0.06)
    assert (np.mean(own, 0) > np.mean(cross, 0) + 0.02).all()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=60, unique=True), st.floats(0.01, 0.99))
def test_a_threshold_lets_its_share_of_the_scores_fetch(values, share):
    scores = np.array(values)
    fetched = fetches(scores, threshold(scores, share)).sum()
    expected = share * (len(scores) + 1)  # of as many more such scores and this one
    assert expected - 2 <= fetched <= expected


def test_scores_that_nobody_knows_spend_from_the_budget():
    scores = np.array([np.nan] * 25 + list(range(75)))
    below = threshold(scores, 0.5)
    assert fetches(scores, below).mean() == pytest.approx(0.5, abs=0.02)
    assert threshold(scores, 0.2) == -np.inf
    assert np.isnan(threshold(np.array([np.nan]), 0.5))
