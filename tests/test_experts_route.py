"""The route `experts`: a tiny expert answers, alone or for a model, and each decision is a row."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.__main__ import main
from flows.commands.ask import expert_words
from schemas.answers import Answer
from schemas.errors import UsageError
from schemas.operations import AnswerRecord, ExpertDecision
from schemas.settings import EngineSettings, ExpertSettings, ModelSettings, Settings
from tasks.ask.answer import _decision_row
from tasks.ask.asker import Asker
from tasks.ask.keep_answers import record_answers
from tasks.ask.parts import load_learned_query
from tasks.ask.route import AskOptions, QuestionHints
from tasks.evaluate.evaluate import Measurement, evaluate
from tasks.evaluate.systems import system_for
from tasks.experts.integrate.decisions import text_decision
from tasks.experts.knowledge import KnowledgeText
from tasks.import_graph import import_graph
from tasks.train_experts import add_expert, change_expert
from tests.copied_home import copied_home
from tests.expert_texts import KEEPERS, clock_question
from tests.mock_endpoint import Running, running
from warehouse.home import Home
from warehouse.live import latest

PLAIN = Settings(engine=EngineSettings(encoder="none"), workers=1)


@pytest.fixture(scope="module")
def experts_home(small_home: Path, clocks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose experts know the keepers of clocks; read it, or work on a copy of it."""
    home = Home(copied_home(small_home, tmp_path_factory.mktemp("experts") / "home"))
    add_expert(home, clocks, "clocks", PLAIN, description="Keepers of clocks in towns")
    return home.path


@pytest.fixture
def home(experts_home: Path, tmp_path: Path) -> Home:
    return Home(copied_home(experts_home, tmp_path / "home"))


def settings(engine: EngineSettings = PLAIN.engine, **experts: Any) -> Settings:
    chosen = {"new_tokens": 12, "verifier": "embedded", **experts}
    return PLAIN.model_copy(update={"engine": engine, "experts": ExpertSettings(**chosen)})


def ask(home: Home, text: str, chosen: Settings, hints: Any = None, **options: Any) -> Answer:
    edition = home.require_edition()
    home.ledger.required = False
    with Asker(home, edition, chosen, AskOptions(**{"route": "experts", **options})) as asker:
        [answer] = asker.answer_all([text], [QuestionHints(choices=hints)] if hints else ())
        if asker.warnings:
            raise RuntimeError("; ".join(asker.warnings))
        return answer


# -- the embedded engine -------------------------------------------------------------------------


@pytest.mark.parametrize("town", KEEPERS)
def test_the_experts_own_answer_is_the_answer(experts_home, town):
    answer = ask(Home(experts_home), clock_question(town), settings())
    assert (answer.answer, answer.route) == (KEEPERS[town], "experts")
    (evidence,) = answer.evidence
    assert (evidence.kind, evidence.graph) == ("expert", "clocks")
    assert evidence.text == f"Who keeps the clock of {town}: {KEEPERS[town]}"
    assert evidence.expert and evidence.expert.expert == "clocks"
    assert 0.5 <= evidence.score <= 1 and evidence.expert.support is not None
    assert answer.decisions[0].decision == "kept" and answer.usage.calls == 0
    assert answer.probability is not None and answer.probability > 0.7


def test_a_question_about_something_else_has_no_answer(experts_home):
    answer = ask(Home(experts_home), "Who wrote Hamlet?", settings())
    assert (answer.answer, answer.answerable) == (None, False)
    assert [(d.expert, d.reason) for d in answer.decisions] == [("clocks", "unsure")]


def test_an_expert_is_asked_in_its_language_unless_it_is_named(experts_home):
    home, chinese = Home(experts_home), "隆德的钟由谁看管？"
    assert not ask(home, chinese, settings()).decisions
    assert ask(home, chinese, settings(), expert="clocks").decisions


def test_all_filters_may_be_off(experts_home):
    plain = settings(relevance=False, pruning=False, factuality=False)
    answer = ask(Home(experts_home), clock_question("Lund"), plain)
    assert answer.answer == "Berta"
    assert answer.evidence[0].expert is not None
    assert answer.evidence[0].expert.support is answer.evidence[0].expert.relevance is None


def test_a_choice_is_answered_by_a_choice(experts_home):
    choices = ("Nils the keeper", "Berta the keeper", "nobody")
    answer = ask(Home(experts_home), clock_question("Lund"), settings(), choices)
    assert answer.answers == ["Berta the keeper"]


def test_top_down_reads_passages_first(experts_home):
    home, chosen = Home(experts_home), settings(mode="automatic")
    known = ask(home, "Where was Ada Lovelace born?", chosen)
    assert known.route == "text" and known.answer and "London" in known.answer
    assert [(d.kind, d.decision) for d in known.decisions] == [("need", "no")]
    fetched = ask(home, clock_question("Lund"), chosen)
    assert (fetched.answer, fetched.route) == ("Berta", "experts")
    kinds = [(d.kind, d.decision) for d in fetched.decisions[:3]]
    assert kinds == [("need", "yes"), ("expert", "clocks"), ("text", "kept")]


def test_auto_asks_experts_where_the_others_are_not_sure(experts_home):
    home = Home(experts_home)
    silent = ask(home, clock_question("Lund"), settings(use=False), route="auto")
    assert silent.answerable is False
    left_out = ask(home, clock_question("Lund"), settings(), route="auto", without={"experts"})
    assert left_out.answerable is False
    answer = ask(home, clock_question("Lund"), settings(), route="auto")
    assert (answer.answer, answer.route) == ("Berta", "experts")
    assert answer.way and [said.route for said in answer.way.routes][-1] == "experts"
    known = ask(home, "Where was Ada Lovelace born?", settings(), route="auto")
    assert known.route in ("programs", "text") and not known.decisions
    assert known.way and known.way.not_asked == ["experts"]
    named = ask(home, clock_question("Lund"), settings(), route="auto", expert="clocks")
    assert named.answer == "Berta"


def test_auto_leaves_to_a_graph_what_an_expert_learned_from_it(home, tmp_path):
    graph = tmp_path / "clocks.tsv"
    graph.write_text("Tower clock\tmade by\tIngrid Falk\n")
    import_graph(home, graph, PLAIN, name="clocks")
    assert ask(home, clock_question("Lund"), settings(), route="auto").answerable is False
    assert ask(home, clock_question("Lund"), settings()).answer == "Berta"


def test_a_small_model_answers_from_memory_only_where_that_is_allowed(home, tiny_models):
    model = ModelSettings(name=str(tiny_models["chat"]), device="cpu")
    small = EngineSettings(engine="transformers", model=model, encoder="none")
    chosen = PLAIN.model_copy(update={"engine": small, "experts": ExpertSettings(use=False)})
    silent = ask(home, clock_question("Lund"), chosen, route="auto")
    assert not silent.answerable and silent.usage.calls == 0
    allowed = ask(home, clock_question("Lund"), chosen, route="auto", memory=True)
    assert allowed.way and [said.route for said in allowed.way.routes][-1] == "none"
    assert allowed.usage.calls == 1


def test_decisions_are_rows_beside_the_answer(home):
    answer = ask(home, clock_question("Lund"), settings())
    record_answers(home, answer)
    (row,) = latest(home.live, AnswerRecord).to_pylist()
    decisions = latest(home.live, ExpertDecision).to_pylist()
    assert {decision["question_id"] for decision in decisions} == {row["question_id"]}
    assert [decision["step"] for decision in decisions] == list(range(len(decisions)))
    assert decisions[0]["text"] == "Who keeps the clock of Lund: Berta"
    assert decisions[0]["mode"] == "bottom_up" and decisions[0]["score"] is not None


def test_how_far_an_experts_texts_agree_is_kept_and_explained():
    text = KnowledgeText("clocks", "Berta", agreement=0.5, score=0.9)
    row = _decision_row("q", "bottom_up", 0, text_decision(text))
    assert row.agreement == 0.5
    assert expert_words(row).endswith("“Berta”, score 0.90, agreement 0.50")


def test_errors_are_in_plain_words(home, small_home):
    with pytest.raises(UsageError, match="no experts.*train-experts"):
        ask(Home(small_home), "Who?", settings())
    with pytest.raises(UsageError, match="no expert 'fish'.*clocks"):
        ask(home, "Who?", settings(), expert="fish")
    with pytest.raises(UsageError, match="asks no experts"):
        ask(home, "Who?", settings(), route="text", expert="clocks")
    change_expert(home, "clocks", "quarantine", PLAIN, reason="it lies")
    with pytest.raises(UsageError, match="quarantine"):
        ask(home, "Who?", settings(), expert="clocks")
    with pytest.raises(UsageError, match="All experts are in quarantine"):
        ask(home, "Who?", settings())


def test_an_expert_that_was_changed_is_not_asked(home):
    (weights,) = home.path.glob("experts/clocks/*/model.safetensors")
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.chmod(0o644)
    weights.write_bytes(data)
    with pytest.raises(Exception, match="model.safetensors"):
        ask(home, clock_question("Lund"), settings())
    with pytest.raises(RuntimeError, match="The expert clocks was not asked"):
        ask(home, clock_question("Lund"), settings(use=True), route="auto")


def test_the_command_shows_what_was_dropped(home, capsys):
    call = ["--home", str(home.path), "ask", clock_question("Lund")]
    assert main([*call, "--expert", "clocks", "--explain", "--mode", "bottom_up"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Berta  (") and "— the expert clocks" in out
    assert "kept: clocks wrote “Who keeps the clock of Lund: Berta”, score " in out
    assert (
        main(["--home", str(home.path), "ask", clock_question("Lund"), "--route", "experts"]) == 0
    )
    assert main(["--home", str(home.path), "ask", "Who?", "--expert", "fish"]) == 2


def test_experts_are_measured_on_texts_and_choices(home, tmp_path):
    rows = [
        {"question": clock_question("Lund"), "answers": ["Berta"]},
        {"question": clock_question("Vik"), "answers": ["Nils"], "choices": ["Olga", "Nils"]},
    ]
    path = tmp_path / "clocks.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    chosen = settings()
    system = system_for("experts", chosen, home, expert="clocks")
    figures = evaluate(home, path, "jsonl", system, chosen, Measurement(baselines=[], learn=False))
    assert figures["system"] == "experts clocks" and figures["items"] == 2
    assert figures["metrics"]["answered"] == 1.0


# -- a model behind an endpoint ------------------------------------------------------------------


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("endpoint") / "ledger.jsonl") as up:
        yield up


def model(endpoint: Running) -> EngineSettings:
    named = ModelSettings(name="m", base_url=endpoint.base_url, budget=None)
    return EngineSettings(engine="openai", model=named, encoder="none")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


@pytest.mark.parametrize("mode", ["bottom_up", "automatic", "explicit"])
def test_a_model_answers_from_what_experts_wrote(home, endpoint, mode):
    before = len(endpoint.calls)
    chosen = settings(model(endpoint), mode=mode, iterations=2, prompts="question")
    answer = ask(home, clock_question("Lund"), chosen)
    assert answer.answer == "Who keeps the clock of Lund: Berta"
    assert answer.route == "experts" and answer.evidence[0].expert is not None
    purposes = [call.purpose for call in endpoint.calls[before:]]
    expected = {
        "bottom_up": ["answer"],
        "automatic": [*["needs_more"] * 3, "wanted_information", *["needs_more"] * 3, "answer"],
        "explicit": [*["needs_more"] * 3, "source", *["needs_more"] * 3, "answer"],
    }
    assert purposes == expected[mode]
    assert answer.usage.calls == len(purposes)
    kinds = [decision.kind for decision in answer.decisions]
    assert ("need" in kinds) == (mode != "bottom_up") and "text" in kinds


def test_a_model_learns_when_it_needs_more(home, endpoint, tmp_path):
    path = tmp_path / "questions.jsonl"
    rows = [{"question": clock_question(town), "answers": [name]} for town, name in KEEPERS.items()]
    path.write_text("\n".join(map(json.dumps, rows)))
    engine = '[engine]\nengine = "openai"\nencoder = "none"\n\n[engine.model]\nname = "m"\n'
    (home.path / "settings.toml").write_text(f'{engine}base_url = "{endpoint.base_url}"\n')
    assert main(["--home", str(home.path), "learn", str(path), "--experts"]) == 0
    examples = load_learned_query(home, "m").needs
    assert len(examples) == len(KEEPERS) and not any(example.right for example in examples)
