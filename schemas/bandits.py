"""Bandits that choose how graph knowledge is phrased: live records, from which their state follows.

A bandit's decisions and rewards are appended by any number of processes. What it knows of its arms
is the sum over its rewards, which the view `bandit_arms` shows.
"""

from datetime import datetime

from pydantic import Field

from schemas.row import Row

GRAPH = Field(description="The graph.")
MODEL = Field(description="The answering model and its version.")
VERSION = Field(description="Version of the bandit: a new one after a reset or other options.")
DECISION = Field(description="Made from the bandit's version and the key of the request.")


class BanditSetup(Row, table="bandits", key=("graph", "model")):
    """A bandit of a graph and an answering model; the last one of both counts."""

    graph: str = GRAPH
    model: str = MODEL
    version: str = VERSION
    arms: list[str] = Field(description="Its arms: extraction and template of each.")
    options: str = Field(description="How arms are chosen and rewarded, a JSON object.")
    encoding: str = Field(description="How questions become contexts, a JSON object.")
    made_at: datetime = Field(description="When (UTC).")


class BanditDecision(Row, table="bandit_decisions", key=("decision_id",)):
    """An arm that was chosen for a question."""

    decision_id: str = DECISION
    version: str = VERSION
    question_id: str = Field(description="The question.")
    arm: str = Field(description="The arm.")
    propensity: float = Field(description="The probability with which it was chosen.")
    chances: list[float] = Field(description="The probability of each arm, in the bandit's order.")
    context: list[float] = Field(description="The features of the question.")
    cautious: bool = Field(description="Whether too little was known to trust the estimates.")
    decided_at: datetime = Field(description="When (UTC).")


class BanditReward(Row, table="bandit_rewards", key=("decision_id",)):
    """What came of a decision; the first one counts."""

    decision_id: str = DECISION
    version: str = VERSION
    arm: str = Field(description="The arm.")
    context: list[float] = Field(description="The features of the question.")
    correct: float = Field(description="How right the answer was, 0 to 1.")
    tokens: int | None = Field(None, description="Tokens that the answer took; null if unknown.")
    seconds: float | None = Field(None, description="Seconds it took; null if unknown.")
    source: str = Field(description="labels (of a training question) or feedback.")
    rewarded_at: datetime = Field(description="When (UTC).")


class BanditArm(Row, table="bandit_arms", key=("graph", "model", "arm")):
    """One way to extract and phrase graph knowledge, and the reward it has earned."""

    graph: str = GRAPH
    model: str = MODEL
    arm: str = Field(description="Extraction and template.")
    version: str = VERSION
    position: int | None = Field(None, description="Null, since all records count.")
    pulls: int = Field(description="How often it was chosen and rewarded.")
    rewards: float = Field(description="The sum of its rewards.")
    state: str = Field(
        description="Its ridge statistics, a JSON object: the upper triangle of CᵀC, and Cᵀr."
    )


BANDIT_ROWS: tuple[type[Row], ...] = (BanditSetup, BanditDecision, BanditReward)
