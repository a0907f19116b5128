"""Kills at random points lose, double and change nothing, whatever was under way."""

import pytest

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


@pytest.mark.parametrize(
    ("benchmark", "options", "faults"),
    [
        (
            "gate_crash",
            "--kills 6 --seed 2 --questions 60",
            ("half_made", "different", "left_running", "left_files"),
        ),
        ("policy_crash", "--kills 5 --seed 3", ("different", "left_files")),
        (
            "expert_resume",
            "--kills 4 --seed 1 --epochs 4 --width 32 --layers 1 --vocabulary 320",
            ("other_weights", "left_behind"),
        ),
    ],
)
def test_calibration_or_training_that_is_killed_again_and_again_ends_as_an_undisturbed_one(
    tmp_path, benchmark, options, faults
):
    figures = figures_of(benchmark, tmp_path, *options.split())
    assert figures["kills"] == int(options.split()[1]) and figures["rounds"] >= 1
    for name in ("gone_on", "in_training"):  # kills that met a training in its midst
        assert figures.get(name, 1) >= 1
    assert not any(figures[name] for name in faults)
