"""The CaRB scorer: small cases by hand, and the published figures of a shipped output."""

import pytest

from recipes.openie_scorer import OpenTuple, match, read_gold, read_openie5, score

SENTENCE = "Ada Lovelace wrote the first program in 1843 ."
GOLD = {SENTENCE: [OpenTuple("wrote", ("Ada Lovelace", "the first program", "in 1843"))]}


def scored(*tuples: OpenTuple):
    return score(GOLD, {SENTENCE: list(tuples)})


def test_the_gold_itself_scores_one():
    result = scored(*GOLD[SENTENCE])
    assert (result.f1, result.precision, result.recall, result.auc) == (1.0, 1.0, 1.0, 1.0)


def test_a_tuple_without_a_shared_relation_word_scores_nothing():
    assert scored(OpenTuple("composed", ("Ada Lovelace", "the first program"))).f1 == 0.0


def test_be_stands_for_its_forms():
    gold = OpenTuple("was", ("Ada", "a mathematician"))
    assert match(gold, OpenTuple("be", ("Ada", "a mathematician"))) == (1.0, 1.0)


def test_reported_speech_matches_in_both_orders():
    gold = OpenTuple("said", ("it was late", "Ada"))
    assert match(gold, OpenTuple("said", ("Ada", "it was late"))) == (1.0, 1.0)


def test_a_second_prediction_of_the_same_fact_costs_precision_only():
    fact = GOLD[SENTENCE][0]
    result = scored(fact, fact)
    assert (result.precision, result.recall) == (0.5, 1.0)


def test_a_threshold_drops_the_unlikely_tuples():
    right = OpenTuple("wrote", ("Ada Lovelace", "the first program in 1843"), 0.9)
    wrong = OpenTuple("wrote", ("program", "Ada"), 0.2)
    result = scored(right, wrong)
    assert result.threshold == 0.9
    assert result.f1 == 1.0


def test_spaces_and_punctuation_do_not_keep_sentences_apart():
    predicted = {SENTENCE.replace(" .", "."): GOLD[SENTENCE]}
    assert score(GOLD, predicted).f1 == 1.0


def test_no_prediction_at_all_scores_zero():
    assert score(GOLD, {}).f1 == 0.0


@pytest.mark.parametrize(("f1", "auc"), [(0.458, 0.240)])
def test_openie5_gets_its_published_score(almanac_data, f1, auc):
    carb = almanac_data / "openie" / "carb"
    gold = read_gold(carb / "data" / "gold" / "dev.tsv.gz")
    result = score(gold, read_openie5(carb / "system_outputs" / "dev" / "openie5_output.txt.gz"))
    assert (round(result.f1, 3), round(result.auc, 3)) == (f1, auc)
