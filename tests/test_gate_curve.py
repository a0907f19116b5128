"""Accuracy over the rate of retrieval: knowledge is fetched for the lowest scores first."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tasks.evaluate.gates.figures import auroc_of_help
from tasks.evaluate.gates.resampled import weighted_curves

FIGURES = st.floats(0, 1).map(lambda value: round(value, 3))
Asked = tuple[np.ndarray, np.ndarray, np.ndarray]


@st.composite
def measured_questions(draw: st.DrawFn) -> Asked:
    """Draw scores, many of them equal and some NaN, and figures without and with knowledge."""
    size = draw(st.integers(1, 40))
    scores = draw(hnp.arrays(float, size, elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0, np.nan])))
    figures = [draw(hnp.arrays(float, size, elements=FIGURES)) for _ in range(2)]
    return scores, figures[0], figures[1]


def curve(scores: object, without: object, with_knowledge: object) -> tuple[float, np.ndarray]:
    """Return the area over random of one model's questions, and its accuracies at `RATES`."""
    ranked = np.array(scores, float)
    figures = [np.array(one, float)[None] for one in (without, with_knowledge)]
    areas, accuracies = weighted_curves(ranked, *figures, np.ones((1, len(ranked))))
    return float(areas[0, 0]), accuracies[0, 0]


def test_curve_by_hand():
    points = np.array([3.0, 1, 2, 4]), np.array([1.0, 0, 0, 1]), np.array([1.0, 1, 0, 0])
    area, accuracies = curve(*points)
    assert accuracies[::25].tolist() == [0.5, 0.75, 0.75, 0.75, 0.5]
    assert accuracies[10] == pytest.approx(0.6)  # straight between knots
    assert area == pytest.approx(0.1875)
    assert auroc_of_help(*points) == 1


def test_equal_scores_are_worth_the_mean_over_their_orders():
    without, with_knowledge = [0, 1, 0], [1, 0, 0]
    area, accuracies = curve([1, 1, 1], without, with_knowledge)
    orders = [curve(order, without, with_knowledge)[1] for order in permutations((1, 2, 3))]
    assert np.allclose(accuracies, np.mean(orders, axis=0))
    assert area == 0


def test_questions_that_cannot_be_scored_come_first():
    assert curve([-9, np.nan], [0, 0], [0, 1])[1][::50].tolist() == [0, 0.5, 0.5]


@given(measured_questions())
def test_no_curve_lies_above_the_perfect_one(asked):
    _, without, with_knowledge = asked
    area, accuracies = curve(*asked)
    best, highest = curve(without - with_knowledge, without, with_knowledge)
    worst, _ = curve(with_knowledge - without, without, with_knowledge)
    assert (highest >= accuracies - 1e-12).all()
    assert worst - 1e-12 <= area <= best + 1e-12
    assert abs(area) <= 0.25 + 1e-12
    assert accuracies[-1] == pytest.approx(with_knowledge.mean())


@given(measured_questions())
def test_only_the_order_of_scores_counts(asked):
    scores, without, with_knowledge = asked
    area, accuracies = curve(*asked)
    assert np.array_equal(
        curve(np.exp(3 * scores) + 7, without, with_knowledge)[1], accuracies, equal_nan=True
    )
    order = np.random.default_rng(0).permutation(len(scores))
    shuffled = curve(scores[order], without[order], with_knowledge[order])
    assert np.allclose(shuffled[1], accuracies) and shuffled[0] == pytest.approx(area)


@given(measured_questions())
def test_constant_scores_have_no_area(asked):
    _, without, with_knowledge = asked
    for constant in (0.0, np.nan, np.inf):
        area, _ = curve(np.full(len(without), constant), without, with_knowledge)
        assert area == pytest.approx(0, abs=1e-15)


def test_random_scores_have_no_area_on_average():
    rng = np.random.default_rng(5)
    without, with_knowledge = (rng.random(60) < 0.5).astype(float), np.ones(60)
    areas = [curve(rng.random(60), without, with_knowledge)[0] for _ in range(2000)]
    error = np.std(areas) / np.sqrt(len(areas))
    assert abs(np.mean(areas)) < 4 * error


@given(measured_questions(), st.integers(0, 2**32 - 1))
def test_weights_count_questions_so_often(asked, seed):
    scores, without, with_knowledge = asked
    weights = np.random.default_rng(seed).integers(0, 3, (4, len(scores))).astype(float)
    weights[0] = 1
    figures = [np.stack([one, one[::-1]]) for one in (without, with_knowledge)]
    areas, accuracies = weighted_curves(scores, *figures, weights)
    for row, times in enumerate(weights.astype(int)):
        if not times.any():
            continue
        for model in range(2):
            columns = [np.repeat(one, times) for one in (scores, *(f[model] for f in figures))]
            area, alone = curve(*columns)
            assert areas[row, model] == pytest.approx(area, abs=1e-12)
            assert np.allclose(accuracies[row, model], alone)


def test_auroc_is_the_share_of_pairs_in_the_right_order():
    rng = np.random.default_rng(3)
    scores, helped = rng.integers(0, 6, 50).astype(float), rng.random(50) < 0.3
    without = np.zeros(50)
    pairs = [(a < b) + (a == b) / 2 for a in scores[helped] for b in scores[~helped]]
    assert auroc_of_help(scores, without, helped.astype(float)) == pytest.approx(np.mean(pairs))
    assert np.isnan(auroc_of_help(scores, without, without))
