"""Kill trainings of a policy at random points, resume them, and compare the weights bit for bit.

    python -m benchmarks.policy_crash [--kills 200] [--seed 1]

A training counts its batches and every step of writing a checkpoint, and kills itself (SIGKILL) at
a number that is drawn for it; the next goes on, until one runs to its end. Then its weights and its
curve are compared with those of an undisturbed training. Rounds are repeated until `--kills` kills
were made.
"""

import os
import random
import signal
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.command import run_command
from benchmarks.killed import SERVER, kill_command, left_in, play_rounds
from tasks.graphs.graph import Graph
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.store import save_policy
from tasks.paths.policy.train import Example, train_policy
from warehouse import durable

NODES, EDGES, ASKED, WIDE = 60, 240, 60, 8
PLAN = PolicyPlan(width=8, batch=20, epochs=3, steps=2)
SERVER.set_forkserver_preload(
    ["benchmarks.policy_crash", "torch._dynamo", "scipy.sparse", "safetensors.torch"]
)


@dataclass
class Tally:
    """The results of the kills."""

    kills: int = 0
    rounds: int = 0
    gone_on: int = 0  # trainings that began with a checkpoint
    different: int = 0
    left_files: int = 0


def trained(state: Path, result: Path, last: int) -> None:
    """Train to the end and save the policy, or end at the event with the number `last`.

    The events of a whole training are counted in the file `events` beside the result.
    """
    import torch

    torch.set_num_threads(1)
    draw = np.random.default_rng(0)
    heads, tails = draw.integers(NODES, size=(2, EDGES))
    triples = [(f"n{a}", f"r{a % 3}", f"n{b}") for a, b in zip(heads, tails, strict=True)]
    graph = Graph.of("drawn", triples)
    relations = draw.normal(size=(len(graph.relations), WIDE)).astype(np.float32)
    starts = draw.integers(graph.nodes, size=ASKED)
    examples = [
        Example(f"What is r1 of {graph.label(start)}?", (graph.step(np.array([start]), 1),))
        for start in starts.tolist()
    ]
    events, sync = 0, durable.sync_file

    def event() -> None:
        nonlocal events
        events += 1
        if events == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def report(stage: str, done: int, total: int) -> None:
        if stage != "learn":
            return
        if not events and done > 1:
            result.with_name("gone-on").touch()
        event()

    def sync_file(path: Path) -> None:
        event()
        sync(path)

    with patch.object(durable, "sync_file", sync_file):
        policy = train_policy(
            *(graph, relations, examples, PLAN, state),
            report=report,
            checkpoint_seconds=0,
        )
    save_policy(result, policy, graph.name, "drawn")
    result.with_name("events").write_text(str(events))


def run_killed(state: Path, result: Path, last: int) -> bool:
    """Train in a child; return whether it ended by itself. Raises RuntimeError if it failed."""
    child = SERVER.Process(target=trained, args=(state, result, last))
    child.start()
    child.join()
    if child.exitcode not in (0, -signal.SIGKILL):
        raise RuntimeError(f"a training that nobody killed ended with {child.exitcode}")
    return child.exitcode == 0


def torture(work: Path, kills: int, seed: int) -> Tally:
    """Kill this many trainings and return the results."""
    run_killed(work / "state", work / "whole", 0)
    events, wanted = int((work / "events").read_text()), files_of(work / "whole")
    tally, chance = Tally(), random.Random(seed)

    def run(folder: Path, may_be_killed: bool) -> bool:
        folder.mkdir(exist_ok=True)
        last = chance.randint(1, events) if may_be_killed else 0
        ended = run_killed(folder / "state", folder / "policy", last)
        tally.gone_on += (folder / "gone-on").exists()
        (folder / "gone-on").unlink(missing_ok=True)
        return ended

    def check(folder: Path) -> None:
        tally.different += files_of(folder / "policy") != wanted
        tally.left_files += left_in(folder, "*.tmp")

    play_rounds(work, tally, kills, run, check)
    if not tally.gone_on:
        raise SystemExit("No training went on from a checkpoint, so nothing was measured.")
    return tally


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of a policy's files."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def main() -> bool:
    """Run the benchmark and write its results."""
    return kill_command("policy-crash", __doc__, torture, 200, ("different", "left_files"))


if __name__ == "__main__":
    run_command(main)
