"""The bandit's estimates: published formulas, and what must hold for any data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.errors import UsageError
from tasks.paths.bandit.linucb import (
    BanditOptions,
    LinUCB,
    drawn,
    largest_chances,
)
from tasks.paths.bandit.off_policy import LoggedDecisions, always, doubly_robust, predicted_rewards

GOLDEN = (((1, 0), 1), ((0, 1), 0), ((1, 1), 1))
SEEDS = st.integers(0, 2**32 - 1)


def played(options: BanditOptions, rounds: int, seed: int, arms: int = 3, wide: int = 4):
    """Return a bandit after random rounds, and the rounds as arrays."""
    rng = np.random.default_rng(seed)
    contexts = rng.normal(size=(rounds, wide))
    chosen = rng.integers(arms, size=rounds)
    rewards = rng.normal(size=rounds)
    bandit = LinUCB(arms, wide, options)
    for arm, context, reward in zip(chosen, contexts, rewards, strict=True):
        bandit.update(int(arm), context, float(reward))
    return bandit, chosen, contexts, rewards


def test_the_worked_example_has_its_values():
    bandit = LinUCB(1, 2)
    for context, reward in GOLDEN:
        bandit.update(0, np.array(context), reward)
    context = np.array([1, 0.5])
    np.testing.assert_allclose(bandit.regularised(0), [[3, 1], [1, 3]])
    np.testing.assert_allclose(bandit.weights(0), [0.625, 0.125], atol=1e-12)
    assert bandit.means(context)[0] == pytest.approx(0.6875, abs=1e-12)
    assert bandit.widths(context)[0] == pytest.approx(0.586302, abs=5e-7)
    assert bandit.scores(context)[0] == pytest.approx(1.991361, abs=5e-7)


@pytest.mark.parametrize(
    ("delta", "gamma"), [(0.1, 2.223873), (0.05, 2.3581), (0.5, 1.8326), (0.01, 2.6276)]
)
def test_the_confidence_factor_has_its_values(delta, gamma):
    assert BanditOptions(delta=delta).gamma == pytest.approx(gamma, abs=5e-5)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(0, 60), st.sampled_from([0.1, 1.0, 10.0]))
def test_updates_one_by_one_equal_the_closed_form(seed, rounds, ridge):
    bandit, chosen, contexts, rewards = played(BanditOptions(ridge=ridge), rounds, seed)
    for arm in range(3):
        own = contexts[chosen == arm]
        inverse = np.linalg.inv(own.T @ own + ridge * np.eye(4))
        np.testing.assert_allclose(bandit.inverse(arm), inverse, rtol=1e-8, atol=1e-10)
        expected = inverse @ own.T @ rewards[chosen == arm]
        np.testing.assert_allclose(bandit.weights(arm), expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.booleans(), st.permutations(range(3)))
def test_the_order_of_arms_does_not_matter(seed, sampling, order):
    options = BanditOptions(posterior_sampling=sampling)
    bandit, chosen, contexts, rewards = played(options, 30, seed)
    other = LinUCB(3, 4, options)
    for arm, context, reward in zip(chosen, contexts, rewards, strict=True):
        other.update(order[arm], context, float(reward))
    context = np.random.default_rng(seed + 1).normal(size=4)
    np.testing.assert_allclose(
        other.chances(context)[list(order)], bandit.chances(context), atol=1e-9
    )


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_the_order_of_rewards_does_not_matter(seed):
    bandit, chosen, contexts, rewards = played(BanditOptions(), 30, seed)
    other = LinUCB(3, 4)
    for place in np.random.default_rng(seed).permutation(30):
        other.update(int(chosen[place]), contexts[place], float(rewards[place]))
    context = contexts[0]
    np.testing.assert_allclose(other.scores(context), bandit.scores(context))


def test_non_negative_weights_are_those_of_the_constrained_ridge():
    bandit, *_ = played(BanditOptions(nonnegative=True, ridge=0.5), 50, 3)
    for arm in range(3):
        weights = bandit.weights(arm)
        assert (weights >= 0).all()
        # Karush, Kuhn and Tucker: no slope where the weight is free, none downwards at the bound.
        slope = bandit.regularised(arm) @ weights - bandit.weighted[arm]
        np.testing.assert_allclose(slope[weights > 0], 0, atol=1e-9)
        assert (slope[weights == 0] >= -1e-9).all()
    assert any((bandit.weights(arm) == 0).any() for arm in range(3))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(0, 20), st.booleans(), st.sampled_from([0.0, 0.05, 1.0]))
def test_chances_are_probabilities_with_a_floor(seed, rounds, sampling, epsilon):
    options = BanditOptions(posterior_sampling=sampling, epsilon=epsilon)
    bandit, *_ = played(options, rounds, seed)
    chances = bandit.chances(np.ones(4))
    assert chances.sum() == pytest.approx(1)
    assert (chances >= epsilon / 3 - 1e-12).all()


def test_arms_of_which_nothing_is_known_are_equally_likely():
    np.testing.assert_allclose(LinUCB(6, 3).chances(np.ones(3)), 1 / 6)


@pytest.mark.parametrize("deviations", [(1.0, 1.0), (1e-6, 2.0), (0.3, 0.01)])
def test_the_chance_to_be_the_larger_of_two_gaussians_is_exact(deviations):
    from scipy.special import ndtr

    means, deviations = np.array([0.2, 0.1]), np.array(deviations)
    expected = ndtr(0.1 / np.linalg.norm(deviations))
    assert largest_chances(means, deviations)[0] == pytest.approx(expected, abs=2e-3)


def test_posterior_sampling_draws_as_often_as_samples_of_the_weights_win():
    options = BanditOptions(posterior_sampling=True, epsilon=0)
    bandit, *_ = played(options, 12, 5)
    context, rng = np.array([0.5, -0.2, 0.1, 0.8]), np.random.default_rng(0)
    samples = [
        rng.multivariate_normal(bandit.weights(arm), 0.25 * bandit.inverse(arm), 20_000) @ context
        for arm in range(3)
    ]
    shares = np.bincount(np.argmax(samples, axis=0), minlength=3) / 20_000
    np.testing.assert_allclose(bandit.chances(context), shares, atol=0.012)


def test_arms_are_drawn_as_often_as_their_chances_say():
    bandit, *_ = played(BanditOptions(epsilon=0.5), 12, 6)
    chances = bandit.chances(np.ones(4))
    arms = [drawn(chances, np.random.default_rng(n)) for n in range(2_000)]
    assert drawn(chances, np.random.default_rng(7)) == arms[7]
    np.testing.assert_allclose(np.bincount(arms, minlength=3) / 2_000, chances, atol=0.05)


@pytest.mark.parametrize("wrong", [{"ridge": 0}, {"delta": 1}, {"spread": -1}, {"epsilon": 1.5}])
def test_options_without_a_meaning_are_refused(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        BanditOptions(**wrong)


@pytest.mark.parametrize(
    ("context", "reward"), [((np.nan, 1), 1), ((1, 1, 1), 1), ((1, 1), np.inf), ((1, 1), np.nan)]
)
def test_what_is_no_context_or_reward_changes_nothing(context, reward):
    bandit = LinUCB(1, 2)
    with pytest.raises(UsageError):
        bandit.update(0, np.array(context), reward)
    assert not bandit.pulls.any() and not bandit.gram.any()


# -- what another policy would have earned -------------------------------------------------------


def logged(count: int, seed: int) -> tuple[LoggedDecisions, np.ndarray, np.ndarray]:
    """Return random decisions, the other policy's chances, and the mean reward of every arm."""
    rng = np.random.default_rng(seed)
    contexts = np.hstack([rng.normal(size=(count, 3)), np.ones((count, 1))])
    means = 0.5 + contexts @ rng.normal(size=(4, 3)) / 6
    chances = rng.dirichlet([2, 2, 2], count)
    arms = (rng.random(count)[:, None] > chances.cumsum(1)).sum(1)
    rows = np.arange(count)
    rewards = means[rows, arms] + rng.normal(size=count) / 5
    log = LoggedDecisions(contexts, arms, chances[rows, arms], chances, rewards)
    return log, np.eye(3)[means.argmax(1)], means


def test_estimates_of_another_policy_hold_its_true_value():
    held = 0
    for seed in range(40):
        log, chances, means = logged(600, seed)
        truth = (chances * means).sum(1).mean()
        for predicted in (predicted_rewards(log), np.full_like(means, 5.0)):  # wrong ones are wide
            estimate = doubly_robust(log, chances, predicted)
            held += estimate.low <= truth <= estimate.high
    assert held >= 68  # 95 % of 80 are 76


def test_good_predictions_make_the_estimate_narrow():
    log, chances, means = logged(600, 1)
    good, none, wrong = (
        doubly_robust(log, chances, predicted)
        for predicted in (predicted_rewards(log), np.zeros_like(means), np.full_like(means, 5.0))
    )
    assert good.high - good.low < none.high - none.low < wrong.high - wrong.low


def test_worked_example_of_importance_weights():
    """Without predictions, an estimate is importance sampling."""
    arms, propensities = np.array([0, 1, 0]), np.array([0.5, 0.5, 0.25])
    log = LoggedDecisions(
        np.ones((3, 1)), arms, propensities, np.full((3, 2), 0.5), np.array([1.0, 1.0, 0.0])
    )
    estimate = doubly_robust(log, always(0, log), np.zeros((3, 2)))
    assert estimate.value == pytest.approx(2 / 3)
    assert estimate.effective == pytest.approx(36 / 20)


def test_the_reward_that_corrects_a_prediction_was_not_seen_by_it():
    log, _, _ = logged(60, 3)
    other = replace(log, rewards=log.rewards + 100 * (np.arange(60) == 7))
    unchanged = predicted_rewards(log)[7] == predicted_rewards(other)[7]
    assert unchanged.all()


def test_what_is_predicted_of_an_arm_that_was_never_chosen_is_the_mean_of_the_others():
    log, _, _ = logged(60, 3)
    seen = replace(log, arms=np.zeros(60, int), rewards=np.full(60, 0.7))
    np.testing.assert_allclose(predicted_rewards(seen), 0.7)


def test_nothing_can_be_estimated_without_propensities():
    log, chances, means = logged(5, 4)
    with pytest.raises(UsageError):
        doubly_robust(replace(log, propensities=np.zeros(5)), chances, means)
