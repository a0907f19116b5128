"""Tables of learned things: training texts, experts, gates and paths.

An edition has them as they are now. The journal keeps what became of them: of an expert the last
row counts, of texts, gates and policies the last verbalization, calibration and training.
"""

from datetime import datetime
from typing import Literal

from pydantic import Field

from schemas.row import Row

TASK = Field(description="The task: questions of one kind.")
ENCODER = Field(description="Name and hash of the encoder; empty if the gate needs none.")


class TrainingText(Row, table="training_texts", key=("text_id",)):
    """A text on which an expert is trained, generated from triples or taken from the corpus."""

    text_id: str = Field(description="Made from expert, method and text.")
    expert: str = Field(description="The expert that is trained on it.")
    method: str = Field(
        description="How it was generated: entity_wiki, evidence, knowledge_walk or question, "
        "or passage for a passage of the corpus."
    )
    text: str = Field(description="The text.")
    triple_ids: list[str] = Field(description="The triples that it was generated from.")
    graph: str = Field(description="The graph of these triples; corpus for the user's own.")
    split: str = Field(
        description="train; validation for held-out entities; or check for wordings of questions "
        "that an expert is asked after its training."
    )
    subject: str | None = Field(
        None, description="What a question is about, as it is named there; null for other texts."
    )
    rewritten: bool = Field(False, description="Whether a language model rewrote it.")
    document_id: str | None = Field(None, description="The document that it quotes, if any.")
    passage_id: str | None = Field(None, description="The passage that it quotes.")


class Expert(Row, table="experts", key=("expert",)):
    """A small language model trained on one field of knowledge."""

    expert: str = Field(description="Its name.")
    description: str = Field(description="What it knows about.")
    parent: str | None = Field(None, description="The expert whose field contains its own.")
    status: str = Field("active", description="active, or quarantined.")
    reason: str | None = Field(None, description="Why it was quarantined.")
    base_model: str = Field(description="The model from which its training started; or scratch.")
    method: str = Field(description="full, lora, scratch, or added (trained elsewhere).")
    architecture: str = Field(description="The model type, such as llama.")
    licence: str = Field(description="The licence of its weights; empty if unknown.")
    path: str = Field(description="The folder with its files, within the home.")
    sha256: str = Field(description="SHA-256 of its manifest, which has those of its files.")
    parameters: int = Field(description="Number of weights.")
    tokens: int = Field(description="Number of training tokens, over all epochs.")
    texts: int = Field(description="Number of training texts.")
    data_sha: str = Field(description="Hash of its training texts; empty if trained elsewhere.")
    sources: list[str] = Field(
        [], description="The `source_sha` of each verbalization that its texts came from."
    )
    graph: str | None = Field(
        None,
        description="The only graph whose texts it was trained on; null if on all of its name.",
    )
    loss: float | None = Field(None, description="Final training loss, in nats per token.")
    perplexity: float | None = Field(None, description="Perplexity on held-out texts.")
    share_right: float | None = Field(
        None,
        description="Share of its check questions that it answered right, each different answer "
        "counting alike, where one constant answer counts as 0; null without any.",
    )
    languages: list[str] = Field(
        [], description="The languages that it is asked in; empty if unknown, then in any."
    )
    trained_on: str = Field(description="The edition its texts came from; empty if elsewhere.")
    stale: bool = Field(description="Whether a later edition changed its training texts.")
    trained_at: datetime = Field(description="When (UTC).")


class TaskGate(Row, table="gates", key=("task",)):
    """A task's gate, which decides whether to fetch outside knowledge, and its calibration."""

    task: str = TASK
    gate: str = Field(description="thrust, popularity, entropy, own_answer …")
    options: str = Field(description="Options of the gate, a JSON object.")
    encoder: str = ENCODER
    encoder_choice: str = Field(description="The options that open the encoder, a JSON object.")
    seeds: int = Field(description="Number of questions that it was calibrated with.")
    classes: int = Field(description="Classes of these questions; 1 where they have none.")
    clusters: int = Field(description="Clusters of all classes.")
    reach: float = Field(
        description="Distance to the nearest centroid that questions like the seeds rarely exceed."
    )
    scale: float | None = Field(
        None, description="Factor that makes Thrust's scores comparable across tasks and encoders."
    )
    calibration_id: str = Field(description="The calibration; a new one has another id.")
    calibrated_at: datetime = Field(description="When (UTC).")


class GateSeed(Row, table="gate_seeds", key=("task", "seed")):
    """A question that a gate was calibrated with."""

    task: str = TASK
    seed: int = Field(description="Its number.")
    question: str = Field(description="As asked.")
    label: str = Field(description="Its class, or a dummy class.")
    score: float = Field(
        description="Its score by the gate fitted on other seeds; high if the model knows."
    )
    vector: list[float] = Field(description="Its encoding; empty if the gate needs none.")
    popularity: float | None = Field(None, description="How well known its subject is.")
    uncertainty: float | None = Field(
        None, description="Entropy of the model's own answer, in nats."
    )
    own_answer: str | None = Field(
        None, description="The kind of answer that the model gave without knowledge."
    )
    gain: float | None = Field(None, description="How much knowledge improved the model's answer.")


class Centroid(Row, table="centroids", key=("task", "encoder", "label", "cluster")):
    """A cluster of the encodings of one task's questions (Thrust, equation 1)."""

    task: str = TASK
    encoder: str = ENCODER
    label: str = Field(description="The class, or a dummy class.")
    cluster: int = Field(description="Number of the cluster within the class.")
    size: int = Field(description="Number of questions in it.")
    inertia: float = Field(description="Sum of their distances from the centre.")
    vector: list[float] = Field(description="Its centre.")


class Threshold(Row, table="thresholds", key=("task", "budget")):
    """The score below which knowledge is fetched, for one budget."""

    task: str = TASK
    budget: float = Field(description="Share of questions that may fetch, 0.01 to 0.99.")
    value: float = Field(description="The score, taken from cross-fitted scores of the seeds.")


class PathPolicy(Row, table="path_policies", key=("graph",)):
    """A learned policy for walking one graph (KnowGPT, P_RL)."""

    graph: str = Field(description="The graph that it was trained on.")
    version: str = Field(description="Version of the policy: the beginning of its SHA-256.")
    path: str = Field(description="The folder with its files, within the home.")
    sha256: str = Field(description="SHA-256 of its manifest, which has those of its files.")
    encoder: str = Field(description="The encoder of the vectors that it reads.")
    parameters: int = Field(description="Number of weights.")
    plan: str = Field(description="How it was trained, a JSON object.")
    questions: int = Field(description="Number of training questions.")
    pairs: int = Field(description="Number of these from whose names a walk leads to an answer.")
    held_out: int = Field(description="Number of questions that were held out.")
    reached: float | None = Field(
        None, description="Share of these for which the policy's likeliest walk ends at an answer."
    )
    reached_at_random: float | None = Field(
        None, description="Share of these for which a random walk ends at an answer."
    )
    trained_on: str = Field(description="The edition with the graph.")
    trained_at: datetime = Field(description="When (UTC).")


# -- the same as the journal keeps it ------------------------------------------------------------


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


class PolicyTraining(PathPolicy, table="policy_trainings", key=("training_id",)):
    """A finished training of a policy, or the removal of a graph's policy."""

    training_id: str = Field(description="Unique.")
    action: Literal["train", "remove"] = Field(description="What happened.")
    run_id: str = Field(description="The run that made it.")
