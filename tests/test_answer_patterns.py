"""Answer patterns: read as texts, matched as regular expressions are, bounded whatever comes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.evaluate.answerer import Prediction
from tasks.evaluate.metrics import score
from tasks.questions.answer_patterns import (
    LONGEST_ANSWER,
    LONGEST_PATTERN,
    holds,
    is_whole,
    readings,
)
from tasks.questions.formats import read_benchmark
from tasks.questions.question import BenchmarkQuestion


@pytest.mark.parametrize(
    ("pattern", "answer", "found"),
    [
        ("Sept?(ember)?|Feb(ruary)?", "in SEPTEMBER", True),
        (r"1\s?,\s?932 feet|1,?949\s*f(ee|oo)?t", "it is 1949 ft deep", True),
        (r"\b9\b|nine", "19 planets", False),
        (r"^\s*26\s*$", "26 states", False),
        (r"\bred\b", "the reddest", False),
        (r"5,?7[0-9]{2}\s*K", "about 5778 K", True),
        (r"1[^0-9]2", "1x2", True),
        (r"(?:Sky)?larks", "Skylarks", True),
        (r"\d+ m(illion)?\b", "12 million", True),
        (r"a{2,}?b", "aab", True),
        (r"a{x}", "a{x}", True),
        (r"[a-c\d]]", "b]", True),
        ("Samuel.*Clemens", "Samuel Langhorne Clemens", True),
        (r"(?=x)y", "(?=x)y", True),
        (r"20 \°C", "at 20 °c", True),
        ("", "anything", True),
    ],
)
def test_a_pattern_is_found_as_it_should(pattern, answer, found):
    assert holds(pattern, answer) is found


def test_a_whole_answer_is_told_from_one_that_holds_the_pattern():
    assert is_whole("Sept?(ember)?", " September ")
    assert not is_whole("Sept?(ember)?", "in September")


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("White Sands|New Mexico", ("White Sands", "New Mexico")),
        ("Sept?(ember)?|Feb(ruary)?", ("September", "February")),
        ("(25|twenty-five) years|1[89]75", ("25 years",)),
        ("189[67]", ("189[67]",)),
        (r"New\s?York", ("New York",)),
        (r"19\.3 °C|St\. Paul", ("19.3 °C", "St. Paul")),
        ("Krebs.*?Fischer", ("Krebs Fischer",)),
        (r"\bfour\b", ("four",)),
        ("(unclosed", ("(unclosed",)),
    ],
)
def test_a_pattern_is_read_as_texts(pattern, texts):
    assert readings(pattern) == texts


ATOMS = st.sampled_from(["a", "b", "ab", r"\d", "[ab]", "[^a]", r"\b", ".", r"\s", "^", "$"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,2}", "{1,}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.text(alphabet="ab1 ", max_size=6))
def test_matching_is_that_of_regular_expressions(pattern, answer):
    assert holds(pattern, answer) == bool(re.search(pattern, answer, re.IGNORECASE))


@given(st.text(max_size=60), st.text(max_size=30))
def test_no_text_is_too_strange(pattern, answer):
    assert holds(pattern, answer) in (True, False)
    assert readings(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)*b",
        "((a*)*)*b",
        "(.*)(.*)(.*)(.*)(.*)(.*)x",
        "(a{0,100}){0,100}b",
        "x" + "+" * 3000,
        "(" * 5000,
        "(" * 12 + "a{99}" + "){99}" * 12,
        "|".join("a?" * 30 for _ in range(60)),
        "[\x00-\U0010ffff]" * 200,
        "a" * (LONGEST_PATTERN + 1),
    ],
)
def test_hostile_patterns_end(pattern):
    assert holds(pattern, "a" * 100_000) in (True, False)
    assert all(len(text) <= max(LONGEST_ANSWER, len(pattern)) for text in readings(pattern))


def test_an_answer_is_right_that_a_pattern_matches():
    question = BenchmarkQuestion(
        "1", "How deep?", readings("19[0-9]{2} feet"), scoring="text", patterns=("19[0-9]{2} feet",)
    )
    assert score(question, Prediction(["1932 feet"]))["em"] == 1
    inside = score(question, Prediction(["about 1932 feet, they say"]))
    assert (inside["em"], inside["right"]) == (0, 1)
    assert score(question, Prediction(["2932 miles"]))["right"] == 0
    assert score(question, Prediction([]))["right"] == 0


def test_curatedtrec_agrees_with_regular_expressions(almanac_data):
    questions = read_benchmark(almanac_data / "gate", "curatedtrec").questions
    assert len(questions) > 1000
    for question in questions:
        for pattern in question.patterns:
            for answer in question.answers[:6]:
                assert holds(pattern, answer) == bool(re.search(pattern, answer, re.IGNORECASE))
