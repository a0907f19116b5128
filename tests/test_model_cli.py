"""The command line with a language model: what it prints, what it refuses, what it costs."""

import json
from pathlib import Path

import pytest

from tests.mock_endpoint import Running, running

MODEL = ["--engine", "openai", "--model", "gpt-4.1-mini"]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, endpoint: Running) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "settings.toml").write_text('workers = 1\n\n[engine]\nencoder = "none"\n')
    return folder


def test_estimate_refresh_and_account(home, tiny_corpus, endpoint, almanac):
    expected = almanac.json(home, "cost", str(tiny_corpus), *MODEL)
    assert endpoint.calls == []
    report = almanac.json(home, "refresh", str(tiny_corpus), *MODEL, "--concurrency", "4")
    assert report["published"] and report["counts"]["calls"]["calls"] == expected["calls"]
    query = "select count(*) as calls, sum(cost) as cost from model_calls where outcome = 'ok'"
    [account] = almanac.rows(home, query)
    assert account["calls"] == expected["calls"] == len(endpoint.calls)
    assert account["cost"] == pytest.approx(report["cost"])
    sample = almanac.json(home, "cost", "--sample", "3", *MODEL)
    assert sample["calls"] == 0  # the same model: answered before
    assert "Nothing has changed" in almanac.shown(home, "refresh", str(tiny_corpus), *MODEL)


def test_the_estimate_is_a_table_for_people(home, tiny_corpus, almanac):
    shown = almanac.shown(home, "cost", str(tiny_corpus), *MODEL)
    assert "prompt tokens" in shown and "Cost: 0." in shown and "Assumed" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cost"], "costs nothing"),
        (["cost", "--engine", "openai"], "needs a model"),
        (["cost", *MODEL, "--sample", "2", "here"], "name no sources"),
        (["refresh", "here", "--engine", "openai"], "needs a model"),
        (["refresh", "here", "--batch"], "--batch would have no effect"),
        (["refresh", "here", "--model", "m", "--budget", "0"], "--model and --budget would"),
        (["refresh", "here", "--engine", "rules", "--concurrency", "4"], "Add --engine openai"),
        (["refresh", "here", "--engine", "transformers", "--model", "m", "--batch"], "local_batch"),
        (
            ["ask", "Where is Oslo?", "--base-url", "http://127.0.0.1:1/v1"],
            "engine.model.base_url would",
        ),
        (["evaluate", "q", "--format", "jsonl", "--model", "m"], "Add --engine"),
        (["refresh", "here", *MODEL, "--base-url", "http://example.org/v1"], "unencrypted"),
        (["refresh", "here", "--engine", "openai", "--model", "odd", "--budget", "1"], "prices"),
        (["refresh", "here", *MODEL, "--budget", "1", "--dask", "local"], "one process"),
    ],
)
def test_a_wrong_call_is_told_in_plain_words(home, tmp_path, monkeypatch, almanac, words, said):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "a.txt").write_text("Oslo lies in Norway.")
    monkeypatch.chdir(tmp_path)
    code, _, errors = almanac(home, *words)
    assert code == 2 and said in errors and "Traceback" not in errors


def test_a_key_that_is_refused_stops_the_run_with_one_message(home, tmp_path, tiny_corpus, almanac):
    words = {"error": {"message": "Incorrect API key provided: sk-test-0123456789"}}
    fault = {"id": "h401", "group": "http", "serve": {"status": 401, "body": words}}
    (tmp_path / "faults.jsonl").write_text(json.dumps(fault))
    with running(tmp_path / "ledger.jsonl", faults=tmp_path / "faults.jsonl") as up:
        options = [*MODEL, "--base-url", up.base_url, "--concurrency", "2"]
        code, _, errors = almanac(home, "refresh", str(tiny_corpus), *options)
        assert code == 1 and len(up.calls) <= 2
    assert "does not accept the key" in errors and "OPENAI_API_KEY" in errors
    assert "sk-test" not in errors and "Traceback" not in errors


def test_somebody_who_asks_does_not_wait_long_for_a_dead_endpoint(
    home, tiny_corpus, monkeypatch, almanac
):
    almanac.shown(home, "refresh", str(tiny_corpus))
    monkeypatch.setattr("flows.commands.ask.PATIENCE_SECONDS", 0.1)
    dead = [*MODEL, "--base-url", "http://127.0.0.1:9/v1"]
    code, shown, errors = almanac(home, "ask", "Who founded Hexham?", *dead)
    assert code == 0 and "answered nothing" in errors and "refresh" not in errors
    assert shown and "The embedded reader answered" in errors and "goes on" not in errors
    code, _, errors = almanac(home, "ask", "Who founded Hexham?", "--route", "none", *dead)
    assert code == 1 and "answered nothing" in errors


def test_rewriting_tells_its_calls_and_its_cost(home, tiny_corpus, almanac):
    almanac.shown(home, "refresh", str(tiny_corpus))
    code, _, errors = almanac(home, "verbalize", *MODEL, "--budget", "1")
    assert code == 2 and "Add --rewrite" in errors
    report = almanac.json(home, "verbalize", "--rewrite", *MODEL, "--budget", "1")
    assert report["counts"]["calls"]["calls"] > 0
    query = "select sum(cost) as cost from model_calls where purpose = 'describe_graph'"
    assert almanac.rows(home, query)[0]["cost"] == pytest.approx(report["cost"])


def test_the_doctor_looks_at_the_model_without_asking_it(home, endpoint, almanac):
    (home / "settings.toml").write_text(
        '[engine]\nengine = "openai"\nencoder = "none"\n\n[engine.model]\nname = "gpt-4.1-mini"\n'
    )
    before = len(endpoint.calls)
    findings = json.loads(almanac(home, "doctor", "--json")[1])
    assert any("gpt-4.1-mini" in json.dumps(one) for one in findings)
    assert len(endpoint.calls) == before
