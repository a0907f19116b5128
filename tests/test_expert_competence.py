"""What an expert knows of itself: its field, its check, and how sure its answers are."""

import numpy as np
import pytest

from tasks.experts.check import keeps_its_word, reads_plain_language
from tasks.experts.competence import (
    calibrated,
    commonest,
    invented_names,
    languages_of,
    share_known,
)
from tasks.experts.field import Field
from tasks.experts.manifest import checked_manifest, sha_of
from tasks.experts.pool import ExpertPool, OpenExpert
from tasks.experts.training.train import train_expert
from tasks.text.question import analyse
from tests.expert_texts import clock_text, clock_texts, tiny_plan

# -- the field -----------------------------------------------------------------------------------

FIELD = Field.of(["Lund", "Red Bay", "Bavaria's 2nd district", "红岛", "长安大桥", "岛"])


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Who keeps the clock of Lund?", "Lund"),
        ("who keeps the clock of lund", "lund"),
        ("Who keeps the clock of Lund in the 2nd U.S. survey?", "Lund"),
        ("Who lives in the 2nd district of Bavaria?", "the 2nd district of Bavaria"),
        ("红岛的面积是多少？", "红岛"),
        ("请问长安大桥什么时候通车？", "长安大桥"),
        ("《红岛》是谁写的？", "红岛"),
    ],
)
def test_the_subject_of_a_question_is_a_name_of_the_field(question, subject):
    span = FIELD.subject(analyse(question))
    assert span is not None and question[slice(*span)] == subject


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Hamlet?",
        "Who wrote Lund Forever?",  # a part of another name
        "Who is the mayor of New Lund?",
        "Who sails in the Bay?",
        "《红岛之夜》是谁写的？",
        "半岛在哪里？",
    ],
)
def test_a_question_about_something_else_has_no_subject(question):
    assert FIELD.subject(analyse(question)) is None


def test_invented_names_are_not_of_the_field():
    known = ["Ada Lund", "Bo Vik", "甲乙丙", "丁戊己"]
    made = invented_names(known, Field.of(known), 9)
    assert made and not set(made) & set(known)


# -- probabilities -------------------------------------------------------------------------------


def test_answers_are_the_likelier_right_the_more_right_answers_were_like_them():
    features = np.array([[share, 0.0, 0.0] for share in (1.0, 1.0, 1.0, 0.5, 0.5, 0.25)] * 20)
    right = [True, True, True, True, False, False] * 20
    found = calibrated(features, right, others=(), samples=(), languages=("en",))
    sure, unsure, lost = found.probability(features[[0, 3, 5]])
    assert sure > 0.9 and 0.3 < unsure < 0.7 and lost < 0.2
    assert (found.questions, found.right) == (120, 0.6667)
    assert found.bound == 0.1 and found.is_enough


def test_an_expert_that_is_never_right_is_not_worth_asking():
    found = calibrated(np.ones((50, 3)), [False] * 50, others=(), samples=(), languages=())
    assert not found.is_enough and found.probability(np.ones((1, 3)))[0] < 0.1


def test_one_reply_to_everything_is_no_knowledge_however_often_it_is_right():
    colours = ["grey"] * 80 + ["white"] * 20
    assert share_known([colour == "grey" for colour in colours], colours) == 0
    assert share_known([True] * 100, colours) == 1
    keepers = [f"Keeper {number}" for number in range(98)]
    mostly = [True] * 100 + [False] * 98
    assert share_known(mostly, [*colours, *keepers]) < 0.1
    assert share_known([True] * 10, ["grey"] * 10) == 1 and share_known([], []) == 0


def test_the_commonest_answer_is_the_first_of_equals():
    assert commonest(["Bo Ek", "Ada", "ada.", ""]) == ("Ada", 0.5)
    assert commonest(["Bo", "Ada"]) == ("Bo", 0.5)
    assert commonest(["", "?"]) == ("", 0.0)


def test_languages_are_those_that_are_asked_in():
    assert languages_of(["Who?"] * 8 + ["谁？"] * 2) == ("en", "zh")
    assert languages_of(["Who?"] * 19 + ["谁？"]) == ("en",)


# -- the check -----------------------------------------------------------------------------------


def test_a_check_is_part_of_the_manifest(clocks):
    found = checked_manifest(clocks).competence
    assert found is not None
    assert (found.questions, found.right, found.languages) == (4, 1.0, ("en",))
    assert found.samples[0] == (clock_text("Lund"), "Lund")
    assert keeps_its_word(clocks, found)
    lie = (clock_text("Lund").replace("Berta", "Nobody"), "Lund")
    wrong = found.model_copy(update={"samples": (lie,)})
    assert not keeps_its_word(clocks, wrong)


def test_an_expert_is_sure_of_what_it_knows_and_of_nothing_else(clocks):
    pool = ExpertPool([OpenExpert("clocks", "", clocks, sha_of(clocks))], device="cpu")
    known = pool.certainty("clocks", analyse("Who keeps the clock of Vik?"), ["Nils"] * 4)
    assert known.is_enough and known.probability > 0.7
    doubted = pool.certainty("clocks", analyse("Who keeps the clock of Vik?"), ["Olga", "", "", ""])
    assert doubted.probability < known.probability
    foreign = pool.certainty("clocks", analyse("Who wrote Hamlet?"), ["Nils"] * 4)
    assert (foreign.probability, foreign.is_enough) == (0.0, False)


def test_an_expert_without_a_check_is_believed_by_half_at_most(tiny_expert):
    pool = ExpertPool([OpenExpert("p", "", tiny_expert, sha_of(tiny_expert))], device="cpu")
    certainty = pool.certainty("p", analyse("Where was Ada Lund born?"), ["Oslo", "Rome", "Oslo"])
    assert (certainty.probability, certainty.is_enough) == (0.5, True)
    split = pool.certainty("p", analyse("Where was Ada Lund born?"), ["Oslo", "Rome", "Lima"])
    assert not split.is_enough


def test_a_model_that_was_never_trained_reads_no_language(tmp_path):
    untrained = train_expert(
        tmp_path, "soup", tiny_plan(epochs=1, learning_rate=1e-9), clock_texts, "1"
    ).folder
    assert not reads_plain_language(untrained)
