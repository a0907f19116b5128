"""What is learned from the knowledge: training texts, experts, gates, paths and prompt arms."""

from datetime import datetime
from typing import ClassVar

from pydantic import Field

from schemas.row import Row

TASK = Field(description="The task: questions of one kind.")
ENCODER = Field(description="Name and hash of the encoder; empty where the gate needs none.")


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


class TaskGate(Row):
    """What decides for one task whether outside knowledge is fetched, and how it was calibrated."""

    table: ClassVar[str] = "gates"
    key: ClassVar[tuple[str, ...]] = ("task",)

    task: str = TASK
    gate: str = Field(description="thrust, bm25, mahalanobis, popularity, entropy …")
    options: str = Field(description="Options of the gate, a JSON object.")
    encoder: str = ENCODER
    encoder_choice: str = Field(description="How that encoder is opened, a JSON object.")
    seeds: int = Field(description="Questions that it was calibrated with.")
    classes: int = Field(description="Classes of these questions; 1 where they have none.")
    clusters: int = Field(description="Clusters of all classes.")
    reach: float = Field(
        description="Of a question like the seeds: how far it is, seldom more, from the nearest "
        "centroid."
    )
    scale: float | None = Field(
        None, description="Scores of Thrust times this compare between tasks and encoders."
    )
    calibration_id: str = Field(description="The calibration; a new one has another id.")
    calibrated_at: datetime = Field(description="When (UTC).")


class GateSeed(Row):
    """A question that a gate was calibrated with."""

    table: ClassVar[str] = "gate_seeds"
    key: ClassVar[tuple[str, ...]] = ("task", "seed")

    task: str = TASK
    seed: int = Field(description="Its number.")
    question: str = Field(description="As asked.")
    label: str = Field(description="Its class, or a dummy class.")
    score: float = Field(
        description="What the gate, fitted on other seeds, gave it; high if the model knows."
    )
    vector: list[float] = Field(description="Of its encoder; empty where the gate needs none.")
    popularity: float | None = Field(None, description="How well known its subject is.")
    uncertainty: float | None = Field(None, description="Entropy of the model's own answer, nats.")
    own_answer: str | None = Field(None, description="What kind of answer the model gave alone.")
    gain: float | None = Field(None, description="What knowledge added to the model's answer.")


class Centroid(Row):
    """A cluster of hidden states of questions of one task (Thrust, equation 1)."""

    table: ClassVar[str] = "centroids"
    key: ClassVar[tuple[str, ...]] = ("task", "encoder", "label", "cluster")

    task: str = TASK
    encoder: str = ENCODER
    label: str = Field(description="The class, or a dummy class.")
    cluster: int = Field(description="Number of the cluster within the class.")
    size: int = Field(description="Questions in it.")
    inertia: float = Field(description="Sum of their distances from the centre.")
    vector: list[float] = Field(description="Its centre.")


class Threshold(Row):
    """The score below which knowledge is fetched, for one budget."""

    table: ClassVar[str] = "thresholds"
    key: ClassVar[tuple[str, ...]] = ("task", "budget")

    task: str = TASK
    budget: float = Field(description="Share of questions that may fetch, 0.01 to 0.99.")
    value: float = Field(description="The score; from cross-fitted scores of the seeds.")


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
