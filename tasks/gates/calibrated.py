"""The fitted gates of an edition, with the seed scores from which thresholds are derived."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from schemas.errors import UsageError
from schemas.learning import Centroid, GateSeed, TaskGate
from tasks.gates.clusters import Clusters
from tasks.gates.gate import RETIRED, Gate, make_gate
from tasks.gates.questions import GateQuestions
from tasks.gates.thrust import ThrustGate
from tasks.models.encoders.choice import EncoderChoice
from warehouse.editions import Edition


@dataclass(frozen=True)
class CalibratedGate:
    """The gate of one task, ready to score.

    A question belongs to the task if its distance from the nearest of `centroids`, float64 (m, h),
    is at most `reach`. `seed_scores` are the seeds' cross-fitted scores, sorted. `calibration` is
    the id of this calibration of the task.
    """

    task: str
    gate: Gate
    choice: EncoderChoice
    encoder_id: str
    centroids: np.ndarray
    reach: float
    seed_scores: np.ndarray
    calibration: str


def calibrated_gates(edition: Edition) -> dict[str, CalibratedGate]:
    """Return the calibrated gates of an edition by task; there may be none.

    Raises UsageError, saying what to do, for a gate that is no longer part of Almanac.
    """
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
    if row["gate"] in RETIRED:
        raise UsageError(
            f"The gate of the task {row['task']} is {row['gate']}, which is no longer part of "
            "Almanac: it was no better than the others. Calibrate the task again with `almanac "
            f"calibrate-gate FILE --task {row['task']}`, or remove its gate with `almanac gates "
            f"remove {row['task']}`."
        )
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
        seed_scores=np.sort([seed["score"] for seed in seeds]),
        calibration=row["calibration_id"],
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
