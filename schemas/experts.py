"""Training texts and experts, as the journal keeps them: an expert's last row counts."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from schemas.learning import Expert, TrainingText
from schemas.row import Row

VERBALIZATION = Field(description="The verbalization that the row belongs to.")


class Verbalization(Row, table="verbalizations", key=("verbalization_id",)):
    """A finished set of training texts; a set's last one counts."""

    verbalization_id: str = Field(description="Unique.")
    expert: str = Field(description="The name of the set, which experts are trained on.")
    graph: str = Field(description="The graph that was verbalized; corpus for the user's own.")
    action: Literal["make", "remove"] = Field(description="What happened.")
    options: str = Field(description="Methods, seed and limits, a JSON object.")
    texts: int = Field(description="Number of texts.")
    source_sha: str = Field(
        description="Number and checksum of the triples and passages it was made from."
    )
    edition: str = Field(description="The edition that was read.")
    run_id: str = Field(description="The run that made it.")
    made_at: datetime = Field(description="When (UTC).")


class VerbalizedText(TrainingText, table="verbalized_texts", key=("verbalization_id", "text_id")):
    """A training text of a verbalization."""

    verbalization_id: str = VERBALIZATION


class ExpertEvent(Expert, table="expert_events", key=("event_id",)):
    """What became of an expert: trained, added, described, quarantined, restored or removed."""

    event_id: str = Field(description="Unique.")
    action: Literal["train", "add", "describe", "quarantine", "restore", "remove"] = Field(
        description="What happened."
    )
    run_id: str = Field(description="The run that wrote it.")
    happened_at: datetime = Field(description="When (UTC).")


EXPERT_ROWS: tuple[type[Row], ...] = (Verbalization, VerbalizedText, ExpertEvent)
