"""`almanac learn`: planners and gates from one file of questions, as far as it teaches them."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from film_questions import ONE_HOP, TWO_HOPS, Templates, examples, graph, triples
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import DamageError, UsageError
from schemas.learning import TaskGate
from schemas.settings import EngineSettings, Settings
from tasks import calibrate_gate
from tasks.ask.parts import NO_MODEL, LearnedQuery, load_learned_query
from tasks.evaluate.decide import folds_of
from tasks.graphs.graph import graphs_of
from tasks.import_graph import import_graph
from tasks.learn import learn
from tasks.programs.planner.store import load_planner
from tasks.questions.question import BenchmarkQuestion
from tasks.text.question import analyse
from tests.copied_home import copied_home
from tests.current_edition import current
from warehouse.home import Home

PLAIN = Settings(engine=EngineSettings(encoder="none"))


class Counting:
    """An encoder by counts of five letters."""

    id, dimensions, stored = "letters", 5, "<f4"

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([[text.count(x) for x in "aeiou"] for text in texts], np.float32)


@pytest.fixture(scope="module")
def with_films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one graph, to be copied."""
    folder = tmp_path_factory.mktemp("with-films")
    films = folder / "films.tsv"
    films.write_text("".join("\t".join(row) + "\n" for row in triples()), encoding="utf-8")
    import_graph(Home(folder / "home"), films, PLAIN, name="films")
    return folder / "home"


@pytest.fixture
def home(with_films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(calibrate_gate, "open_question_encoder", lambda *_, **__: Counting())
    return Home(copied_home(with_films, tmp_path / "home"))


def film_questions(folder: Path, number: int, **more: str) -> Path:
    path = folder / "q.jsonl"
    rows = [{**asdict(one), **more} for one in examples(graph(), ONE_HOP)[:number]]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def gates(home: Home) -> set[str]:
    edition = current(home)
    return set(edition.table(TaskGate)["task"].to_pylist())


def test_each_task_of_a_file_has_a_gate(home, tmp_path):
    path = film_questions(tmp_path, 120, task="films")
    more = [json.dumps({"question": f"who sank ship {n}?", "task": "ships"}) for n in range(60)]
    few = [json.dumps({"question": f"what is {n}?", "task": "few"}) for n in range(9)]
    path.write_text("\n".join([path.read_text(encoding="utf-8"), *more, *few]), encoding="utf-8")
    learn(home, [path], "jsonl", PLAIN, "films", gates=True)
    assert gates(home) == {"films", "ships"}


def test_too_few_questions_teach_the_planner_alone(home, tmp_path):
    learned = learn(home, [film_questions(tmp_path, 30)], "jsonl", PLAIN, gates=True)
    assert [one["learned"] for one in learned] == ["planner"]
    assert gates(home) == set()


def test_a_corpus_without_facts_is_no_graph_to_learn(home, tmp_path):
    with pytest.raises(UsageError, match="no graph corpus, only films"):
        learn(home, [film_questions(tmp_path, 30)], "jsonl", PLAIN, "corpus")


def test_questions_that_no_graph_answers_teach_the_gate_alone(home, tmp_path):
    path = tmp_path / "foreign.jsonl"
    rows = [{"question": f"who sank ship {n}?", "answers": ["nobody"]} for n in range(60)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    learned = learn(home, [path], "jsonl", PLAIN, gates=True)
    assert [one["learned"] for one in learned] == ["gate"]
    assert gates(home) == {"foreign"}
    for refused in ({"graph": "films", "gates": True}, {"gates": False}):
        with pytest.raises(UsageError, match="nothing was learned"):
            learn(home, [path], "jsonl", PLAIN, **refused)  # type: ignore[arg-type]


def test_a_planner_and_a_gate_are_learned_and_shown(home, tmp_path, almanac):
    path = str(film_questions(tmp_path, 100))
    learned = almanac.json(home.path, "learn", path, "--gate", "--no-measure")
    assert [one["learned"] for one in learned] == ["planner", "gate"]
    assert (learned[0]["graph"], learned[1]["task"]) == ("films", "q")
    assert gates(home) == {"q"}
    shown = almanac.shown(home.path, "learn", path)
    assert "explained" in shown and "part of the query" in shown
    assert "thrust" not in shown


# -- which parts of the query are in use -----------------------------------------------------------


def test_parts_are_measured_on_questions_that_nothing_learned_from(home, tmp_path):
    path = film_questions(tmp_path, 120)
    *_, measured = learn(home, [path], "jsonl", PLAIN, measured=True)
    parts = {part["part"]: part for part in measured["parts"]}
    assert measured["taught"] + 2 * measured["questions"] == pytest.approx(120, abs=2)
    assert parts["planner"]["use"] and parts["planner"]["low"] > 0
    assert not parts["trust"]["use"]  # one route alone has nobody to be weighed against
    assert measured["right_as_decided"] >= measured["right_with_all"]
    kept = load_learned_query(home, NO_MODEL)
    assert kept.off == {"trust"} and kept.parts["planner"].questions == measured["questions"]


def test_an_answer_to_a_question_without_one_counts_as_wrong(home, tmp_path):
    path = film_questions(tmp_path, 120)
    rows = list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
    for row in rows[::2]:
        row["answers"] = []
    rows += [{"question": f"who painted ship {n}?"} for n in range(60)]  # nothing is said of these
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    *_, measured = learn(home, [path], "jsonl", PLAIN, measured=True)
    assert measured["taught"] + 2 * measured["questions"] == pytest.approx(120, abs=2)
    assert measured["right_with_all"] < 0.8
    skipped = [row for row in rows if not row.get("answers")]
    path.write_text("\n".join(map(json.dumps, skipped)), encoding="utf-8")
    with pytest.raises(UsageError, match="has answers"):
        learn(home, [path], "jsonl", PLAIN, measured=True)


def test_too_few_questions_change_nothing_and_say_how_many_it_takes(home, tmp_path):
    *_, measured = learn(home, [film_questions(tmp_path, 30)], "jsonl", PLAIN, measured=True)
    assert "30 questions" in measured["skipped"] and "40" in measured["skipped"]
    assert load_learned_query(home, NO_MODEL) == LearnedQuery()


@given(keys=st.lists(st.text(min_size=1, max_size=4), min_size=40, max_size=90))
def test_no_key_is_in_two_folds(keys):
    questions = [
        BenchmarkQuestion(str(place), f"{key}?", ("a",), split_key=key)
        for place, key in enumerate(keys)
    ]
    folds = folds_of(questions)
    if len(set(keys)) < 40:
        assert folds is None
        return
    assert folds is not None
    sides = [folds.teaching, folds.trusting, folds.measuring]
    assert sorted(q.id for side in sides for q in side) == sorted(q.id for q in questions)
    in_each = [{question.split_key for question in side} for side in sides]
    assert sum(map(len, in_each)) == len(set(keys)) and all(in_each)


def share_right(home: Home, templates: Templates) -> float:
    """Return the share of the templates' questions whose first answer is right."""
    edition = current(home)
    films = graphs_of(edition)["films"]
    planner = load_planner(home, films)
    assert planner is not None
    tests = examples(films, templates)
    plans = planner.plan([analyse(test.question) for test in tests])
    right = [
        bool(plan) and films.label(int(plan[0].nodes[0])) in test.answers
        for plan, test in zip(plans, tests, strict=True)
    ]
    return float(np.mean(right))


@pytest.fixture(scope="module")
def two_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Questions about films of one hop, and of two."""
    folder = tmp_path_factory.mktemp("questions")
    paths = [folder / "one.jsonl", folder / "two.jsonl"]
    for path, templates in zip(paths, (ONE_HOP, TWO_HOPS), strict=True):
        rows = [asdict(example) for example in examples(graph(), templates)]
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def taught(
    with_films: Path, two_files: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """A home that has learned from questions of one hop, to be copied, and what it told of that."""
    home = copied_home(with_films, tmp_path_factory.mktemp("taught") / "home")
    [learned] = learn(Home(home), two_files[:1], "jsonl", PLAIN)
    return home, learned


@pytest.fixture
def taught_home(taught: tuple[Path, Any], tmp_path: Path) -> Home:
    return Home(copied_home(taught[0], tmp_path / "taught"))


def test_what_was_learned_before_is_kept(taught_home, two_files):
    before = share_right(taught_home, ONE_HOP)
    [learned] = learn(taught_home, two_files[1:], "jsonl", PLAIN)
    assert share_right(taught_home, ONE_HOP) >= before - 0.02
    assert share_right(taught_home, TWO_HOPS) > 0.9
    assert 0 < learned["new"] < learned["questions"]


def test_replace_forgets(taught_home, two_files):
    [learned] = learn(taught_home, two_files[1:], "jsonl", PLAIN, replace=True)
    assert learned["new"] == learned["questions"]
    assert share_right(taught_home, ONE_HOP) < 0.7


def test_several_files_are_learned_at_once(home, two_files):
    [learned] = learn(home, two_files, "jsonl", PLAIN)
    assert learned["questions"] == sum(len(p.read_text().splitlines()) for p in two_files)


def test_learning_again_from_the_same_questions_adds_nothing(taught, taught_home, two_files):
    [again] = learn(taught_home, two_files[:1], "jsonl", PLAIN)
    assert again == {**taught[1], "new": 0}


def test_without_questions_kept_apart_nothing_is_said_of_them(home, tmp_path, almanac):
    assert "tried" not in almanac.shown(home.path, "learn", str(film_questions(tmp_path, 30)))


def test_damaged_examples_are_noticed(home, tmp_path):
    learn(home, [film_questions(tmp_path, 30)], "jsonl", PLAIN)
    [kept] = (home.path / "learned" / "planner" / "films").glob("*.parquet")
    changed = kept.read_bytes()[:-1] + b"x"
    kept.unlink()
    kept.write_bytes(changed)
    with pytest.raises(DamageError, match="is not what was kept"):
        learn(home, [film_questions(tmp_path, 30)], "jsonl", PLAIN)
