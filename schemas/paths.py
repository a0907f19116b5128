"""Trainings of path policies, as the journal keeps them; a graph's last one counts."""

from typing import Literal

from pydantic import Field

from schemas.learning import PathPolicy


class PolicyTraining(PathPolicy, table="policy_trainings", key=("training_id",)):
    """A finished training of a policy, or the removal of a graph's policy."""

    training_id: str = Field(description="Unique.")
    action: Literal["train", "remove"] = Field(description="What happened.")
    run_id: str = Field(description="The run that made it.")
