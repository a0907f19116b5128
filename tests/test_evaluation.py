"""Questions, metrics and baselines of benchmarks, on small samples made by hand."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.evaluate.answerer import Prediction, without_gold
from tasks.evaluate.metrics import score, summarise, summarise_classes
from tasks.evaluate.report import Measured, figures
from tasks.questions.formats.metaqa import read_metaqa
from tasks.questions.normalise import bare_words, same_name, set_f1, token_f1
from tasks.questions.question import Benchmark, BenchmarkQuestion
from tasks.questions.splits import (
    demonstrated,
    keyed_by_component,
    sample,
    sample_apart,
    split,
)
from tests.measured_films import FILMS
from tests.question_measures import split_by_relation


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """A small MetaQA: its graph, one hop and two hops."""
    write(tmp_path / "kb.txt.gz", "\n".join("|".join(triple) for triple in FILMS))
    one = (
        "who directed [Green Hill]\tMax Oster\nwhat films did [Ida Berg] direct\tThe Long Ferry|X\n"
    )
    write(tmp_path / "1-hop" / "qa_dev.txt.gz", one)
    write(tmp_path / "1-hop" / "qa_dev_qtype.txt", "movie_to_director\ndirector_to_movie\n")
    write(tmp_path / "1-hop" / "qa_dev_exact.txt", "1\n0\n")
    two = "when were the films directed by [Ida Berg] released\t1931|1934\n"
    write(tmp_path / "2-hop" / "qa_dev.txt", two)
    return tmp_path


def test_metaqa_folder_is_read_with_topics_hops_and_its_graph(films):
    benchmark = read_metaqa(films)
    first, second, third = benchmark.questions
    assert (first.question, first.topic, first.hops) == ("who directed Green Hill", "Green Hill", 1)
    assert (first.exact, second.exact, third.exact) == (True, False, None)
    assert second.answers == ("The Long Ferry", "X")
    assert second.kind == "director_to_movie"
    assert (second.gold, third.gold) == (("directed_by",), ())
    assert (third.hops, third.dataset) == (2, "metaqa 2-hop")
    assert benchmark.graphs[0].source == films / "kb.txt.gz"
    assert read_metaqa(films / "2-hop" / "qa_dev.txt").graphs == benchmark.graphs


def test_names_and_words_are_compared_in_their_normal_form():
    assert bare_words("The  Long Ferry!") == "long ferry"
    assert bare_words("《长  江》") == "长江"
    assert bare_words("The") == "the"
    assert bare_words("$") == "$"
    assert same_name("United_Kingdom") == same_name("united  kingdom")
    assert same_name("The Hunt") != same_name("Hunt")
    assert token_f1("the long ferry", "A Ferry") == pytest.approx(2 / 3)
    assert token_f1("长江", "长城") == pytest.approx(0.5)
    assert set_f1(["a", "b"], ["B"]) == pytest.approx(2 / 3)
    assert set_f1([], ["b"]) == 0


def question(answers: tuple[str, ...], **more: object) -> BenchmarkQuestion:
    return BenchmarkQuestion(id="1", question="?", answers=answers, **more)  # type: ignore[arg-type]


def test_sets_words_and_choices_are_scored_each_in_their_way():
    found = score(question(("A b", "C")), Prediction(["c", "D"]))
    assert (found["hits@1"], found["em"], found["f1"]) == (1, 0, 0.5)
    text = question(("Max Oster",), scoring="text")
    found = score(text, Prediction(["the director Max Oster"]))
    assert (found["em"], found["contained"], found["answered"]) == (0, 1, 1)
    assert found["f1"] == pytest.approx(0.8)
    choice = question(("Tom",), choices=("Una", "Tom"), scoring="choice")
    assert score(choice, Prediction(["B"]))["accuracy"] == 1
    assert score(choice, Prediction(["tom"]))["accuracy"] == 1
    assert score(choice, Prediction([])) == {"accuracy": 0, "answered": 0}
    assert score(question(()), Prediction([])) == {"refused": 1, "right": 1}
    chinese = question(("长江",), scoring="text")
    assert score(chinese, Prediction(["是长江吗"]))["contained"] == 1


def test_of_a_text_what_follows_the_last_answer_is_counts():
    oster = question(("Max Oster",), scoring="text")
    reply = "The answer is hard to find. So the answer is: Max Oster."
    found = score(oster, Prediction([reply]))
    assert (found["em"], found["f1"], found["right"]) == (1, 1, 1)
    assert score(question(("长江",), scoring="text"), Prediction(["答案是：长江。"]))["em"] == 1
    wrong = score(oster, Prediction(["Max Oster? No, the answer is Ida Berg."]))
    assert (wrong["em"], wrong["f1"]) == (0, 0)


def test_intervals_hold_the_mean_and_widen_when_questions_share_a_topic():
    scores = [{"hits@1": float(n % 10 < 7)} for n in range(200)]
    apart = summarise(scores, [str(n) for n in range(200)])
    together = summarise(scores, [str(n % 10) for n in range(200)])
    assert apart["hits@1"] == 0.7
    assert apart["hits@1_low"] < 0.7 < apart["hits@1_high"]
    assert together["hits@1_low"] < apart["hits@1_low"]
    assert summarise(scores, [str(n) for n in range(200)]) == apart
    assert summarise([], []) == {}


def test_no_topic_is_on_both_sides_of_a_split():
    questions = [question((), split_key=str(n % 40)) for n in range(200)]
    train, test = split(Benchmark("b", questions, halves=True))
    assert len(train) + len(test) == 200
    assert {q.split_key for q in train}.isdisjoint(q.split_key for q in test)
    assert min(len(train), len(test)) > 40
    own = [question((), part="train"), question((), part="test")]
    assert split(Benchmark("b", own)) == (own[:1], own[1:])
    assert split(Benchmark("b", questions)) == ([], questions)
    assert split(Benchmark("b", questions, halves=True), learn=False) == ([], questions)
    assert sample(questions, 10) == sample(questions, 20)[:10]
    assert sample_apart(questions, 10) == sample_apart(questions, 20)[:10]
    halves = [*sample(questions, 60), *sample_apart(questions, len(questions) - 60)]
    assert {*map(id, halves)} == {*map(id, questions)}


def test_training_questions_of_the_same_data_set_and_kind_are_shown_first():
    asked = [question((), dataset="d", kind="b")]
    training = [
        question(("x",), dataset="d", kind="a"),
        question(("y",), dataset="d", kind="b", choices=("y", "z")),
        question(("z",), dataset="other", kind="b"),
    ]
    shown = [one.answer for one in demonstrated(asked, training, 5)[0].demonstrations]
    assert shown == ["y", "x"]
    assert demonstrated(asked, training, 1)[0].demonstrations[0].choices == ("y", "z")
    assert demonstrated(asked, training, 0) == asked


def test_a_relation_of_a_fold_is_in_no_question_that_is_learned_from():
    golds = [("a",), ("a_inverse", "b"), ("c",), ("c", "b"), ("d",), ()]
    questions = [question((), gold=gold) for gold in golds]
    for fold in range(4):
        train, test = split_by_relation(Benchmark("b", questions), fold)
        held_out = {name[0] for q in test for name in q.gold} - {
            name[0] for q in train for name in q.gold
        }
        assert len(train) + len(test) == 5
        assert all(held_out & {name[0] for name in q.gold} for q in test)
    everywhere = [q for f in range(4) for q in split_by_relation(Benchmark("b", questions), f)[1]]
    assert {q.gold for q in everywhere} == set(golds) - {()}


def test_questions_that_share_an_entity_share_their_key():
    keyed = keyed_by_component([question(())] * 4, [["a", "b"], ["c"], ["b", "d"], []])
    assert [q.split_key for q in keyed] == ["a", "c", "a", ""]


def test_a_system_sees_no_gold():
    seen = without_gold(question(("A",), gold=("r",), kind="a_to_b", topic="T", exact=True))
    assert (seen.answers, seen.gold, seen.kind, seen.exact) == ((), (), "", None)
    assert seen.topic == "T"


def test_a_choice_that_is_offered_twice_is_right_under_both_letters():
    question = BenchmarkQuestion(
        "q", "Who?", ("Ann Lee",), choices=("Bo Ray", "Ann Lee", "Ann Lee", "Cy Wu"),
        label="B", scoring="choice",
    )  # fmt: skip
    right = {answer: score(question, Prediction([answer]))["accuracy"] for answer in "ABCD"}
    assert right == {"A": 0.0, "B": 1.0, "C": 1.0, "D": 0.0}
    assert score(question, Prediction(["ann lee"]))["accuracy"] == 1.0


def test_figures_of_classes_do_not_reward_the_majority():
    gold = ["false"] * 6 + ["true"] * 2
    majority = summarise_classes(gold, ["false"] * 8, list("abcdefgh"))
    assert (majority["balanced_accuracy"], majority["macro_f1"]) == (0.5, round(6 / 14, 4))
    chosen = ["false"] * 5 + ["", "true", "false"]
    mixed = summarise_classes(gold, chosen, list("abcdefgh"))
    assert mixed["balanced_accuracy"] == round((5 / 6 + 1 / 2) / 2, 4)
    assert mixed["macro_f1"] == round((10 / 12 + 2 / 3) / 2, 4)
    assert mixed["macro_f1_low"] <= mixed["macro_f1"] <= mixed["macro_f1_high"]


def test_only_classes_of_a_task_have_figures_of_classes():
    choices = ("true", "false")
    news = BenchmarkQuestion("n", "?", ("true",), choices=choices, label="true", scoring="choice")
    named = replace(news, id="m", answers=("Ann",), choices=("Ann", "Bo"), label="A")
    found = figures(Measured("s", [news], [Prediction(["A"])], 1.0))
    assert found["metrics"]["balanced_accuracy"] == 1.0
    found = figures(Measured("s", [named], [Prediction(["A"])], 1.0))
    assert found["metrics"]["accuracy"] == 1.0
    assert "macro_f1" not in found["metrics"]


def test_what_leads_to_the_answer_is_measured_beside_it():
    two = BenchmarkQuestion("1", "q?", ("a",), gold=("Green Hill", "doc-2"), scoring="text")
    half = score(two, Prediction(["a"], found=frozenset({"green hill", "doc-1"})))
    assert (half["recall@8"], half["perfect_retrieval@8"], half["em"]) == (0.5, 0, 1)
    whole = score(replace(two, answers=()), Prediction(found=frozenset(two.gold)))
    assert (whole["recall@8"], whole["perfect_retrieval@8"], whole["refused"]) == (1, 1, 1)
    paths = (("made by",), ("made by", "born in"))
    hops = BenchmarkQuestion("2", "q?", ("a",), gold=("made_by", "born_in"), hops=2)
    second = score(hops, Prediction(["a"], paths=paths))
    assert (second["gold_path@1"], second["gold_path@5"]) == (0, 1)
    # Two paths that meet are no single gold path.
    assert "gold_path@1" not in score(replace(hops, hops=1), Prediction(["a"], paths=paths))
