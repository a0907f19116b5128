"""Kills the training of an expert at random points and compares what it ends with.

    python -m benchmarks.expert_resume [--kills 20] [--seed 1] [--epochs 8]

A training runs once undisturbed. Then it runs in processes that are killed (SIGKILL), most of them
a random time after they wrote their first checkpoint, every fourth at any time before, until one
ends; that is a round, and rounds go on until all kills are done. A checkpoint is written after
every step, so that many kills fall into writing one. Weights, manifest and losses must be the
undisturbed ones, bit for bit.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.command import run_command
from benchmarks.killed import SERVER, drawn, kill_command, left_in, play_rounds
from tasks.experts.manifest import sha_of
from tasks.experts.training.plan import TrainingPlan
from tasks.experts.training.train import train_expert

PLAN = TrainingPlan(
    epochs=8, width=64, layers=2, vocabulary=400, batch_tokens=256, part_tokens=128, row_tokens=64,
    patience=2,
)  # fmt: skip
SUBJECTS = 60
STATE = Path(".training", "ships", "state.safetensors")
SERVER.set_forkserver_preload(
    [
        "tasks.experts.training.train", "matplotlib.figure", "matplotlib.backends.backend_agg",
        "transformers.models.llama.modeling_llama",
    ]
)  # fmt: skip


@dataclass
class Tally:
    """What became of the trainings."""

    kills: int = 0
    rounds: int = 0
    in_training: int = 0  # kills after which a checkpoint of an unfinished training was there
    other_weights: int = 0
    left_behind: int = 0  # files aside that no later process removed


def texts(split: str) -> list[str]:
    """Return made-up sentences, always the same."""
    random = Random(4)
    made = [
        f"Ship {n} was built in {random.randrange(1700, 1990)} and has {random.randrange(9)} masts."
        for n in range(SUBJECTS)
    ]
    return made[6:] if split == "train" else made[:6]


def train(experts: Path, plan: TrainingPlan) -> Path:
    """Train with a checkpoint after every step; return the expert's folder."""
    return train_expert(experts, "ships", plan, texts, "ships-1", checkpoint_seconds=0.0).folder


def torture(folder: Path, kills: int, seed: int, **changes: Any) -> Tally:
    """Kill trainings and compare what they end with; all but the first counts should be 0.

    `changes` are of the plan.
    """
    random, tally, plan = Random(seed), Tally(), PLAN.model_copy(update=changes)
    run_killed(folder / "undisturbed", plan)  # loads what the timed one need not
    started = time.monotonic()
    run_killed(folder / "again", plan)
    longest = 0.5 * (time.monotonic() - started)
    expected = _weights(folder / "undisturbed")
    assert _weights(folder / "again") == expected

    def run(experts: Path, may_be_killed: bool) -> bool:
        seconds = drawn(random, longest, may_be_killed)
        ended = run_killed(experts, plan, seconds, at_once=tally.kills % 4 == 3)
        tally.in_training += not ended and (experts / STATE).exists()
        return ended

    def check(experts: Path) -> None:
        tally.other_weights += _weights(experts) != expected
        tally.left_behind += left_in((experts / STATE).parent, "*.tmp")

    play_rounds(folder, tally, kills, run, check)
    return tally


def run_killed(
    experts: Path, plan: TrainingPlan, limit: float | None = None, at_once: bool = False
) -> bool:
    """Train in a process of its own, killed `limit` seconds after its first checkpoint.

    With `at_once` the seconds count from its start. Returns whether it ended by itself.
    """
    before = _written(experts)
    process: Any = SERVER.Process(target=train, args=(experts, plan))
    process.start()
    if limit is not None and not at_once:
        while process.is_alive() and _written(experts) == before:
            time.sleep(0.002)
    process.join(limit)
    ended = process.exitcode is not None
    process.kill()
    process.join()
    if ended and process.exitcode:
        raise RuntimeError(f"A training that nobody killed ended with {process.exitcode}.")
    return ended


def _written(experts: Path) -> int:
    """Return when the last checkpoint was written, in nanoseconds; 0 if there is none."""
    try:
        return (experts / STATE).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _weights(experts: Path) -> list[tuple[str, bytes]]:
    """Return the finished experts: the hash of the manifest and the weights themselves."""
    return [
        (sha_of(folder), (folder / "model.safetensors").read_bytes())
        for folder in sorted((experts / "ships").glob("*/"))
    ]


def main() -> bool:
    """Measure and write the results."""
    faults = ("other_weights", "left_behind")
    sizes = {name: getattr(PLAN, name) for name in ("epochs", "width", "layers", "vocabulary")}
    return kill_command("expert-resume", __doc__, torture, 20, faults, **sizes)


if __name__ == "__main__":
    run_command(main)
