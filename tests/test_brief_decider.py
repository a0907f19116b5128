"""A small local model decides by how sure it is of short answers, and by likely names."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.settings import EngineSettings, ModelSettings
from tasks.ask.brief_decider import UNSURE, BriefDecider, unsure_from
from tasks.experts.knowledge import NeedExample
from tasks.models.call import Request
from tasks.models.client import BlockingClient
from tasks.models.likelihood import Choices, log_likelihoods
from tasks.models.loaded_model import load_model
from tasks.models.measures import MeasuredAnswer
from tasks.models.transports import open_client
from tasks.text.question import analyse
from tests.tiny_models import make_chat_model

QUESTION = analyse("Which clock is the oldest?")
ABOUT = {"clocks": "church and town hall clocks", "fish": "cod, eels and herring"}


class Model:
    """Replies with one surprise and the last choice, and keeps the requests."""

    def __init__(self, surprise: float | None) -> None:
        self.surprise, self.requests = surprise, list[Request]()

    def __call__(self, request: Request, kind: type[Any]) -> MeasuredAnswer:
        self.requests.append(request)
        answer = request.choices[-1] if request.choices else "the one in Lund"
        return MeasuredAnswer(answer=answer, surprise=self.surprise, entropy=None)


def example(surprise: float | None, *, right: bool) -> NeedExample:
    return NeedExample(f"Question {surprise}?", "en", right, surprise)


@pytest.mark.parametrize(("surprise", "share"), [(1.2, 1.0), (0.1, 0.0), (None, None)])
def test_more_is_needed_while_the_answer_is_in_doubt(surprise, share):
    model = Model(surprise)
    voted = BriefDecider(model, QUESTION).needs_more("not shown", ["The oldest one is in Lund."])
    assert voted == share
    (request,) = model.requests
    assert "The oldest one is in Lund." in request.user
    assert QUESTION.text in request.user and "not shown" not in request.user


def test_an_expert_is_named_by_how_much_likelier_the_question_makes_it():
    model = Model(None)
    assert BriefDecider(model, QUESTION).choose("", ["It is old."], ABOUT) == "fish"
    (request,) = model.requests
    assert request.choices == ("clocks", "fish")
    assert "Source: medicine" in request.user and "none" not in request.user
    assert request.user.endswith("fish: cod, eels and herring\nSource:")
    assert request.unasked == request.user.replace(f"{QUESTION.text}\nKnowledge: It is old.", "?")


def test_examples_move_the_doubt():
    both = [example(0.8, right=True), example(0.9, right=True), example(1.5, right=False)]
    assert unsure_from(both) == 1.5
    assert unsure_from(both[:2]) == unsure_from([]) == UNSURE
    assert unsure_from([example(None, right=True), example(None, right=False)]) == UNSURE


@given(st.lists(st.tuples(st.floats(0, 5), st.booleans()), max_size=30))
def test_no_other_doubt_parts_right_from_wrong_better(seen):
    examples = [example(surprise, right=right) for surprise, right in seen]
    right = [e.surprise or 0.0 for e in examples if e.right]
    wrong = [e.surprise or 0.0 for e in examples if not e.right]

    def parted(doubt: float) -> float:
        sure, unsure = sum(s < doubt for s in right), sum(s >= doubt for s in wrong)
        return sure / len(right) + unsure / len(wrong)

    if right and wrong:
        best = max(parted(doubt) for doubt in (*right, *wrong, 6.0))
        assert parted(unsure_from(examples)) == pytest.approx(best)


def test_a_choice_counts_by_what_the_text_adds_to_it(home, tmp_path):
    folder = make_chat_model(tmp_path / "chat")
    choices, asked, unasked = ("Lund", "Berta Quist", "a clock"), "Q: Who was it?\nA:", "Q: ?\nA:"
    request = Request(
        purpose="answer",
        prompt_sha="",
        system="",
        user=asked,
        reply=MeasuredAnswer,
        most_tokens=1,
        plain=True,
        continued=True,
        choices=choices,
        unasked=unasked,
    )
    settings = EngineSettings(
        engine="transformers", model=ModelSettings(name=str(folder), device="cpu")
    )
    home.path.mkdir()
    home.ledger.required = False
    with BlockingClient(open_client(home, settings, "choice")) as model:
        reply = model.ask(request).reply
    texts = [f" {choice}" for choice in choices]
    continued = [Choices(text, texts, special=True) for text in (asked, unasked)]
    with_text, without = log_likelihoods(load_model(str(folder), "cpu"), continued)
    assert isinstance(reply, MeasuredAnswer)
    assert reply.answer == choices[int((with_text - without).argmax())]
    alone = Request(**{**{n: getattr(request, n) for n in request.__slots__}, "unasked": None})
    assert request.sha("m", None) != alone.sha("m", None)
