"""Twenty kills at random points of a refresh lose, double and change nothing."""

from benchmarks.crash import torture
from schemas.settings import EngineSettings, Settings


def test_a_refresh_that_is_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path):
    settings = Settings(engine=EngineSettings(encoder="none"), workers=1)
    tally = torture(tmp_path, kills=20, documents=20, seed=3, settings=settings)
    assert tally.kills == 20
    assert tally.rounds >= 1
    assert (tally.lost, tally.duplicated, tally.different_rows) == (0, 0, 0)
    assert (tally.left_running, tally.left_files) == (0, 0)
