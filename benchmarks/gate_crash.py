"""Kill calibrations at random points, resume them, and compare every row with an undisturbed run.

    python -m benchmarks.gate_crash [--kills 40] [--seed 1]

A home has a gate for one task. Calibrations of a second task are killed (SIGKILL) at times drawn
evenly over 1.3 times the length of an undisturbed one, until one runs to its end. After every kill
the first task's gate must stand as it did and the second's not at all, or whole; at the end both
must equal those of an undisturbed home bit for bit.
"""

import json
import random
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.command import run_command
from benchmarks.killed import SERVER, drawn, ended_in_time, kill_command, left_in, play_rounds
from schemas.learning import Centroid, GateSeed, TaskGate, Threshold
from schemas.operations import Run
from schemas.settings import EngineSettings, Settings
from tasks.calibrate_gate import calibrate_gate
from warehouse.home import Home
from warehouse.live import latest

PLAIN = Settings(engine=EngineSettings(encoder="none"))
OWN = {"calibration_id", "calibrated_at"}  # of a calibration, not of what it found
QUESTIONS = 200
SPREAD = 1.3  # of its length, over which kills are drawn: after one a run has more to do
SERVER.set_forkserver_preload(
    ["benchmarks.gate_crash", "sklearn.cluster", "onnxruntime", "tokenizers", "rapidfuzz"]
)


@dataclass
class Tally:
    """The results of the kills."""

    kills: int = 0
    rounds: int = 0
    half_made: int = 0
    different: int = 0
    left_running: int = 0
    left_files: int = 0


def gates_of(home: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return all rows of each task's gate in the current edition, by task and table."""
    edition = Home(home).editions.current()
    assert edition is not None
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for table in (TaskGate, GateSeed, Centroid, Threshold):
        for row in edition.table(table).to_pylist():
            kept = {name: value for name, value in row.items() if name not in OWN}
            found.setdefault(row["task"], {}).setdefault(table.table, []).append(kept)
    return found


def questions_file(path: Path, count: int) -> Path:
    """Write the questions of both tasks, which are the same."""
    questions = [f"In which year was society number {n} founded, and where?" for n in range(count)]
    path.write_text(
        "".join(f"{json.dumps({'question': q})}\n" for q in questions), encoding="utf-8"
    )
    return path


def calibrated(home: Path, questions: Path, task: str) -> None:
    """Calibrate one task's gate."""
    calibrate_gate(Home(home), questions, PLAIN, task=task)


def torture(work: Path, kills: int, seed: int, questions: int = QUESTIONS) -> Tally:
    """Kill this many runs, each over so many questions, and return the results."""
    file = questions_file(work / "questions.jsonl", questions)
    start, whole = work / "start", work / "undisturbed"
    ended_in_time(None, calibrated, start, file, "first")
    shutil.copytree(start, whole)
    before = gates_of(start)
    started = time.monotonic()
    ended_in_time(None, calibrated, whole, file, "second")
    longest, wanted = SPREAD * (time.monotonic() - started), gates_of(whole)
    tally, chance = Tally(), random.Random(seed)

    def run(home: Path, may_be_killed: bool) -> bool:
        if not home.exists():
            shutil.copytree(start, home)
        seconds = drawn(chance, longest, may_be_killed)
        ended = ended_in_time(seconds, calibrated, home, file, "second")
        tally.half_made += not ended and gates_of(home) not in (before, wanted)
        return ended

    def check(home: Path) -> None:
        tally.different += gates_of(home) != wanted
        runs = latest(Home(home).live, Run).to_pylist()
        tally.left_running += sum(run["outcome"] == "running" for run in runs)
        tally.left_files += left_in(home, "*.tmp", ".building-*")

    play_rounds(work, tally, kills, run, check)
    return tally


def main() -> bool:
    """Run the benchmark and write its results."""
    faults = ("half_made", "different", "left_running", "left_files")
    return kill_command("gate-crash", __doc__, torture, 40, faults, questions=QUESTIONS)


if __name__ == "__main__":
    run_command(main)
