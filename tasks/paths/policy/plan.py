"""The plan of a policy's training; no library that computes is loaded with it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Weight = Annotated[float, Field(ge=-1e6, le=1e6)]


class PolicyPlan(BaseModel):
    """The options that, with the graph and the questions, determine the weights of a policy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(0, ge=0, description="Decides first weights, order and what is left out.")
    steps: int = Field(3, ge=1, le=8, description="The longest walk, K.")
    width: int = Field(64, ge=1, le=4_096, description="The length of the vectors that it learns.")
    reach: Weight = Field(1.0, description="λ1: the same for every path, as all reach a target.")
    relatedness: Weight = Field(0.5, description="The weight of relatedness to the question, λ2.")
    conciseness: Weight = Field(0.3, description="The weight of conciseness, λ3.")
    questions: int = Field(1_000, ge=1, description="The most questions that it learns from.")
    epochs: int = Field(10, ge=0, description="How often each question is learned from.")
    batch: int = Field(32, ge=1, description="Questions per step of the optimizer.")
    learning_rate: float = Field(0.01, gt=0, le=1, description="Of the optimizer.")
    forgotten: float = Field(
        0.2, ge=0, lt=1, description="Share of relations and n-grams left out of each batch."
    )
