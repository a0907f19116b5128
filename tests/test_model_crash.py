"""Kills of refreshes by a model: nothing lost or doubled, nothing answered is asked again."""

from benchmarks.model_crash import CONCURRENCY, measure
from benchmarks.model_run import KEY


def test_a_killed_refresh_by_a_model_pays_again_for_what_was_in_flight_and_no_more(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)  # and taken back afterwards
    tally, watch = measure(tmp_path, kills=6, documents=40, seed=3)
    assert tally.kills == 6
    assert (tally.lost, tally.duplicated, tally.different_rows) == (0, 0, 0)
    assert (tally.left_running, tally.left_files) == (0, 0)
    assert watch.calls >= 40 * tally.rounds
    assert watch.asked_though_answered == 0
    assert watch.asked_again <= CONCURRENCY * tally.kills
    assert watch.unknown == 0
