"""Kills at random points of a refresh lose, double and change nothing."""

from tests.benchmark_runs import figures_of

NOTHING = ("lost_rows", "duplicated_rows", "different_rows", "runs_left_running", "files_left")


def test_a_refresh_that_is_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path):
    figures = figures_of("crash", tmp_path, "--kills", "20", "--documents", "20", "--seed", "3")
    assert figures["kills"] == 20 and figures["rounds"] >= 1
    assert not any(figures[name] for name in NOTHING)


def test_a_killed_refresh_by_a_model_pays_again_for_what_was_in_flight_and_no_more(tmp_path):
    options = ["--kills", "6", "--documents", "40", "--seed", "3"]
    figures = figures_of("model_crash", tmp_path, *options)
    assert figures["kills"] == 6
    assert not any(figures[name] for name in NOTHING)
    assert figures["calls"] >= 40 * figures["rounds"]
    assert figures["calls_for_what_was_answered"] == figures["calls_nobody_planned"] == 0
    assert figures["calls_repeated"] <= figures["calls_in_flight"] * figures["kills"]


def test_readers_see_whole_editions_whatever_is_published_meanwhile(tmp_path):
    options = ["--seconds", "4", "--readers", "2", "--least-reads", "10"]
    figures = figures_of("readers", tmp_path, *options)
    assert figures["editions"] >= 3 and figures["reads"] >= 10
    assert (figures["errors"], figures["mixed"]) == (0, 0), figures["first_errors"]
