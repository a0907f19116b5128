"""Baselines that prompt a model: what each asks for, which answers count, what a model sees."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from flows.__main__ import main
from schemas.errors import UsageError
from schemas.settings import EngineSettings, ModelSettings, Settings, load_settings
from tasks.ask.phrasing import brief_request, phrased_answer
from tasks.evaluate.baselines.choose import check_baselines
from tasks.evaluate.baselines.prompted import (
    PROMPTED,
    PromptedAnswerer,
    Sources,
    most_frequent,
)
from tasks.evaluate.evaluate import Measurement, evaluate
from tasks.evaluate.systems import system_for
from tasks.models.call import Request
from tasks.models.measures import MeasuredAnswer
from tasks.models.prompts.replies import AnswerReply, Recalled
from tasks.refresh import refresh
from tasks.text.question import Demonstration, Question, analyse
from tests.mock_endpoint import running
from tests.tiny_models import make_chat_model
from warehouse.home import Home

LOCAL = EngineSettings(engine="transformers", encoder="none")
ASKED = analyse("Who keeps the clock of Lund?")


class Talk:
    """A conversation with a model that recalls and answers as it is told."""

    def __init__(self, recalls: Callable[[str], str], *, model_is_small: bool = False) -> None:
        self.recalls, self.model_is_small = recalls, model_is_small
        self.wanted: list[str] = []
        self.requests: list[Request] = []

    def ask(self, request: Request, kind: type[Any]) -> Any:
        self.requests.append(request)
        if kind is MeasuredAnswer:
            return MeasuredAnswer(answer=request.choices[-1:][0], surprise=None, entropy=None)
        self.wanted.append(request.user.partition("\nWanted: ")[2])
        return Recalled(text=self.recalls(self.wanted[-1]))

    def phrase(
        self, question: Question, knowledge: list[str], shown: Sequence[Demonstration]
    ) -> AnswerReply:
        known = bool(knowledge)
        return AnswerReply(thought="", answerable="yes" if known else "no", answer="B. Berta")


def paths(name: str, recalls: Callable[[str], str]) -> tuple[list[list[str]], list[str]]:
    talk = Talk(recalls)
    sources = Sources(ASKED, talk, lambda question: [f"found for {question}"])  # type: ignore[arg-type]
    return PROMPTED[name](sources), talk.wanted


def numbered() -> Callable[[str], str]:
    numbers = iter(range(1, 100))
    return lambda wanted: f"text {next(numbers)}"


def test_the_model_alone_gets_nothing():
    assert paths("model", numbered()) == ([[]], [])


def test_generated_knowledge_is_three_statements_and_none():
    read, wanted = paths("generated_knowledge", numbered())
    assert read == [["text 1"], ["text 2"], ["text 3"], []]
    assert wanted == ["a fact", "a fact, other than: text 1", "a fact, other than: text 1; text 2"]


def test_a_statement_that_is_repeated_counts_once():
    read, wanted = paths("generated_knowledge", lambda wanted: "the same")
    assert read == [["the same"], []] and len(wanted) == 2


def test_recitation_names_places_and_recites_from_each():
    read, wanted = paths("recitation", numbered())
    assert read == [["text 4"], ["text 5"], ["text 6"]]
    assert [words for words in wanted if "“text 2”" in words] == [
        "the passage of the article “text 2” that answers it"
    ]


def test_a_model_that_recites_nothing_answers_alone():
    assert paths("recitation", lambda wanted: "")[0] == [[]]


def test_one_document_is_generated_and_one_search_is_read():
    read, wanted = paths("generate_then_read", numbered())
    assert (read, wanted) == ([["text 1"]], ["a background document"])
    assert paths("retrieve_then_read", numbered()) == ([[f"found for {ASKED.text}"]], [])


def test_the_most_frequent_answer_counts_the_first_among_equals():
    assert most_frequent(["Nils", "The Berta", "berta.", ""]) == "The Berta"
    assert most_frequent(["Nils", "Berta"]) == "Nils"
    assert most_frequent(["", ""]) == ""


# -- how a model answers ---------------------------------------------------------------------------


def test_an_answer_is_one_of_the_choices_or_none():
    choices, talk = ("Nils", "Berta", "Olga"), Talk(str)
    no_encoder: Any = None
    assert phrased_answer(talk, ASKED, choices, ["a text"], no_encoder) == "Berta"  # type: ignore[arg-type]
    assert phrased_answer(talk, ASKED, choices, [], no_encoder) == ""  # type: ignore[arg-type]


def test_a_small_model_goes_on_after_examples_with_the_best_text_nearest():
    choices, talk = ("Nils", "Olga  Berg"), Talk(str, model_is_small=True)
    no_encoder: Any = None
    answer = phrased_answer(talk, ASKED, choices, ["the best", "the\nother"], no_encoder)  # type: ignore[arg-type]
    assert answer == "Olga  Berg"
    (request,) = talk.requests
    assert request.continued and request.plain and request.choices == ("Nils", "Olga Berg")
    assert request.user.endswith(f"Knowledge: the other\nthe best\nQuestion: {ASKED.text}\nAnswer:")
    assert "Knowledge" not in brief_request(ASKED, (), ()).user
    assert "资料：一\n问题：" in brief_request(analyse("谁看钟？"), (), ("一",)).user


def test_demonstrations_take_the_place_of_a_small_models_examples():
    shown = [Demonstration("Is it so?\nTrue or false?", "true", ("true", "false"))]
    request = brief_request(ASKED, ("true", "false"), (), demonstrations=shown)
    own = f"Question: {ASKED.text}\nAnswer:"
    assert request.user == f"Question: Is it so? True or false?\nAnswer: true\n\n{own}"


# -- by name ---------------------------------------------------------------------------------------


def test_prompts_are_asked_for_by_name_and_need_a_model():
    with pytest.raises(UsageError, match="recitation needs a language model"):
        check_baselines(["recitation"], EngineSettings())
    with pytest.raises(UsageError, match="no baseline 'recite'.*recitation"):
        check_baselines(["recite"], EngineSettings())
    assert not set(Measurement().baselines) & set(PROMPTED)


def test_all_answer_over_a_home_beside_the_system(own_home, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    path, home = tmp_path / "people.jsonl", Home(own_home)
    rows = [
        {"question": "Where was Ada Lovelace born?", "answers": ["London"]},
        {"question": "Where was Charles Babbage born?", "answers": ["London"]},
    ]
    rows += [{**rows[0], "choices": ["Paris", "London"]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    with running(tmp_path / "ledger.jsonl") as endpoint:
        model = ModelSettings(name="m", base_url=endpoint.base_url)
        engine = EngineSettings(engine="openai", model=model, encoder="none")
        settings = Settings(engine=engine)
        how = Measurement(baselines=list(PROMPTED), learn=False)
        found = evaluate(home, path, "jsonl", system_for("text", settings, home), settings, how)
        purposes = {call.purpose for call in endpoint.calls}
    by_name = {row["system"]: row["metrics"] for row in found["baselines"]}
    assert list(by_name) == [f"{name} m" for name in PROMPTED]
    assert purposes == {"answer", "recall", "cited"}
    assert by_name["retrieve_then_read m"]["contained"] == 1.0
    assert by_name["retrieve_then_read m"]["accuracy"] == 1.0
    assert by_name["model m"]["answered"] == 0.0  # the endpoint knows nothing by itself


def test_what_is_sensitive_does_not_reach_an_endpoint(own_home, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "vault.md").write_text("# Vault\n\nThe vault of Lund was built by Olga Strand.\n")
    home = Home(own_home)
    refresh(home, [str(secret)], load_settings(home.path), sensitive=True)
    edition = home.require_edition()
    question = "Who built the vault of Lund?"
    engines = {True: LOCAL.model_copy(update={"engine": "openai"}), False: LOCAL}
    found = {
        leaves: "\n".join(
            PromptedAnswerer("retrieve_then_read", home, edition, Settings(engine=engine))._search(
                question
            )
        )
        for leaves, engine in engines.items()
    }
    assert "Strand" in found[False] and "Strand" not in found[True]


def test_questions_with_texts_of_their_own_have_no_such_baseline(own_home, tmp_path):
    path, home, settings = tmp_path / "hotpot.json", Home(own_home), Settings(engine=LOCAL)
    context = {"title": ["Lund"], "sentences": [["Berta keeps the clock."]]}
    facts = {"title": ["Lund"], "sent_id": [0]}
    row = {"id": "1", "question": ASKED.text, "answer": "Berta", "type": "bridge"}
    path.write_text(json.dumps([{**row, "supporting_facts": facts, "context": context}]))
    how = Measurement(baselines=["model"])
    with pytest.raises(UsageError, match="baseline model.*knowledge_gain"):
        evaluate(home, path, "hotpotqa", system_for("text", settings, home), settings, how)


def test_the_command_line_names_the_model(own_home, tmp_path, capsys):
    path = tmp_path / "people.jsonl"
    path.write_text(json.dumps({"question": "Where was Ada Lovelace born?", "answers": ["London"]}))
    folder = make_chat_model(tmp_path / "tiny", context=1024)
    words = ["evaluate", str(path), "--format", "jsonl", "--route", "text", "--no-learn"]
    words += ["--baselines", "model", "--engine", "transformers", "--model", str(folder), "--json"]
    assert main(["--home", str(own_home), *words]) == 0
    [alone] = json.loads(capsys.readouterr().out)["baselines"]
    assert alone["system"] == f"model {folder}" and alone["items"] == 1
    assert main(["--home", str(own_home), *words[:6], "--baselines", "model"]) == 2
    assert "needs a language model" in capsys.readouterr().err
