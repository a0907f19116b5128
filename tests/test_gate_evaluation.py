import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from schemas.errors import UsageError
from schemas.operations import Evaluation
from tasks.evaluate.gates.candidates import check_gates, of_gates
from tasks.evaluate.gates.evaluate import GateMeasurement, compare_gates, evaluate_gates
from tasks.evaluate.gates.outcomes import Outcomes, drawn, outcomes_of
from tasks.evaluate.gates.resampled import gate_curves, perfect, resamples_of, weighted_curves
from tasks.evaluate.gates.scored import Draws, Scored, scored
from tasks.gates.gate import GATES
from tasks.gates.questions import GateQuestions
from tasks.questions.question import BenchmarkQuestion
from tests.gate_studies import hardness_figures
from warehouse.home import Home

SIZES = {"rivers": 150, "kings": 60}
MODELS = ("small", "large")


class NearGate:
    """A gate that sees what matters: how near a question is to the middle of the seeds."""

    name = "near"
    needs = frozenset({"vectors"})

    def fit(self, seeds: GateQuestions, counted_as: int | None = None) -> None:
        self.middle = seeds.column("vectors").mean(0)

    def score(self, questions: GateQuestions) -> np.ndarray:
        scores: np.ndarray = -np.linalg.norm(questions.column("vectors") - self.middle, axis=1)
        return scores


@pytest.fixture(autouse=True)
def _near(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GATES, "near", NearGate)


def measure(name: str, outcomes: Outcomes, measurement: GateMeasurement) -> dict[str, Any]:
    candidates, left_out = of_gates(list(measurement.gates), measurement.options, outcomes)
    assert not left_out
    return compare_gates(name, candidates, measurement).report


def scores_of(outcomes: Outcomes, gate: str, count: int) -> list[Scored]:
    (one,), _ = of_gates([gate], {}, outcomes)
    return list(scored(outcomes, one.make, Draws(40, count, budgets=False)))


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    """Questions near the middle of their data set are known; knowledge helps with the others."""
    rng = np.random.default_rng(1)
    datasets = np.repeat(list(SIZES), list(SIZES.values())).astype(object)
    count = len(datasets)
    vectors = rng.normal(size=(count, 6)) * rng.choice([0.3, 2.0], count)[:, None]
    far = np.linalg.norm(vectors, axis=1)
    knows = [rng.random(count) < np.where(far < 1.5, 0.9, least) for least in (0.2, 0.4)]
    helped = rng.random((2, count)) < 0.8
    questions = GateQuestions(
        [f"What is thing {n} of {name}?" for n, name in enumerate(datasets)],
        vectors=vectors + np.where(datasets == "kings", 5.0, 0.0)[:, None],
        popularity=np.where(datasets == "kings", 10.0, 1.0),
    )
    without = np.array(knows, float)
    return Outcomes(questions, datasets, MODELS, without, helped.astype(float))


def test_low_scores_go_with_hard_questions(outcomes):
    measurement = GateMeasurement(("near", "never"), Draws(40, 4), resamples=300)
    candidates, _ = of_gates(list(measurement.gates), {}, outcomes)
    hardness = hardness_figures(compare_gates("things", candidates, measurement), 4, 300)
    assert hardness["near"]["hardness_spearman_low"] > 0.3
    assert hardness["near"]["hardness_pearson_low"] > 0.3
    assert not hardness["never"]


def test_a_gate_that_sees_what_matters_beats_random(outcomes):
    names = ("near", "thrust", "random", "popularity", "never")
    how = GateMeasurement(gates=names, draws=Draws(40, 4), resamples=300)
    found = measure("things", outcomes, how)
    gates = {one["system"]: one["metrics"] for one in [found, *found["baselines"]]}
    assert list(gates) == ["near", "thrust", "random", "popularity", "never"]
    for model in ("", ":small", ":large"):
        assert gates["near"][f"area_over_random{model}_low"] > 0
    assert gates["near"]["share_of_perfect"] > 0.2
    assert gates["near"]["auroc_help"] > 0.6
    assert gates["random"]["area_over_random_low"] < 0 < gates["random"]["area_over_random_high"]
    # Knowing the data set alone is worth nothing: every data set counts for itself.
    assert gates["popularity"]["area_over_random"] == gates["never"]["area_over_random"] == 0
    assert gates["random"]["area_over_system_high"] < 0
    assert gates["never"]["rate_at_budget_50"] == 0
    always = gates["near"]["accuracy_always"]
    at_half = gates["near"]["accuracy_at_50:small"]
    assert gates["near"]["accuracy_at_half_of_always:small"] == pytest.approx(
        at_half / gates["near"]["accuracy_always:small"], abs=1e-4
    )
    assert always == gates["random"]["accuracy_always"]
    assert json.loads(json.dumps(found)) == found


def test_measurement_is_the_mean_over_draws_and_data_sets(outcomes):
    found = scores_of(outcomes, "near", 3)
    resamples = resamples_of(outcomes, 3, 5)
    curves = gate_curves(outcomes, found, resamples)
    for number, name in enumerate(curves.datasets):
        draws = [one for one in found if one.dataset == name]
        for model in range(2):
            areas = []
            for one in draws:
                figures = [
                    f[[model]][:, one.places] for f in (outcomes.without, outcomes.with_knowledge)
                ]
                once = np.ones((1, len(one.places)))
                areas.append(weighted_curves(one.of_model(model), *figures, once)[0])
            assert curves.areas[number, 0, model] == pytest.approx(np.mean(areas))
    ideal = perfect(outcomes, found, resamples)
    assert (ideal.accuracies >= curves.accuracies - 1e-9).all()


def test_draws_of_seeds_and_the_rest_share_no_question(outcomes):
    for name, places in outcomes.each_dataset():
        seeds, rest = drawn(outcomes, places, name, 40, 0)
        assert len(seeds) == min(40, SIZES[name] // 2)
        assert sorted([*seeds, *rest]) == places.tolist()
        assert not np.array_equal(seeds, drawn(outcomes, places, name, 40, 1)[0])
        assert np.array_equal(seeds, drawn(outcomes, places, name, 40, 0)[0])


def test_equal_questions_are_on_one_side():
    texts = [f"q{n // 3}" for n in range(60)]
    same = Outcomes(
        GateQuestions(texts), np.full(60, "x", object), ("m",), np.zeros((1, 60)), np.ones((1, 60))
    )
    for draw in range(5):
        seeds, rest = drawn(same, np.arange(60), "x", 30, draw)
        assert not {texts[n] for n in seeds} & {texts[n] for n in rest}
        assert len(seeds) == 30


def test_interval_is_wider_where_draws_disagree(outcomes):
    """Two draws that say the opposite of each other must leave more doubt than two alike."""
    alike = scores_of(outcomes, "near", 1)
    resamples = resamples_of(outcomes, 2, 400)

    def width(sign: float) -> float:
        other = [type(s)(s.dataset, 1, s.places, sign * s.scores, {}) for s in alike]
        areas = gate_curves(outcomes, [*alike, *other], resamples).areas.mean(axis=(0, 2))[1:]
        return float(np.subtract(*np.percentile(areas, [97.5, 2.5])))

    assert width(-1.0) > width(1.0)


def test_interval_covers_what_other_questions_would_show():
    """Of samples from one source, the intervals of about 95 % must hold the source's own area."""
    rng = np.random.default_rng(2)
    held, truth = 0, 0.1 / 12  # gain rises by 0.1 in all with the score's rank: area = slope / 12
    for _ in range(60):
        popularity = rng.random(200)
        gain = rng.random(200) < 0.3 - 0.1 * (popularity - 0.5)
        one = Outcomes(
            GateQuestions([str(n) for n in range(200)], popularity=popularity),
            np.full(200, "x", object),
            ("m",),
            np.zeros((1, 200)),
            gain[None].astype(float),
        )
        how = GateMeasurement(gates=("popularity",), draws=Draws(20, 2, False), resamples=200)
        metrics = measure("x", one, how)["metrics"]
        held += metrics["area_over_random_low"] <= truth <= metrics["area_over_random_high"]
    assert 50 <= held <= 60


def test_questions_without_outcomes_say_how_to_get_them():
    with pytest.raises(UsageError, match="knowledge_gain"):
        outcomes_of([BenchmarkQuestion("1", "Who?")])
    few = [BenchmarkQuestion("1", "Who?", outcomes=(("m", 0.0, 1.0),))]
    with pytest.raises(UsageError, match="20 questions"):
        outcomes_of(few)


def test_outcomes_hold_what_all_models_answered():
    questions = [
        BenchmarkQuestion(
            str(n),
            f"Who is {n}?",
            choices=("Ada", "Ida"),
            dataset="x" if n < 30 else "small",
            outcomes=(("a", 0.0, 1.0), ("b", 0.5, 0.25))[: 1 if n == 3 else 2],
            own_answers=(("a", "B"), ("b", "")),
            uncertainties=(("a", n / 10),),
            popularity=float(n) if n % 2 else None,
        )
        for n in range(33)
    ]
    found = outcomes_of(questions, choices=True)
    assert found.models == ("a", "b")
    assert len(found.questions) == 29
    assert found.without[:, 0].tolist() == [0, 0.5]
    assert found.with_knowledge[:, 0].tolist() == [1, 0.25]
    assert found.answers is not None
    assert found.answers[:, 0].tolist() == ["ida", "none"]
    assert found.uncertainty is not None
    assert found.of_model(0).uncertainty is not None
    assert found.uncertainty[0, 1] == 0.1
    assert np.isnan(found.uncertainty[1]).all()
    assert found.questions.texts[1] == "Who is 1?\nAda\nIda"
    assert found.questions.popularity is not None
    assert np.isnan(found.questions.popularity[0])
    assert found.questions.popularity[1] == 1


def test_gates_that_read_a_models_own_answers_are_fitted_for_each_model(outcomes):
    """What one model says of itself helps with it, and says nothing of the other."""
    rng = np.random.default_rng(6)
    sure = np.where(outcomes.without[0] > 0, 0.2, 1.0) + rng.normal(
        0, 0.3, outcomes.without.shape[1]
    )
    answers = np.where(outcomes.without > 0, "yes", "maybe").astype(object)
    answers[1] = "yes"
    unsure = replace(outcomes, uncertainty=np.stack([sure, rng.random(len(sure))]), answers=answers)
    for gate in ("entropy", "own_answer"):
        how = GateMeasurement(gates=(gate,), draws=Draws(40, 2), resamples=100)
        metrics = measure("things", unsure, how)["metrics"]
        assert metrics["area_over_random:small_low"] > 0.02
        assert metrics["area_over_random:large_low"] <= 0.01
        assert metrics["area_over_random:large"] < 0.5 * metrics["area_over_random:small"]


def test_gates_that_cannot_be_measured_are_left_out(outcomes):
    bare = Outcomes(
        GateQuestions(outcomes.questions.texts),
        outcomes.datasets,
        outcomes.models,
        outcomes.without,
        outcomes.with_knowledge,
    )
    candidates, left_out = of_gates(["random", "popularity", "never"], {}, bare)
    assert [one.name for one in candidates] == ["random", "never"]
    assert "popular" in left_out["popularity"]
    with pytest.raises(UsageError, match="popularity cannot be measured"):
        of_gates(["popularity", "never"], {}, bare)
    with pytest.raises(UsageError, match="no gate 'guess'"):
        check_gates(["guess"], {})


class Lengths:
    """An encoder to which a text is its length."""

    id, dimensions = "lengths", 2

    def __init__(self) -> None:
        self.encoded = 0

    def encode(self, texts: list[str]) -> np.ndarray:
        self.encoded += len(texts)
        return np.array([[len(text), 1] for text in texts], np.float32)


def test_measurement_is_recorded_and_vectors_are_kept(tmp_path):
    rng = np.random.default_rng(4)
    file = tmp_path / "mirage.jsonl"
    with file.open("w") as out:
        for n in range(50):
            row = {
                "dataset": "medqa",
                "id": str(n),
                "question": f"Which is {'so ' * (n % 7)}{n}?",
                "options": {"A": "this", "B": "that"},
                "answer": "A",
                "pred": dict(zip(("cot_m", "rag32_m"), rng.choice(["A", "B"], 2), strict=True)),
            }
            out.write(json.dumps(row) + "\n")
    home, encoder = Home(tmp_path / "home"), Lengths()
    how = GateMeasurement(gates=("thrust", "own_answer"), draws=Draws(20, 2), resamples=20)
    found = evaluate_gates(home, file, "mirage", lambda: encoder, how).report
    assert found["encoder"] == "lengths"
    assert found["items"] == 30
    assert found["seeds"] == {"medqa": 20}
    assert found["baselines"][0]["system"] == "own_answer"
    written = home.live.table(Evaluation).to_pylist()
    figures = {r["metric"]: r["value"] for r in written if r["system"] == "thrust"}
    assert figures["area_over_random"] == found["metrics"]["area_over_random"]
    assert encoder.encoded == 50
    evaluate_gates(home, file, "mirage", lambda: encoder, how)
    assert encoder.encoded == 50
