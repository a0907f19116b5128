"""Calibration of the gate of a task: its seeds, their clusters, and a threshold per budget."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from schemas.errors import AlmanacError, UsageError
from schemas.learning import (
    CALIBRATED,
    CalibrationCluster,
    CalibrationSeed,
    CalibrationThreshold,
    GateCalibration,
)
from schemas.row import Row
from tasks.gates.clusters import Clusters, cluster
from tasks.gates.crossfit import cross_fitted, folds_of, threshold
from tasks.gates.gate import make_gate
from tasks.gates.questions import GateQuestions
from tasks.gates.thrust import ThrustGate, scale_of
from tasks.models.encoders.choice import EncoderChoice

FEWEST_SEEDS = 10  # with fewer, folds and clusters are nearly empty
REACH = 0.98  # share of the task's own questions within its reach
BUDGETS = tuple(percent / 100 for percent in range(1, 100))


@dataclass(frozen=True)
class GateChoice:
    """A gate by its name, with its options and the encoder of the vectors."""

    gate: str = "thrust"
    options: Mapping[str, Any] = field(default_factory=dict)
    encoder: EncoderChoice = EncoderChoice()


@dataclass(frozen=True)
class Calibration:
    """A calibrated gate, ready for the journal: `scores` (n,) are cross-fitted."""

    task: str
    choice: GateChoice
    encoder_id: str
    seeds: GateQuestions
    scores: np.ndarray
    clusters: Clusters
    reach: float


def calibrate(task: str, choice: GateChoice, encoder_id: str, seeds: GateQuestions) -> Calibration:
    """Fit a task's gate on its seeds, and score each seed by a gate that never saw it.

    Seeds need vectors, which decide later whether a question belongs to the task. Raises UsageError
    for too few seeds or a missing column, AlmanacError if the gate can score none of the seeds.
    """
    if len(seeds) < FEWEST_SEEDS:
        raise UsageError(
            f"{len(seeds)} different questions are too few to calibrate a gate: {FEWEST_SEEDS} are "
            "the least, 200 are advised."
        )
    if seeds.vectors is None:
        raise ValueError("seeds need vectors")
    make = partial(make_gate, choice.gate, **choice.options)
    gate = make()
    for column in sorted(gate.needs - {"vectors"}):
        if getattr(seeds, column) is None:
            raise UsageError(f"The gate {choice.gate} needs to know {_NEEDED[column]}.")
    gate.fit(seeds)
    scores = cross_fitted(make, seeds)
    if np.isnan(scores).all() and choice.gate != "always":
        raise AlmanacError(
            f"The gate {choice.gate} could score none of the {len(seeds)} questions. It needs to "
            f"know {', '.join(_NEEDED.get(name, name) for name in sorted(gate.needs))}."
        )
    return Calibration(
        task,
        choice,
        encoder_id,
        seeds,
        scores,
        gate.clusters if isinstance(gate, ThrustGate) else cluster(seeds.vectors, seeds.labels),
        _reach(seeds),
    )


_NEEDED = {
    "popularity": "how well known the questions' subjects are (`popularity` in the questions file, "
    "or a graph to take it from: --set popularity_of=GRAPH)",
    "uncertainty": "how sure a model is of its answers (an endpoint must answer with "
    "probabilities, logprobs)",
    "answers": "what the model answers by itself (`own_answers` in the questions file; "
    "`python -m benchmarks.knowledge_gain`, in a checkout, writes them with --out)",
    "gains": "whether knowledge helps (`outcomes` in the questions file; "
    "`python -m benchmarks.knowledge_gain`, in a checkout, writes them with --out)",
}


def journal_rows(calibrations: Sequence[Calibration], run_id: str) -> dict[type[Row], pa.Table]:
    """Return calibrations as rows of the journal, for one commit."""
    rows: dict[type[Row], list[dict[str, Any]]] = {part: [] for part in CALIBRATED}
    for calibration in calibrations:
        shared = {
            "calibration_id": uuid4().hex,
            "task": calibration.task,
            "encoder": calibration.encoder_id,
        }
        own: dict[type[Row], list[dict[str, Any]]] = {
            GateCalibration: [_calibration_row(calibration, run_id)],
            CalibrationSeed: [
                _seed_row(calibration.seeds, calibration.scores, place)
                for place in range(len(calibration.seeds))
            ],
            CalibrationCluster: _cluster_rows(calibration.clusters),
            CalibrationThreshold: [
                {"budget": budget, "value": threshold(calibration.scores, budget)}
                for budget in BUDGETS
            ],
        }
        for part, part_rows in own.items():
            columns = {name: value for name, value in shared.items() if name in part.model_fields}
            rows[part] += [{**columns, **row} for row in part_rows]
    return {part: part.to_table(part_rows) for part, part_rows in rows.items()}


def _calibration_row(calibration: Calibration, run_id: str) -> dict[str, Any]:
    choice = calibration.choice
    return {
        "action": "calibrate",
        "gate": choice.gate,
        "options": json.dumps(dict(choice.options), sort_keys=True),
        "encoder_choice": choice.encoder.to_json(),
        "seeds": len(calibration.seeds),
        "classes": len(set(calibration.seeds.labels)),
        "clusters": len(calibration.clusters),
        "reach": calibration.reach,
        "scale": scale_of(calibration.clusters) if choice.gate == "thrust" else None,
        "run_id": run_id,
        "calibrated_at": datetime.now(UTC),
    }


def _seed_row(seeds: GateQuestions, scores: np.ndarray, place: int) -> dict[str, Any]:
    def known(column: np.ndarray | None) -> float | None:
        return None if column is None or np.isnan(column[place]) else float(column[place])

    return {
        "seed": place,
        "question": seeds.texts[place],
        "label": seeds.labels[place],
        "score": float(scores[place]),
        "vector": [] if seeds.vectors is None else seeds.vectors[place].tolist(),
        "popularity": known(seeds.popularity),
        "uncertainty": known(seeds.uncertainty),
        "own_answer": None if seeds.answers is None else str(seeds.answers[place]),
        "gain": known(seeds.gains),
    }


def _cluster_rows(clusters: Clusters) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "cluster": clusters.labels[:place].count(label),
            "size": round(clusters.sizes[place]),
            "inertia": float(clusters.inertias[place]),
            "vector": clusters.centroids[place].tolist(),
        }
        for place, label in enumerate(clusters.labels)
    ]


def _reach(seeds: GateQuestions) -> float:
    """Return the `REACH` quantile of seeds' distances from the nearest centroid of other folds."""
    assert seeds.vectors is not None
    distances = np.empty(len(seeds))
    for others, own in folds_of(seeds.texts):
        rest = seeds.take(others)
        centroids = cluster(seeds.vectors[others], rest.labels).centroids
        differences = seeds.vectors[own][:, None] - centroids
        distances[own] = np.linalg.norm(differences, axis=2).min(1)
    return float(np.quantile(distances, REACH))
