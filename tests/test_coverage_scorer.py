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


@pytest.mark.parametrize(
    ("texts", "covered"), [([TEXT], 1.0), ([], 0.0), (["discover"], 0.2), (["discovered"], 0.2)]
)
def test_words_are_covered_in_any_form(words, texts, covered):
    assert coverage(words, texts) == covered


def test_an_empty_document_is_covered():
    assert coverage({}, []) == 1.0


def test_words_that_the_document_lacks_are_ungrounded(words):
    assert ungrounded(words, TEXT, ["Marie Curie discovered radium"]) == {"radium"}
