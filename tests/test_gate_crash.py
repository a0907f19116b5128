"""Kills at random points of a calibration leave the gates that were there, or whole new ones."""

from dataclasses import asdict
from pathlib import Path

from benchmarks.gate_crash import torture


def test_a_calibration_that_is_killed_again_and_again_ends_as_an_undisturbed_one(
    tmp_path: Path,
) -> None:
    tally = asdict(torture(tmp_path, kills=6, seed=2))
    assert tally.pop("kills") == 6
    assert tally.pop("rounds") >= 1
    assert set(tally.values()) == {0}
