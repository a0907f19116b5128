"""multilingual-e5-small (Wang et al. 2024): an encoder of texts in any of a hundred languages.

It was trained on texts that begin with "query: " or "passage: ". Its vectors all lie near to each
other (cosines from .7 on), and those of a language nearer still, so the mean vector of such texts
in the language is taken off: cosines then mean what those of other encoders mean, and a question
finds passages in another language as well (compare Mu and Viswanath 2018).
"""

import json
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from safetensors.numpy import load_file

from schemas.errors import AlmanacError
from schemas.extras import E5_SMALL
from tasks.models.encoders.minilm import MiniLM, cached_file, of_length_one, opened
from tasks.models.encoders.minilm_graph import RECIPE, WORDS, build_minilm_graph
from tasks.models.packaged import PACKAGED, PROVENANCE, folder_of
from tasks.text.languages import is_chinese

E5_WEIGHTS = PACKAGED[E5_SMALL].sha256
MEANS = Path(__file__).with_name("e5_means.safetensors")
LONGEST = 512  # tokens of a text, the limit in training; longer texts are cut
Kind = Literal["query", "passage"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LANGUAGES = ("en", "zh")  # "en" stands for all but Chinese


class E5(MiniLM):
    """multilingual-e5-small; texts are passages unless they are given as questions."""

    def __init__(self, kind: Kind = "passage") -> None:
        """Find the weights, to encode texts of a kind; graph and tokeniser are loaded later."""
        self._folder = e5_folder()
        self._kind = kind
        self.id = f"{E5_SMALL}-{E5_WEIGHTS[:8]}-{kind}-{RECIPE}"

    def encode_together(self, texts: list[str]) -> np.ndarray:
        """Return what `encode` does."""
        return self.encode(texts)

    @cached_property
    def questions(self) -> "E5":
        """The encoder of questions whose answers are sought in texts that this one encodes."""
        return E5("query")

    def uncentred(self, texts: list[str]) -> np.ndarray:
        """Return float32 (texts, 384) of length one, from which no mean is taken off."""
        return np.array([self._uncentred(text) for text in texts])

    def _uncentred(self, text: str) -> np.ndarray:
        ids = e5_tokenizer(LONGEST).encode(f"{self._kind}: {text}").ids
        vector: np.ndarray = self._run([ids])[0]
        return vector

    def _encode_one(self, text: str) -> np.ndarray:
        mean = _means()[f"{self._kind}.{'zh' if is_chinese(text) else 'en'}"]
        return of_length_one(self._uncentred(text) - mean)

    @property
    def _session(self) -> Any:
        return _session()

    def _words(self, ids: list[int]) -> np.ndarray:
        return e5_words(ids)


def e5_folder() -> Path:
    """Return the folder of the converted weights; AlmanacError if they are not installed."""
    if not e5_is_installed():
        raise AlmanacError(
            "This needs the model multilingual-e5-small, which is not installed; "
            f"`almanac model install {E5_SMALL}` adds it."
        )
    return folder_of(PACKAGED[E5_SMALL])


def e5_is_installed() -> bool:
    """Return whether the converted weights are there."""
    return (folder_of(PACKAGED[E5_SMALL]) / PROVENANCE).is_file()


@cache
def e5_tokenizer(longest: int | None = None) -> Any:
    """Return the tokeniser; it cuts texts after `longest` tokens, and never pads."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(e5_folder() / "tokenizer.json"))
    if longest is not None:
        tokenizer.enable_truncation(longest)
    return tokenizer


def e5_words(ids: list[int]) -> np.ndarray:
    """Return float32 (tokens, 384), the rows of tokens in the vocabulary."""
    words: np.ndarray = _vocabulary()[ids].astype(np.float32)
    return words


@cache
def _vocabulary() -> np.ndarray:
    """Return float16 (250037, 384), mapped from the file."""
    path = e5_folder() / "model.safetensors"
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        about = json.loads(file.read(length))[WORDS]
    begin = 8 + length + about["data_offsets"][0]
    return np.memmap(path, np.float16, "r", begin, tuple(about["shape"]))


def e5_layers() -> dict[str, np.ndarray]:
    """Return all weights but those of the vocabulary, float32, by their names in transformers."""
    from safetensors import safe_open

    with safe_open(e5_folder() / "model.safetensors", "np") as file:
        names = (name for name in file.keys() if name != WORDS)  # noqa: SIM118
        return {name: file.get_tensor(name).astype(np.float32) for name in names}


@cache
def _session() -> Any:
    name = f"{E5_SMALL}-{E5_WEIGHTS[:16]}-{RECIPE}-layers.onnx"
    return opened(cached_file(name, lambda: build_minilm_graph(e5_layers())))


@cache
def _means() -> dict[str, np.ndarray]:
    """Return the mean vectors of texts by kind and language, float32 (384,)."""
    means: dict[str, np.ndarray] = load_file(str(MEANS))
    return means
