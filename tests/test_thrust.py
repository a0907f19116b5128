"""Thrust, equation (1): golden values, ablations, and what must not change a score."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.gates.clusters import Clusters, cluster, cluster_count
from tasks.gates.thrust import VARIANTS, scale_of, thrust

ORIGIN = np.zeros((1, 2))


def clusters(centroids: object, sizes: object, inertias: object = None) -> Clusters:
    weights = np.array(sizes, float)
    own = weights if inertias is None else np.array(inertias, float)
    return Clusters(np.array(centroids, float), weights, own, ("all",) * len(weights))


def as_written(question: np.ndarray, found: Clusters) -> float:
    """Equation (1), term by term."""
    total = np.zeros(len(question))
    for centroid, size in zip(found.centroids, found.sizes, strict=True):
        away = centroid - question
        distance = np.linalg.norm(away)
        total += size / distance**2 * (away / distance)
    return float(np.linalg.norm(total / len(found)))


@pytest.mark.parametrize(
    ("centroids", "sizes", "score"),
    [
        ([(2, 0)], [4], 1.0),
        ([(1, 0), (-1, 0)], [5, 5], 0.0),
        ([(3, 4), (0, 2)], [10, 6], 0.917878),
        ([(30, 40), (0, 20)], [10, 6], 0.00917878),
    ],
)
def test_golden(centroids, sizes, score):
    assert thrust(ORIGIN, clusters(centroids, sizes))[0] == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize(
    ("variant", "score"),
    [
        # d = (3, 4) with size 10 and (0, 2) with size 6; lengths 5 and 2.
        ("no_size", np.hypot(3 / 125, 4 / 125 + 2 / 8) / 2),
        ("no_direction", (10 / 25 + 6 / 4) / 2),
        ("no_distance", np.hypot(10 * 3 / 5, 10 * 4 / 5 + 6) / 2),
        ("inertia", np.hypot(7 * 3 / 125, 7 * 4 / 125 + 1 * 2 / 8) / 2),
    ],
)
def test_ablations_at_the_golden_clusters(variant, score):
    found = clusters([(3, 4), (0, 2)], [10, 6], [7, 1])
    assert thrust(ORIGIN, found, variant)[0] == pytest.approx(score, rel=1e-12)


def test_the_cosine_variant_measures_distance_by_angle():
    question = np.array([[1.0, 0.0]])
    found = clusters([(1, 1), (0, 3)], [4, 2])
    apart = found.centroids - question
    weights = found.sizes / np.array([1 - np.sqrt(0.5), 1.0]) ** 2
    pulled = (weights / np.linalg.norm(apart, axis=1)) @ apart
    expected = np.linalg.norm(pulled) / 2
    assert thrust(question, found, "cosine")[0] == pytest.approx(expected, rel=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 40), st.floats(0, 1e4))
def test_batches_equal_the_equation_term_by_term(seed, count, width, offset):
    rng = np.random.default_rng(seed)
    found = clusters(rng.normal(size=(count, width)) + offset, rng.integers(1, 99, count))
    questions = rng.normal(size=(7, width)) + offset
    expected = [as_written(question, found) for question in questions]
    np.testing.assert_allclose(thrust(questions, found), expected, rtol=1e-6)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_scores_fall_with_the_square_of_scale_and_scaled_ones_do_not(seed, scale):
    rng = np.random.default_rng(seed)
    vectors, questions = rng.normal(size=(60, 5)), rng.normal(size=(9, 5))
    plain, scaled = cluster(vectors, ["all"] * 60), cluster(vectors * scale, ["all"] * 60)
    before, after = thrust(questions, plain), thrust(questions * scale, scaled)
    np.testing.assert_allclose(after, before / scale**2, rtol=1e-6)
    np.testing.assert_allclose(after * scale_of(scaled), before * scale_of(plain), rtol=1e-6)


def test_a_question_at_a_centroid_is_known_beyond_all_others_and_finite():
    found = clusters([(2, 0), (0, 0), (5, 5)], [4, 3, 9])
    at, near = thrust(np.array([[2.0, 0.0], [2.0, 1e-3]]), found)
    assert np.isfinite(at)
    assert at > near


def test_nearness_does_not_lose_digits_far_from_the_origin():
    far = np.full(384, 1e3)
    found = Clusters(np.array([far, far + 1]), np.array([3.0, 5.0]), np.ones(2), ("a", "a"))
    question = far + 1e-4
    assert thrust(question[None], found)[0] == pytest.approx(as_written(question, found), rel=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_not_finite_has_no_score(variant):
    scores = thrust(np.array([[np.nan, 1.0], [np.inf, 1.0]]), clusters([(2, 0)], [4]), variant)
    assert np.isnan(scores).all()


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="no variant"):
        thrust(ORIGIN, clusters([(2, 0)], [4]), "half")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("questions", "count"), [(1, 3), (81, 3), (82, 4), (200, 4), (256, 4), (257, 5), (10_000, 10)]
)
def test_cluster_count(questions, count):
    assert cluster_count(questions) == count


def test_clusters_are_made_within_classes_and_hold_every_seed():
    rng = np.random.default_rng(0)
    labels = ["yes"] * 120 + ["no"] * 80
    found = cluster(rng.normal(size=(200, 16)), labels)
    assert found.labels == ("no",) * 4 + ("yes",) * 4
    assert found.sizes[:4].sum() == 80
    assert found.sizes[4:].sum() == 120


def test_a_class_has_no_more_clusters_than_different_questions():
    vectors = np.array([[0.0, 0.0]] * 5 + [[1.0, 0.0], [1.0, 0.0], [9.0, 9.0]])
    found = cluster(vectors, ["a"] * 5 + ["b"] * 3)
    assert found.labels == ("a", "b", "b")
    assert sorted(found.sizes[1:]) == [1, 2]


def test_equal_seeds_make_equal_clusters_bit_for_bit():
    vectors = np.random.default_rng(3).normal(size=(200, 384))
    one, other = (cluster(vectors, ["all"] * 200) for _ in range(2))
    assert one.centroids.tobytes() == other.centroids.tobytes()


@pytest.mark.parametrize("vectors", [np.zeros((0, 3)), np.array([[np.nan, 0.0]])])
def test_clusters_need_finite_vectors(vectors):
    with pytest.raises(ValueError, match="finite"):
        cluster(vectors, ["all"] * len(vectors))
