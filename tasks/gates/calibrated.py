"""The fitted gates of an edition, and the assignment of questions to their tasks."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from schemas.errors import AlmanacError, UsageError
from schemas.learning import Centroid, GateSeed, TaskGate
from tasks.gates.clusters import Clusters
from tasks.gates.gate import Gate, make_gate
from tasks.gates.questions import GateQuestions
from tasks.gates.thrust import ThrustGate
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.load import Encoder
from warehouse.editions import Edition

NEAREST_REACH = 1e-9  # the least reach, for seeds that are all equal


@dataclass(frozen=True)
class CalibratedGate:
    """The gate of one task, ready to score.

    A question belongs to the task if its distance from the nearest of `centroids`, float64 (m, h),
    is at most `reach`. `seed_scores` are the seeds' cross-fitted scores, `seeds` their
    questions. `calibration` is the id of this calibration of the task.
    """

    task: str
    gate: Gate
    choice: EncoderChoice
    encoder_id: str
    centroids: np.ndarray
    reach: float
    seed_scores: np.ndarray
    calibration: str
    seeds: tuple[str, ...] = ()


def calibrated_gates(edition: Edition) -> dict[str, CalibratedGate]:
    """Return the calibrated gates of an edition by task; there may be none."""
    if not edition.rows(TaskGate):
        return {}
    centroids, seeds = edition.table(Centroid), edition.table(GateSeed)
    return {
        row["task"]: _opened(
            row,
            centroids.filter(pc.equal(centroids["task"], row["task"])).to_pylist(),
            seeds.filter(pc.equal(seeds["task"], row["task"])).to_pylist(),
        )
        for row in edition.table(TaskGate).to_pylist()
    }


def _opened(
    row: dict[str, Any], centroids: list[dict[str, Any]], seeds: list[dict[str, Any]]
) -> CalibratedGate:
    options = json.loads(row["options"])
    clusters = Clusters(
        np.array([centroid["vector"] for centroid in centroids], float),
        np.array([centroid["size"] for centroid in centroids], float),
        np.array([centroid["inertia"] for centroid in centroids], float),
        tuple(centroid["label"] for centroid in centroids),
    )
    gate: Gate
    if row["gate"] == "thrust":
        gate = ThrustGate.of(clusters, options.get("variant", "full"))
    else:
        gate = make_gate(row["gate"], **options)
        gate.fit(_seed_questions(seeds))
    return CalibratedGate(
        task=row["task"],
        gate=gate,
        choice=EncoderChoice.from_json(row["encoder_choice"]),
        encoder_id=row["encoder"],
        centroids=clusters.centroids,
        reach=row["reach"],
        seed_scores=np.array([seed["score"] for seed in seeds], float),
        calibration=row["calibration_id"],
        seeds=tuple(seed["question"] for seed in seeds),
    )


def _seed_questions(seeds: list[dict[str, Any]]) -> GateQuestions:
    return GateQuestions(
        [seed["question"] for seed in seeds],
        [seed["label"] for seed in seeds],
        np.array([seed["vector"] for seed in seeds], float),
        popularity=_column(seeds, "popularity"),
        uncertainty=_column(seeds, "uncertainty"),
        answers=np.array([seed["own_answer"] or "" for seed in seeds], dtype=object),
        gains=_column(seeds, "gain"),
    )


def _column(seeds: list[dict[str, Any]], name: str) -> np.ndarray:
    return np.array([np.nan if seed[name] is None else seed[name] for seed in seeds], float)


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
    """Assigns questions to the calibrated tasks of an edition.

    A question belongs to the task with the nearest centroid, or to none if it is further away than
    that task's own questions are. Distances from one encoder are compared as they are: relative to
    each task's reach, a task with widely scattered questions would attract those of other tasks.
    Distances from different encoders can only be compared relative to the reach. Tasks of one field
    are hard to tell apart, and a question from another field may be within reach, so name the task
    if you know it.
    """

    def __init__(
        self, gates: Mapping[str, CalibratedGate], opened: Callable[[EncoderChoice], Encoder]
    ) -> None:
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
            distances = np.array(
                [squared_distances(vectors, gate.centroids).min(1) for gate in gates]
            )
            distances = np.sqrt(np.maximum(distances, 0))
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


def squared_distances(vectors: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Return the squared distances (n, m) of vectors (n, h) from centroids (m, h).

    By the binomial formula, without an array of differences; rounding may make them negative.
    """
    distances: np.ndarray = (
        np.einsum("nh,nh->n", vectors, vectors)[:, None]
        + np.einsum("mh,mh->m", centroids, centroids)
        - 2 * vectors @ centroids.T
    )
    return distances
