"""One analysis per question, and the one generator of spans that may be names."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import UsageError
from tasks.text.question import (
    LONGEST_NAME,
    LONGEST_QUESTION,
    Question,
    analyse,
    checked_question,
    name_spans,
    word_spans,
)


def names(text: str, **lengths: int) -> list[str]:
    return [text[start:end] for start, end in name_spans(text, **lengths)]


@pytest.mark.parametrize("unseen", ["\x00\x07", "\u200b \u202e", " "])
def test_a_question_without_a_letter_that_is_seen_is_none(unseen: str) -> None:
    with pytest.raises(UsageError):
        checked_question(unseen)


def test_question_is_analysed_into_one_value() -> None:
    question = analyse("Who wrote Emma in 1815?")
    assert question.language == "en"
    assert not question.is_chinese
    assert question.content_words == "wrote Emma 1815"
    assert question.expected_answer.form == "name"
    assert [value.date for _, _, value in question.values] == ["1815"]
    assert question.current_words is None
    assert "Emma" in [question.text[start:end] for start, end in question.name_spans]


def test_chinese_question_is_analysed_into_one_value() -> None:
    question = analyse("《红楼梦》的作者是谁？")
    assert question.language == "zh"
    assert question.is_chinese
    assert question.expected_answer.kinds == {"person"}
    assert "红楼梦" in [question.text[start:end] for start, end in question.name_spans]


def test_a_word_in_latin_letters_is_whole_in_a_chinese_question() -> None:
    found = names("Associate Harbour Engineer的年薪是多少？")
    assert "Associate Harbour Engineer" in found
    assert "ngineer" not in found


def test_question_is_time_sensitive_as_seen_on_the_day_it_is_asked() -> None:
    text = "Who won the 2019 election?"
    assert Question(text, date(2020, 5, 1)).current_words == "2019"
    assert Question(text, date(2026, 5, 1)).current_words is None


def test_only_the_beginning_of_a_long_question_is_looked_at() -> None:
    assert analyse("word " * LONGEST_QUESTION).text == ("word " * LONGEST_QUESTION)[:2000]


def test_work_is_done_once() -> None:
    question = analyse("Who wrote Emma?")
    assert question.name_spans is question.name_spans
    assert question.expected_answer is question.expected_answer


def test_english_spans_are_runs_of_words_without_signs_longest_first() -> None:
    assert names("Who wrote “Emma”, Jane?") == [
        "Who wrote “Emma”, Jane", "Who wrote “Emma", "wrote “Emma”, Jane", "Who wrote",
        "wrote “Emma", "Emma”, Jane", "wrote", "Emma", "Jane",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        *((signs, []) for signs in ("", " ", "?", "？", "[]")),
        pytest.param("Who is it?", [], id="function words alone are no name"),
        pytest.param("Emma's", ["Emma's", "Emma"], id="an owner comes again without its ending"),
        pytest.param("Emma’s", ["Emma’s", "Emma"], id="as with a typographer's apostrophe"),
        pytest.param("(Heat", ["Heat"], id="an open bracket is no part of a name"),
        pytest.param("1 )", ["1", "1"], id="a lone bracket leaves no space behind"),
    ],
)
def test_what_signs_give_and_take(text: str, spans: list[str]) -> None:
    assert names(text) == spans
    assert bool(list(word_spans(text))) == any(map(str.isalnum, text))


def test_brackets_stay_where_they_are_closed() -> None:
    assert "Heat (1995)" in names("Who made Heat (1995)?")


def test_chinese_spans_are_runs_of_characters_longest_first() -> None:
    assert names("《红楼》") == ["红楼"]
    assert names("红楼梦") == ["红楼梦", "红楼", "楼梦"]
    assert names("红楼梦", shortest_chinese=1)[-3:] == ["红", "楼", "梦"]
    assert max(map(len, names("红" * 40))) == 14
    assert max(map(len, names("红" * 80, longest_chinese=60))) == 60


@given(st.text(alphabet="aB ('s)[红楼（）《》.1", max_size=60))
def test_spans_of_any_text_lie_in_it_and_come_longest_first(text: str) -> None:
    spans = list(name_spans(text))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(text[start:end].strip() == text[start:end] for start, end in spans)
    assert all(len(text[start:end].split()) <= LONGEST_NAME for start, end in spans)


# -- an English question does without the Chinese dictionary, which takes half a second to load ----


def without_dictionary(code: str) -> bool:
    """Return whether code leaves the Chinese dictionary alone, in a process of its own."""
    code += "\nimport sys; print('rjieba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()[-1] == "False"


def test_a_contracted_question_word_is_spelt_out() -> None:
    assert analyse("What's the depth of Loch Oar?").text == "What is the depth of Loch Oar?"
    assert analyse("who’s Ann's son?").text == "who is Ann's son?"


def test_english_question_is_analysed_without_the_dictionary() -> None:
    assert without_dictionary(
        "from tasks.text.question import analyse\n"
        "question = analyse('Which president was born in Bergen on 3 May 1950?')\n"
        "question.content_words, question.name_spans, question.values, question.current_words\n"
        "assert question.expected_answer.form == 'name'"
    )


@pytest.mark.parametrize(
    ("question", "without"), [("Where was Ada Lovelace born?", True), ("李明出生在哪里？", False)]
)
def test_english_question_reads_chinese_passages_without_the_dictionary(
    small_home: Path, question: str, without: bool
) -> None:
    code = f"""
from pathlib import Path
import numpy as np
from schemas.settings import EngineSettings
from tasks.reader.passage_reader import PassageReader
from tasks.text.languages import HAN
from tasks.retrieval.search import Scores
from tasks.text.question import analyse
from warehouse.home import Home
edition = Home(Path({str(small_home)!r})).editions.current()
reader = PassageReader(edition, EngineSettings(encoder="none"))
searcher = reader._searcher
texts = len(searcher._texts["passages"])
ones = np.ones(texts)
every = searcher._hits("passages", ones, Scores(ones, ones, ones), texts)
assert any(HAN.search(hit.fields["text"]) for hit in every)
searcher.passages = lambda *_: every
reader.answer(analyse({question!r}))
"""
    assert without_dictionary(code) is without


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("May members vote by post?", "yes"),
        ("May Guests of the harbour club vote?", "yes"),
        ("May was named after which goddess?", "name"),
        ("May Ostrand: place of birth?", "name"),
        ("May Ostrand wrote which novel?", "name"),
    ],
)
def test_may_asks_whether_something_is_allowed_unless_it_is_a_month_or_name(question, form):
    assert analyse(question).expected_answer.form == form
