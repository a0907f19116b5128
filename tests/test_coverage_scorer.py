"""Word-recall coverage: what counts as a content word, and as covered."""

import pytest

from tasks.evaluate.own_texts import content_lemmas, coverage
from tasks.extract.english_pipeline.load import load_english
from tests.stated_facts import ungrounded

TEXT = "Marie Curie discovered two elements in Paris."


@pytest.fixture(scope="module")
def words() -> dict[str, str]:
    return content_lemmas(load_english()(TEXT))


def test_stop_words_and_signs_do_not_count(words):
    assert set(words) == {"marie", "curie", "discovered", "elements", "paris"}


def test_the_whole_text_covers_itself(words):
    assert coverage(words, [TEXT]) == 1.0


def test_nothing_covers_nothing(words):
    assert coverage(words, []) == 0.0


def test_a_lemma_covers_its_forms(words):
    assert coverage(words, ["discover"]) == coverage(words, ["discovered"]) == 0.2


def test_an_empty_document_is_covered():
    assert coverage({}, []) == 1.0


def test_words_that_the_document_lacks_are_ungrounded(words):
    assert ungrounded(words, TEXT, ["Marie Curie discovered radium"]) == {"radium"}
