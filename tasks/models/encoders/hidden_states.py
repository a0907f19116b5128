"""Hidden states of any transformers model as vectors of texts (Thrust, section 3).

An encoder or a decoder reads the text. For a model with both, the states are the decoder's: with
pooling `mean` and `last` the decoder reads its start token and the text, and the encoder the text;
with `decoder_start_with_encoder` the decoder reads its start token only. `first_token_official` is
what the paper's released code computes: the decoder reads the text without the encoder's states,
and its state at the first token is taken. A decoder cannot attend to later tokens, so this vector
depends on the first sub-word alone: all questions that begin with `Who` have the same one.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from schemas.errors import UsageError
from tasks.models.encoders import SINGLE
from tasks.models.encoders.choice import Pooling
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.loaded_model import chosen_device, loading_errors, weights_folder


def pool(states: Any, mask: Any, pooling: Pooling) -> Any:
    """Return (texts, h) from a layer's states (texts, tokens, h); padding is ignored.

    `mask` (texts, tokens) is 1 at real tokens, which come first. `last` takes the last real token;
    the poolings at a decoder's start take the first token.
    """
    if pooling == "mean":
        weights = mask.unsqueeze(-1).to(states.dtype)
        return (states * weights).sum(1) / weights.sum(1)
    if pooling == "last":
        import torch

        rows = torch.arange(len(states), device=states.device)
        return states[rows, mask.sum(1) - 1]
    return states[:, 0]


def check_pooling(pooling: Pooling, name: str, *, has_decoder_after_encoder: bool) -> None:
    """Raise UsageError for a pooling that this kind of model does not support."""
    if pooling in ("mean", "last") or has_decoder_after_encoder:
        return
    raise UsageError(
        f"Pooling {pooling} needs a model with an encoder and a decoder, such as T5; {name} is "
        "none. Use mean or last."
    )


LONGEST_TEXT = 2_048  # tokens, for models without a limit, or with a larger one
HASHED = ("*.safetensors", "tokenizer*", "vocab*", "merges.txt", "*.model")


class HiddenStates:
    """Encodes texts by one layer of one model; vectors are float32 and not normalised.

    Texts are cut at the model's limit or 2,048 tokens. Texts of similar length share a pass;
    padding is masked, so that a text's vector depends on its neighbours only by the rounding of
    float32.
    """

    stored_as = SINGLE  # states can lie beyond the range of half precision

    def __init__(
        self,
        name: str,
        layer: int = -1,
        pooling: Pooling = "mean",
        device: str | None = None,
        batch: int = 8,
    ) -> None:
        """Load a model by folder or hub name, or the packaged `minilm`.

        Only safetensors files are read, and no code that comes with a model is run. Raises
        AlmanacError if the model cannot be loaded or does not have the layer or pooling.
        """
        folder = minilm_folder() if name == "minilm" else weights_folder(name)
        self._device = chosen_device(device)
        with loading_errors(name, "a transformers model of text"):
            self._model, self._tokenizer = _load(folder, name)
        self._model.to(self._device)
        self._decodes = bool(self._model.config.is_encoder_decoder)
        check_pooling(pooling, name, has_decoder_after_encoder=self._decodes)
        self._pooling, self._batch = pooling, batch
        self._limit = _limit(self._model, self._tokenizer) - self._decodes
        self._empty = _token_of_nothing(self._tokenizer)
        self.layers, _, self.dimensions = self._read([[self._empty]]).shape
        self._layer = _counted_from_front(layer, self.layers, name)
        digest = _fingerprint(folder)[:12]
        self.id = f"hidden-{Path(name).name}-{digest}-{self._layer}-{pooling}"

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return float32 (texts, dimensions), each row made from its text only."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        tokens = self._tokens(texts)
        order = sorted(range(len(texts)), key=lambda place: len(tokens[place]))
        for start in range(0, len(order), self._batch):
            places = order[start : start + self._batch]
            [vectors[places]] = self._read([tokens[place] for place in places], self._layer)
        return vectors

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        """Return the tokens of each text, at least one."""
        if not texts:
            return []
        options: dict[str, Any] = {"truncation": True, "max_length": self._limit}
        tokens = self._tokenizer(texts, padding=False, verbose=False, **options)["input_ids"]
        return [list(ids) or [self._empty] for ids in tokens]

    def _read(self, tokens: list[list[int]], layer: int | None = None) -> np.ndarray:
        """Return vectors (layers, texts, dimensions) of all layers, or of one."""
        import torch

        if self._pooling == "first_token_official":
            tokens = [ids[:1] for ids in tokens]  # later tokens change nothing
        ids, mask = self._padded(tokens)
        with torch.inference_mode():
            if not self._decodes:
                out = self._model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
                states = out.hidden_states
            else:
                states, mask = self._decoded(ids, mask)
            chosen = states if layer is None else states[layer : layer + 1]
            pooled = torch.stack([pool(one.float(), mask, self._pooling) for one in chosen])
        vectors: np.ndarray = pooled.cpu().numpy()
        return vectors

    def _decoded(self, ids: Any, mask: Any) -> tuple[Any, Any]:
        """Return the states of the decoder's layers and the mask of the tokens that it read."""
        import torch

        if self._pooling == "first_token_official":
            decoder = self._model.get_decoder()
            return decoder(input_ids=ids, output_hidden_states=True).hidden_states, mask
        start = torch.full_like(ids[:, :1], self._start())
        read, read_mask = start, torch.ones_like(start)
        if self._pooling != "decoder_start_with_encoder":
            read = torch.cat([start, ids], dim=1)
            read_mask = torch.cat([read_mask, mask], dim=1)
        out = self._model(
            input_ids=ids,
            attention_mask=mask,
            decoder_input_ids=read,
            decoder_attention_mask=read_mask,
            output_hidden_states=True,
        )
        return out.decoder_hidden_states, read_mask

    def _start(self) -> int:
        config = self._model.config
        for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
            token = getattr(config, name, None)
            if token is not None:
                return int(token)
        raise UsageError("The model's decoder has no start token; use a model that names one.")

    def _padded(self, tokens: list[list[int]]) -> tuple[Any, Any]:
        """Return tokens and mask, padded at the end, where positions count from the front."""
        import torch

        padding = self._tokenizer.pad_token_id or 0
        longest = max(map(len, tokens))
        ids = torch.full((len(tokens), longest), padding)
        mask = torch.zeros_like(ids)
        for row, known in enumerate(tokens):
            ids[row, : len(known)] = torch.tensor(known)
            mask[row, : len(known)] = 1
        return ids.to(self._device), mask.to(self._device)


def _load(folder: Path, name: str) -> tuple[Any, Any]:
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()  # what is missing is checked below
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    model, loading = transformers.AutoModel.from_pretrained(
        folder,
        dtype=torch.float32,
        use_safetensors=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    missing = {key for key in loading["missing_keys"] if "pooler" not in key}
    if missing and all("decoder" in key for key in missing):
        # An encoder that was saved without its decoder, as those of T5 often are.
        model = model.get_encoder()
        model.config.is_encoder_decoder = False
    elif missing:
        raise UsageError(f"The model {name} lacks weights, such as {min(missing)}.")
    model.config.use_cache = False
    tokenizer.truncation_side = "right"
    return model.eval(), tokenizer


def _limit(model: Any, tokenizer: Any) -> int:
    """Return how many tokens of a text the model reads, special ones included."""
    limits = [LONGEST_TEXT, int(min(tokenizer.model_max_length, LONGEST_TEXT))]
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        limits.append(positions - _first_position(model))
    return min(limits)


def _first_position(model: Any) -> int:
    """Return the position number of the first token: RoBERTa counts from after its padding id."""
    for name, module in model.named_modules():
        if (
            name.endswith("position_embeddings")
            and getattr(module, "padding_idx", None) is not None
        ):
            return int(module.padding_idx) + 1
    return 0


def _token_of_nothing(tokenizer: Any) -> int:
    """Return the token that stands for a text without tokens."""
    named = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
    return next((token for token in named if token is not None), 0)


def _counted_from_front(layer: int, layers: int, name: str) -> int:
    if -layers <= layer < layers:
        return layer % layers
    raise UsageError(
        f"{name} has the layers 0 (its embeddings) to {layers - 1}, or -1 (the last) to {-layers}; "
        f"it has no layer {layer}."
    )


def _fingerprint(folder: Path) -> str:
    """Return a hash of a model's weights and its tokeniser."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in HASHED for path in folder.glob(pattern)}):
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
