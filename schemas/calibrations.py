"""Calibrations of gates as they were made, in the journal; a task's last one counts."""

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from schemas.row import Row

CALIBRATION = Field(description="The calibration that it belongs to.")


class GateCalibration(Row):
    """A calibration that was finished, or a task's removal."""

    table: ClassVar[str] = "gate_calibrations"
    key: ClassVar[tuple[str, ...]] = ("calibration_id",)

    calibration_id: str = Field(description="Unique.")
    action: Literal["calibrate", "remove"] = Field(description="What happened.")
    task: str = Field(description="The task: questions of one kind.")
    gate: str = Field(description="The gate's name.")
    options: str = Field(description="Options of the gate, a JSON object.")
    encoder: str = Field(description="Name and hash of the encoder.")
    encoder_choice: str = Field(description="How that encoder is opened, a JSON object.")
    reach: float = Field(description="Distance from the nearest centroid, seldom more.")
    scale: float | None = Field(
        None, description="Scores of Thrust times this compare between tasks and encoders."
    )
    run_id: str = Field(description="The run that made it.")
    calibrated_at: datetime = Field(description="When (UTC).")


class CalibrationSeed(Row):
    """A question of a calibration."""

    table: ClassVar[str] = "calibration_seeds"
    key: ClassVar[tuple[str, ...]] = ("calibration_id", "seed")

    calibration_id: str = CALIBRATION
    seed: int = Field(description="Its number.")
    question: str = Field(description="As asked.")
    label: str = Field(description="Its class, or a dummy class.")
    score: float = Field(description="By the gate fitted on other seeds.")
    vector: list[float] = Field(description="Of the encoder; empty where there is none.")
    popularity: float | None = Field(None, description="How well known its subject is.")
    uncertainty: float | None = Field(None, description="Entropy of the model's own answer, nats.")
    own_answer: str | None = Field(None, description="What kind of answer the model gave alone.")
    gain: float | None = Field(None, description="What knowledge added to the model's answer.")


class CalibrationCluster(Row):
    """A cluster of a calibration's seeds."""

    table: ClassVar[str] = "calibration_clusters"
    key: ClassVar[tuple[str, ...]] = ("calibration_id", "label", "cluster")

    calibration_id: str = CALIBRATION
    label: str = Field(description="The class, or a dummy class.")
    cluster: int = Field(description="Number of the cluster within the class.")
    size: int = Field(description="Questions in it.")
    inertia: float = Field(description="Sum of their distances from the centre.")
    vector: list[float] = Field(description="Its centre.")


class CalibrationThreshold(Row):
    """The score below which knowledge is fetched, for one budget of a calibration."""

    table: ClassVar[str] = "calibration_thresholds"
    key: ClassVar[tuple[str, ...]] = ("calibration_id", "budget")

    calibration_id: str = CALIBRATION
    budget: float = Field(description="Share of questions that may fetch.")
    value: float = Field(description="The score.")


CALIBRATED: tuple[type[Row], ...] = (
    GateCalibration,
    CalibrationSeed,
    CalibrationCluster,
    CalibrationThreshold,
)
