"""What a model is shown about a question, and what becomes of its replies, scripted here."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.commands.ask import answer_in_words
from schemas.answers import Answer
from schemas.knowledge import Theme
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks.ask.asker import Asker
from tasks.ask.route import AskOptions, Turn
from tasks.models.call import Request
from tasks.models.prompts.replies import AnswerReply, CitedAnswer, Program, Reply
from tasks.programs.written_program import Conversation
from tasks.refresh import refresh
from tests.documents import write_texts
from tests.film_questions import film, home_with_films, person
from warehouse.home import Home

PLAIN = Settings(engine=EngineSettings(encoder="none"))
MODEL = ModelSettings(name="scripted", base_url="http://127.0.0.1:9/v1")
ASKING = Settings(engine=EngineSettings(encoder="none", answer_model=MODEL))
ADA = "Who was Ada Lovelace?"
NO = {"quotes": [], "found": "no", "answer": "Nothing about her.", "search": []}


@pytest.fixture(scope="module")
def home(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The tiny corpus, two of whose documents disagree, with a graph of films."""
    return home_with_films(small_home, tmp_path_factory.mktemp("items"), PLAIN)


@pytest.fixture
def prompts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the model was shown, the user's part of each prompt."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return []


@pytest.fixture
def scripted(prompts: list[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what lets a model give these replies in turn, the last one again and again."""

    def script(*replies: dict[str, Any] | Reply) -> None:
        left = list(replies)

        def ask(self: Conversation, request: Request, kind: type[Any]) -> Any:
            prompts.append(request.user)
            reply = left.pop(0) if len(left) > 1 else left[0]
            return CitedAnswer.model_validate(reply) if isinstance(reply, dict) else reply

        monkeypatch.setattr(Conversation, "ask", ask)

    return script


def ask(
    home: Home, question: str, settings: Settings = ASKING, *turns: Turn, **options: Any
) -> Answer:
    with Asker(home, home.require_edition(), settings, AskOptions(**options)) as asker:
        return asker.answer(question, history=turns)


# -- what is shown --------------------------------------------------------------------------------


def test_facts_of_the_entities_that_a_question_names_are_sources(home, scripted, prompts):
    scripted(NO)
    ask(home, f"Who helmed {film(3)}?")
    assert f"] {film(3)}, release year: 1953" in prompts[0]
    assert f", directed by: {person(3)}" in prompts[0]


def test_all_values_of_a_relation_are_one_source_that_counts_them(home, scripted, prompts):
    scripted(NO)
    ask(home, f"How many films did {person(5)} direct?")
    assert f"(5 in all), directed by: {person(5)}" in prompts[0]


def test_facts_that_contradict_each_other_say_so(tmp_path, scripted, prompts):
    home = Home(tmp_path / "home")
    texts = {
        "a.md": "# Ulla Stern\n\nUlla Stern was born in Riga.\n",
        "b.md": "# Lives\n\nUlla Stern was born in Bonn. She was a spy.\n",
    }
    refresh(home, [str(write_texts(tmp_path / "texts", texts))], PLAIN)
    scripted(NO)
    ask(home, "Where was Ulla Stern born?")
    assert "(the sources disagree)" in prompts[0]


def test_a_follow_up_is_shown_with_what_was_said_and_searched_with_it(home, scripted, prompts):
    scripted(NO)
    ask(home, "Where was she born?", ASKING, Turn(ADA, "A mathematician."))
    assert f"Earlier question: {ADA}\nAnswer: A mathematician." in prompts[0]
    assert "Ada Lovelace" in prompts[0].partition("Earlier question")[0]


def test_sensitive_documents_are_shown_to_no_endpoint_that_may_not_see_them(
    tmp_path, scripted, prompts, monkeypatch
):
    home = Home(tmp_path / "home")
    spy = {"a.md": "# Ulla Stern\n\nUlla Stern was a spy. She was born in Riga.\n"}
    baker = {"b.md": "# Karl Moor\n\nKarl Moor was a baker. He was born in Bonn.\n"}
    for name, text in (("secret", spy), ("plain", baker)):
        source = str(write_texts(tmp_path / name, text))
        refresh(home, [source], PLAIN, sensitive=name == "secret")
    systems: list[str] = []

    def seen(self: Conversation, request: Request, kind: type[Any]) -> Any:
        systems.append(request.system + request.user.partition("Question:")[0])
        return CitedAnswer.model_validate(NO)

    monkeypatch.setattr(Conversation, "ask", seen)
    open_model = MODEL.model_copy(update={"sensitive": True})
    may_see = Settings(engine=EngineSettings(encoder="none", answer_model=open_model))
    for question in ("Where was Ulla Stern born?", "Who was a spy?", "What are the main themes?"):
        ask(home, question)
        assert "Ulla" not in systems[-1] and "spy" not in systems[-1], question
        ask(home, question, may_see)
        assert "Ulla Stern" in systems[-1]


def test_what_all_documents_are_about_is_asked_of_their_themes_alone(tmp_path, scripted, prompts):
    home = Home(tmp_path / "home")
    story = "The {} met the mayor. The {} sang. This report lists the main documents of the {}."
    kinds = ("choir", "rowing club", "bakery")
    texts = {f"{kind}.md": f"# {kind}\n\n{story.replace('{}', kind)}\n" for kind in kinds}
    refresh(home, [str(write_texts(tmp_path / "texts", texts))], PLAIN)
    scripted(NO)
    ask(home, "What are the main documents about?")
    numbers = re.findall(r"^\[(\d+)\] ", prompts[0], re.M)
    assert len(numbers) == home.require_edition().rows(Theme) > 0


def test_documents_of_one_title_are_told_apart_by_their_files(tmp_path, scripted, prompts):
    home = Home(tmp_path / "home")
    texts = {
        "plan-2021.md": "# Plan\n\nThe weir at Lund is painted green.\n",
        "plan-2022.md": "# Plan\n\nThe weir at Lund is painted blue.\n",
        "staff.md": "# Staff\n\nThe painter of the weir at Lund is Ulla Stern.\n",
        "rule.md": "---\ntitle: Rule 7\nsubtitle: Weirs\n---\n\n# Paint\n\nNo weir is red.\n",
    }
    refresh(home, [str(write_texts(tmp_path / "texts", texts))], PLAIN)
    scripted(NO)
    ask(home, "Which colour has the weir at Lund?")
    assert "Plan, plan-2021.md\nThe weir" in prompts[0] and "Plan, plan-2022.md\n" in prompts[0]
    assert "] Staff\nThe painter" in prompts[0] and "Rule 7: Weirs > Paint\n" in prompts[0]


def test_a_list_comes_with_what_leads_into_it(tmp_path, scripted, prompts):
    home = Home(tmp_path / "home")
    crates = " ".join(f"The crane of quay {n} lifts crates of herring." for n in range(9))
    goods = "geese, ducks and whatever else may fly, bite, burn or cackle at night; " * 9
    texts = {f"sale{n}.md": f"# Geese {n}\n\nGeese come aboard ship {n}.\n" for n in range(4)}
    texts |= {f"hens{n}.md": f"# Hens {n}\n\nHens come to farm {n}.\n" for n in range(30)}
    texts["rules.md"] = f"# Rules\n\n{crates} It is forbidden to bring:\n\n1. {goods}\n"
    refresh(home, [str(write_texts(tmp_path / "texts", texts))], PLAIN)
    scripted(NO)
    ask(home, "When do geese come aboard?")
    assert "It is forbidden to bring:\n1. geese" in prompts[0]


# -- what becomes of replies ----------------------------------------------------------------------


def test_no_is_final_though_the_embedded_reader_would_answer(home, scripted, prompts):
    scripted(NO)
    answer = ask(home, "Where was Ada Lovelace born?")
    assert (answer.answer, answer.found, answer.remark) == (None, "no", "Nothing about her.")
    assert len(prompts) == 1 and answer.evidence
    shown = [line for line in answer_in_words(answer) if isinstance(line, str)]
    assert "The nearest passages:" in shown and not any("[1]" in line for line in shown)
    assert ask(home, "Where was Ada Lovelace born?", PLAIN).answer == "London"


def test_what_the_model_searches_is_appended_once(home, scripted, prompts):
    scripted(
        {**NO, "search": ["Charles Babbage"]},
        {"quotes": [], "found": "yes", "answer": "I see.", "values": ["it"], "search": []},
    )
    answer = ask(home, "Why do gulls laugh?")
    first, second = (prompt.partition("\nQuestion:")[0].strip() for prompt in prompts)
    assert second.startswith(first.removesuffix("none").strip()) and len(second) > len(first)
    assert answer.way is not None and answer.way.searches == ["Charles Babbage"]
    assert (answer.answers, answer.way.rounds) == (["it"], 2)
    assert answer.model_dump(mode="json")["way"]["items"]["text"] > 0


def test_one_round_is_one_round(home, scripted, prompts):
    scripted({**NO, "search": ["Charles Babbage"]})
    ask(home, "Why do gulls laugh?", rounds=1)
    assert len(prompts) == 1


def test_a_claim_without_a_quotation_is_asked_about_once(home, scripted, prompts):
    claim = {
        "quotes": [],
        "found": "yes",
        "answer": "She was born in 1815 [1].",
        "values": ["1815"],
    }
    scripted(claim)
    answer = ask(home, "Where was Ada Lovelace born?")
    assert len(prompts) == 2 and "She was born in 1815." in prompts[1]
    assert answer.answer == "She was born in 1815 [1] [?]."
    assert answer.unsupported == ["She was born in 1815."]
    mended = {**claim, "quotes": [["1", "born"]], "answer": "She was born [1]."}
    scripted(claim, mended)
    answer = ask(home, "Where was Ada Lovelace born?")
    assert (answer.answer, answer.unsupported) == ("She was born [1].", [])
    assert answer.way is not None and answer.way.repaired


def test_a_program_is_written_where_the_model_has_to_compute(home, scripted, prompts):
    code = (
        "def search():\n"
        f"    found, message = find_entity_or_value(['{film(5)}'], ['release_year'])\n"
        "    answers.extend(found)\n    return message"
    )
    found = {"quotes": [], "found": "yes", "answer": "In 1955.", "values": ["1955"]}
    scripted(
        {**NO, "compute": "yes"},
        Program(need_knowledge="yes", code=code),
        {**found, "compute": "no"},
    )
    answer = ask(home, f"How long ago was {film(5)} shown?")
    assert "Entities that exist" in prompts[1] and "release_year" in prompts[1]
    assert "Result of a search program in films\n1955" in prompts[2]
    assert answer.answers == ["1955"] and answer.way is not None and answer.way.computed
    assert "release_year" in (answer.program or "")


def test_a_named_route_is_asked_as_in_its_paper(home, scripted, prompts):
    scripted(Program(need_knowledge="no", code=""), AnswerReply(answerable="no", answer=""))
    ask(home, ADA, route="programs")
    assert [prompt.partition("\n")[0] for prompt in prompts] == [f"Query: {ADA}"] * 2
