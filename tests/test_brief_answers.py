"""A small local model answers in a few words, or by the likeliest choice, through its client."""

from pathlib import Path

import pytest

from schemas.settings import EngineSettings, ModelSettings
from tasks.ask.phrasing import brief_request, phrased_answer
from tasks.models import client as client_module
from tasks.models.client import BlockingClient
from tasks.models.likelihood import Choices, log_likelihoods
from tasks.models.loaded_model import load_model
from tasks.models.transports import open_client
from tasks.programs.written_program import Conversation
from tasks.text.question import analyse
from warehouse.home import Home

ASKED = analyse("Who met Ada Lovelace in London?")
TEXTS = ["Ada Lovelace met Charles Babbage in London 1833.", "the cat sat on a mat"]
CHOICES = ("the cat", "Charles Babbage", "a mat and a mat", "1833")


@pytest.fixture
def folder(tiny_models: dict[str, Path]) -> Path:
    return tiny_models["chat"]


def engine(folder: Path) -> EngineSettings:
    model = ModelSettings(name=str(folder), device="cpu")
    return EngineSettings(engine="transformers", model=model, encoder="none")


def answer(folder: Path, home: Home, choices: tuple[str, ...]) -> str:
    home.ledger.required = False
    with BlockingClient(open_client(home, engine(folder), "brief")) as model:
        conversation = Conversation(model)
        assert conversation.model_is_small
        found = phrased_answer(conversation, ASKED, choices, TEXTS, lambda texts: 1 / 0)  # type: ignore[arg-type, return-value]
        assert conversation.spent["calls"] == 1 and conversation.spent["tokens in"] > 50
        return found


def test_the_likeliest_choice_is_the_answer(folder, home):
    prompt = brief_request(ASKED, CHOICES, TEXTS).user
    loaded = load_model(str(folder), "cpu")
    continued = Choices(prompt, [f" {choice}" for choice in CHOICES], special=True)
    [likelihoods] = log_likelihoods(loaded, [continued])
    expected = CHOICES[int(likelihoods.argmax())]
    assert answer(folder, home, CHOICES) == expected
    turned = CHOICES[::-1]  # other choices are another request, not a reply that is known
    assert answer(folder, Home(home.path), turned) == expected


def test_a_choice_may_be_weighed_against_what_is_said_without_a_question():
    weighed = brief_request(ASKED, CHOICES, TEXTS, against_prior=True)
    assert weighed.unasked == brief_request(analyse("?"), (), ()).user
    assert brief_request(ASKED, CHOICES, TEXTS).unasked is None
    assert brief_request(ASKED, (), TEXTS, against_prior=True).unasked is None


def test_an_open_answer_is_a_line_of_the_models_own(folder, home):
    words = answer(folder, home, ())
    assert words and "\n" not in words and "{" not in words[:1]


def test_a_large_model_is_asked_for_its_reasons(folder, home, monkeypatch):
    monkeypatch.setattr(client_module, "SMALL", 1000)
    with BlockingClient(open_client(home, engine(folder), "large")) as model:
        assert not Conversation(model).model_is_small
