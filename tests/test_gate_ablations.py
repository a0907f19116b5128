import json
from pathlib import Path

import numpy as np
import pytest

from flows.__main__ import main
from tasks.evaluate.gates.candidates import of_ablations
from tasks.evaluate.gates.evaluate import GateMeasurement, compare_gates
from tasks.evaluate.gates.outcomes import Outcomes
from tasks.evaluate.gates.resampled import resamples_of
from tasks.evaluate.gates.scored import Draws, Scored
from tasks.gates.questions import GateQuestions
from tests.gate_studies import hardness_correlations, hardness_figures, layer_candidates

FEW = GateMeasurement(draws=Draws(30, 2, budgets=False), study="ablations", resamples=100)


def things(count: int, seed: int = 0) -> Outcomes:
    """Return questions that are known where their vectors lie near the middle."""
    rng = np.random.default_rng(seed)
    far = rng.random(count) < 0.5
    vectors = rng.normal(size=(count, 5)) * np.where(far, 3.0, 0.3)[:, None]
    knows = (rng.random(count) < np.where(far, 0.2, 0.9)).astype(float)
    return Outcomes(
        GateQuestions([f"What is {n}?" for n in range(count)], vectors=vectors),
        np.full(count, "things", object),
        ("m",),
        knows[None],
        np.ones((1, count)),
    )


class Noted:
    """An encoder that knows the vector of each question."""

    id, dimensions = "noted", 5

    def __init__(self, vectors: np.ndarray) -> None:
        self._vectors = vectors

    def encode(self, texts: list[str]) -> np.ndarray:
        places = [int(text.split()[-1].rstrip("?")) for text in texts]
        return self._vectors[places].astype(np.float32)


def test_correlations_are_those_of_the_questions_as_they_are_drawn():
    from scipy.stats import pearsonr, spearmanr

    rng = np.random.default_rng(2)
    outcomes = things(60)
    scores = rng.integers(0, 8, 60).astype(float)
    found = [Scored("things", 0, np.arange(60), scores[None], {})]
    resamples = resamples_of(outcomes, 1, 3)
    correlations = hardness_correlations(outcomes, found, resamples)
    for row, times in enumerate(resamples.questions["things"].astype(int)):
        drawn, known = np.repeat(scores, times), np.repeat(outcomes.without[0], times)
        assert correlations["hardness_spearman"][0, row, 0] == pytest.approx(
            spearmanr(drawn, known).statistic, abs=1e-6
        )
        assert correlations["hardness_pearson"][0, row, 0] == pytest.approx(
            pearsonr(drawn, known).statistic, abs=1e-6
        )


@pytest.mark.parametrize("score", [0.1, 1e9, np.nan, np.inf])
def test_equal_scores_go_with_nothing(score):
    outcomes = things(40)
    found = [Scored("things", 0, np.arange(40), np.full((1, 40), score), {})]
    for values in hardness_correlations(outcomes, found, resamples_of(outcomes, 1, 4)).values():
        assert np.isnan(values).all()


def test_ablations_are_those_of_the_papers_table():
    results = compare_gates("things", of_ablations(things(200)), FEW)
    found = results.report
    rows = {one["system"]: one["metrics"] for one in [found, *found["baselines"]]}
    hardness = hardness_figures(results, FEW.draws.count, FEW.resamples)
    assert list(rows) == [
        "thrust",
        "thrust no_size",
        "thrust no_direction",
        "thrust no_distance",
        "thrust cosine",
        "thrust inertia",
        "thrust clusters=1",
        "thrust clusters=10",
    ]
    assert hardness["thrust"]["hardness_spearman_low"] > 0.3
    # What counts here is the distance; without it nothing is left.
    without = hardness["thrust no_distance"]["hardness_spearman"]
    assert hardness["thrust"]["hardness_spearman"] - without > 0.2
    assert "rate_at_budget_50" not in rows["thrust"]


def test_layers_are_told_apart():
    outcomes = things(120)
    assert outcomes.questions.vectors is not None
    first, last = np.random.default_rng(1).normal(size=(2, 120, 5))
    layers = [Noted(first), Noted(outcomes.questions.vectors), Noted(last)]
    candidates = layer_candidates(layers, outcomes)
    found = compare_gates("things", candidates, FEW).report
    areas = {
        one["system"]: one["metrics"]["area_over_random"] for one in [found, *found["baselines"]]
    }
    assert list(areas) == ["thrust layer 2", "thrust layer 1", "thrust layer 0"]
    assert max(areas, key=lambda name: areas[name]) == "thrust layer 1"


@pytest.fixture
def call(tmp_path: Path) -> list[str]:
    """Return a call that measures gates on a small file in MIRAGE's form."""
    rng = np.random.default_rng(5)
    file = tmp_path / "mirage.jsonl"
    rows = [
        {
            "dataset": ("medqa", "mmlu")[n % 2],
            "id": str(n),
            "question": f"Which of these is number {n}?",
            "options": {"A": "this", "B": "that"},
            "answer": "A",
            "pred": {f"{how}_m": str(rng.choice(["A", "B"])) for how in ("cot", "rag32")},
        }
        for n in range(80)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["evaluate", str(file), "--format", "mirage", "--home", str(tmp_path / "home")]


def test_gates_at_the_command_line(call, tmp_path, capsys):
    picture = tmp_path / "curves.svg"
    few = ["--seeds", "15", "--draws", "2", "--picture", str(picture)]
    assert main([*call, "--gate", "never,popularity,own_answer,random", *few, "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["system"] == "never"
    assert [one["system"] for one in found["baselines"]] == ["own_answer", "random"]
    assert found["encoder"] is None
    assert found["items"] == 50
    assert set(found["by"]["dataset"]) == {"medqa", "mmlu"}
    assert "popularity is left out" in err
    assert picture.exists()
    assert main([*call, "--gate", "random", "--seeds", "15", "--draws", "1"]) == 0
    shown = capsys.readouterr().out
    assert "Surely better than chance: " in shown
    assert "random" in shown


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--gate", "guess"], "no gate 'guess'"),
        (["--gate", ","], "Name a gate"),
        (["--gate", "popularity"], "cannot be measured here"),
        (["--gate", "popularity", "--popularity-of", "films"], "no graph 'films'"),
        (["--gate", "thrust", "--variant", "odd"], "no variant 'odd'"),
        (["--gate", "random", "--picture", "curves.gif"], ".svg or .png"),
        (["--gate", "random", "--pooling", "odd"], "no pooling"),
        (["--gate", "random", "--variant", "cosine"], "Only the gate thrust"),
        (["--gate", "thrust", "--route", "text"], "unrecognized arguments: --route"),
        (["--gate", "thrust", "--no-learn"], "unrecognized arguments: --no-learn"),
        (["--study", "systems", "--models", "m"], "unrecognized arguments: --study"),
        (["--ablations"], "unrecognized arguments: --ablations"),
        (["--draws", "3"], "unrecognized arguments: --draws"),
        (["--picture", "curves.svg"], "unrecognized arguments: --picture"),
        (["--route", "text", "--expert", "moons"], "asks no experts"),
    ],
)
def test_calls_that_cannot_be_meant_are_refused(call, options, complaint, capsys):
    try:
        assert main([*call, *options]) == 2
    except SystemExit as end:
        assert end.code == 2
    out, err = capsys.readouterr()
    assert complaint in err
    assert out == ""
