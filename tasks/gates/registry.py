"""Assignment of questions to the tasks with a calibrated gate.

A question belongs to the task with the nearest centroid, or to none if it is further away than
that task's own questions are. Distances from one encoder are compared as they are: relative to each
task's reach, a task with widely scattered questions would attract those of other tasks. Distances
from different encoders can only be compared relative to the reach. Tasks of one field are hard to
tell apart, and a question from another field may be within reach, so name the task if you know it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.errors import AlmanacError, UsageError
from tasks.gates.calibrated import CalibratedGate
from tasks.gates.clusters import squared_distances
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.load import Encoder

NEAREST_REACH = 1e-9  # the least reach, for seeds that are all equal


@dataclass(frozen=True, slots=True)
class Placed:
    """The gate of the task that a question belongs to; None if no task is near enough.

    `vector` float64 (h,) comes from that gate's encoder. `apart` is the distance from the task's
    nearest centroid as a share of the task's reach.
    """

    gate: CalibratedGate | None
    vector: np.ndarray | None = None
    apart: float | None = None


class TaskRegistry:
    """The calibrated tasks of an edition, each with the encoder that it was calibrated with."""

    def __init__(
        self, gates: Mapping[str, CalibratedGate], opened: Callable[[EncoderChoice], Encoder]
    ) -> None:
        """Take the gates by task; `opened` opens an encoder when it is first needed."""
        self._gates, self._opened = gates, opened
        self._encoders: dict[str, Encoder] = {}

    def __contains__(self, task: str | None) -> bool:
        """Return whether the task has a gate."""
        return task in self._gates

    def place(self, questions: Sequence[str], named: Sequence[str | None] = ()) -> list[Placed]:
        """Return the task of each question: the one named for it, else the nearest.

        Raises UsageError if there is no such task, AlmanacError if an encoder is not available or
        is no longer the one that the gate was calibrated with.
        """
        named = named or [None] * len(questions)
        placed = [Placed(None)] * len(questions)
        for task in dict.fromkeys(named):
            places = [place for place, name in enumerate(named) if name == task]
            of_task = [questions[place] for place in places]
            results = (
                self._nearest(of_task) if task is None else self._of(of_task, self.named(task))
            )
            for place, result in zip(places, results, strict=True):
                placed[place] = result
        return placed

    def close(self) -> None:
        """Close the encoders that hold connections."""
        for encoder in self._encoders.values():
            if close := getattr(encoder, "close", None):
                close()
        self._encoders.clear()

    def _nearest(self, questions: Sequence[str]) -> list[Placed]:
        """Return the nearest task of each question within its reach, or none."""
        best = [Placed(None)] * len(questions)
        by_encoder: dict[str, list[CalibratedGate]] = {}
        for gate in self._gates.values():
            if gate.reach >= 0:  # not NaN
                by_encoder.setdefault(gate.encoder_id, []).append(gate)
        for gates in by_encoder.values():
            vectors = self._vectors(gates[0], questions)
            distances = np.array([_distances(vectors, gate) for gate in gates])
            for place, number in enumerate(distances.argmin(0)):
                gate = gates[number]
                apart = float(distances[number, place] / max(gate.reach, NEAREST_REACH))
                before = best[place].apart
                if apart <= 1 and (before is None or apart < before):
                    best[place] = Placed(gate, vectors[place], apart)
        return best

    def named(self, task: str) -> CalibratedGate:
        """Return the gate of a task; raises UsageError, listing all tasks, if it has none."""
        if task not in self._gates:
            tasks = ", ".join(sorted(self._gates)) or "none"
            raise UsageError(
                f"No gate is calibrated for a task {task!r}. The tasks: {tasks}. "
                "`almanac calibrate-gate FILE --task NAME` adds one."
            )
        return self._gates[task]

    def _of(self, questions: Sequence[str], gate: CalibratedGate) -> list[Placed]:
        if "vectors" not in gate.gate.needs:
            return [Placed(gate)] * len(questions)
        return [Placed(gate, vector) for vector in self._vectors(gate, questions)]

    def _vectors(self, gate: CalibratedGate, questions: Sequence[str]) -> np.ndarray:
        """Return the questions' vectors (n, h) from a gate's encoder."""
        if gate.encoder_id not in self._encoders:
            encoder = self._opened(gate.choice)
            if encoder.id != gate.encoder_id:
                raise AlmanacError(
                    f"The gate of the task {gate.task} was calibrated with the encoder "
                    f"{gate.encoder_id}, which now is {encoder.id}. Calibrate it again with "
                    f"`almanac calibrate-gate FILE --task {gate.task}`."
                )
            self._encoders[gate.encoder_id] = encoder
        return self._encoders[gate.encoder_id].encode(list(questions)).astype(np.float64)


def _distances(vectors: np.ndarray, gate: CalibratedGate) -> np.ndarray:
    """Return the distance (n,) of each question from the task's nearest centroid."""
    squared = squared_distances(vectors, gate.centroids)
    nearest: np.ndarray = np.sqrt(np.maximum(squared.min(1), 0))
    return nearest
