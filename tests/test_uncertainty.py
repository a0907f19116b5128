"""How unsure a model is of its own answer: a model here, and endpoints that tell more or less."""

import math
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from schemas.errors import UsageError
from schemas.observations import ModelReply
from schemas.operations import ModelCall
from schemas.settings import EngineSettings, ModelSettings, Price
from tasks.gates.uncertainty import PURPOSE, answer_uncertainty
from tasks.models.dialect import RIVALS
from tasks.models.limits import BudgetSpentError
from tasks.models.loaded_model import load_model
from tasks.models.measures import Measures, reported_measures
from tasks.models.plain_answers import question_tokens, write_plainly
from tests.mock_endpoint import running
from warehouse.home import Home
from warehouse.live import latest

BOOK = "Who wrote the book?"
QUESTIONS = [BOOK, "Where is Ada?", BOOK, "", "What is a cat? " * 9]


def engine(base_url: str, **said: Any) -> EngineSettings:
    model = ModelSettings(name="mock-model", base_url=base_url, concurrency=4, **said)
    return EngineSettings(engine="openai", model=model)


def calls(home: Home) -> list[dict[str, Any]]:
    return latest(home.live, ModelCall).to_pylist()


# -- a model in this process -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["chat", "encoding"])
def test_a_model_here_is_asked_and_counted(tiny_models, kind, home):
    model = ModelSettings(name=str(tiny_models[kind]), device="cpu", local_batch=3)
    settings = EngineSettings(engine="transformers", model=model)
    found = answer_uncertainty(QUESTIONS, settings, home, "run")
    loaded = load_model(model.name, "cpu")
    written = [
        write_plainly(loaded, [question_tokens(loaded, question, room=30)])[0]
        for question in QUESTIONS
    ]
    assert found.dtype == np.float64
    assert np.allclose(found, [one.entropies.mean() for one in written], atol=1e-3)
    assert found[0] == found[2]
    noted = calls(home)
    assert {call["purpose"] for call in noted} == {PURPOSE}
    assert len(noted) == 4  # equal questions are asked once
    assert sum(call["tokens_out"] for call in noted) == sum(
        written[place].tokens for place in (0, 1, 3, 4)
    )
    assert np.array_equal(answer_uncertainty(QUESTIONS, settings, home, "again"), found)
    assert len(calls(home)) == 4  # and what was answered is not asked again


# -- endpoints ---------------------------------------------------------------------------------


@pytest.mark.parametrize("logprobs", ["top", "chosen", "ignored", "refused"])
def test_an_endpoint_tells_more_or_less(logprobs, home, tmp_path):
    with running(tmp_path / "ledger", logprobs=logprobs) as endpoint:
        found = answer_uncertainty(QUESTIONS, engine(endpoint.base_url), home, "run")
        again = answer_uncertainty(QUESTIONS, engine(endpoint.base_url), home, "again")
    assert np.array_equal(found, again, equal_nan=True)
    if logprobs in ("ignored", "refused"):
        assert np.isnan(found).all()
    else:
        assert (found > 0).all()
        assert len(set(found)) == 4
        assert (found < math.log(len(RIVALS) + 30)).all()
    assert all(call["outcome"] == "ok" and call["reply_form"] is None for call in calls(home))


def test_batches_tell_the_same(home, tmp_path):
    with running(tmp_path / "ledger", batch_seconds=0.1) as endpoint:
        at_once = answer_uncertainty(QUESTIONS, engine(endpoint.base_url), home, "run")
        other = Home(tmp_path / "other")
        settings = engine(endpoint.base_url, batch=True, batch_poll_seconds=0.1)
        assert np.array_equal(answer_uncertainty(QUESTIONS, settings, other, "run"), at_once)
    assert all(call["batch"] for call in calls(other))


def test_a_budget_is_kept_to(home, tmp_path):
    prices = {"mock-model": Price(input=1e4, output=1e4)}
    with running(tmp_path / "ledger") as endpoint:
        settings = engine(endpoint.base_url, prices=prices, budget=0.001)
        with pytest.raises(BudgetSpentError):
            answer_uncertainty(QUESTIONS, settings, home, "run")
        assert not endpoint.calls


def test_calls_in_plain_words_do_not_change_how_json_is_asked_for(home, tmp_path):
    from tasks.models.transports import _form_that_worked

    with running(tmp_path / "ledger") as endpoint:
        answer_uncertainty(QUESTIONS[:1], engine(endpoint.base_url), home, "run")
        host = endpoint.base_url.split("/")[2]
    assert _form_that_worked(home, host, "mock-model") is None


def test_the_embedded_engine_has_no_answers_of_its_own(home):
    with pytest.raises(UsageError, match="embedded engine"):
        answer_uncertainty(QUESTIONS, EngineSettings(), home, "run")


def test_no_questions_need_no_calls(home, tmp_path):
    with running(tmp_path / "ledger") as endpoint:
        assert answer_uncertainty([], engine(endpoint.base_url), home, "run").shape == (0,)


def test_answers_are_kept_for_people_to_read(home, tmp_path):
    with running(tmp_path / "ledger") as endpoint:
        answer_uncertainty(QUESTIONS[:1], engine(endpoint.base_url), home, "run")
    (part,) = home.journal.parts(ModelReply)
    (reply,) = pq.read_table(home.journal.path(part))["reply"].to_pylist()
    assert "entropy" in reply


# -- what endpoints write ------------------------------------------------------------------------


def token(chance: float, *rivals: float) -> dict[str, Any]:
    top = [{"token": str(n), "logprob": math.log(one)} for n, one in enumerate(rivals)]
    return {"token": "x", "logprob": math.log(chance), "top_logprobs": top}


def test_measures_are_means_over_tokens():
    measures = reported_measures({"content": [token(0.5, 0.5, 0.5), token(0.25, 0.25, 0.25, 0.25)]})
    assert measures is not None
    assert measures.surprise == pytest.approx((math.log(2) + math.log(4)) / 2)
    # Of the second token a quarter is left: it counts as one token more.
    assert measures.entropy == pytest.approx((math.log(2) + math.log(4)) / 2)


def test_a_certain_token_has_no_entropy():
    content = [{"logprob": 0.0, "top_logprobs": [{"logprob": 0.0}, {"logprob": -9999.0}]}]
    assert reported_measures({"content": content}) == Measures(0.0, 0.0)


def test_without_rivals_there_is_only_the_surprise():
    content = [token(0.5, 0.5, 0.5), token(0.5)]
    assert reported_measures({"content": content}) == Measures(pytest.approx(math.log(2)), None)


@pytest.mark.parametrize(
    "logprobs",
    [
        None, [], "x", {}, {"content": None}, {"content": []}, {"content": ["x"]},
        {"content": [{"logprob": None}]}, {"content": [{"logprob": True}]},
        {"content": [{"logprob": float("nan")}]}, {"content": [{"logprob": "-1"}]},
    ],
)  # fmt: skip
def test_what_is_no_measure_is_none(logprobs):
    assert reported_measures(logprobs) is None


def test_impossible_chances_stay_finite():
    rivals = [{"logprob": 3.0}, {"logprob": 0.0}, {"logprob": 0.0}]
    measures = reported_measures({"content": [{"logprob": 7, "top_logprobs": rivals}]})
    assert measures == Measures(0.0, pytest.approx(math.log(3)))
