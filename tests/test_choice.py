"""The best supported answer of several routes is given, not the first."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import Evidence
from schemas.errors import DamageError, UsageError
from tasks.ask.choice import Trust, agreeing, choose, is_settled, learn_trusts, support
from tasks.ask.parts import (
    MOST_NEEDS,
    LearnedQuery,
    MeasuredPart,
    check_parts,
    load_learned_query,
    save_learned_query,
)
from tasks.ask.route import RouteResult
from tasks.experts.knowledge import NeedExample
from warehouse.home import Home


def said(route: str, *answers: str, probability: float | None = None, score: float = 0.5):
    place = Evidence(text=f"by {route}", kind="passage", score=score)
    return RouteResult(route, answers, (place,), probability=probability)  # type: ignore[arg-type]


def test_the_likelier_answer_wins_whatever_the_order():
    sure, unsure = (
        said("text", "Bergen", probability=0.9),
        said("programs", "Oslo", probability=0.6),
    )
    for results in ([sure, unsure], [unsure, sure]):
        assert choose(results, {})[-1].answers == ("Bergen",)


def test_agreement_outweighs_one_that_is_surer():
    results = [
        said("programs", "Oslo", probability=0.8),
        said("text", "Bergen", probability=0.75),
        said("experts", "bergen", probability=0.75),
    ]
    given = choose(results, {})[-1]
    assert given.answers[0].lower() == "bergen"
    odds = {"oslo": 4.0, "bergen": 9.0}  # .75 twice is 3 to 1 times 3 to 1
    assert given.probability == pytest.approx(odds["bergen"] / (1 + sum(odds.values())), abs=1e-4)
    assert [place.text for place in given.evidence] in (
        ["by text", "by experts"],
        ["by experts", "by text"],
    )


def test_a_longer_form_of_an_answer_agrees():
    full, year = said("text", "4 July 1934"), said("programs", "1934")
    assert [len(group) for group in agreeing([full, year, said("paths", "1935")])] == [2, 1]


def test_the_order_of_a_list_and_what_it_has_more_are_no_disagreement():
    first, second = said("text", "Janus", "Epimetheus"), said("programs", "epimetheus", "Janus")
    assert len(agreeing([first, second, said("paths", "Janus")])) == 1
    assert len(agreeing([first, said("programs", "Janus", "Pan")])) == 2


def test_a_text_that_holds_one_of_several_answers_does_not_give_them():
    text = said("text", "Anna Berg saw two moons, Janus and Epimetheus")
    assert len(agreeing([text, said("paths", "Anna Berg", "Otto Lund")])) == 2
    assert len(agreeing([text, said("paths", "Epimetheus", "Janus")])) == 1


def test_a_single_route_keeps_its_own_probability():
    alone = said("text", "Bergen", probability=0.7)
    assert choose([said("programs"), alone], {})[-1].probability == 0.7


def test_without_an_answer_the_best_evidence_comes_last():
    results = [said("text", score=0.8), said("experts", score=0.1)]
    assert choose(results, {})[-1].route == "text"


def test_an_answer_that_is_likelier_wrong_is_withheld():
    unsure, place = said("experts", "Oslo", probability=0.2), said("text", score=0.4)
    given = choose([place, unsure], {}, least=0.5)[-1]
    assert not given.answers and given.probability is None
    assert choose([place, unsure], {})[-1].answers == ("Oslo",)
    agreed = [said("experts", "Oslo", probability=0.6), said("text", "Oslo", probability=0.6)]
    assert choose([*agreed, said("paths", "Bergen", probability=0.2)], {}, least=0.5)[-1].answers


def test_trust_turns_the_choice():
    results = [said("experts", "Oslo", probability=0.9), said("text", "Bergen", probability=0.7)]
    assert choose(results, {})[-1].answers == ("Oslo",)
    assert choose(results, {"experts": Trust(-3.0, 1.0)})[-1].answers == ("Bergen",)


def test_an_answer_settles_a_question_if_it_is_sure_and_unopposed():
    sure, rival = said("text", "A", probability=0.95), said("programs", "B", probability=0.9)
    assert is_settled([sure], {}, 0.9)
    assert not is_settled([sure, rival], {}, 0.9)
    assert not is_settled([], {}, 0.9)


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.floats(0, 1)), min_size=1, max_size=6))
def test_the_answer_given_is_one_of_the_best_supported_group(answers):
    results = [said("text", name, probability=likely) for name, likely in answers]
    chosen = choose(results, {})

    def together(group: list[RouteResult]) -> float:
        odds = [support(one, {}) for one in group]
        return sum(one for one in odds if one > 0) or max(odds)

    own = [one for one in results if one.answers == chosen[-1].answers]
    assert math.isclose(together(own), max(map(together, agreeing(results))))
    assert len(chosen) == len(results)


def test_trust_is_learned_from_which_route_is_right():
    random = np.random.default_rng(0)
    results, right = [], []
    for _ in range(300):
        good, bad = bool(random.random() < 0.9), bool(random.random() < 0.2)
        results.append(
            [
                said("text", "right" if good else "wrong", probability=0.6),
                said("experts", "other" if not bad else "right too", probability=0.9),
            ]
        )
        right.append([good, bad])
    trusts = learn_trusts(results, right)
    assert support(results[0][0], trusts) > support(results[0][1], trusts)
    chances = [choose(some, trusts)[-1].probability for some in results]
    assert np.mean(chances) == pytest.approx(0.9, abs=0.06)


def test_what_was_measured_is_kept_for_each_model(tmp_path):
    home = Home(tmp_path)
    assert load_learned_query(home, "embedded") == LearnedQuery()
    experts = MeasuredPart(False, -0.1, -0.2, 0.0, 40)
    save_learned_query(
        home, "embedded", LearnedQuery({"experts": experts}, {"text": Trust(0.5, 0.9)})
    )
    gate = MeasuredPart(True, 0.1, 0.05, 0.2, 40)
    save_learned_query(home, "embedded", LearnedQuery({"gate": gate}))
    kept = load_learned_query(home, "embedded")
    assert kept.parts == {"experts": experts, "gate": gate} and kept.off == {"experts"}
    assert load_learned_query(home, "another") == LearnedQuery()


def test_the_newest_examples_of_a_model_are_kept(tmp_path):
    home = Home(tmp_path)

    def kept_with(*examples: NeedExample) -> tuple[NeedExample, ...]:
        save_learned_query(home, "m", LearnedQuery(needs=examples))
        return load_learned_query(home, "m").needs

    kept = kept_with(*(NeedExample(f"Question {n}?", "en", n % 3 == 0) for n in range(200)))
    assert len(kept) == 2 * MOST_NEEDS
    corrected = NeedExample("Question 0?", "en", False)
    kept = kept_with(corrected)
    assert kept[0] == corrected and sum(e.question == "Question 0?" for e in kept) == 1
    again = NeedExample("Question 6?", "en", True)
    assert kept_with(again) == (again, *(e for e in kept if e != again))
    assert load_learned_query(home, "other").needs == ()


def test_a_damaged_file_says_what_to_do(tmp_path):
    home = Home(tmp_path)
    save_learned_query(home, "embedded", LearnedQuery())
    file = home.path / "learned" / "query.json"
    file.write_text(file.read_text().replace("embedded", "embeddes"))
    with pytest.raises(DamageError, match="almanac learn"):
        load_learned_query(home, "embedded")


def test_an_unknown_part_is_refused_with_the_parts_there_are():
    with pytest.raises(UsageError, match="no part 'gates'. The parts: gate, programs"):
        check_parts(["gates"])


def test_a_route_that_doubts_its_answer_does_not_weaken_others_that_give_it():
    sure, doubtful = (
        said("programs", "Boaz", probability=0.93),
        said("paths", "Boaz", probability=0.02),
    )
    assert choose([sure, doubtful], {})[-1].probability == pytest.approx(0.93, abs=1e-3)
