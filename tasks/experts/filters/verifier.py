"""Verifiers, which decide whether evidence supports a claim, refutes it, or leaves it open.

Pairs are (evidence, claim), in the order that VitaminC's models were trained with.
"""

import re
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from schemas.errors import UsageError
from tasks.models.loaded_model import chosen_device, loading_errors, weights_folder

SUPPORT, REFUTE, UNKNOWN = range(3)  # the columns of verdicts
LONGEST = 20_000  # characters that verifiers read of either text
MOST_TOKENS = 256  # of a pair, as in VitaminC's training
PAIRS_AT_ONCE = 16  # pairs that are read at once

# The names of the three verdicts in checkpoints, in lower case and letters only.
_NAMES = (
    "supports support supported entailment entail true factual consistent",
    "refutes refute refuted contradiction contradict false nonfactual inconsistent",
    "notenoughinfo nei notenoughinformation neutral unknown",
)
_LABELS = {name: verdict for verdict, names in enumerate(_NAMES) for name in names.split()}


class SummaryVerifier(Protocol):
    """Compares sentences of a summary with the original."""

    id: str

    def faithful(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return (pairs): the faithfulness of each (original, sentence), from 0 to 1."""
        ...


class Verifier(SummaryVerifier, Protocol):
    """Verifies claims against evidence, too."""

    def verify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return float (pairs, 3): support, refute, unknown of each (evidence, claim)."""
        ...


def truth_shares(verdicts: np.ndarray) -> np.ndarray:
    """Return `(p_support - p_refute + 1) / 2` (n) of verdicts (n, 3), as CooK's code does."""
    shares: np.ndarray = np.clip((verdicts[:, SUPPORT] - verdicts[:, REFUTE] + 1) / 2, 0.0, 1.0)
    return shares


class CheckpointVerifier:
    """Verifies claims by any sequence-classification checkpoint with known label names.

    The evidence comes first and the claim second; together they have at most 256 tokens, and the
    longer of the two is cut first. Only safetensors are read, and no code that comes with a model
    is run.
    """

    def __init__(self, name: str, device: str | None = None) -> None:
        """Load a checkpoint; raises UsageError if it is none or its labels name no verdicts."""
        folder = weights_folder(name)
        self._device = chosen_device(device)
        with loading_errors(name, "a sequence-classification model"):
            self._model, self._tokenizer = _load(folder)
        self._columns = label_columns(self._model.config.id2label, name)
        self._model.to(self._device).eval()
        limit = getattr(self._model.config, "max_position_embeddings", None) or MOST_TOKENS
        self._limit = min(MOST_TOKENS, int(limit), int(self._tokenizer.model_max_length))
        self.id = f"checkpoint-{folder.name}"

    def verify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return float64 (pairs, 3): support, refute, unknown of each (evidence, claim)."""
        verdicts = np.zeros((len(pairs), 3))
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            part = pairs[start : start + PAIRS_AT_ONCE]
            verdicts[start : start + len(part)] = self._verify(part)
        return verdicts

    def faithful(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return the share of truth (pairs) of each sentence, with its original as evidence."""
        return truth_shares(self.verify(pairs))

    def _verify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        import torch

        encoded = self._tokenizer(
            [evidence[:LONGEST] for evidence, _ in pairs],
            [claim[:LONGEST] for _, claim in pairs],
            truncation="longest_first",
            max_length=self._limit,
            padding=True,
            return_tensors="pt",
        ).to(self._device)
        with torch.inference_mode():
            shares = self._model(**encoded).logits.double().softmax(-1).cpu().numpy()
        verdicts = np.zeros((len(pairs), 3))
        for column, verdict in self._columns.items():
            verdicts[:, verdict] += shares[:, column]
        return verdicts


class CheckpointSummaryVerifier(CheckpointVerifier):
    """Compares summaries with originals by a checkpoint whose pairs are (summary, original).

    FactKB (Feng et al. 2023) is one; name its labels nonfactual and factual in its config.json.
    """

    def faithful(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return the probability (pairs) that each sentence agrees with its original."""
        shares: np.ndarray = self.verify([(part, original) for original, part in pairs])[:, SUPPORT]
        return shares


def label_columns(labels: dict[Any, str], name: str) -> dict[int, int]:
    """Return the verdict of each output of a model, by the name of its label.

    For a model with two labels, support or not, a claim that is not supported is unknown. Raises
    UsageError if a label has no known name, or if no label or all of them mean support.
    """
    columns: dict[int, int] = {}
    for column, label in labels.items():
        plain = re.sub(r"[^a-z]", "", str(label).lower())
        if plain == "notentailment":
            plain = "unknown"
        if plain not in _LABELS:
            raise UsageError(
                f"The model {name} calls an output {label!r}, which names no verdict. A verifier's "
                "labels are supports, refutes and not enough info, or entailment, contradiction "
                "and neutral; name them in its config.json (id2label)."
            )
        columns[int(column)] = _LABELS[plain]
    if SUPPORT not in columns.values() or len(set(columns.values())) < 2:
        raise UsageError(f"The model {name} has no output for support and another verdict.")
    return columns


def _load(folder: Any) -> tuple[Any, Any]:
    import transformers

    transformers.utils.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    model, loading = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, use_safetensors=True, trust_remote_code=False, output_loading_info=True
    )
    if loading["missing_keys"]:
        raise UsageError(
            f"{folder} lacks the weights of a classifier, such as {min(loading['missing_keys'])}."
        )
    return model, tokenizer
