"""Kills at random points of a calibration leave the gates that were there, or whole new ones."""

from tests.killed_benchmarks import tally_of


def test_a_calibration_that_is_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path):
    tally = tally_of("gate_crash", tmp_path, kills=6, seed=2, questions=60)
    assert tally.pop("kills") == 6
    assert tally.pop("rounds") >= 1
    assert set(tally.values()) == {0}
