"""The plan of a policy's training; no library that computes is loaded with it."""

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from tasks.paths.policy.episodes import Rules
    from tasks.paths.policy.rewards import RewardWeights

Width = Annotated[int, Field(ge=1, le=16_384)]
Weight = Annotated[float, Field(ge=-1e6, le=1e6)]  # the squares of gradients stay finite


class PolicyPlan(BaseModel):
    """The options that, with the graph and the questions, determine the weights of a policy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(0, ge=0, description="Decides first weights, order, choices and dropout.")
    steps: int = Field(3, ge=1, le=16, description="The longest walk, K.")
    most_actions: int = Field(64, ge=1, description="Edges of a hub that a walk can choose from.")
    simple: bool = Field(True, description="Walks visit nothing twice and end at their targets.")
    hidden: tuple[Width, Width] = Field((512, 1_024), description="The hidden layers' widths.")
    reads_context: bool = Field(True, description="The network reads the question's vector.")
    lookahead: int = Field(
        2, ge=0, le=2, description="It sees which nodes are so many edges from the target or fewer."
    )
    reach: Weight = Field(1.0, description="The weight of reaching the target, λ1.")
    relatedness: Weight = Field(0.5, description="The weight of relatedness to the question, λ2.")
    conciseness: Weight = Field(0.3, description="The weight of conciseness, λ3.")
    ridge: float | None = Field(
        None, gt=0, description="The penalty μ of W's ridge regression; without it W is identity."
    )
    cloning_epochs: int = Field(10, ge=0, description="How often each shortest path is imitated.")
    epochs: int = Field(10, ge=0, description="How often each pair is walked for rewards.")
    batch: int = Field(256, ge=1, description="Walks per step of the optimizer.")
    learning_rate: float = Field(1e-3, gt=0, le=1, description="Of the optimizer.")
    weight_decay: float = Field(0.01, ge=0, description="Of the optimizer.")
    dropout: float = Field(0.2, ge=0, lt=1, description="Share of hidden units left out.")
    entropy: float = Field(0.01, ge=0, description="The weight of the entropy bonus, β.")
    momentum: float = Field(0.9, ge=0, lt=1, description="How slowly the baseline moves.")
    teacher: float = Field(
        0.0, ge=0, description="The weight of imitation while learning from rewards."
    )

    @property
    def rules(self) -> "Rules":
        """The rules of walks."""
        from tasks.paths.policy.episodes import Rules

        return Rules(self.steps, self.most_actions, self.simple)

    @property
    def reward_weights(self) -> "RewardWeights":
        """The weights of the rewards."""
        from tasks.paths.policy.rewards import RewardWeights

        return RewardWeights(self.reach, self.relatedness, self.conciseness)
