"""What is learned from the knowledge: training texts, experts, gates, paths and prompt arms."""

from datetime import datetime
from typing import ClassVar

from pydantic import Field

from schemas.row import Row


class TrainingText(Row):
    """A text made from triples, for training an expert."""

    table: ClassVar[str] = "training_texts"
    key: ClassVar[tuple[str, ...]] = ("text_id",)

    text_id: str = Field(description="Made from expert, method and text.")
    expert: str = Field(description="The expert it is for.")
    method: str = Field(description="How it was made from the graph.")
    text: str = Field(description="The text.")
    triple_ids: list[str] = Field(description="The triples behind it.")


class Expert(Row):
    """A small language model trained on one field of knowledge."""

    table: ClassVar[str] = "experts"
    key: ClassVar[tuple[str, ...]] = ("expert",)

    expert: str = Field(description="Its name.")
    description: str = Field(description="What it knows about.")
    base_model: str = Field(description="What it was trained from.")
    path: str = Field(description="Where its files lie.")
    sha256: str = Field(description="Of its weights.")
    parameters: int = Field(description="Number of weights.")
    tokens: int = Field(description="Tokens trained on.")
    loss: float = Field(description="Final training loss, nats a token.")
    perplexity: float = Field(description="On held-out texts.")
    trained_on: str = Field(description="The edition its texts came from.")
    stale: bool = Field(description="Whether a later edition changed what it was trained on.")
    trained_at: datetime = Field(description="When (UTC).")


class Centroid(Row):
    """A cluster of hidden states of questions of one task (Thrust, equation 1)."""

    table: ClassVar[str] = "centroids"
    key: ClassVar[tuple[str, ...]] = ("task", "encoder", "label", "cluster")

    task: str = Field(description="The task the questions are from.")
    encoder: str = Field(description="Name and hash of the encoder.")
    label: str = Field(description="The class, or a dummy class.")
    cluster: int = Field(description="Number of the cluster within the class.")
    size: int = Field(description="Questions in it.")
    vector: list[float] = Field(description="Its centre.")


class Threshold(Row):
    """The score below which knowledge is fetched, for one budget."""

    table: ClassVar[str] = "thresholds"
    key: ClassVar[tuple[str, ...]] = ("task", "budget")

    task: str = Field(description="The task.")
    budget: float = Field(description="Share of questions that may fetch, 0 to 1.")
    value: float = Field(description="The score.")


class PathPolicy(Row):
    """A learned policy for walking one graph."""

    table: ClassVar[str] = "path_policies"
    key: ClassVar[tuple[str, ...]] = ("graph", "version")

    graph: str = Field(description="The graph.")
    version: str = Field(description="Version of the policy.")
    path: str = Field(description="Where its weights lie.")
    sha256: str = Field(description="Of its weights.")
    trained_at: datetime = Field(description="When (UTC).")


class BanditArm(Row):
    """One way of extracting and phrasing graph knowledge, and what it earned."""

    table: ClassVar[str] = "bandit_arms"
    key: ClassVar[tuple[str, ...]] = ("graph", "arm", "version")

    graph: str = Field(description="The graph.")
    arm: str = Field(description="Extraction and template.")
    version: str = Field(description="Version of the state.")
    pulls: int = Field(description="How often it was chosen.")
    rewards: float = Field(description="What it earned in all.")
    state: str = Field(description="Its ridge statistics, a JSON object.")
