"""Calibrations as runs: in an edition, replaced, removed; one that fails changes nothing."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from schemas.errors import UsageError
from schemas.learning import Centroid, GateCalibration, GateSeed, TaskGate, Threshold
from schemas.operations import Run
from schemas.row import Row
from schemas.settings import EngineSettings, Settings
from tasks import calibrate_gate as work
from tasks.ask import gatekeeper
from tasks.ask.route import QuestionHints, QuestionState
from tasks.calibrate_gate import Seeding, calibrate_gate, remove_gate
from tasks.gates.calibrate import GateChoice, calibrate, journal_rows
from tasks.gates.calibrated import calibrated_gates
from tasks.gates.crossfit import threshold
from tasks.gates.gate import GATES, PopularityGate
from tasks.gates.questions import GateQuestions
from tasks.models.prompts.replies import AnswerReply
from tasks.questions.formats import read_benchmark
from tasks.report.links import FolderLinks
from tasks.report.records import record_page
from tasks.run import RunReport
from tasks.text.question import Question, analyse
from tests.copied_home import copied_home
from warehouse.home import Home
from warehouse.live import latest

PLAIN = Settings(engine=EngineSettings(encoder="none"))


class Hashed:
    """An encoder of eight numbers, drawn by a text's hash."""

    id, dimensions, stored = "hashed-1", 8, "<f4"

    def encode(self, texts: list[str]) -> np.ndarray:
        seeds = [int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) for text in texts]
        drawn = [np.random.default_rng(seed).normal(size=8) for seed in seeds]
        return np.array(drawn, np.float32).reshape(-1, 8)


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "open_question_encoder", lambda *_, **__: Hashed())


def questions_file(folder: Path, number: int = 60, **more: Any) -> Path:
    path = folder / "questions.jsonl"
    rows = [
        {
            "question": f"In which year was number {n} founded?",
            "label": "odd" if n % 2 else "even",
            "popularity": float(n),
            "outcomes": {"small": [float(n % 3 == 0), 1.0]},
            "own_answers": {"small": "yes" if n % 3 else "no"},
            **more,
        }
        for n in range(number)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


Calibration = tuple[Path, RunReport, dict[str, Any]]


@pytest.fixture(scope="module")
def years(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    """A home with the task `years`, and what its calibration returned."""
    folder = tmp_path_factory.mktemp("years")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "open_question_encoder", lambda *_, **__: Hashed())
        questions = questions_file(folder)
        run, gate = calibrate_gate(Home(folder / "home"), questions, PLAIN, task="years")
    return folder / "home", run, gate


@pytest.fixture
def calibrated(years: Calibration, home: Home) -> Home:
    """A copy of that home, to be changed."""
    copied_home(years[0], home.path)
    return home


def rows(home: Home, table: type[Row]) -> list[dict[str, Any]]:
    return home.require_edition().table(table).to_pylist()


def test_an_edition_holds_seeds_clusters_and_thresholds(years):
    home, run, gate = Home(years[0]), *years[1:]
    assert (run.outcome, gate["seeds"], gate["classes"]) == ("done", 60, 2)
    (row,) = rows(home, TaskGate)
    assert (row["task"], row["gate"], row["encoder"]) == ("years", "thrust", "hashed-1")
    assert (row["seeds"], row["classes"], row["clusters"]) == (60, 2, 6)
    clusters = rows(home, Centroid)
    inertia = sum(c["inertia"] for c in clusters)
    assert row["scale"] == pytest.approx((inertia / 60) ** 2 / 10)
    assert [(c["label"], c["cluster"]) for c in clusters] == [
        (label, number) for label in ("even", "odd") for number in range(3)
    ]
    assert sum(c["size"] for c in clusters) == 60
    values = {round(t["budget"], 2): t["value"] for t in rows(home, Threshold)}
    assert sorted(values) == [percent / 100 for percent in range(1, 100)]
    assert list(values.values()) == sorted(values.values())
    scores = np.array([seed["score"] for seed in rows(home, GateSeed)])
    assert values[0.25] == threshold(scores, 0.25) == gate["thresholds"]["scarce"]


def test_gates_opened_from_an_edition_score_as_those_that_were_fitted(home, tmp_path, hashed):
    questions = read_benchmark(questions_file(tmp_path), "jsonl").questions
    texts = [question.question for question in questions]
    seeds = work.seed_questions(questions, Hashed().encode(texts), "small")
    seeds = replace(seeds, uncertainty=np.linspace(0, 3, 60))
    found = [calibrate(name, GateChoice(name), "hashed-1", seeds) for name in GATES]
    home.journal.append(journal_rows(found, "a-run"))
    calibrate_gate(home, tmp_path / "questions.jsonl", PLAIN, task="years")  # builds the edition
    opened = calibrated_gates(home.require_edition())
    assert set(opened) == {"years", *GATES}
    for name in GATES:
        fitted = GATES[name]()
        fitted.fit(seeds)
        fresh = seeds.take(range(20))
        np.testing.assert_allclose(opened[name].gate.score(fresh), fitted.score(fresh))
        assert opened[name].centroids.shape == (6, 8)
        assert opened[name].reach > 0
        assert len(opened[name].seed_scores) == 60


def test_options_of_thrust_persist(home, tmp_path, hashed):
    choice = GateChoice("thrust", {"variant": "no_distance", "clusters": 1})
    calibrate_gate(home, questions_file(tmp_path), PLAIN, task="years", choice=choice)
    opened = calibrated_gates(home.require_edition())["years"]
    assert len(opened.centroids) == 2
    question = GateQuestions(["q"], vectors=np.full((1, 8), 100.0))
    # Without distance, a question far from both classes is pulled by all seeds: their mean size.
    assert opened.gate.score(question)[0] == pytest.approx(30, rel=0.01)


def test_another_calibration_of_the_task_replaces_it_and_other_tasks_stay(
    calibrated, tmp_path, hashed
):
    home, questions = calibrated, questions_file(tmp_path)
    first = rows(home, TaskGate)[0]["calibration_id"]
    calibrate_gate(home, questions, PLAIN, task="other")
    calibrate_gate(home, questions, PLAIN, task="years", choice=GateChoice("random"))
    now = {row["task"]: row for row in rows(home, TaskGate)}
    gates = {task: row["gate"] for task, row in now.items()}
    assert gates == {"other": "thrust", "years": "random"}
    assert now["years"]["calibration_id"] != first
    assert len(rows(home, GateSeed)) == 120
    remove_gate(home, "years", PLAIN)
    assert [row["task"] for row in rows(home, TaskGate)] == ["other"]
    assert len(rows(home, GateSeed)) == 60
    with pytest.raises(UsageError, match="there are other"):
        remove_gate(home, "years", PLAIN)


def test_calibrations_of_equal_seeds_are_equal_bit_for_bit(calibrated, tmp_path, hashed):
    calibrate_gate(calibrated, questions_file(tmp_path), PLAIN, task="two")
    parts = [
        [{**row, "task": ""} for row in rows(calibrated, table) if row["task"] == task]
        for task in ("years", "two")
        for table in (Centroid, Threshold, GateSeed)
    ]
    assert parts[:3] == parts[3:]


def test_a_calibration_that_stops_midway_changes_nothing(calibrated, tmp_path, hashed, monkeypatch):
    home, questions = calibrated, questions_file(tmp_path)
    before = rows(home, Centroid)

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(work, "journal_rows", stopped)
        calibrate_gate(home, questions, PLAIN, task="years", seeding=Seeding(draw=1))
    assert rows(home, Centroid) == before
    assert home.journal.table(GateCalibration).num_rows == 1
    assert latest(home.live, Run)["outcome"].to_pylist() == ["done", "failed"]


def test_seeds_are_different_questions_of_the_training_part_drawn_by_a_seed(home, tmp_path, hashed):
    questions = questions_file(tmp_path)
    questions.write_text(2 * questions.read_text(encoding="utf-8"), encoding="utf-8")
    calibrate_gate(home, questions, PLAIN, task="years", seeding=Seeding(20, draw=1))
    one = {seed["question"] for seed in rows(home, GateSeed)}
    calibrate_gate(home, questions, PLAIN, task="years", seeding=Seeding(20, draw=2))
    other = {seed["question"] for seed in rows(home, GateSeed)}
    assert len(one) == len(other) == 20
    assert one != other


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"task": "a b"}, "cannot be a task's name"),
        ({"choice": GateChoice("thurst")}, "no gate 'thurst'"),
        ({"choice": GateChoice("thrust", {"variant": "half"})}, "no variant 'half'"),
        ({"choice": GateChoice("entropy")}, "embedded engine has no answers"),
        ({"seeding": Seeding(5)}, "too few"),
        (
            {"seeding": Seeding(model="large"), "choice": GateChoice("learned")},
            "no outcomes of 'large', only of small",
        ),
        ({"seeding": Seeding(model="small")}, "thrust reads no model's outcomes"),
        ({"format": "unheard"}, "no format 'unheard'"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_published(change, words, home, tmp_path, hashed):
    call: dict[str, Any] = {"task": "years", **change}
    with pytest.raises(UsageError, match=words):
        calibrate_gate(home, questions_file(tmp_path), PLAIN, **call)
    assert home.editions.current() is None


def test_a_gate_that_looks_at_no_outcomes_asks_for_no_model_and_takes_each_question_once(
    home, tmp_path, hashed
):
    questions = questions_file(tmp_path, outcomes={"small": [0.0, 1.0], "large": [1.0, 1.0]})
    questions.write_text(2 * questions.read_text(encoding="utf-8"), encoding="utf-8")
    _, gate = calibrate_gate(home, questions, PLAIN, task="years", seeding=Seeding(count=100))
    assert gate["seeds"] == 60
    assert {seed["gain"] for seed in rows(home, GateSeed)} == {None}


def test_of_a_file_of_several_tasks_the_one_that_is_named_counts(home, tmp_path, hashed):
    questions = questions_file(tmp_path, task="years")
    others = [json.dumps({"question": f"Who is {n}?", "task": "people"}) for n in range(30)]
    questions.write_text(f"{questions.read_text(encoding='utf-8')}{chr(10).join(others)}\n")
    for task, seeds in (("years", 60), ("people", 30), ("both", 90)):
        run, gate = calibrate_gate(home, questions, PLAIN, task=task)
        assert gate["seeds"] == seeds
        assert ("all tasks: people, years" in " ".join(run.notes)) == (task == "both")
    edition = home.require_edition()
    with edition.connect() as con:
        page = record_page("evaluations", con, home, edition, FolderLinks(edition.id, 1))
    assert "At most 25 %" in page and "Thresholds of gates" in page
    assert all(f"<td>{task}" in page for task in ("years", "people", "both"))


def test_outcomes_of_several_models_want_one_named(home, tmp_path, hashed):
    questions = questions_file(tmp_path, outcomes={"small": [0.0, 1.0], "large": [1.0, 1.0]})
    with pytest.raises(UsageError, match=r"--set outcomes_of=large\|small"):
        calibrate_gate(home, questions, PLAIN, task="t", choice=GateChoice("learned"))
    named, learned = Seeding(model="large"), GateChoice("learned")
    calibrate_gate(home, questions, PLAIN, task="t", choice=learned, seeding=named)
    assert {seed["gain"] for seed in rows(home, GateSeed)} == {0.0}


def test_a_graph_tells_popularity_and_the_gate_remembers_it(own_home, tmp_path, hashed, almanac):
    subjects = ["Ada Lovelace", "London", "Zxy Qwv"]
    seeds = [{"question": f"What did {subjects[n % 3]} say of {n}?"} for n in range(30)]
    seeds[0]["popularity"] = 1e6  # type: ignore[assignment]
    path = tmp_path / "subjects.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in seeds), encoding="utf-8")
    call = ["calibrate-gate", str(path), "--task", "subjects"]
    arguments = [*call, "--gate", "popularity", "--popularity-of"]
    almanac.shown(own_home, *arguments, "corpus")
    home = Home(own_home)
    (row,) = rows(home, TaskGate)
    assert json.loads(row["options"]) == {"popularity_of": "corpus"}
    found = {seed["question"].split()[2]: seed["popularity"] for seed in rows(home, GateSeed)}
    assert found["Ada"] >= 1 and found["London"] >= 1 and found["Zxy"] is None
    gate = calibrated_gates(home.require_edition())["subjects"].gate
    assert isinstance(gate, PopularityGate) and gate.popularity_of == "corpus"
    for wrong, words in (
        ([*arguments, "films"], "no graph 'films'"),
        ([*call, "--popularity-of", "corpus"], "no such option: popularity_of"),
    ):
        code, _, err = almanac(own_home, *wrong)
        assert code == 2 and words in err


def test_questions_with_choices_are_scored_as_they_were_calibrated(
    home, tmp_path, hashed, monkeypatch
):
    choices = ("Ostwick", "Sel", "Harrow")
    path = questions_file(tmp_path, choices=choices)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for n, line in enumerate(lines):  # knowledge helps where the model would say Sel
        line |= {"outcomes": {"small": [float(n % 3 != 1), 1.0]}}
        line |= {"own_answers": {"small": "ABC"[n % 3]}}
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    calibrate_gate(home, path, PLAIN, task="years", choice=GateChoice("own_answer"))
    seeds = {seed["own_answer"]: seed["score"] for seed in rows(home, GateSeed)}
    assert set(seeds) == {"ostwick", "sel", "harrow"}
    monkeypatch.setattr(gatekeeper, "open_question_encoder", lambda *_, **__: Hashed())
    replies = iter(["Sel", "B", "b. Sel", "the Sel", "A. Ostwick", "Wexley"])
    asked: list[str] = []

    def phrase(question: Question, _: list[str]) -> AnswerReply:
        asked.append(question.text)
        return AnswerReply(thought="", answerable="yes", answer=next(replies))

    hints = QuestionHints("years", choices=choices)
    state = QuestionState(hints, conversation=cast(Any, SimpleNamespace(phrase=phrase)))
    question = analyse(lines[0]["question"])
    gate = gatekeeper.Gatekeeper(home, home.require_edition(), PLAIN)
    states = gate.ask([question] * 6, [state] * 6, decides=True, mapped=map)
    scores = [state.gating.score for state in states if state.gating]
    assert len({*scores[:4]}) == 1 and scores[0] < min(scores[4:])
    assert all(f"A. {choices[0]}; B. {choices[1]}" in text for text in asked)


def test_the_entropy_gate_is_calibrated_with_the_choices_that_the_model_will_see(
    home, tmp_path, hashed, monkeypatch
):
    asked: list[str] = []

    def uncertainty(texts: list[str], *_: Any, **__: Any) -> np.ndarray:
        asked.extend(texts)
        return np.linspace(0, 1, len(texts))

    monkeypatch.setattr(work, "answer_uncertainty", uncertainty)
    path = questions_file(tmp_path, choices=("1911", "1937"))
    calibrate_gate(home, path, PLAIN, task="years", choice=GateChoice("entropy"))
    assert all(text.endswith("A. 1911; B. 1937") for text in asked) and asked


def test_commands_calibrate_list_and_remove(tmp_path, hashed, almanac):
    place, file = tmp_path / "home", str(questions_file(tmp_path))
    place.mkdir()
    (place / "settings.toml").write_text('[engine]\nencoder = "none"\n', encoding="utf-8")
    printed = almanac.shown(place, "calibrate-gate", file, "--task", "years", "--seeds", "40")
    assert "thrust" in printed
    (listed,) = almanac.json(place, "gates")
    assert listed["scarce"] < listed["medium"] < listed["abundant"]
    assert (listed["asked"], listed["fetched"], listed["drifted"]) == (0, None, False)
    kept = almanac.rows(place, "select task, gate, seeds from gates")
    assert kept == [{"task": "years", "gate": "thrust", "seeds": 40}]
    assert almanac.json(place, "gates", "remove", "years")["outcome"] == "done"
    assert almanac.json(place, "gates") == []
