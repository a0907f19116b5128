"""The options of a mock endpoint."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class EndpointOptions(BaseModel):
    """How an endpoint behaves; by default it answers at once and makes no mistakes."""

    model_config = ConfigDict(frozen=True)

    port: int = Field(0, description="Its port; 0 is any free one.")
    latency: float = Field(0.0, ge=0, description="Delay of every reply in seconds.")
    requests_per_minute: float | None = Field(
        None, ge=0, description="Reply 429 to requests above this (no limit)."
    )
    ledger: Path | None = Field(
        None, description="Record every request and reply in this file (none)."
    )
    faults: Path | None = Field(
        None, description="Faults to inject, one JSON object per line (none)."
    )
    fault_share: float = Field(1.0, ge=0, le=1, description="Share of first attempts with a fault.")
    fault_first: int | None = Field(
        None, description="Only so many requests, the first to arrive, meet a fault."
    )
    late_seconds: float = Field(30.0, ge=0, description="How late a late answer is.")
    seed: int = Field(0, description="The random seed of the faults.")
    plain: bool = Field(False, description="Refuse response_format.")
    json_only: bool = Field(False, description="Refuse JSON schemas, but not JSON mode.")
    batch_seconds: float = Field(1.0, ge=0, description="Duration of a batch.")
