"""The encoder that a setting names: a packaged one, or any sentence-transformers model."""

import hashlib
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from schemas.errors import AlmanacError
from tasks.models.encoders.chinese import ChineseMiniLM
from tasks.models.encoders.minilm import MiniLM


class Encoder(Protocol):
    """Turns texts into vectors."""

    id: str

    @property
    def dimensions(self) -> int:
        """Return the length of a vector."""
        ...

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return float32 (texts, dimensions): rows of length one, each made from its text only."""
        ...


def load_encoder(name: str) -> Encoder | None:
    """Return the encoder of a name; None for `none`.

    It is `minilm` for English, `minilm-zh` for Chinese, or a sentence-transformers model.
    Raises AlmanacError if its package or weights are missing or invalid.
    """
    if name == "none":
        return None
    if name == "minilm":
        return MiniLM()
    return ChineseMiniLM() if name == "minilm-zh" else SentenceTransformerEncoder(name)


class SentenceTransformerEncoder:
    """Any sentence-transformers model by name or path, such as a multilingual one."""

    def __init__(self, name: str) -> None:
        """Load a model by name or folder; raise AlmanacError if that fails."""
        from sentence_transformers import SentenceTransformer

        try:
            self._model: Any = SentenceTransformer(name)
        except (OSError, ValueError) as error:
            raise AlmanacError(
                f"The encoder {name!r} could not be loaded: {str(error)[:300]} "
                "Give the name or folder of a sentence-transformers model, or `minilm` or `none`."
            ) from error
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self.id = f"{Path(name).name}-{_fingerprint(self._model)[:12]}"

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return float32 (texts, dimensions); one text per batch, so that padding has no effect."""
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        vectors = self._model.encode(
            texts, batch_size=1, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, np.float32)


def _fingerprint(model: Any) -> str:
    """Return a hash of a model's weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().float().numpy().tobytes())
    return digest.hexdigest()
