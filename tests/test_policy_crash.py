"""Trainings of a policy that kill themselves at random points end with the same weights."""

from tests.killed_benchmarks import tally_of


def test_a_training_that_is_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path):
    tally = tally_of("policy_crash", tmp_path, kills=5, seed=3)
    assert tally.pop("kills") == 5
    assert tally.pop("rounds") >= 1 and tally.pop("gone_on") >= 1
    assert set(tally.values()) == {0}
