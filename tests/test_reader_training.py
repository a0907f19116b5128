"""What the reader is trained on: characters beside the packaged vocabulary, and relations."""

import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from recipes.reader import prepare
from recipes.reader.calibrate import Found, Row, best_of, figures, fitted, is_right
from recipes.reader.characters import first_vectors
from recipes.reader.examples import Question
from recipes.reader.multilingual import HalfLayer
from recipes.reader.network import Layer, ReaderNetwork, reading_loss
from recipes.reader.relations import _questions, _sentences
from recipes.reader.score import f1, reader_with
from recipes.reader.train import Examples, Trainer
from recipes.relation_examples import Example
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.encoders.minilm_graph import LARGEST_WEIGHT
from tasks.models.encoders.stored_weights import LARGEST_BYTE, OWN_WORDS, load_weights, save_weights
from tasks.models.encoders.vocabulary import load_tokenizer
from tasks.models.span_reader.reader import ON_MINILM, WIDEST_GAP, Span, Unit
from tasks.models.span_reader.relation_question import LONGEST_MEANING, relation_question
from tasks.models.span_reader.windows import Pieces
from tasks.reader.answers import FoundAnswer

MEANINGS = {"P1": ("captain", "who commands a ship"), "P2": ("home port", "where it is at home")}
SHIP = Example(
    "ships:1", "The Kelda sails from Brenholm. Her captain is Runa Solberg, and the Kelda is old.",
    [[(4, 9), (66, 71)], [(21, 29)], [(46, 58)]], [(0, 2, "P1"), (0, 1, "P2")], "ships",
)  # fmt: skip


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


@pytest.mark.parametrize(
    ("given", "gold", "overlap"),
    [
        ("布伦霍尔姆港", ["布伦霍尔姆"], 10 / 11), ("港", [], 0.0),
        ("the port of Brenholm", ["Brenholm port"], 4 / 5), ("Tove Lind", ["Lind"], 2 / 3),
        ("the engineer", ["an engineer"], 1.0), ("", [], 1.0),
    ],
)  # fmt: skip
def test_a_chinese_answer_overlaps_by_characters_an_english_one_by_words(
    given: str, gold: list[str], overlap: float
) -> None:
    assert f1(given, gold) == pytest.approx(overlap)


SOUND = Question(
    "ships",
    "Ferries",
    "The ferry to Skar leaves at nine. It is called the Kelda. The harbour was built in 1874.",
    "When does the ferry leave?",
    ((28, 32),),
)
OTHER = Question("ships", "Kitchens", "Soak the beans overnight. Add an onion.", "Why?", ())


@pytest.fixture(scope="module")
def examples() -> Examples:
    return Examples(prepare.examples([SOUND, OTHER], Pieces(load_tokenizer())), torch.device("cpu"))


def words(ids: torch.Tensor) -> str:
    tokens = [load_tokenizer().id_to_token(int(number)) for number in ids]
    return " ".join(token for token in tokens if token != "[PAD]")


def test_a_batch_holds_question_and_window_with_the_answers_tokens(examples: Examples) -> None:
    [item] = np.flatnonzero(examples.answered)
    ids, second, sentences, spans = examples.batch(np.array([item]))
    assert words(ids[0]).startswith("[CLS] when does the ferry leave ? [SEP] the ferry to ska")
    assert words(ids[0][second[0] == 1]).endswith("built in 1874 . [SEP]")
    first, last = spans[0][0].tolist()
    assert words(ids[0][first : last + 1]) == "nine"
    assert (spans[0][1:] == -1).all()
    assert [int((sentences[0] == number).sum()) for number in range(3)] == [9, 7, 7]


def test_windows_of_other_passages_have_no_answer(examples: Examples) -> None:
    others = np.flatnonzero(examples.other)
    assert len(others) > 0
    _, _, _, spans = examples.batch(others)
    assert (spans == -1).all()


def test_an_epoch_has_every_question_and_repeats_a_set_as_often_as_wanted(
    examples: Examples,
) -> None:
    epoch = examples.epoch(random.Random(1), {}, others=0)
    in_training = {*examples.question[examples.part == "train"].tolist()}
    assert sorted(int(examples.question[items[0]]) for items in epoch) == sorted(in_training)
    assert len(examples.epoch(random.Random(1), {"ships": 3}, others=0)) == 3 * len(epoch)


def test_a_question_is_read_with_its_answer_and_other_passages(examples: Examples) -> None:
    epoch = examples.epoch(random.Random(1), {}, others=1)
    [answered] = [items for items in epoch if examples.answered[items].any()]
    assert examples.answered[answered].tolist() == [True, False]
    assert examples.other[answered].tolist() == [False, True]
    items, questions = next(examples.batches(8, random.Random(1), {}, others=1))
    assert (np.diff(questions) >= 0).all()
    for number in set(questions.tolist()):
        assert len({*examples.question[items[questions == number]].tolist()}) == 1


def test_the_loss_is_that_of_a_softmax_over_no_answer_and_all_spans_within_a_sentence() -> None:
    drawn = torch.Generator().manual_seed(2)
    logits = torch.randn(2, 2, 9, generator=drawn)
    sentences = torch.tensor([[-1, -1, 0, 0, 0, 1, 1, 1, -1]] * 2)
    spans = torch.tensor([[[3, 4], [6, 6]], [[-1, -1], [-1, -1]]])

    def weight(text: int, first: int, last: int) -> float:
        return math.exp(float(logits[0, text, first] + logits[1, text, last]))

    pairs = [(i, j) for i in range(2, 8) for j in range(i, 8) if (i < 5) == (j < 5)]
    for text, answers in enumerate([[(3, 4), (6, 6)], []]):
        none = weight(text, 0, 0)
        total = none + sum(weight(text, *pair) for pair in pairs)
        right = sum(weight(text, *pair) for pair in answers) or none
        in_sentences = sum(weight(text, *pair) for pair in pairs) if answers else none
        expected = -(math.log(right / total) + math.log(in_sentences / total)) / 2
        loss = reading_loss(logits, sentences, spans)[text]
        assert float(loss) == pytest.approx(expected, abs=1e-5)


def test_the_loss_of_several_texts_is_that_of_one_softmax_over_all_their_spans() -> None:
    drawn = torch.Generator().manual_seed(3)
    logits = torch.randn(2, 3, 6, generator=drawn)
    sentences = torch.tensor([[-1, -1, 0, 0, 1, -1]] * 3)
    spans = torch.tensor([[[-1, -1]], [[3, 3]], [[-1, -1]]])

    def excess(text: int, first: int, last: int) -> float:
        start, end = logits[:, text]
        return math.exp(float(start[first] + end[last] - start[0] - end[0]))

    pairs = [(2, 2), (2, 3), (3, 3), (4, 4)]
    total = 1 + sum(excess(text, *pair) for text in (0, 1) for pair in pairs)
    in_sentence = sum(excess(1, *pair) for pair in pairs[:3])
    expected = -(math.log(excess(1, 3, 3) / total) + math.log(in_sentence / total)) / 2
    answered, unanswered = reading_loss(logits, sentences, spans, torch.tensor([0, 0, 1]))
    assert float(answered) == pytest.approx(expected, abs=1e-5)
    alone = reading_loss(logits[:, 2:], sentences[2:], spans[2:])
    assert float(unanswered) == pytest.approx(float(alone[0]), abs=1e-5)


def test_other_passages_are_those_of_the_corpus_that_share_words_with_the_question() -> None:
    ferry = replace(SOUND, corpus="island", question="When does the ferry to Skar leave?")
    beside = replace(SOUND, title="Mail", context="The ferry brings the mail to Skar.", answers=())
    beside = replace(beside, corpus="island")
    elsewhere = replace(beside, title="Oslo", context="The ferry leaves at ten.", corpus="fjord")
    rows = [ferry, beside, *(replace(elsewhere, dataset=str(n)) for n in range(3))]
    arrays = prepare.examples(rows, Pieces(load_tokenizer()))
    others = arrays["item_window"][arrays["item_other"]]
    start, length = arrays["window_starts"][others[0]], arrays["window_lengths"][others[0]]
    assert len(others) == 1
    assert "mail" in words(arrays["window_ids"][start : start + length])


def test_a_question_with_the_name_of_another_document_is_not_answered() -> None:
    ferry = replace(SOUND, title="Kelda", question="Who built the Kelda?", corpus="island")
    other = replace(OTHER, title="Brenna", corpus="island")
    alone = replace(ferry, corpus="fjord")
    [changed] = prepare.with_other_names([ferry, other, alone], random.Random(1))
    assert changed.question == "Who built the Brenna?" and changed.answers == ()
    assert changed.context == ferry.context


def test_an_answer_that_a_window_cuts_is_none_of_its_answers() -> None:
    [tokens] = Pieces(load_tokenizer()).texts(["Runa Solberg commands the Kelda."])
    whole = (0, len(tokens.ids))
    assert prepare.spans_in(tokens, whole, [(0, 12)]) == [(0, 3)]
    assert prepare.spans_in(tokens, (0, 2), [(0, 12)]) == []
    assert prepare.spans_in(tokens, (1, whole[1]), [(0, 12)]) == []


def test_a_title_is_read_before_its_passage() -> None:
    [(start, end)] = prepare.titled(SOUND).answers
    context = prepare.titled(SOUND).context
    assert context.startswith("Ferries:\n\nThe ferry") and context[start:end] == "nine"


def test_short_questions_are_about_the_sentence_that_answers_or_the_one_most_like_it() -> None:
    sentence = "The mole was built in 1874. Its keeper is paid. The mole is long."
    built = Question("set", "Mole", sentence, "When was the mole built?", ((22, 26),))
    asked = replace(built, question="How long is the mole?", answers=())
    for seed in range(20):
        rows = prepare.shortened([built, asked], random.Random(seed))
        for row in rows:
            assert row.dataset == "set_short"
            assert {row.context[a:b] for a, b in row.answers} <= {"1874"}
            if row.answers:
                assert "The mole was built in 1874." in row.context
            else:
                assert row.context.removeprefix("Mole:\n\n") == "The mole is long."
        assert [bool(row.answers) for row in rows if row.question == built.question][0]


def test_a_question_is_also_asked_about_the_translated_passage() -> None:
    english = Question("xquad-en", "Mole", "It is old.", "Is it old?", ((6, 9),), "", "1")
    chinese = Question("xquad-zh", "Mole", "它很旧。", "它旧吗？", ((2, 3),), "", "1")
    found = prepare.across_languages([english, chinese, SOUND])
    assert {(row.question, row.context) for row in found} == {
        ("Is it old?", "它很旧。"), ("它旧吗？", "It is old."),
    }  # fmt: skip
    assert all(row.context[a:b] in ("old", "旧") for row in found for a, b in row.answers)


def test_training_writes_weights_that_the_reader_loads(tmp_path: Path) -> None:
    packaged = load_file(str(minilm_folder() / "model.safetensors"))
    network = ReaderNetwork(packaged | load_weights(ON_MINILM))
    examples = Examples(
        prepare.examples([SOUND, OTHER], Pieces(load_tokenizer())), torch.device("cpu")
    )
    trainer = Trainer(network, tmp_path / "log.jsonl", torch.device("cpu"))
    before = network.ends.weight.detach().clone()
    trainer.learn_to_read(examples, 0.01, 1e-4, 2, {}, others=1)
    trainer.fill_in(np.arange(1000, 1600, dtype=np.uint16), 0.01, 1e-4, 2)
    assert not torch.equal(network.ends.weight.detach(), before)
    save_weights(network.tuned(), tmp_path / "model.safetensors")
    [best, *_] = reader_with(tmp_path / "model.safetensors").read(SOUND.question, [SOUND.context])
    assert SOUND.context[best.start : best.end]


def test_attention_that_is_written_out_is_that_of_the_library():
    drawn = torch.randn(3, 2, 4, 5, 8, generator=torch.Generator().manual_seed(1))
    open_ = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)[:, None, None, :]
    written_out = HalfLayer().attend(*drawn, open_)
    assert torch.allclose(written_out, Layer().attend(*drawn, open_), atol=1e-5)


def test_stored_weights_are_those_with_which_the_graph_computes(tmp_path: Path) -> None:
    drawn = np.random.default_rng(4)
    matrix = drawn.standard_normal((8, 384)).astype(np.float32)
    rows = {"layer.weight": matrix, "layer.bias": matrix[0], OWN_WORDS: matrix}
    save_weights(rows, tmp_path / "weights")
    loaded = load_weights(tmp_path / "weights")
    scale = np.abs(matrix).max(axis=1, keepdims=True)
    assert np.abs(loaded["layer.weight"] - matrix).max() <= (scale / LARGEST_WEIGHT).max() / 2
    assert np.abs(loaded[OWN_WORDS] - matrix).max() <= (scale / LARGEST_BYTE).max() / 2
    assert np.allclose(loaded["layer.bias"], matrix[0], atol=2e-3)
    save_weights(loaded, tmp_path / "again")
    for name, again in load_weights(tmp_path / "again").items():
        assert np.allclose(again, loaded[name], atol=1e-6), name
    assert load_weights(tmp_path / "weights", {OWN_WORDS}).keys() == {OWN_WORDS}


NOTHING_FOUND = Row("harbour", "en", True, {"words": [], "sentence": []})


def found(text: str, margin: float, covered: float, right: bool) -> Found:
    return Found(FoundAnswer(text, Span(0, 0, 1, margin, margin), 0.0), margin, covered, right)


def row(home: str, right: float, wrong: float) -> Row:
    answers = [found("nine", right, 1.0, True), found("ten", wrong, 0.2, False)]
    return Row(home, "en", True, {"words": answers, "sentence": answers})


def test_the_fit_prefers_what_is_right_and_is_surer_of_wide_gaps() -> None:
    drawn = random.Random(3)
    rows = [row("a", drawn.uniform(0, 4), drawn.uniform(-4, 1)) for _ in range(80)]
    rows += [row("b", drawn.uniform(-4, 0), drawn.uniform(0, 2)) for _ in range(20)]
    weights = fitted(rows, "words")
    assert weights["covered"] > 0 and weights["worth"] > 0
    best = best_of(row("c", 3.0, -3.0), "words", weights)
    assert best and best.right
    assert best.gap == pytest.approx(min(WIDEST_GAP, 6.0 + 0.8 * weights["covered"]))
    assert best_of(NOTHING_FOUND, "words", weights) is None


def test_figures_are_of_homes_left_out_of_the_fit() -> None:
    drawn = random.Random(5)
    rows = [row(home, drawn.uniform(0, 4), drawn.uniform(-4, 1)) for home in "ab" * 40]
    nothing: dict[Unit, list[Found]] = {"words": [], "sentence": []}
    rows += [Row("b", "en", True, nothing)] * 20 + [Row("b", "en", False, nothing)]
    measured = figures(rows, "words")
    assert measured["questions"] == 101
    assert measured["from"][0.5] == {"right": 0.8, "wrong": 0.0, "unanswerable refused": 1.0}


def test_an_answer_is_right_if_it_contains_one_of_those_wanted() -> None:
    assert is_right("At Nine o'clock.", ["ten", "nine"])
    assert not is_right("at ten", ["nine"]) and not is_right("at ten", [])
