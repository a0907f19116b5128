"""Questions that ask for how things are now, and those that only seem to."""

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.questions.formats import read_benchmark
from tasks.text.freshness import wanted_now

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the current president of France?",
        "WHO IS THE CURRENT KING OF NORWAY",
        "Who is the current head of the company founded in 1998?",
        "What is the latest version of Python?",
        "Which is the latest work of Mozart?",
        "Who leads Labour today?",
        "Where is Tom Cruise now?",
        "Who now owns Twitter?",
        "How many medals has Norway won so far?",
        "Is the Queen still alive?",
        "Who was elected last year?",
        "Who won the last presidential election?",
        "What is the exchange rate of the yen?",
        "What time is it?",
        "What holds as of now?",
        "What holds as of March?",
        "Who won the 2025 election?",
        "What happened on 3 March 2026?",
        "现在美国总统是谁？",
        "最新的手机多少钱？",
        "挪威的现任首相是谁？",
        "2026年冬奥会在哪里举行？",
        "二〇二六年冬奥会在哪里举行？",
        "今年春节是哪天？",
        "上个月的通货膨胀率是多少？",
    ],
)
def test_it_asks_for_now(question):
    words = wanted_now(question, TODAY)
    assert words and words.lower() in question.lower()


@pytest.mark.parametrize(
    "question",
    [
        "Who founded Amazon in 1994?",
        "Who won the World Cup in 2022?",
        "How does current flow through a wire?",
        "current flows through a wire",
        "What is the current density in a conductor?",
        "What is the ocean current off Peru called?",
        "Is transcranial direct current stimulation of use?",
        "What is most likely true about this patient's current symptoms?",
        "Which test would you recommend to her now?",
        "Which country is what is now Ghana?",
        "Who owned the house that is now an inn?",
        "who directed [Yesterday]",
        'Who sang "Today" first?',
        "Who starred in the movie Yesterday?",
        "Who directed Apocalypse Now?",
        "Which is the dose, 2026 mg or 2,026.5 mg?",
        "What was the last year that the Cubs won?",
        "What was the latest model as of 1990?",
        "What was the population as of 2013?",
        "离北京最近的机场是哪个？",
        "这些变化表现在哪些方面？",
        "题目前面的数字是什么？",
        "《今天》的主编是谁？",
        "",
    ],
)
def test_it_does_not(question):
    assert wanted_now(question, TODAY) is None


def test_of_a_long_case_only_the_question_counts():
    case = "A man of 61 comes in today. His current drugs are new since 2026. " * 8
    assert wanted_now(case + "What is the most likely cause?", TODAY) is None
    assert wanted_now(case + "What does the latest guideline say?", TODAY) == "latest"


def test_what_is_recent_depends_on_the_day():
    question = "Who won the election of 2019?"
    assert wanted_now(question, date(2020, 5, 1)) == "2019"
    assert wanted_now(question, date(2021, 1, 1)) is None


@pytest.mark.parametrize(
    ("file", "name", "most"),
    [
        ("gate/mirage.jsonl.gz", "mirage", 0.004),
        ("gate/popqa.json.gz", "popqa", 0.002),
        ("multihop/hotpotqa.json.gz", "hotpotqa", 0.02),
    ],
)
def test_questions_of_no_time_are_seldom_taken_for_such(almanac_data, file, name, most):
    questions = [one.question for one in read_benchmark(almanac_data / file, name).questions]
    fired = [question for question in questions if wanted_now(question, TODAY)]
    assert len(questions) >= 50 and len(fired) <= most * len(questions), fired[:10]


def test_those_of_a_benchmark_that_ask_for_now_are_found(almanac_data):
    file = almanac_data / "gate/curatedtrec.large2470-train.tsv"
    questions = [one.question for one in read_benchmark(file, "curatedtrec").questions]
    fired = {question for question in questions if wanted_now(question, TODAY)}
    matches = {one for one in questions if "current" in one.lower().split()}
    # One says of which past year it asks.
    assert len(matches - fired) <= 1 and len(fired) < 0.01 * len(questions)


@given(st.text(max_size=400))
def test_any_text_is_looked_at(text):
    words = wanted_now(text, TODAY)
    assert words is None or words


@pytest.mark.parametrize(
    "part",
    ["a ", "[", "now ", "who ", "who's ", "20", "距", "last abcdefgh ", ". ", '"', "current "],
)
def test_no_text_takes_long(part):
    began = time.perf_counter()
    wanted_now("who " + part * (400_000 // len(part)), TODAY)
    assert time.perf_counter() - began < 2.0
