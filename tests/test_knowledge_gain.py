"""What knowledge does for models: stubs whose answers are known, tiny models, a mock endpoint."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.__main__ import main
from schemas.errors import UsageError
from schemas.operations import Evaluation, ModelCall
from schemas.settings import EngineSettings, ModelSettings
from tasks.evaluate.knowledge_gain.asked_models import (
    LocalAsked,
    ModelAnswer,
    chosen,
    model_of_settings,
    open_asked_model,
    with_choices,
)
from tasks.evaluate.knowledge_gain.figures import agreement, gain_figures, rank_correlation
from tasks.evaluate.knowledge_gain.measure import GainMeasurement, answer_score, measure_gain
from tasks.evaluate.pictures import draw_gain
from tasks.questions.formats import read_benchmark
from tasks.questions.question import BenchmarkQuestion
from tests.mock_endpoint import running
from tests.tiny_models import make_chat_model, make_encoding_model
from warehouse.home import Home
from warehouse.live import latest


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


class Stub:
    """Knows what is in its head, and reads its pieces if it is told to."""

    def __init__(self, name: str, head: dict[str, str], *, reads: bool = True) -> None:
        self.name, self._head, self._reads = name, head, reads

    def answers(
        self, questions: Sequence[BenchmarkQuestion], pieces: Sequence[str | None], report: Any = 0
    ) -> list[ModelAnswer]:
        both = zip(questions, pieces, strict=True)
        return [
            ModelAnswer(
                p if p and self._reads else self._head.get(q.question, ""), len(q.question) / 8
            )
            for q, p in both
        ]


ROWS: list[dict[str, Any]] = [
    {"question": "Who?", "answers": ["Ann Lee"], "knowledge": "Ann Lee", "dataset": "open"},
    {"question": "When?", "answers": ["1833"], "knowledge": "in 1832", "dataset": "open"},
    {"question": "Light?", "answers": ["yes"], "choices": ["yes", "no"], "knowledge": "no",
     "dataset": "closed", "label": "yes", "popularity": 5.0},
    {"question": "Heavy?", "answers": ["no"], "choices": ["yes", "no"], "knowledge": "no",
     "dataset": "closed"},
    {"question": "No piece?", "answers": ["no"]},
]  # fmt: skip
HEAD = {"Who?": "Lee", "When?": "1833", "Light?": "yes", "Heavy?": "yes"}


def questions_file(folder: Path, rows: Sequence[dict[str, Any]] = ROWS) -> Path:
    path = folder / "told.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def opener(*stubs: Stub) -> Callable[[str], Stub]:
    return {stub.name: stub for stub in stubs}.__getitem__


def test_gain_by_model_and_data_set(home: Home, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    how = GainMeasurement(models=["reader", "stubborn"], out=out)
    stubs = opener(Stub("reader", HEAD), Stub("stubborn", HEAD, reads=False))
    found = measure_gain(home, questions_file(tmp_path), "jsonl", stubs, how, EngineSettings())
    assert (found["system"], found["items"], found["left_out"]) == ("reader", 4, 1)
    closed = found["by"]["dataset"]["closed"]["metrics"]
    assert (closed["without_knowledge"], closed["with_knowledge"]) == (0.5, 0.5)
    assert (closed["helped"], closed["harmed"], closed["knowledge_gain"]) == (0.5, 0.5, 0.0)
    metrics = found["by"]["dataset"]["open"]["metrics"]
    assert metrics["without_knowledge"] == pytest.approx((2 / 3 + 1) / 2, abs=1e-3)
    assert metrics["with_knowledge"] == 0.5  # the year in its piece is wrong
    assert metrics["knowledge_gain_low"] <= metrics["knowledge_gain"]
    stubborn = found["baselines"][0]
    assert stubborn["metrics"]["knowledge_gain"] == stubborn["metrics"]["helped"] == 0
    recorded = latest(home.live, Evaluation).to_pylist()
    assert {row["system"] for row in recorded} == {"reader", "stubborn"}
    assert any(row["dataset"] == "told [dataset=closed]" for row in recorded)
    again = read_benchmark(out, "jsonl").questions
    assert len(again) == 4
    assert again[0].outcomes == (("reader", pytest.approx(2 / 3), 1), ("stubborn",) + (2 / 3,) * 2)
    assert again[2].outcomes[0] == ("reader", 1.0, 0.0)
    assert dict(again[2].own_answers) == {"reader": "yes", "stubborn": "yes"}
    assert dict(again[2].uncertainties) == {"reader": 0.75, "stubborn": 0.75}
    assert (again[2].label, again[2].popularity, again[2].dataset) == ("yes", 5.0, "closed")


def test_outcomes_that_questions_bring_are_measured_without_asking(
    home: Home, tmp_path: Path
) -> None:
    rows = [
        {"question": f"{n}?", "answers": ["a"], "dataset": f"set {n % 4}",
         "outcomes": {"small": [n % 2, 1], "large": [n % 2, n % 3 > 0]}}
        for n in range(24)
    ]  # fmt: skip
    rows = [json.loads(json.dumps(row).replace("true", "1").replace("false", "0")) for row in rows]
    how = GainMeasurement(proxy="small")

    def nobody(name: str) -> Any:
        raise AssertionError(name)

    path = questions_file(tmp_path, rows)
    found = measure_gain(home, path, "jsonl", nobody, how, EngineSettings())
    assert [found["system"], found["baselines"][0]["system"]] == ["large", "small"]
    (told,) = found["agreement"]
    assert (told["proxy"], told["model"], told["items"]) == ("small", "large", 24)
    assert told["equal_outcomes"] == pytest.approx(2 / 3, abs=1e-4)


def test_a_proxy_is_asked_last_and_compared_with_each(home: Home, tmp_path: Path) -> None:
    stubs = [Stub("big", HEAD), Stub("small", {"Light?": "yes"}), Stub("mute", {}, reads=False)]
    how = GainMeasurement(models=["big", "mute"], proxy="small")
    path = questions_file(tmp_path)
    found = measure_gain(home, path, "jsonl", opener(*stubs), how, EngineSettings())
    assert [found["system"], *(o["system"] for o in found["baselines"])] == ["big", "mute", "small"]
    assert [one["model"] for one in found["agreement"]] == ["big", "mute"]


def test_what_cannot_be_measured_is_told(home: Home, tmp_path: Path) -> None:
    bare = questions_file(tmp_path, ROWS[-1:])
    engine = EngineSettings()
    stubs = opener(Stub("a", {}))
    with pytest.raises(UsageError, match="passage of knowledge"):
        measure_gain(home, bare, "jsonl", stubs, GainMeasurement(["a"]), engine)
    with pytest.raises(UsageError, match="name no model"):
        measure_gain(home, bare, "jsonl", stubs, GainMeasurement(), engine)
    nowhere = GainMeasurement(["a"], out=tmp_path / "no" / "where")
    with pytest.raises(UsageError, match="no folder"):
        measure_gain(home, bare, "jsonl", stubs, nowhere, engine)
    twice: Any = {"a": Stub("same", {}), "b": Stub("same", {})}.__getitem__
    with pytest.raises(UsageError, match="called same"):
        measure_gain(
            home, questions_file(tmp_path), "jsonl", twice, GainMeasurement(["a", "b"]), engine
        )


def test_the_model_of_the_settings_has_a_name() -> None:
    model = ModelSettings(name="m")
    assert model_of_settings(EngineSettings(engine="openai", model=model)) == "endpoint:m"
    assert model_of_settings(EngineSettings(engine="transformers", model=model)) == "m"


# -- figures -----------------------------------------------------------------------------------


def question(answers: Sequence[str], **said: Any) -> BenchmarkQuestion:
    return BenchmarkQuestion("1", "Who?", tuple(answers), scoring="text", **said)


def test_open_answers_have_the_best_f1_and_choices_are_right_or_not() -> None:
    both = question(["Ann Lee", "Lee of Mill"])
    assert answer_score(both, "the Ann Lee") == 1.0
    assert answer_score(both, "Lee") == pytest.approx(2 / 3)
    assert answer_score(both, "") == answer_score(both, "nobody") == 0.0
    assert answer_score(question(["1833"], patterns=("18[0-9]{2}",)), "1834") == 1.0
    closed = question(["no"], choices=("no", "not known"))
    assert (answer_score(closed, "No"), answer_score(closed, "not known")) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ("B", "lead"),
        ("(a) wood", "wood"),
        ("(B)", "lead"),
        ("B. lead", "lead"),
        ("The answer is B", "lead"),
        ("Answer: B", "lead"),
        ("正确答案：B", "lead"),
        ("A cork, I think", "cork"),
        ("It is lead, not wood.", "lead"),
        ("a heavy metal", "heavy lead metal"),
        ("Z", ""),
        ("", ""),
    ],
)
def test_a_choice_is_found_in_words(said: str, choice: str) -> None:
    assert chosen(said, ("wood", "lead", "cork", "heavy lead metal")) == choice


def test_choices_stand_behind_the_question() -> None:
    assert with_choices(question(["x"], choices=("x", "y"))) == "Who?\n(A) x (B) y"
    assert with_choices(question(["x"])) == "Who?"


def with_outcomes(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> list[Any]:
    return [
        BenchmarkQuestion(
            str(n), "?", ("a",), dataset=f"set {n % 3}", outcomes=(("p", *mine), ("m", *other))
        )
        for n, (mine, other) in enumerate(pairs)
    ]


def test_agreement_is_told_beside_chance() -> None:
    same = with_outcomes([((0, 1), (0, 1)), ((1, 1), (1, 1)), ((1, 0), (1, 0)), ((0, 0), (0, 0))])
    figures = agreement("p", "m", same)
    assert (figures["equal_outcomes"], figures["equal_by_chance"], figures["kappa"]) == (
        1.0,
        0.25,
        1.0,
    )
    assert figures["gain_correlation"] == figures["question_correlation"] == 1.0
    apart = with_outcomes([((0, 1), (1, 0)), ((1, 0), (0, 1))])
    assert agreement("p", "m", apart)["question_correlation"] == -1.0
    assert agreement("p", "m", apart)["gain_correlation"] is None  # of two data sets
    assert agreement("p", "q", same) == {"proxy": "p", "model": "q", "items": 0}


FIGURES = st.tuples(st.floats(0, 1), st.floats(0, 1))


@settings(max_examples=10)
@given(st.lists(st.tuples(FIGURES, FIGURES), min_size=1, max_size=20))
def test_figures_keep_their_bounds(pairs: list[Any]) -> None:
    figures = agreement("p", "m", with_outcomes(pairs))
    assert 0 <= figures["equal_outcomes"] <= 1
    assert figures["kappa"] is None or figures["kappa"] <= 1.0001
    metrics = gain_figures("m", with_outcomes(pairs))["metrics"]
    assert metrics["helped"] + metrics["harmed"] <= 1.0001
    gain = metrics["with_knowledge"] - metrics["without_knowledge"]
    assert metrics["knowledge_gain"] == pytest.approx(gain, abs=2e-4)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=20))
def test_rank_correlation_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    from scipy.stats import spearmanr

    one, other = np.array(pairs).T
    found = rank_correlation(one, other)
    if found is None:
        assert np.ptp(one) == 0 or np.ptp(other) == 0
    else:
        assert found == pytest.approx(spearmanr(one, other).statistic, abs=1e-4)


# -- models ------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [make_chat_model, make_encoding_model])
def test_a_local_model_chooses_by_likelihood_and_writes(
    make: Any, home: Home, tmp_path: Path
) -> None:
    folder = make(tmp_path / "tiny")
    engine = EngineSettings(model=ModelSettings(device="cpu", local_batch=3))
    model = open_asked_model(str(folder), engine, home, "run")
    assert isinstance(model, LocalAsked) and model.name == "tiny"
    questions = read_benchmark(questions_file(tmp_path), "jsonl").questions[:4]
    answers = model.answers(questions, [None] * 4)
    assert answers == model.answers(questions, [None] * 4)
    assert all(0 <= one.uncertainty < 10 for one in answers)
    assert max(one.uncertainty for one in answers[2:]) <= np.log(2) + 1e-9  # two choices
    alone = [one.text for one in answers]
    assert alone[2] in questions[2].choices and alone[3] in questions[3].choices
    likelihoods = model._model.choice_likelihoods(with_choices(questions[2]), questions[2].choices)
    assert alone[2] == questions[2].choices[int(likelihoods.argmax())]
    assert alone[0] == model._model.generate([questions[0].question])[0].text


def test_an_endpoint_is_asked_once_for_equal_texts(home: Home, tmp_path: Path) -> None:
    path = questions_file(tmp_path, [*ROWS, ROWS[0]])
    with running(tmp_path / "ledger") as endpoint:
        engine = EngineSettings(model=ModelSettings(base_url=endpoint.base_url, concurrency=2))
        model = open_asked_model("endpoint:mock-model", engine, home, "run")
        how = GainMeasurement(["endpoint:mock-model"])
        first = measure_gain(home, path, "jsonl", lambda name: model, how, engine)
        again = measure_gain(home, path, "jsonl", lambda name: model, how, engine)
    assert first["system"] == "mock-model"
    assert first["metrics"] == again["metrics"]
    calls = latest(home.live, ModelCall).to_pylist()
    assert len(calls) == 8  # four texts, each without and with its piece


def test_an_endpoint_gets_the_beginning_of_a_long_piece(home: Home, tmp_path: Path) -> None:
    row = {**ROWS[0], "knowledge": "word " * 5000}
    with running(tmp_path / "ledger") as endpoint:
        engine = EngineSettings(model=ModelSettings(base_url=endpoint.base_url))
        model = open_asked_model("endpoint:mock-model", engine, home, "run")
        questions = read_benchmark(questions_file(tmp_path, [row]), "jsonl").questions
        model.answers(questions, [questions[0].knowledge])
    (call,) = latest(home.live, ModelCall).to_pylist()
    assert 450 < call["tokens_in"] < 700


# -- the command -------------------------------------------------------------------------------


def test_the_command_measures_draws_and_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {**row, "outcomes": {"small": [0, 1], "large": [1, 0]}}
        for row in ROWS
        if "knowledge" in row
    ]
    path, out = questions_file(tmp_path, rows), tmp_path / "out.jsonl"
    pictures = [tmp_path / "one.svg", tmp_path / "two.svg"]
    common = ["--home", str(tmp_path / "home"), "evaluate", str(path), "--format", "jsonl",
              "--knowledge", "--proxy", "small"]  # fmt: skip
    assert main([*common, "--json", "--picture", str(pictures[0])]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["metrics"]["knowledge_gain"] == -1 and printed["system"] == "large"
    assert printed["agreement"][0]["equal_outcomes"] == 0
    assert main([*common, "--out", str(out), "--picture", str(pictures[1])]) == 0
    shown = capsys.readouterr().out
    assert "small for large: 0.000 of 4" in shown and "closed" in shown
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    assert len(out.read_text().splitlines()) == 4
    assert main([*common, "--picture", str(tmp_path / "x.gif")]) == 2


def test_a_picture_of_one_data_set_and_of_harm(tmp_path: Path) -> None:
    found = {"dataset": "d", **gain_figures("m", with_outcomes([((0, 1), (1, 0))]))}
    draw_gain(tmp_path / "p.png", {**found, "baselines": []})
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
