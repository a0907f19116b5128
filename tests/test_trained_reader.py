"""The trained reader finds answers, refuses where there is none, and shows what comes nearest."""

from typing import Any

import numpy as np
import pytest

from schemas.answers import Answer, Evidence
from schemas.settings import EngineSettings
from tasks.models.span_reader.reader import Span, TrainedReader, trained_reader
from tasks.models.span_reader.windows import WINDOW, tokens_of, windows, without_markup
from tasks.reader.answers import asks_for_several, find_answers, fits, items_around
from tasks.reader.passage_reader import PassageReader
from tasks.reader.training.examples import Question, draw_window
from tasks.reader.training.score import f1
from tasks.retrieval.index import build_index
from tasks.text.expected_answer import ExpectedAnswer
from tasks.text.question import analyse
from tests.small_edition import make_edition
from warehouse.editions import Edition

HARBOUR = (
    "The harbour of Brenholm was built in 1874 by the engineer Tove Lindqvist. Ferries to the "
    "island of Skar leave every two hours, and a ticket costs 12 crowns."
)
KITCHEN = "Soak the beans overnight. Cook them for ninety minutes with onions and a bay leaf."


@pytest.fixture(scope="module")
def reader() -> TrainedReader:
    return trained_reader()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who built the harbour of Brenholm?", "Tove Lindqvist"),
        ("In which year was the harbour of Brenholm built?", "1874"),
        ("How much does a ticket to Skar cost?", "12 crowns"),
    ],
)
def test_the_likeliest_span_answers(reader: TrainedReader, question: str, answer: str) -> None:
    best = find_answers(analyse(question), [KITCHEN, HARBOUR], reader, lambda name: ())[0]
    assert answer in best.text and best.span.text == 1
    assert HARBOUR[best.span.start : best.span.end].strip(" .") == best.text


def test_what_no_text_answers_is_unlikely(reader: TrainedReader) -> None:
    known = find_answers(
        analyse("Who built the harbour of Brenholm?"), [HARBOUR], reader, lambda name: ()
    )
    unknown = find_answers(
        analyse("Who wrote the anthem of Brenholm?"), [KITCHEN], reader, lambda name: ()
    )
    assert known[0].probability > max((a.probability for a in unknown), default=0.0) + 0.2


def test_no_name_alone_tells_why(reader: TrainedReader) -> None:
    texts = [HARBOUR, "The harbour was built because the old quay of Brenholm silted up."]
    answers = find_answers(analyse("Why was the harbour built?"), texts, reader, lambda name: ())
    assert answers and all(len(answer.text.split()) >= 3 for answer in answers)


class OneSpan:
    """Stands for a reader that likes one span best."""

    def __init__(self, start: int, end: int) -> None:
        self.spans = [Span(0, start, end, 5.0)]

    def read(self, question: str, texts: list[str]) -> list[Span]:
        return self.spans

    def probability(self, margin: float, gap: float, language: str) -> float:
        return 0.9


def test_no_word_of_an_answer_is_cut() -> None:
    start = HARBOUR.index("ve Lindqv")
    one: Any = OneSpan(start, start + 9)
    [answer] = find_answers(analyse("Who built it?"), [HARBOUR], one, lambda name: ())
    assert answer.text == "Tove Lindqvist"


def test_an_answer_says_more_than_the_question(reader: TrainedReader) -> None:
    answers = find_answers(
        analyse("Which island do ferries from Brenholm go to?"), [HARBOUR], reader, lambda name: ()
    )
    assert answers and all(a.text.lower() not in ("brenholm", "island") for a in answers)


@pytest.mark.parametrize(
    ("text", "expected", "right"),
    [
        ("two hours", ExpectedAnswer("number"), True),
        ("the engineer", ExpectedAnswer("number"), False),
        ("in 1874", ExpectedAnswer("date"), True),
        ("Brenholm", ExpectedAnswer("date"), False),
        ("Tove Lindqvist", ExpectedAnswer("name", frozenset({"person"})), True),
        ("Brenholm", ExpectedAnswer("name", frozenset({"person"})), False),
        ("Skar Fishers", ExpectedAnswer("name", frozenset({"place"})), True),
        ("Ida Lind", ExpectedAnswer("name", frozenset({"place"})), False),
    ],
)
def test_an_answer_has_the_form_asked_for(text: str, expected: ExpectedAnswer, right: bool) -> None:
    kinds = {
        "Skar Fishers": ["organisation"],
        "Ida Lind": ["person"],
        "Brenholm": ["place"],
        "Tove Lindqvist": ["unknown"],
    }
    assert fits(text, expected, lambda name: kinds.get(name, [])) is right


def test_each_sentence_stands_whole_in_a_window() -> None:
    text = " ".join(
        f"Ship number {n} carried {n * 7} barrels of fish to the town." for n in range(60)
    )
    [tokens] = tokens_of([text])
    cut = windows(tokens)
    ends = [*tokens.starts[1:], len(tokens.ids)]
    assert all(0 < stop - start <= WINDOW for start, stop in cut)
    for start, stop in zip(tokens.starts, ends, strict=True):
        assert any(first <= start and stop <= last for first, last in cut)


def test_a_sentence_longer_than_a_window_is_read_in_pieces() -> None:
    [tokens] = tokens_of(["word " * 500])
    cut = windows(tokens)
    assert cut[0][0] == 0 and cut[-1][1] == len(tokens.ids)
    assert all(after[0] < before[1] for before, after in zip(cut, cut[1:], strict=False))


def test_markup_is_not_read() -> None:
    text = "Read [the **guide**](https://example.org/a/b) of `Brenholm`."
    assert without_markup(text) == "Read the guide of Brenholm."
    [tokens] = tokens_of([text])
    assert not any("example" in text[start:end] for start, end in tokens.offsets)


@pytest.mark.parametrize("text", ["", " ", "[" * 300, "](" * 200, "<" * 300, "\x00", "港口"])
def test_any_text_is_read(reader: TrainedReader, text: str) -> None:
    assert isinstance(reader.read("Who built it?", [text]), list)


def test_a_list_is_given_whole() -> None:
    text = "It stores:\n\n- **salt**\n- dried [fish](/fish)\n- tar\n\nNothing else."
    assert items_around(text, text.index("fish")) == ["salt", "dried fish", "tar"]
    assert items_around(text, text.index("Nothing")) == []
    assert asks_for_several("Which goods are stored there?")
    for single in ("Which ship carried salt?", "Which island was used?", "Who owns the ship?"):
        assert not asks_for_several(single)


def test_a_training_window_holds_the_answer() -> None:
    import random

    start = HARBOUR.index("every two hours")
    row = Question("set", "title", HARBOUR, "How often?", ((start, start + 15),))
    [tokens] = tokens_of([HARBOUR])
    window, first, last = draw_window(tokens, row.answers[0], random.Random(1))
    begin, end = tokens.offsets[window[0] + first][0], tokens.offsets[window[0] + last][1]
    assert HARBOUR[begin:end] == "every two hours"


def test_overlap_is_counted_as_for_squad() -> None:
    assert f1("the engineer", ["an engineer"]) == 1.0
    assert f1("", []) == 1.0 and f1("x", []) == 0.0
    assert f1("Tove Lindqvist", ["Lindqvist"]) == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def passages(tmp_path_factory: pytest.TempPathFactory) -> PassageReader:
    folder = tmp_path_factory.mktemp("edition")
    made: Edition = make_edition(
        folder, {"Brenholm": HARBOUR, "Beans": KITCHEN}, {"Brenholm": ("place", [])}, [], {}
    )
    build_index(folder, None)
    return PassageReader(made, EngineSettings())


def test_passages_answer_with_their_sentence(passages: PassageReader) -> None:
    answer = passages.answer(analyse("In which year was the harbour of Brenholm built?"), 0.1)
    assert answer.answers[0] == "1874"
    assert answer.evidence[0].text.startswith("The harbour of Brenholm was built in 1874")
    assert answer.probability is not None and answer.probability == answer.evidence[0].score


def test_nothing_is_answered_below_the_least_probability(passages: PassageReader) -> None:
    answer = passages.answer(analyse("In which year was the harbour of Brenholm built?"), 1.0)
    assert answer.answers == [] and answer.evidence[0].text == HARBOUR


def test_plain_output_says_how_sure_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    from flows.commands.ask import show_answer

    evidence = [Evidence(text=HARBOUR, kind="passage", uri="harbour.md", score=0.8)]
    show_answer(
        Answer(
            question_id="q", question="When?", answer="1874", answers=["1874"], answerable=True,
            route="text", probability=0.8, evidence=evidence, edition="1", seconds=0.1,
        )
    )  # fmt: skip
    assert "1874  (sure to 80%)" in capsys.readouterr().out


def test_the_second_text_of_a_pair_is_told_from_the_first(reader: TrainedReader) -> None:
    from tasks.models.span_reader.windows import pair_ids

    [tokens] = tokens_of(["Tove Lindqvist"])
    ids = np.array([pair_ids(tokens.ids, tokens, (0, len(tokens.ids)))])
    [states] = reader._session.run(["states"], {"ids": ids})
    first, second = states[0][1 : 1 + len(tokens.ids)], states[0][-1 - len(tokens.ids) : -1]
    assert not np.allclose(first, second, atol=0.05)
