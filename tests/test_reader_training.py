"""What the reader is trained on: characters beside the packaged vocabulary, and relations."""

import random
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tasks.extract.typed.training.examples import Example
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.span_reader.relation_question import LONGEST_MEANING, relation_question
from tasks.models.span_reader.windows import CHARACTERS, SHIPPED_MODEL
from tasks.reader.training.characters import RAREST, first_vectors, missing_characters
from tasks.reader.training.network import ReaderNetwork
from tasks.reader.training.relations import _questions, _sentences
from tasks.reader.training.score import f1
from tasks.reader.training.train import FIRST_WEIGHTS, go_on_from

MEANINGS = {"P1": ("captain", "who commands a ship"), "P2": ("home port", "where it is at home")}
SHIP = Example(
    "ships:1",
    "The Kelda sails from Brenholm. Her captain is Runa Solberg, and the Kelda is old.",
    [[(4, 9), (66, 71)], [(21, 29)], [(46, 58)]],
    [(0, 2, "P1"), (0, 1, "P2")],
    "ships",
    whole=True,
)


def test_a_relation_is_asked_of_a_name_by_its_own_name_and_meaning() -> None:
    assert relation_question("Kelda", "captain") == "Kelda: captain?"
    assert relation_question("Kelda", "captain", "who commands") == "Kelda: captain (who commands)?"
    long = relation_question("Kelda", "captain", "word " * 100)
    assert long.count("word") == LONGEST_MEANING


def test_stated_relations_are_answered_and_others_are_not() -> None:
    rows = [row for seed in range(20) for row in _questions([SHIP], MEANINGS, random.Random(seed))]
    answered = {
        (row.question.split(" (")[0].rstrip("?"), row.context[start:end])
        for row in rows
        for start, end in row.answers
    }
    assert answered == {("Kelda: captain", "Runa Solberg"), ("Kelda: home port", "Brenholm")}
    unanswered = {row.question.split(" (")[0].rstrip("?") for row in rows if not row.answers}
    assert unanswered == {"Runa Solberg: captain", "Brenholm: home port"}


def test_a_relation_counts_where_one_sentence_holds_both_ends() -> None:
    [first, second] = _sentences(SHIP)
    assert first.labels == [(0, 1, "P2")] and second.labels == [(0, 2, "P1")]
    assert [second.text[a:b] for a, b in second.entities[2]] == ["Runa Solberg"]


def test_characters_are_those_that_stand_often_enough_and_are_unknown() -> None:
    texts = ["港" * RAREST, "口" * (RAREST - 1), "东 " * (RAREST + 1), "a" * 9]
    assert missing_characters(texts, {"a"}) == ["东", "港"]


def test_what_stands_beside_alike_neighbours_starts_alike() -> None:
    drawn = np.random.default_rng(3)
    packaged = drawn.standard_normal((400, 384)).astype(np.float32)
    # Two new tokens stand where token 7 stands, a third where token 8 stands.
    lines = []
    for _ in range(400):
        around = drawn.integers(10, 200, 3).tolist()
        lines.append([*around, int(drawn.choice([7, 400, 401])), *around])
        others = drawn.integers(200, 400, 3).tolist()
        lines.append([*others, int(drawn.choice([8, 402])), *others])
    vectors = first_vectors(lines, packaged, 3)
    assert vectors.shape == (3, 384) and vectors.dtype == np.float32
    assert np.isfinite(vectors).all() and vectors.std() < 2 * packaged.std()


def test_a_chinese_answer_overlaps_by_characters_an_english_one_by_words() -> None:
    assert f1("布伦霍尔姆港", ["布伦霍尔姆"]) == pytest.approx(10 / 11)
    assert f1("the port of Brenholm", ["Brenholm port"]) == pytest.approx(4 / 5)
    assert f1("", []) == 1.0 and f1("港", []) == 0.0


def test_training_goes_on_from_an_earlier_reader(tmp_path: Path) -> None:
    go_on_from(SHIPPED_MODEL, tmp_path / "model")
    packaged = load_file(str(minilm_folder() / "model.safetensors"))
    first = load_file(str(tmp_path / FIRST_WEIGHTS))
    shipped = load_file(str(SHIPPED_MODEL / "model.safetensors"))
    for name, rows in ReaderNetwork(packaged | first).tuned().items():
        assert np.array_equal(rows, shipped[name]), name
    characters = (tmp_path / "model" / CHARACTERS).read_text("utf-8")
    assert characters == (SHIPPED_MODEL / CHARACTERS).read_text("utf-8")
