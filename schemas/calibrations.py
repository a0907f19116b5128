"""Calibrations of gates, as the journal keeps them; a task's last one counts.

The rows are those of the edition's tables, plus the calibration that they belong to.
"""

from typing import Literal

from pydantic import Field

from schemas.learning import Centroid, GateSeed, TaskGate, Threshold
from schemas.row import Row

CALIBRATION = Field(description="The calibration that the row belongs to.")


class GateCalibration(TaskGate, table="gate_calibrations", key=("calibration_id",)):
    """A finished calibration, or the removal of a task's gate."""

    action: Literal["calibrate", "remove"] = Field(description="What happened.")
    run_id: str = Field(description="The run that made it.")


class CalibrationSeed(GateSeed, table="calibration_seeds", key=("calibration_id", "seed")):
    """A question used in a calibration."""

    calibration_id: str = CALIBRATION


class CalibrationCluster(
    Centroid, table="calibration_clusters", key=("calibration_id", "label", "cluster")
):
    """A cluster of a calibration's seeds."""

    calibration_id: str = CALIBRATION


class CalibrationThreshold(
    Threshold, table="calibration_thresholds", key=("calibration_id", "budget")
):
    """The score below which knowledge is fetched, for one budget of a calibration."""

    calibration_id: str = CALIBRATION


CALIBRATED: tuple[type[Row], ...] = (
    GateCalibration,
    CalibrationSeed,
    CalibrationCluster,
    CalibrationThreshold,
)
