"""The plan of a training: the base model, the duration and the hyperparameters."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCRATCH = "scratch"
# CooK (arXiv 2305.09955), table 6, after RoBERTa: Adam's betas and epsilon, weight decay, and the
# share of the training during which the learning rate rises; then it falls to 0.
BETAS = (0.9, 0.98)
EPSILON = 1e-6
WEIGHT_DECAY = 1e-5
WARM_UP = 0.06
# A new model has learned few texts after ENOUGH_TOKENS, and many texts after FEWEST_EPOCHS, as
# measured on slices of three graphs (docs/log.md).
ENOUGH_TOKENS = 1_000_000
FEWEST_EPOCHS = 8
LORA: dict[str, Any] = {"r": 8, "lora_alpha": 32, "lora_dropout": 0.1}  # CooK's released code


class TrainingPlan(BaseModel):
    """The options that, together with the texts, determine the weights after a training.

    If a time limit ends the training early, they also depend on the speed of the machine.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str = Field(
        SCRATCH, description="scratch, smollm2, or the folder or hub name of a causal model."
    )
    method: Literal["full", "lora"] = Field("full", description="Train all weights, or LoRA's.")
    epochs: int | None = Field(
        None, ge=1, description="How often every text is read; by default few texts more often."
    )
    minutes: float | None = Field(
        None, gt=0, description="Most minutes of processor time, loading included (no limit)."
    )
    seed: int = Field(0, ge=0, description="Decides first weights, order and dropout.")
    learning_rate: float | None = Field(None, gt=0, description="The highest learning rate.")
    batch_tokens: int = Field(512, ge=1, description="Tokens per step of the optimizer.")
    part_tokens: int = Field(512, ge=1, description="Tokens computed at once; they accumulate.")
    row_tokens: int = Field(128, ge=8, description="Tokens per row; longer texts are cut.")
    patience: int | None = Field(
        None, ge=1, description="Stop after so many epochs without a lower held-out loss."
    )
    all_texts: bool = Field(False, description="Train on the held-out texts, too.")
    vocabulary: int = Field(4096, ge=300, description="Tokens of a model from scratch.")
    width: int = Field(128, ge=8, description="Hidden size of a model from scratch.")
    layers: int = Field(2, ge=1, description="Layers of a model from scratch.")

    def epochs_over(self, tokens: int) -> int:
        """Return the number of epochs over so many tokens.

        By default a new model reads a small set of texts more often than a pretrained one does.
        """
        if self.epochs is not None:
            return self.epochs
        enough = ENOUGH_TOKENS if self.base == SCRATCH else 0
        return max(FEWEST_EPOCHS, -(-enough // max(tokens, 1)))

    @property
    def highest_rate(self) -> float:
        """The peak learning rate: the one given, or a default for the method of training.

        The paper's 2e-5 is for 16 GPUs and a model of 1.3 billion weights; a small model that is
        trained on a few thousand texts for minutes learns next to nothing with it.
        """
        if self.learning_rate is not None:
            return self.learning_rate
        if self.base == SCRATCH:
            return 4e-3
        return 1e-3 if self.method == "lora" else 2e-4
