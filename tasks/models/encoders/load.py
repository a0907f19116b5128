"""The encoder that a setting or a choice names: a packaged one, any model's, or an endpoint's."""

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from safetensors.numpy import load_file

from schemas.errors import AlmanacError, UsageError
from schemas.extras import E5_SMALL
from schemas.settings import EngineSettings
from tasks.models.encoders.choice import ENDPOINT, HIDDEN, EncoderChoice
from tasks.models.encoders.e5 import E5
from tasks.models.encoders.minilm import MAX_TOKENS, MiniLM, cached_file, checked_weights, opened
from tasks.models.encoders.minilm_graph import RECIPE, build_minilm_graph
from tasks.models.encoders.stored_weights import OWN_WORDS, load_weights
from tasks.models.encoders.vocabulary import CHINESE_MODEL, load_tokenizer, word_vectors
from warehouse.home import Home

WEIGHTS = CHINESE_MODEL / "encoder.safetensors"


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

    It is `minilm` for English, `minilm-zh` for Chinese, `e5-small` for all languages, or a
    sentence-transformers model.
    Raises AlmanacError if its package or weights are missing or invalid.
    """
    if name == "none":
        return None
    if name == "minilm":
        return MiniLM()
    if name == E5_SMALL:
        return E5()
    return ChineseMiniLM() if name == "minilm-zh" else SentenceTransformerEncoder(name)


def open_question_encoder(
    choice: EncoderChoice, settings: EngineSettings, home: Home | None = None, run_id: str = ""
) -> Encoder:
    """Return the encoder of a choice; raise UsageError if it is not available.

    An endpoint is the one under [engine.model], with the choice's model; its calls are recorded in
    the home's `model_calls`.
    """
    if choice.name.startswith(HIDDEN):
        from tasks.models.encoders.hidden_states import HiddenStates

        name = choice.name.removeprefix(HIDDEN)
        model = settings.model
        return HiddenStates(name, choice.layer, choice.pooling, model.device, model.local_batch)
    if choice.name.startswith(ENDPOINT):
        from tasks.models.encoders.endpoint_encoder import EndpointEncoder

        if home is None:
            raise UsageError("An endpoint's calls are noted in a home, and none is given.")
        name = choice.name.removeprefix(ENDPOINT)
        return EndpointEncoder(name, settings.model, home, run_id)
    if choice.name == E5_SMALL:
        return E5("query")
    encoder = load_encoder(choice.name)
    assert encoder is not None  # a choice is never `none`
    return encoder


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


class ChineseMiniLM(MiniLM):
    """The shipped encoder of Chinese questions and passages."""

    def __init__(self) -> None:
        """Find the weights; graph and tokeniser are loaded at first use."""
        super().__init__()
        self._hash = hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()
        self.id = f"minilm-zh-{self._hash[:8]}-{RECIPE}"

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(MAX_TOKENS)

    @cached_property
    def _own_words(self) -> np.ndarray:
        return load_weights(WEIGHTS, {OWN_WORDS})[OWN_WORDS]

    @cached_property
    def _session(self) -> Any:
        def graph() -> bytes:
            packaged = load_file(str(checked_weights(self._folder)))
            return build_minilm_graph(packaged | load_weights(WEIGHTS))

        return opened(cached_file(f"minilm-zh-{self._hash[:16]}-{RECIPE}-layers.onnx", graph))

    def _words(self, ids: list[int]) -> np.ndarray:
        return word_vectors(ids, self._own_words)
