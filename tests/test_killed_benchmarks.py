"""Kills at random points of trainings and calibrations: they end as undisturbed ones would.

Each benchmark is run by a process of its own, so that it loads what it forks; tests share one
server of processes, which loads only what most of them need.
"""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

_, name, folder, options = sys.argv
tally = import_module(f"benchmarks.{name}").torture(Path(folder), **json.loads(options))
print(json.dumps(asdict(tally)))
"""
SMALL = {"epochs": 4, "width": 32, "layers": 1, "vocabulary": 320}


@pytest.mark.parametrize(
    ("benchmark", "options", "happened"),
    [
        ("gate_crash", {"kills": 6, "seed": 2, "questions": 60}, ("rounds",)),
        ("policy_crash", {"kills": 5, "seed": 3}, ("rounds", "gone_on")),
        ("expert_resume", {"kills": 4, "seed": 1, **SMALL}, ("rounds", "in_training")),
    ],
)
def test_what_is_killed_again_and_again_ends_as_if_undisturbed(
    benchmark, options, happened, repository, tmp_path
):
    arguments = [benchmark, str(tmp_path), json.dumps(options)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], cwd=repository, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    tally: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    assert tally.pop("kills") == options["kills"]
    assert all([tally.pop(name) >= 1 for name in happened])
    assert set(tally.values()) == {0}
