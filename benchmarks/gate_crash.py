"""Kill calibrations at random points, resume them, and compare every row with an undisturbed run.

    python -m benchmarks.gate_crash [--kills 40] [--seed 1]

A home has a gate for one task. Calibrations of a second task are killed (SIGKILL) at times drawn
evenly over 1.3 times the length of an undisturbed one, until one runs to its end. After every kill
the first task's gate must stand as it did and the second's not at all, or whole; at the end both
must equal those of an undisturbed home bit for bit.
"""

import argparse
import json
import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.results_file import write_results
from schemas.learning import Centroid, GateSeed, TaskGate, Threshold
from schemas.operations import Run
from schemas.settings import EngineSettings, Settings
from tasks.calibrate_gate import calibrate_gate
from warehouse.home import Home
from warehouse.live import latest

PLAIN = Settings(engine=EngineSettings(encoder="none"))
OWN = {"calibration_id", "calibrated_at"}  # of a calibration, not of what it found
QUESTIONS = 200
LONGEST = 120.0  # seconds of a run that nobody kills
SPREAD = 1.3  # of its length, over which kills are drawn: after one a run has more to do
# Children come of a server that has loaded what takes long and started no thread.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    [
        "benchmarks.gate_crash",
        "sklearn.cluster",
        "onnxruntime",
        "tokenizers",
        "rapidfuzz",
    ]
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


def run_killed(seconds: float | None, *call: Any) -> bool:
    """Calibrate in a child, kill it after this many seconds; return whether it ended by itself.

    Without a time it must end well; RuntimeError if it does not.
    """
    child = SERVER.Process(target=calibrated, args=call)
    child.start()
    child.join(LONGEST if seconds is None else seconds)
    ended = child.exitcode is not None
    child.kill()
    child.join()
    if (ended or seconds is None) and child.exitcode:
        raise RuntimeError(f"a calibration that nobody killed ended with {child.exitcode}")
    return ended


def torture(work: Path, kills: int, seed: int, questions: int = QUESTIONS) -> Tally:
    """Kill this many runs, each over so many questions, and return the results."""
    file = questions_file(work / "questions.jsonl", questions)
    start, whole = work / "start", work / "undisturbed"
    run_killed(None, start, file, "first")
    shutil.copytree(start, whole)
    before = gates_of(start)
    started = time.monotonic()
    run_killed(None, whole, file, "second")
    length, wanted = time.monotonic() - started, gates_of(whole)
    tally, chance = Tally(), random.Random(seed)
    while tally.kills < kills:
        home = work / f"round-{tally.rounds}"
        shutil.copytree(start, home)
        while not run_killed(chance.uniform(0, SPREAD * length), home, file, "second"):
            tally.kills += 1
            tally.half_made += gates_of(home) not in (before, wanted)
            if tally.kills >= kills:
                run_killed(None, home, file, "second")
                break
        tally.rounds += 1
        tally.different += gates_of(home) != wanted
        runs = latest(Home(home).live, Run).to_pylist()
        tally.left_running += sum(run["outcome"] == "running" for run in runs)
        tally.left_files += sum(1 for kind in ("*.tmp", ".building-*") for _ in home.rglob(kind))
        shutil.rmtree(home)
        print(f"{tally.kills} kills, {tally.rounds} rounds", file=sys.stderr)
    return tally


def main() -> None:
    """Run the benchmark and write its results."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=40)
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-gate-crash-") as work:
        tally = torture(Path(work), arguments.kills, arguments.seed)
    write_results(
        "gate-crash", f"python -m benchmarks.gate_crash --kills {arguments.kills}", asdict(tally)
    )
    print(asdict(tally))
    bad = tally.half_made + tally.different + tally.left_running + tally.left_files
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
