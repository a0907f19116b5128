"""Asking an edition: routes, graphs, what was learned, models, secrets, files of questions."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from almanac import open as open_almanac
from flows.__main__ import main
from schemas.errors import UsageError
from schemas.operations import AnswerRecord
from schemas.settings import EngineSettings, ModelSettings, Settings, load_settings
from tasks.ask.asker import Asker
from tasks.ask.model_route import _NO_ANSWER
from tasks.ask.phrasing import without_letter
from tasks.ask.route import AskOptions, turn_of
from tasks.learn import learn
from tasks.models.call import RawReply, Request
from tasks.models.endpoint import Endpoint
from tasks.models.prompts.replies import AnswerReply, Program
from tasks.programs import search_program
from tasks.programs.knowledge_bases.edition_graph import edition_graphs
from tasks.programs.program_run import run_program
from tasks.programs.written_program import Conversation
from tasks.refresh import refresh
from tasks.text.question import Question
from tests.benchmark_runs import run_benchmark
from tests.current_edition import current
from tests.documents import write_texts
from tests.film_questions import ONE_HOP, examples, film, graph, home_with_films, person
from tests.mock_endpoint import running
from warehouse import durable
from warehouse.home import Home

PLAIN = Settings(engine=EngineSettings(encoder="none"))
BORN = "Where was Ada Lovelace born?"
FIRST_SEEN = f"when could people first see {film(5)}"


@pytest.fixture(scope="module")
def home(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with the tiny corpus and a graph of films."""
    return home_with_films(small_home, tmp_path_factory.mktemp("asking"), PLAIN)


@pytest.fixture(scope="module")
def taught(home: Home, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The same home after it learned from questions in other words."""
    path = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    rows = [asdict(one) for one in examples(graph(), ONE_HOP)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    [learned] = learn(home, [path], "jsonl", PLAIN)
    assert learned["graph"] == "films" and learned["questions"] > 150
    assert learned["explained"] == learned["questions"] - learned["tried"]
    assert learned["right"] == learned["tried"] > 0
    return home


def asker(home: Home, settings: Settings = PLAIN, **how: object) -> Asker:
    edition = current(home)
    return Asker(home, edition, settings, AskOptions(**how))  # type: ignore[arg-type]


# -- graphs ---------------------------------------------------------------------------------------


def test_a_graph_is_asked_in_its_relations_words(home):
    with asker(home) as open_asker:
        answer = open_asker.answer(f"What is the release year of {film(3)}?")
    assert (answer.answer, answer.route, answer.answerable) == ("1953", "programs", True)
    assert "find_entity_or_value" in (answer.program or "")
    assert [e.text for e in answer.evidence] == [f"{film(3)}, release_year: 1953"]
    assert answer.evidence[0].graph == "films" and answer.evidence[0].kind == "triple"


def test_what_was_learned_is_asked_in_any_words(taught):
    with asker(taught) as open_asker:
        assert open_asker.answer(FIRST_SEEN).answer == "1955"
        several = open_asker.answer(f"whom do we see in {film(5)}")
    assert len(several.answers) == 2 and several.answer == several.answers[0]


def test_another_question_is_not_one_for_the_graph(taught):
    with asker(taught, graph="films") as open_asker:
        answer = open_asker.answer(f"how many gulls nest near {film(5)}?")
    assert (answer.answer, answer.answers, answer.route) == (None, [], "none")
    assert not answer.answerable and answer.evidence == []


def test_without_an_answer_the_names_are_listed_by_which_no_entity_is_known(home, almanac):
    with asker(home) as open_asker:
        strange = open_asker.answer("Who founded Quibbleton in 《沙丘记》?")
        known = open_asker.answer("What did Ada Lovelace and Charles Babbage eat?")
        for question in ("List Ada Lovelace's boats.", "What sank on May 4, 1974, or in 1975?"):
            assert open_asker.answer(question).unknown == [], question
    assert strange.answer is None and strange.unknown == ["沙丘记", "Quibbleton"]
    assert known.answer is None and known.unknown == []
    shown = almanac.shown(home.path, "ask", "Who founded Quibbleton?")
    assert "does not know. No entity is known by “Quibbleton”." in shown


def test_an_unknown_graph_or_route_is_a_wrong_call(home):
    with pytest.raises(UsageError, match="corpus, films"):
        asker(home, graph="flims")
    with pytest.raises(UsageError, match="programs"):
        asker(home, route="paths of glory")


# -- the corpus -----------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["auto", "programs", "text"])
def test_the_corpus_is_asked_by_every_route(taught, route):
    with asker(taught, route=route) as open_asker:
        answer = open_asker.answer(BORN)
    assert answer.answer == "London"
    assert answer.route == ("programs" if route == "programs" else "text")
    place = answer.evidence[0]
    assert place.graph == "corpus" and (place.uri or "").endswith("ada.md")
    assert place.span_start is not None and place.span_end is not None


@pytest.mark.parametrize(
    ("first", "then", "answer"),
    [
        ("When was Charles Babbage born?", "Where was he born?", "London"),
        ("When was Ada Lovelace born?", "And when did she die?", "27 November 1852"),
        ("Who designed the Analytical Engine?", "Who is capital of it?", None),
        ("Did Ada Lovelace work with Charles Babbage?", "When was he born?", None),
        ("What is a computer?", "When was she born?", None),
    ],
)
def test_a_pronoun_means_the_one_name_that_the_turn_before_has(home, first, then, answer):
    with asker(home) as opened:
        history = [turn_of(opened.answer(first))]
        assert opened.answer(then, history=history).answer == answer
        assert opened.answer(then).answer is None


def test_a_pronoun_means_nobody_of_before_a_turn_about_something_else(home):
    with asker(home) as opened:
        questions = ("When was Ada Lovelace born?", "What is the Analytical Engine?")
        history = [turn_of(opened.answer(question)) for question in questions]
        assert opened.answer("When did she die?", history=history).answer is None


def test_what_nobody_said_is_not_known(taught):
    unknown = ["What is the name of Mallory's parrot?", "李明的出生地是哪里？", "Who wrote Faust?"]
    hostile = ["x" * 5_000, "[" * 400, "\ud800?", "{0} \x00 ' \" ]]", "？"]
    with asker(taught) as open_asker:
        for question in unknown + hostile:
            answer = open_asker.answer(question)
            assert answer.answerable is False, question
            assert answer.route == "none" or question in hostile


# -- choices --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "question", "choices", "answer"),
    [
        ("programs", FIRST_SEEN, ["1951", "1955"], "1955"),
        ("text", FIRST_SEEN, ["1951", "1955"], None),
        ("auto", BORN, ["the city of London", "Bonn"], "the city of London"),
        ("text", BORN, ["the city of London", "Bonn"], "the city of London"),
        ("auto", BORN, ["Bonn", "Riga"], None),
    ],
)
def test_an_answer_is_one_of_the_choices_or_not_known(taught, route, question, choices, answer):
    with asker(taught, route=route) as open_asker:
        given = open_asker.answer(question, choices)
    assert (given.answer, given.answerable) == (answer, answer is not None)
    assert answer or given.probability is None


def test_answers_that_are_no_choices_are_not_given(taught):
    with asker(taught, route="programs") as open_asker:
        first, *others = open_asker.answer(f"what did {person(1)} helm").answers
        assert others and film(2) not in others
        given = open_asker.answer(f"what did {person(1)} helm", [first, film(2)])
    assert given.answers == [first]


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("B", "Bonn"), ("b.", "Bonn"), ("A. London", "London"), ("C", "C"), ("Bonn", "Bonn"),
        ("Answer: B", "Bonn"), ("The correct answer is (B).", "Bonn"), ("Option b", "Bonn"),
        ("The answer is B) Bonn", "Bonn"), ("选B", "Bonn"), ("正确答案是 B。", "Bonn"),
        ("B、Bonn", "Bonn"), ("选举", "选举"), ("U.S. Navy", "U.S. Navy"), ("Plan B", "Plan B"),
        ("选" + " " * 20_000, "选" + " " * 20_000),
    ],
)  # fmt: skip
def test_a_reply_may_be_the_letter_of_a_choice(reply, choice):
    assert without_letter(reply, ["London", "Bonn"]) == choice


def test_a_choice_that_begins_with_a_letter_is_kept():
    assert without_letter("J. K. Moe", ["J. K. Moe", "Ida Moe"]) == "J. K. Moe"


@pytest.mark.parametrize(
    ("reply", "refuses"),
    [
        ("I do not know.", True),
        ("Sorry, I can't really say that.", True),
        ("I'm not sure", True),
        ("I Am Not a Ferry", False),
        ("I Don't Row", False),
    ],
)
def test_a_refusal_is_told_from_a_title(reply, refuses):
    assert bool(_NO_ANSWER.fullmatch(reply)) == refuses


# -- with a model ---------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with running(tmp_path / "calls.jsonl") as endpoint:
        settings = ModelSettings(name="mock", base_url=endpoint.base_url)
        engine = EngineSettings(engine="openai", encoder="none", model=settings)
        yield Settings(engine=engine)


def test_a_model_writes_the_program_and_phrases_the_answer(home, model):
    with asker(home, model, route="programs") as open_asker:
        first, again = open_asker.answer_all(["Who was Ada Lovelace?"] * 2)
    assert "mathematician" in (first.answer or "") and first.route == "programs"
    assert "get_entity_info" in (first.program or "")
    assert first.usage.calls + again.usage.calls >= 2  # equal questions are asked once
    with asker(home, model, route="programs") as open_asker:
        later = open_asker.answer("Who was Ada Lovelace?")
    assert later.answer == first.answer
    assert (later.usage.calls, later.usage.tokens_in) == (0, 0)


def test_a_model_that_searches_is_shown_the_choices(home, model, monkeypatch):
    shown: dict[str, str] = {}
    ask = Conversation.ask

    def noted(self: Conversation, request: Request, kind: type[Any]) -> Any:
        shown[request.purpose] = request.user
        return ask(self, request, kind)

    monkeypatch.setattr(Conversation, "ask", noted)
    with asker(home, model, route="programs") as open_asker:
        open_asker.answer("What was Ada Lovelace?", ["a sailor", "a mathematician"])
    for purpose in ("program", "answer"):
        assert "Ada Lovelace?\nChoices: A. a sailor; B. a mathematician" in shown[purpose]


def test_a_model_that_finds_nothing_answers_by_itself_and_in_its_own_time(home, model, monkeypatch):
    code = "def search():\n    return find_entity_or_value(['Nobody Atall'], ['capital'])[1]"
    reply = AnswerReply(answerable="yes", answer="Sel")
    limits = []

    def run(*given: Any, **more: Any) -> Any:
        limits.append(given[3])
        return run_program(*given, **more)

    monkeypatch.setattr(Conversation, "write", lambda *_: Program(need_knowledge="yes", code=code))
    monkeypatch.setattr(Conversation, "phrase", lambda *_: reply)
    monkeypatch.setattr(search_program, "run_program", run)
    with asker(home, model, route="programs") as open_asker:
        answer = open_asker.answer("Of what is Sel the capital?")
    assert (answer.answer, answer.route, answer.evidence) == ("Sel", "none", [])
    slowest = ModelSettings().deadline_seconds + ModelSettings().patience_seconds
    assert min(one.call_seconds for one in limits) > slowest


def test_replies_that_could_not_be_used_are_told(home, model, monkeypatch):
    async def refused(*_: object) -> RawReply:
        return RawReply(None, refusal="refused")

    monkeypatch.setattr(Endpoint, "send", refused)
    with asker(home, model, route="programs") as open_asker:
        assert open_asker.warnings == []
        assert open_asker.answer("Who was Ada Lovelace?").answer is None
        [warning] = open_asker.warnings
    assert "no usable reply to 2 of the requests (refused: the model refused)" in warning
    with asker(home, model) as open_asker:
        open_asker.answer_all(["Where was Ada Lovelace born?"] * 2)
        assert "The embedded reader answered 2 of 2 questions instead." in open_asker.warnings[0]


def test_a_model_that_answers_alone_is_shown_the_choices(home, model, monkeypatch):
    asked: list[str] = []

    def phrase(_: Conversation, question: Question, __: list[str]) -> AnswerReply:
        asked.append(question.text)
        return AnswerReply(answerable="yes", answer="The answer is B.")

    monkeypatch.setattr(Conversation, "phrase", phrase)
    with asker(home, model, route="none") as open_asker:
        answers = open_asker.own_answers(["Who keeps the clock?"], [["Olga", "Nils"]])
    assert answers == [("Nils", None)]
    assert asked == ["Who keeps the clock?\nChoices: A. Olga; B. Nils"]


def test_questions_that_are_worked_on_at_once_share_the_texts(home, model):
    questions = [f"Which {thing} did gulls carry?" for thing in ("ship", "stone", "fish", "bell")]
    with asker(home, model) as open_asker:
        answers = open_asker.answer_all(questions * 8)
    assert [answer.question for answer in answers] == questions * 8
    assert not any(answer.answerable for answer in answers)


def test_what_sensitive_documents_say_is_withheld_from_models(tmp_path):
    home = Home(tmp_path / "home")
    spy = {"a.md": "# Ulla Stern\n\nUlla Stern was a spy. She was born in Riga.\n"}
    baker = {"b.md": "# Karl Moor\n\nKarl Moor was a baker. He was born in Bonn.\n"}
    for name, text in (("secret", spy), ("plain", baker)):
        source = str(write_texts(tmp_path / name, text))
        refresh(home, [source], PLAIN, sensitive=name == "secret")
    edition = current(home)
    shown = edition_graphs(edition)["corpus"]
    withheld = edition_graphs(edition, open_only=True)["corpus"]
    [entity] = [c.entity for c in shown.entity_linking("q", ["Ulla Stern"])][:1]
    assert shown.get_entity_triples(entity) and "spy" in shown.get_entity_info(entity)
    assert withheld.get_entity_triples(entity) == [] and withheld.get_entity_info(entity) == ""
    assert "Ulla Stern" not in [c.entity.name for c in withheld.entity_linking("q", ["Ulla Stern"])]
    [other] = [c.entity for c in withheld.entity_linking("q", ["Karl Moor"])][:1]
    assert "baker" in withheld.get_entity_info(other)
    assert withheld.get_entity_triples(other) == shown.get_entity_triples(other) != []


# -- the command line -----------------------------------------------------------------------------


def test_the_commands_learn_answer_and_keep_records(taught, tmp_path, almanac):
    questions, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    rows = [{"id": "1", "question": f"who helmed {film(7)}"}, {"id": "2", "question": "why?"}]
    questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    at, helm = taught.path, ["ask", f"who helmed {film(7)}"]
    almanac.shown(at, "answer", str(questions), "--out", str(out), "--graph", "films")
    first, second = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert (first["id"], first["answer"], first["route"]) == ("1", "Nora Field 7", "programs")
    assert (second["id"], second["answerable"]) == ("2", False)
    kept = {row["question_id"]: row for row in taught.live.table(AnswerRecord).to_pylist()}
    assert kept[first["question_id"]]["program"] == first["program"]
    shown = almanac.shown(at, "ask", f"whom do we see in {film(7)}", "--explain")
    assert shown.splitlines()[0].count(";") == 1 and "| def search():" in shown
    assert "also possible" not in shown  # both answers are right
    almanac.refused(at, "ask", "who?", "--graph", "nothing")
    choices = ["--choices", "Nora Field 6", "--choices", "Nora Field 7"]
    assert almanac.json(at, *helm, *choices)["answers"] == ["Nora Field 7"]
    assert almanac(at, *helm, *choices[:2])[0] == 2


def test_learning_from_nothing_is_a_wrong_call(taught, tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "who helmed it?"}\n')
    with pytest.raises(UsageError, match="no question|No question"):
        learn(taught, [path], "jsonl", PLAIN)
    kept = sorted(taught.path.glob("learned/planner/films/*"))
    foreign = [f'{{"question": "who sank {n}?", "answers": ["nobody"]}}' for n in range(20)]
    own = json.dumps({"question": f"who helmed {film(7)}", "answers": ["Nora Field 7"]})
    path.write_text("\n".join([own, *foreign]))
    with pytest.raises(UsageError, match="Of 21 questions only 1 .*--graph"):
        learn(taught, [path], "jsonl", PLAIN)
    assert sorted(taught.path.glob("learned/planner/films/*")) == kept
    assert load_settings(taught.path).engine.encoder == "none"


def test_what_the_benchmark_of_asking_times_exists():
    assert run_benchmark("asking", "--help")[0] == 0


def test_questions_are_answered_as_of_a_day(own_home, tmp_path, almanac):
    first, second = Home(own_home).editions.all()
    long_ago = first.manifest | {"built_at": "2020-05-31T23:00:00.000+00:00"}
    durable.write_sealed_json(first.path / "manifest.json", long_ago)
    for day, expected in (("2020-05-31", first), ("2020-12-01", first), ("9999-12-31", second)):
        assert almanac.json(own_home, "ask", BORN, "--as-of", day)["edition"] == expected.id
    questions, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    questions.write_text(json.dumps({"question": BORN}), encoding="utf-8")
    files = ["answer", str(questions), "--out", str(out)]
    almanac.shown(own_home, *files, "--as-of", "2020-06-01")
    assert json.loads(out.read_text(encoding="utf-8"))["edition"] == first.id
    with open_almanac(own_home) as kb:
        assert kb.ask(BORN, as_of=date(2020, 6, 1)).edition == first.id
        assert kb.ask(BORN).edition == second.id
    assert "editions list" in almanac.refused(own_home, *files, "--as-of", "2020-05-30")


@pytest.mark.parametrize("options", [["--as-of", "soon"], ["--as-of", "2020-01-01", "--edition=1"]])
def test_a_day_that_is_none_or_one_beside_an_edition_is_a_wrong_call(options):
    with pytest.raises(SystemExit) as end:
        main(["ask", BORN, *options])
    assert end.value.code == 2
