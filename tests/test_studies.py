"""The studies of `benchmarks`, run as people run them: what they print, draw and record."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from schemas.operations import Evaluation, ModelCall
from schemas.settings import EngineSettings, Settings
from tasks.questions.formats import read_benchmark
from tasks.train_experts import add_expert, change_expert
from tests.benchmark_runs import study, study_result
from tests.copied_home import copied_home
from tests.mock_endpoint import running
from tests.tiny_models import make_chat_model
from warehouse.home import Home
from warehouse.live import latest

ROWS: list[dict[str, Any]] = [
    {"question": "Who?", "answers": ["Ann Lee"], "knowledge": "Ann Lee", "dataset": "open"},
    {"question": "When?", "answers": ["1833"], "knowledge": "in 1832", "dataset": "open"},
    {"question": "Light?", "answers": ["yes"], "choices": ["yes", "no"], "knowledge": "no",
     "dataset": "closed", "label": "yes", "popularity": 5.0},
    {"question": "Heavy?", "answers": ["no"], "choices": ["yes", "no"], "knowledge": "no",
     "dataset": "closed"},
    {"question": "No piece?", "answers": ["no"]},
]  # fmt: skip


@pytest.fixture
def home(home: Home) -> Home:
    home.path.mkdir()
    return home


def questions_file(folder: Path, rows: Sequence[dict[str, Any]] = ROWS) -> Path:
    path = folder / "told.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def with_endpoint(home: Home, base_url: str) -> None:
    """Have the home's settings name a model at an endpoint."""
    (home.path / "settings.toml").write_text(
        '[engine]\nengine = "openai"\nencoder = "none"\n\n[engine.model]\nname = "mock"\n'
        f'base_url = "{base_url}"\nconcurrency = 2\nlocal_batch = 3\ndevice = "cpu"\n\n'
        "[experts]\nnew_tokens = 40\n",
        encoding="utf-8",
    )


# -- what knowledge brings models --------------------------------------------------------------


def test_outcomes_that_questions_bring_are_measured_without_asking(home, tmp_path):
    rows = [
        {"question": f"{n}?", "answers": ["a"], "knowledge": "a", "dataset": f"set {n % 4}",
         "outcomes": {"small": [n % 2, 1], "large": [n % 2, int(n % 3 > 0)]}}
        for n in range(24)
    ]  # fmt: skip
    out, picture = tmp_path / "out.jsonl", tmp_path / "gains.svg"
    path = questions_file(tmp_path, rows)
    files = ["--out", str(out), "--picture", str(picture)]
    found = study_result("knowledge_gain", home, path, "--proxy", "small", *files)
    assert [found["system"], found["baselines"][0]["system"]] == ["large", "small"]
    small = found["baselines"][0]["metrics"]
    assert (small["without_knowledge"], small["with_knowledge"]) == (0.5, 1)
    assert (small["helped"], small["harmed"], small["knowledge_gain"]) == (0.5, 0, 0.5)
    assert small["knowledge_gain_low"] < 0.5 < small["knowledge_gain_high"]
    assert set(found["by"]["dataset"]) == {"set 0", "set 1", "set 2", "set 3"}
    (told,) = found["agreement"]
    assert (told["proxy"], told["model"], told["items"]) == ("small", "large", 24)
    # Outcomes of the small model are 01 or 11, of the large one 00, 01, 10 or 11.
    assert told["equal_outcomes"] == pytest.approx(2 / 3, abs=1e-4)
    assert told["equal_by_chance"] == pytest.approx(1 / 3, abs=1e-4)
    assert told["kappa"] == pytest.approx(1 / 2, abs=1e-4)
    assert read_benchmark(out, "jsonl").questions[1].outcomes == (("small", 1, 1), ("large", 1, 1))
    assert picture.read_text().startswith("<?xml")
    recorded = latest(home.live, Evaluation).to_pylist()
    assert {row["system"] for row in recorded} == {"small", "large"}
    assert any(row["dataset"] == "told [dataset=set 1]" for row in recorded)


def test_a_local_model_and_one_behind_an_endpoint_are_asked_with_and_without_knowledge(
    home, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    tiny, out = make_chat_model(tmp_path / "tiny"), tmp_path / "out.jsonl"
    long = {**ROWS[0], "question": "Who else?", "knowledge": "word " * 5000}
    path = questions_file(tmp_path, [*ROWS, ROWS[0], long])
    with running(tmp_path / "ledger") as endpoint:
        with_endpoint(home, endpoint.base_url)
        options = ["--models", "endpoint:mock-model", "--proxy", str(tiny), "--out", str(out)]
        found = study_result("knowledge_gain", home, path, *options)
    assert [found["system"], found["baselines"][0]["system"]] == ["mock-model", "tiny"]
    assert (found["items"], found["left_out"]) == (6, 1)
    assert found["agreement"][0]["proxy"] == "tiny"  # asked last, compared with the other
    calls = latest(home.live, ModelCall).to_pylist()
    assert len(calls) == 10  # five different texts, each without and with its piece
    assert 450 < max(call["tokens_in"] for call in calls) < 700  # the beginning of the long piece
    written = read_benchmark(out, "jsonl").questions
    closed = written[2]
    assert dict(closed.own_answers)["tiny"] in closed.choices
    assert dict(closed.uncertainties)["tiny"] <= 0.6932  # of two choices, in nats
    assert (closed.label, closed.popularity, closed.dataset) == ("yes", 5.0, "closed")
    assert all(0 <= score <= 1 for one in written for _, *pair in one.outcomes for score in pair)


def test_what_cannot_be_measured_is_said_in_a_line(home, tmp_path):
    path = questions_file(tmp_path)
    for options, complaint in (
        ((), "name no model"),
        (("--models", "m", "--out", str(tmp_path / "no" / "where")), "no folder"),
        (("--picture", str(tmp_path / "gains.gif")), ".svg or .png"),
    ):
        code, out, err = study("knowledge_gain", home, path, *options)
        assert (code, out) == (2, "") and complaint in err and "Traceback" not in err


# -- what experts bring -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study_home(
    small_home: Path, tiny_expert: Path, tmp_path_factory: pytest.TempPathFactory
) -> Home:
    home = Home(copied_home(small_home, tmp_path_factory.mktemp("study") / "home"))
    plain = Settings(engine=EngineSettings(encoder="none"), workers=1)
    for name in ("births", "people"):
        add_expert(home, tiny_expert, name, plain, description=f"Facts of {name}")
        change_expert(home, name, "restore", plain)  # nothing tells what it knows
    return home


PEOPLE = [
    {"question": "Who was Ada?", "answers": ["Ada"], "kind": "people", "dataset": "open"},
    {"question": "Who was Bert?", "answers": ["Bert"], "kind": "people", "dataset": "open"},
    {"question": "Where is Oslo?", "answers": ["Norway"], "kind": "places", "dataset": "open"},
    {"question": "Where is Rome?", "answers": ["Italy"], "choices": ["Italy", "Peru"],
     "kind": "places", "dataset": "choice"},
]  # fmt: skip


def test_experts_are_studied_with_a_model_and_without(study_home, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    report = tmp_path / "report"
    models = ["--model", "endpoint:mock", "--model", "embedded", "--out", str(report)]
    path = questions_file(tmp_path, PEOPLE)
    with running(tmp_path / "ledger.jsonl") as endpoint:
        with_endpoint(study_home, endpoint.base_url)
        found = study_result("experts_study", study_home, path, *models)
    assert found["models"] == ["mock", "embedded"] and list(found["tables"]) == ["open", "choice"]
    tables = found["tables"]["open"]
    systems = {(row["model"], row["row"]): row for row in tables["systems"]}
    assert {("mock", "model"), ("mock", "recitation"), ("mock", "top-down explicit"),
            ("embedded", "text"), ("embedded", "expert births")} <= set(systems)  # fmt: skip
    assert ("embedded", "top-down explicit") not in systems  # without a model no prompts
    alone, others = systems["mock", "model"], [systems["mock", "bottom-up"]]
    assert "gain" not in alone and alone["items"] == 3
    for row in others:
        assert row["gain"] == pytest.approx(row["right"] - alone["right"], abs=1e-4)
        assert row["gain_low"] <= row["gain"] <= row["gain_high"]
    filters = {row["row"] for row in tables["filters"] if row["model"] == "mock"}
    off = {f"without {name}" for name in ("relevance", "pruning", "factuality", "filters")}
    assert filters == {"bottom-up", *off}
    assert {row["row"] for row in tables["sweep"]} > {"n1 = 1", "n3 = 5"}
    (agreement,) = {row["asked"] for row in tables["agreement"] if row["model"] == "mock"}
    assert agreement >= 3
    experts = {row["expert"]: row for row in tables["factuality"] if row["model"] == "mock"}
    assert set(experts) == {"births", "people"}
    assert all(row["texts"] == 9 and 0 <= row["kept"] <= 1 for row in experts.values())
    for row in tables["needs"]:
        counts = [
            row[f"{needs}_{knows}"] for needs in ("yes", "no") for knows in ("right", "wrong")
        ]
        assert sum(counts) == 3
    words = (report / "study.md").read_text()
    assert words.count("\n## ") == 2 and "### Wordings" in words and "nan" not in words
    pictures = {picture.name for picture in report.glob("*.svg")}
    assert {f"{name}-1.svg" for name in ("systems", "filters", "sweep", "factuality")} <= pictures
    assert all(f"]({picture})" in words for picture in pictures)
    recorded = latest(study_home.live, Evaluation).to_pylist()
    assert {"mock: bottom-up", "mock: without pruning", "embedded: text"} <= {
        row["system"] for row in recorded
    }


def test_a_group_or_a_data_set_that_there_is_not_is_refused(study_home, tmp_path):
    path = questions_file(tmp_path, PEOPLE)
    embedded = ("--model", "embedded")
    for options, complaint in (
        (("--only", "spells"), "no group 'spells'"),
        (("--dataset", "x"), "no data set 'x'"),
    ):
        code, out, err = study("experts_study", study_home, path, *embedded, *options)
        assert (code, out) == (2, "") and complaint in err
