"""A policy is trained on a graph's questions, published, and asked by the route `paths`."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from flows.__main__ import build_parser
from flows.commands.train_paths import TrainPaths, arms_in_words
from flows.parsing import command_of
from schemas.bandits import BanditDecision
from schemas.errors import UsageError
from schemas.learning import PathPolicy
from schemas.operations import AnswerRecord, Evaluation
from schemas.settings import EngineSettings, Settings
from tasks.ask.asker import Asker
from tasks.ask.parts import NO_MODEL
from tasks.ask.path_reader import WEIGHT, likeness_of
from tasks.ask.paths_route import PathsRoute
from tasks.ask.route import AskOptions, QuestionHints, QuestionState, Resources
from tasks.calibrate_gate import calibrate_gate
from tasks.evaluate.systems import system_for
from tasks.gates.calibrate import GateChoice
from tasks.import_graph import import_graph, remove_graph
from tasks.learn import learn_arms, questions_to_walk
from tasks.paths.bandit.bandit import BanditPlan, bandit_of, give_feedback, make_bandit
from tasks.paths.bandit.context import FEATURES, ContextEncoding
from tasks.paths.bandit.linucb import BanditOptions
from tasks.paths.extraction.subgraph import SubgraphExtraction
from tasks.paths.path_graph import open_path_graph
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.store import UnsafePolicyError
from tasks.questions.formats import read_benchmark
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample_apart
from tasks.refresh import refresh
from tasks.text.question import Question, analyse
from tasks.train_paths import train_paths
from tests.benchmark_runs import study_result
from tests.copied_home import copied_home
from warehouse.home import Home
from warehouse.live import latest

GRAPHS = Path(__file__).parents[1] / "examples" / "graphs"
MOONS = GRAPHS / "moons-questions.jsonl"
PLAN = PolicyPlan(width=16, batch=8)
SETTINGS = Settings(engine=EngineSettings(encoder="none"))
ASKED = "In which city was the discoverer of Io born?"
CHOICES = ["Florence", "Pisa", "The Hague"]
DISCOVERERS = [
    BenchmarkQuestion(moon, f"Who discovered {moon}?", (right,), (right, "Pisa"), scoring="choice")
    for moon, right in (
        ("Io", "Galileo Galilei"),
        ("Europa", "Galileo Galilei"),
        ("Callisto", "Galileo Galilei"),
        ("Ganymede", "Galileo Galilei"),
        ("Titan", "Christiaan Huygens"),
        ("Triton", "William Lassell"),
    )
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, dict[str, Any]]:
    home = Home(tmp_path_factory.mktemp("paths") / "home")
    import_graph(home, GRAPHS / "moons.tsv", SETTINGS, name="moons")
    questions = read_benchmark(MOONS, "jsonl").questions
    run, policy = train_paths(home, questions, SETTINGS, graph="moons", encoder="static", plan=PLAN)
    assert run.published
    return home, policy


@pytest.fixture
def home(trained: tuple[Home, dict[str, Any]]) -> Home:
    """The home with that policy, to be read; its bandits go on from test to test."""
    return trained[0]


@pytest.fixture
def copied(home: Home, tmp_path: Path) -> Home:
    """A copy of that home without its bandits, to be changed."""
    own = Home(copied_home(home.path, tmp_path / "home"))
    shutil.rmtree(own.live.folder)
    return own


@pytest.fixture
def ask(home: Home) -> Callable[..., Any]:
    def answered(question: str, *choices: str, **options: Any) -> Any:
        edition = home.require_edition()
        with Asker(home, edition, SETTINGS, AskOptions("paths", **options)) as asker:
            return asker.answer(question, choices)

    return answered


def test_a_policy_arrives_more_often_than_chance_and_stands_in_the_edition(trained):
    home, policy = trained
    assert policy["reached"] > policy["reached_at_random"]
    [row] = home.require_edition().table(PathPolicy).to_pylist()
    assert row["graph"] == "moons" and row["encoder"] == "static"
    assert (home.path / policy["picture"]).read_bytes().startswith(b"\x89PNG")
    assert not [*home.path.glob("paths/training/*")]


def test_paths_lead_to_every_candidate_and_are_the_evidence(ask):
    answer = ask(ASKED, *CHOICES)
    assert answer.route == "paths" and answer.answer in CHOICES
    best = answer.evidence[0]
    assert best.kind == "path" and best.graph == "moons"
    assert best.path.nodes == ["Io", "Galileo Galilei", "Pisa"]
    assert best.path.reward == pytest.approx(1 + 0.5 * best.path.relatedness + 0.3 * 0.5, abs=1e-3)
    assert best.text == "Io was discovered by Galileo Galilei. Galileo Galilei was born in Pisa."


def test_edges_of_other_strategies_are_scored_too(ask, monkeypatch):
    monkeypatch.setattr(PathsRoute, "_arm", lambda *_: ("subgraph+triples", None))
    evidence = ask(ASKED, *CHOICES).evidence
    assert {place.kind for place in evidence} == {"triple"}
    assert all(0 < place.score <= 1 for place in evidence)


@pytest.mark.parametrize(
    ("question", "right", "other"),
    [
        (ASKED, "Pisa", "Florence"),
        ("Which planet does Miranda orbit?", "Uranus", "Venus"),
        ("Which planet does Dione orbit?", "Saturn", "Venus"),
    ],
)
def test_a_path_speaks_for_the_choice_at_its_end_and_not_for_a_similar_one(
    ask, question, right, other
):
    assert ask(question, right, other).answer == ask(question, other, right).answer == right


def test_a_question_for_a_number_is_not_answered_with_a_name(ask):
    assert ask("Who discovered Titan?").answers == ["Christiaan Huygens"]
    assert not ask("How many astronomers saw Titan?").answerable


def test_other_candidates_get_paths_too(ask):
    ends = {place.path.nodes[-1] for place in ask("Who discovered Titan?", "Pisa", "1655").evidence}
    assert "1655" in ends


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("Which colour has the sky?", ("blue as water", "green as grass")),
        ("Who discovered Io?", ("Nobody Real", "Somebody Else")),
        ("Who discovered Nothing Known?", ("Galileo Galilei", "Pisa")),
        ("Where was Nobody Real born?", ()),
        ("Why?", ()),
    ],
)
def test_without_a_path_there_is_no_answer(ask, question, choices):
    answer = ask(question, *choices)
    assert not answer.answerable and answer.probability is None


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Who discovered Titan?", "Christiaan Huygens"),
        ("Where did the finder of Io come into the world?", "Pisa"),
    ],
)
def test_an_open_question_is_answered_by_walking(ask, question, right):
    answer = ask(question)
    assert answer.answer == right and 0 < answer.probability <= 1
    assert answer.evidence[0].path.nodes[-1] == right


def test_a_choice_has_a_probability(ask):
    assert 0 < ask(ASKED, *CHOICES).probability <= 1


def test_a_graph_that_is_not_there_is_named(ask):
    with pytest.raises(UsageError, match="no graph 'suns'"):
        ask(ASKED, *CHOICES, graph="suns")


def test_paths_of_sensitive_facts_are_not_shown_to_an_endpoint(tmp_path):
    home, note = Home(tmp_path / "home"), tmp_path / "note.md"
    note.write_text("# Ada\n\nAda Lovelace was born in London.\n")
    refresh(home, [str(note)], SETTINGS, sensitive=True)
    edition = home.require_edition()
    for engine, allowed in (("rules", True), ("openai", False)):
        settings = Settings(engine=EngineSettings(engine=engine, encoder="none"))
        resources = Resources(home, edition, settings, AskOptions("paths", "corpus"), {})
        state = QuestionState(QuestionHints(choices=("London", "Paris")))
        question = analyse("Where was Ada Lovelace born?")
        if allowed:
            assert PathsRoute(resources).answer(question, state).evidence
        else:
            with pytest.raises(UsageError, match="sensitive"):
                PathsRoute(resources).answer(question, state)


def test_a_model_reads_the_paths_to_what_may_answer_an_open_question(home):
    shown: list[str] = []

    def phrase(question: Question, texts: list[str], demonstrations: object) -> None:
        shown.extend(texts)

    model: Any = SimpleNamespace(client=SimpleNamespace(is_small=True))
    talk: Any = SimpleNamespace(model_is_small=False, phrase=phrase)
    options, edition = AskOptions("paths", "moons"), home.require_edition()
    resources = Resources(home, edition, SETTINGS, options, {}, model=model)
    result = PathsRoute(resources).answer(analyse(ASKED), QuestionState(conversation=talk))
    assert shown and result.evidence and not result.answers


def test_a_changed_policy_is_refused(trained):
    home, policy = trained
    weights = home.path / policy["path"] / "policy.safetensors"
    whole = weights.read_bytes()
    try:
        weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(UnsafePolicyError, match=r"policy\.safetensors"):
            open_path_graph(home, home.require_edition(), "moons")
    finally:
        weights.write_bytes(whole)


def test_a_policy_for_vectors_made_otherwise_is_not_used(home, monkeypatch):
    edition = home.require_edition()
    assert open_path_graph(home, edition, "moons").policy is not None
    monkeypatch.setattr("tasks.paths.graph_vectors._RECIPE", 99)
    assert open_path_graph(home, edition, "moons").policy is None


def test_a_bandit_learns_from_labelled_questions_and_goes_on(home):
    first = learn_arms(home, DISCOVERERS, SETTINGS, graph="moons", count=4)
    assert first["questions"] == sum(arm["pulls"] for arm in first["arms"].values()) == 4
    learn_arms(home, DISCOVERERS, SETTINGS, graph="moons", count=4)
    assert bandit_of(home.live, "moons", NO_MODEL).learned.pulls.sum() == 8
    assert (home.path / first["picture"]).read_bytes().startswith(b"\x89PNG")


def test_the_policy_does_not_learn_from_what_teaches_the_bandit():
    questions = [replace(DISCOVERERS[n % 5], question=f"Who found {n}?") for n in range(40)]
    walked, arms = questions_to_walk(questions, SETTINGS)
    assert (len(walked), arms) == (32, 8)
    assert {q.question for q in walked}.isdisjoint(
        q.question for q in sample_apart(questions, arms)
    )
    assert questions_to_walk(questions, SETTINGS, arms=0) == (questions, 0)
    open_ones = [replace(q, choices=()) for q in questions]
    assert questions_to_walk(open_ones, SETTINGS)[0] == open_ones


def test_a_bandit_is_not_asked_about_another_policy(copied):
    def asked() -> tuple[int, str]:
        with Asker(copied, copied.require_edition(), SETTINGS, AskOptions("paths")) as asker:
            arm = asker.answer(ASKED, CHOICES).evidence[0].path.arm
        return copied.live.table(BanditDecision).num_rows, arm

    learn_arms(copied, DISCOVERERS, SETTINGS, graph="moons", count=2)
    first = bandit_of(copied.live, "moons", NO_MODEL).version
    rows, arm = asked()
    assert rows == 3 and arm == copied.live.table(BanditDecision).to_pylist()[-1]["arm"]
    questions = read_benchmark(MOONS, "jsonl").questions
    other = PLAN.model_copy(update={"seed": 1})
    train_paths(copied, questions, SETTINGS, graph="moons", encoder="static", plan=other)
    assert asked() == (3, "walks+sentences")
    learn_arms(copied, DISCOVERERS, SETTINGS, graph="moons", count=2)
    assert bandit_of(copied.live, "moons", NO_MODEL).version != first
    assert asked()[0] == 6


@pytest.mark.parametrize("rule", ["bound", "nonnegative"])
def test_a_bandit_follows_the_papers_rule_if_asked(copied, rule):
    options = ["--rule", rule, "--per-token", "0.001", "--home", str(copied.path)]
    words = ["train-paths", str(MOONS), "--graph", "moons", *options]
    job = command_of(build_parser().parse_args(words))
    assert isinstance(job, TrainPaths)
    costs = {"per_token": job.per_token, "per_second": job.per_second}
    learn_arms(copied, DISCOVERERS, SETTINGS, graph="moons", count=2, rule=job.rule, **costs)
    bandit = bandit_of(copied.live, "moons", NO_MODEL)
    assert bandit.plan.options == BanditOptions(nonnegative=rule == "nonnegative")
    assert (bandit.plan.per_token, bandit.plan.per_second) == (0.001, 0.0)


def test_a_bandit_sees_the_gates_score_and_the_size_of_the_subgraph(copied):
    calibrate_gate(copied, MOONS, SETTINGS, task="moons", choice=GateChoice("random"))
    gated = SETTINGS.model_copy(update={"gate": SETTINGS.gate.model_copy(update={"task": "moons"})})
    questions = DISCOVERERS[3:]
    learn_arms(copied, questions, gated, graph="moons", count=len(questions))
    rows = copied.live.table(BanditDecision).to_pylist()[-len(questions) :]
    contexts = np.array([row["context"][-FEATURES:] for row in rows])
    constant, _, _, _, scored, apart, counted, items, none = (contexts / contexts[:, :1]).T
    assert (scored == 1).all() and (counted == 1).all() and (constant == 1).all()
    assert apart.min() < -0.5 and apart.max() > 0.5
    assert (items > 0).all() and not none.any()


def test_without_a_model_only_questions_with_choices_teach_a_bandit(home, ask):
    open_ones = read_benchmark(MOONS, "jsonl").questions
    mixed = learn_arms(home, [*open_ones, *DISCOVERERS], SETTINGS, graph="moons")
    assert mixed["questions"] == len(DISCOVERERS)
    decisions = home.live.table(BanditDecision).num_rows
    nothing = learn_arms(home, open_ones, SETTINGS, graph="moons")
    assert "without a language model" in nothing["skipped"] and "arms" not in nothing
    assert "questions with choices" in " ".join(map(str, arms_in_words(nothing)))
    ask("Who discovered Titan?")
    assert home.live.table(BanditDecision).num_rows == decisions


def test_feedback_rewards_the_bandit_once_and_stands_beside_the_answer(home, almanac):
    learn_arms(home, DISCOVERERS, SETTINGS, graph="moons", count=2)
    command = ["ask", ASKED, "--route", "paths", "--choices", "Pisa", "--choices", "Rome"]
    question = almanac.json(home.path, *command)["question_id"]
    feedback = ["feedback", question, "right", "--words", "well found"]
    outcomes = [almanac.json(home.path, *feedback)["bandit"] for _ in range(2)]
    assert outcomes == ["counted", "repeated"]
    [row] = [r for r in latest(home.live, AnswerRecord).to_pylist() if r["feedback"]]
    assert row["question_id"] == question and row["feedback"] == "1: well found"
    for verdict, kept in (("wrong", "0"), ("right", "1"), ("wrong", "0"), ("right", "1")):
        almanac.shown(home.path, "feedback", question, verdict)
        query = "select distinct feedback from answers where feedback is not null"
        assert almanac.rows(home.path, query) == [{"feedback": kept}]
    for wrong in (["nobody", "0.5"], [question, "nearly"]):
        assert almanac(home.path, "feedback", *wrong)[0] == 2


def test_a_choice_that_the_edition_cannot_play_is_neither_recorded_nor_rewarded(tmp_path):
    home = Home(tmp_path / "home")
    import_graph(home, GRAPHS / "moons.tsv", SETTINGS, name="moons")
    before = home.require_edition()
    graph = open_path_graph(home, before, "moons")
    vectors = graph.vectors.encode([q.question for q in DISCOVERERS])
    encoding = ContextEncoding.fit(graph.vectors.encoder_name, vectors)
    plan = BanditPlan(("walks+sentences", "subgraph+sentences"), "walks+sentences")
    make_bandit(home.live, "moons", NO_MODEL, plan, encoding)
    with Asker(home, before, SETTINGS, AskOptions("paths")) as asker:
        answer = asker.answer(ASKED, CHOICES)
    assert answer.answer in CHOICES and answer.evidence
    assert home.live.table(BanditDecision).num_rows == 0
    assert give_feedback(home.live, answer.question_id, 1.0) == "unknown"


def test_a_bandit_and_its_arm_share_the_subgraph(copied, monkeypatch):
    edition = copied.require_edition()
    vectors = open_path_graph(copied, edition, "moons").vectors
    encoding = ContextEncoding.fit(vectors.encoder_name, vectors.encode([ASKED, *CHOICES]))
    plan = BanditPlan(("subgraph+sentences",), "subgraph+sentences")
    make_bandit(copied.live, "moons", NO_MODEL, plan, encoding)
    extract, extracted = SubgraphExtraction.extract, []

    def counted(self: SubgraphExtraction, questions: Any) -> Any:
        extracted.append(len(questions))
        return extract(self, questions)

    monkeypatch.setattr(SubgraphExtraction, "extract", counted)
    with Asker(copied, edition, SETTINGS, AskOptions("paths", "moons")) as asker:
        assert asker.answer(ASKED, CHOICES).evidence
    assert extracted == [1]


def test_arms_are_compared_with_the_best_a_bandit_and_an_oracle(copied, tmp_path):
    file = tmp_path / "questions.jsonl"
    rows = [
        {"question": q.question, "answers": q.answers, "choices": q.choices} for q in DISCOVERERS
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    study = study_result("arms_study", copied, file, "--graph", "moons", "--model", "embedded")
    table = {row["row"]: row for row in study["rows"]}
    assert list(table)[0] == "without paths" and table["without paths"]["gain"] == 0
    arms = [row for name, row in table.items() if "+" in name and "best" not in name]
    assert len(arms) == 6 and all(row["edges"] > 0 for row in arms)
    assert table["oracle"]["accuracy"] >= max(row["accuracy"] for row in arms)
    assert study["chance"] == 0.5
    recorded = latest(copied.live, Evaluation).to_pylist()
    assert {row["dataset"] for row in recorded} == {study["dataset"]}


def test_the_route_is_measured_on_the_graph_that_questions_name(home):
    system = system_for("paths", SETTINGS, home)(home.require_edition())
    named = [replace(question, graph="moons") for question in DISCOVERERS[:2]]
    given = system.answer_all([*named, DISCOVERERS[2]])
    for question, prediction in zip(DISCOVERERS, given, strict=False):
        assert prediction.answers and prediction.answers[0] in question.choices


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        ([BenchmarkQuestion("1", "Zxq?", ("Wvk",))], "names a node"),
        (DISCOVERERS[:1], "none is left to learn from"),  # it is held out
    ],
)
def test_questions_that_teach_nothing_are_refused(home, questions, words):
    with pytest.raises(UsageError, match=words):
        train_paths(home, questions, SETTINGS, graph="moons", encoder="static", plan=PLAN)


def test_a_policy_goes_with_its_graph(copied):
    import_graph(copied, GRAPHS / "moons.tsv", SETTINGS, name="others")
    for graph, policies in (("others", 1), ("moons", 0)):
        remove_graph(copied, graph, SETTINGS)
        assert copied.require_edition().rows(PathPolicy) == policies
    import_graph(copied, GRAPHS / "moons.tsv", SETTINGS, name="moons")
    assert copied.require_edition().rows(PathPolicy) == 0


def test_the_command_draws_the_paths_as_an_svg(home, tmp_path, almanac):
    picture = tmp_path / "paths.svg"
    options = ["--choices", "Pisa", "--choices", "Florence", "--picture", str(picture)]
    answer = almanac.json(home.path, "ask", ASKED, "--route", "paths", *options)
    assert answer["evidence"][0]["path"]["nodes"][0] == "Io"
    words = "".join(ElementTree.fromstring(picture.read_text()).itertext())
    assert "Galileo Galilei" in words and "born_in" in words
    code, _, refusal = almanac(home.path, "ask", *ASKED.split(), "--picture", "paths.txt")
    assert code == 2 and "must end in .svg" in refusal


def test_the_nearest_choice_counts_by_itself_and_by_what_leads_to_it():
    def encode(texts: list[str]) -> np.ndarray:
        return np.array([[float("city" in text), float("born" in text)] for text in texts])

    choices = ["a city", "Pisa", "born"]
    asked = "Which city?"
    assert likeness_of(asked, choices, ["", "", ""], encode).tolist() == [1, 0, 0]
    about = ["", "The city of Pisa.", ""]
    assert likeness_of(asked, choices, about, encode).tolist() == [1, WEIGHT, 0]
    assert likeness_of(asked, [], [], encode).tolist() == []
