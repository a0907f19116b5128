"""Measuring a system: what is learned from, what is told, what is recorded, at the command line."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from schemas.errors import AlmanacError, UsageError
from schemas.operations import AnswerRecord, Evaluation
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks.ask.asker import Asker
from tasks.ask.keep_answers import note_feedback
from tasks.ask.route import AskOptions
from tasks.evaluate import evaluate as evaluation
from tasks.evaluate.answerer import Prediction
from tasks.evaluate.evaluate import Measurement, evaluate
from tasks.evaluate.systems import system_for
from tasks.import_graph import list_graphs
from tasks.models.call import RawReply
from tasks.models.endpoint import Endpoint
from tasks.progress import Report, silent
from tasks.questions.question import BenchmarkQuestion
from tests.copied_home import copied_home
from tests.current_edition import current
from tests.mock_endpoint import running
from warehouse.editions import Edition
from warehouse.home import Home

SETTINGS = Settings(engine=EngineSettings(encoder="none"))
PEOPLE = 40


class Parrot:
    """Answers what it learned, else a name it is told; says how far it came."""

    name = "parrot"

    def __init__(self) -> None:
        self.learned: list[BenchmarkQuestion] = []
        self.asked: list[BenchmarkQuestion] = []

    def learn(self, questions: Sequence[BenchmarkQuestion], report: Report = silent) -> None:
        self.learned += questions

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        self.asked += questions
        known = {q.question: list(q.answers) for q in self.learned}
        return [
            Prediction(known.get(q.question, ["Town 1"]), {"program": True, "answer": q.hops == 1})
            for q in questions
        ]


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    """A benchmark in the form of MetaQA: who lives in which town."""
    folder = tmp_path / "towns"
    (folder / "1-hop").mkdir(parents=True)
    people = [(f"Person {n}", f"Town {n % 5}") for n in range(PEOPLE)]
    kb = [f"{person}|lives_in|{town}" for person, town in people]
    kb += [f"Town {n}|mayor|Mayor {n}" for n in range(5)]
    (folder / "kb.txt").write_text("\n".join(kb))
    lines = [f"where lives [{person}]\t{town}" for person, town in people]
    (folder / "1-hop" / "qa_dev.txt").write_text("\n".join(lines))
    exact = ["1" if n % 2 else "0" for n in range(PEOPLE)]
    (folder / "1-hop" / "qa_dev_exact.txt").write_text("\n".join(exact))
    return folder


def test_empty_home_gets_the_graph_and_a_half_is_learned_from(towns, tmp_path):
    home, parrot = Home(tmp_path / "home"), Parrot()
    how = Measurement(zero_shot=True, baselines=["bm25", "spe"], answers=tmp_path / "answers.jsonl")
    found = evaluate(home, towns, "metaqa", lambda edition: parrot, SETTINGS, how)
    assert [row["graph"] for row in list_graphs(home)] == ["metaqa"]
    assert found["items"] + found["learned_from"] == PEOPLE
    assert found["items"] > 5
    assert {q.topic for q in parrot.learned}.isdisjoint(q.topic for q in parrot.asked)
    assert all(not q.answers for q in parrot.asked)
    rivals = {one["system"]: one["metrics"]["hits@1"] for one in found["baselines"]}
    assert set(rivals) == {"parrot zero-shot", "bm25", "spe"}
    assert rivals["bm25"] > found["metrics"]["hits@1"]
    assert found["stages"] == {"program": 1.0, "answer": 1.0}
    assert 0 < found["items_exact"] < found["items"]
    rows = (tmp_path / "answers.jsonl").read_text().splitlines()
    assert len(rows) == 4 * found["items"]
    assert json.loads(rows[0])["system"] == "parrot"
    written = home.live.table(Evaluation).to_pylist()
    mine = {(r["dataset"], r["metric"]): r for r in written if r["system"] == "parrot"}
    assert mine["metaqa", "hits@1"]["value"] == found["metrics"]["hits@1"]
    assert mine["metaqa [exact]", "hits@1"]["items"] == found["items_exact"]
    assert mine["metaqa", "success:program"]["value"] == 1.0
    assert mine["metaqa [language=en] [exact]", "em"]["items"] == found["items_exact"]


def test_without_learning_all_questions_are_measured_on(towns, tmp_path):
    home, parrot = Home(tmp_path / "home"), Parrot()
    how = Measurement(learn=False, baselines=[])
    assert evaluate(home, towns, "metaqa", lambda e: parrot, SETTINGS, how)["items"] == PEOPLE
    assert not parrot.learned
    some = Measurement(limit=7, baselines=[])
    first = evaluate(home, towns, "metaqa", lambda e: parrot, SETTINGS, some)
    assert first["items"] == 7
    ids = [q.id for q in parrot.asked[-7:]]
    evaluate(home, towns, "metaqa", lambda e: parrot, SETTINGS, some)
    assert [q.id for q in parrot.asked[-7:]] == ids


def test_a_route_that_reads_no_graph_needs_none(small_home, towns, tmp_path, almanac):
    home = copied_home(small_home, tmp_path / "home")
    options = ("--format", "metaqa", "--limit", "3", "--route")
    code, _, message = almanac(home, "evaluate", str(towns), *options, "programs")
    assert code == 2 and "no graph metaqa" in message
    found = almanac.json(home, "evaluate", str(towns), *options, "text")
    assert found["items"] == 3 and found["stages"].keys() == {"answer"}


def test_the_whole_query_is_set_beside_each_route_and_each_part(towns, tmp_path, almanac):
    home = tmp_path / "home"
    options = ("--format", "metaqa", "--parts", "--set", "baselines=none")
    found = almanac.json(home, "evaluate", str(towns), *options)
    systems = {one["system"]: one["metrics"]["hits@1"] for one in found["baselines"]}
    assert {"programs alone", "auto without planner"} <= set(systems)
    assert (
        found["metrics"]["hits@1"] == systems["programs alone"] > systems["auto without programs"]
    )
    gains = {gain["over"]: gain for gain in found["gains"]}
    assert set(gains) == set(systems)
    assert gains["programs alone"]["gain"] == 0.0
    assert gains["auto without programs"]["gain_low"] > 0
    shown = almanac.shown(home, "evaluate", str(towns), *options)
    assert "the whole query against" in shown and "tokens a question" in shown


def test_only_the_whole_query_has_parts(towns, tmp_path, almanac):
    options = ("--format", "metaqa", "--parts", "--route", "text")
    code, shown, told = almanac(tmp_path, "evaluate", str(towns), *options)
    assert (code, shown) == (2, "") and "--parts takes the whole query apart" in told


def test_baselines_get_a_sample_of_many_questions_and_all_say_how_far_they_are(
    towns, tmp_path, monkeypatch
):
    monkeypatch.setattr(evaluation, "COMPARED", 6)
    progress: dict[str, list[int]] = {}

    def hear(stage: str, done: int, total: int) -> None:
        assert 0 < done <= total
        progress.setdefault(stage, []).append(done)

    how = Measurement(baselines=["bm25", "spe"])
    place = Home(tmp_path / "home")
    found = evaluate(place, towns, "metaqa", lambda e: Parrot(), SETTINGS, how, hear)
    assert found["items"] > 6
    assert [one["items"] for one in found["baselines"]] == [6, 6]
    assert {"parrot", "bm25 indexes", "bm25", "spe learns", "spe"} <= set(progress)
    assert all(steps == sorted(steps) for steps in progress.values())


def test_other_homes_are_left_as_they_are(towns, own_home, tmp_path):
    def nobody(edition: Edition) -> Parrot:
        return Parrot()

    with pytest.raises(UsageError, match="no graph metaqa"):
        evaluate(Home(own_home), towns, "metaqa", nobody, SETTINGS)
    assert list_graphs(Home(own_home)) == []
    how = Measurement(graph="corpus", baselines=["bm25"])
    found = evaluate(Home(own_home), towns, "metaqa", nobody, SETTINGS, how)
    assert found["baselines"][0]["system"] == "bm25"
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"question": "Who was Ada Lovelace?", "answers": []}\n')
    with pytest.raises(AlmanacError, match="no edition"):
        evaluate(Home(tmp_path / "none"), questions, "jsonl", nobody, SETTINGS)


def test_paragraphs_become_an_edition_of_their_own(tmp_path):
    item = {
        "question": "Where was Ida Berg born?",
        "answer": "Bergen",
        "type": "bridge",
        "supporting_facts": [["Ida Berg", 0]],
        "context": [
            ["Ida Berg", ["Ida Berg was a painter. ", "Ida Berg was born in Bergen in 1901."]],
            ["Max Oster", ["Max Oster was born in Oslo."]],
        ],
    }
    file = tmp_path / "hotpotqa.json"
    file.write_text(json.dumps([item]))

    home = Home(tmp_path / "home")
    found = evaluate(home, file, "hotpotqa", system_for("text", SETTINGS, home), SETTINGS)
    assert found["metrics"]["em"] == 1
    assert found["metrics"]["coverage"] > 0.5
    assert found["metrics"]["recall@8"] == 1
    assert found["baselines"] == []
    beside = evaluate(home, file, "hotpotqa", lambda edition: Parrot(), SETTINGS)
    assert [one["system"] for one in beside["baselines"]] == ["text"]
    assert beside["metrics"]["em"] == 0


def test_documents_to_find_are_measured_for_any_route(own_home, tmp_path):
    questions = tmp_path / "q.jsonl"
    rows = [
        {"question": "Who was Charles Babbage?", "answers": ["x"], "gold": ["Charles Babbage"]},
        {"question": "Where is London?", "answers": ["x"], "gold": ["London", "No such title"]},
        {"question": "Who was Ada Lovelace?", "answers": ["x"]},
    ]
    questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = evaluate(Home(own_home), questions, "jsonl", lambda edition: Parrot(), SETTINGS)
    metrics = found["metrics"]
    assert (metrics["recall@8"], metrics["perfect_retrieval@8"]) == (0.75, 0.5)
    assert metrics["recall@8_low"] <= 0.75 <= metrics["recall@8_high"]


def test_the_gold_path_is_among_the_plans_that_were_learned(towns, tmp_path):
    kinds = "movie_to_actor\n" * PEOPLE
    (towns / "1-hop" / "qa_dev_qtype.txt").write_text(kinds)
    kb = towns / "kb.txt"
    kb.write_text(kb.read_text().replace("lives_in", "starred_actors"))
    home = Home(tmp_path / "home")
    how = Measurement(limit=8, baselines=["bm25"])
    programs = system_for("programs", SETTINGS, home)
    found = evaluate(home, towns, "metaqa", programs, SETTINGS, how)
    assert found["metrics"]["gold_path@1"] == found["metrics"]["gold_path@5"] == 1
    assert "gold_path@1" not in found["baselines"][0]["metrics"]


def test_evaluate_at_the_command_line(towns, tmp_path, almanac):
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text('[engine]\nencoder = "none"\n')
    call = ["evaluate", str(towns), "--baselines", "bm25", "--format", "metaqa"]
    found = almanac.json(home, *call, "--limit", "5")
    assert (found["dataset"], found["items"]) == ("metaqa", 5)
    assert {"hits@1", "hits@1_low", "hits@1_high", "f1", "em"} <= set(found["metrics"])
    assert "bm25" in almanac.shown(home, *call)
    for option, value in (
        ("--format", "nothing"),
        ("--baselines", "nobody"),
        ("--route", "nowhere"),
        ("--graph", "nowhere"),
        ("--out", str(tmp_path / "no" / "a.jsonl")),
    ):
        assert almanac(home, *call, option, value)[0] == 2, option


@pytest.mark.parametrize("choices", [("Paris", "London", "Vienna"), ("Paris", "Warsaw", "Vienna")])
def test_programs_choose_on_the_corpus_as_ask_does(own_home, choices):
    edition = current(own_home)
    text = "Where was Ada Lovelace born?"
    question = BenchmarkQuestion("q", text, ("London",), graph="corpus", choices=choices)
    with Asker(Home(own_home), edition, SETTINGS, AskOptions("programs", "corpus")) as asker:
        expected = asker.answer(text, choices)
    programs = system_for("programs", SETTINGS, Home(own_home))
    [prediction] = programs(edition).answer_all([question])
    assert prediction.answers == expected.answers == (["London"] if "London" in choices else [])


@pytest.mark.parametrize(
    ("route", "expected"), [("auto", {"cited"}), ("programs", {"program", "answer"})]
)
def test_with_a_model_its_own_calls_are_measured(own_home, tmp_path, monkeypatch, route, expected):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    home = Home(own_home)
    edition = current(home)
    question = BenchmarkQuestion("q", "Who was Ada Lovelace?", ("a mathematician",), graph="corpus")
    with running(tmp_path / "calls.jsonl") as endpoint:
        model = ModelSettings(name=f"m-{route}", base_url=endpoint.base_url)
        engine = EngineSettings(engine="openai", encoder="none", model=model)
        system = system_for(route, Settings(engine=engine), home)(edition)
        [prediction] = system.answer_all([question])
        purposes = {call.purpose for call in endpoint.calls}
    assert system.name == f"{route} m-{route}"
    assert purposes == expected and "mathematician" in prediction.answers[0]


def test_answers_of_the_embedded_reader_are_not_taken_for_the_models(
    own_home, tmp_path, monkeypatch
):
    async def confused(*_: object) -> RawReply:
        return RawReply("I know this one.")

    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr(Endpoint, "send", confused)
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"question": "Where was Ada Lovelace born?", "answers": ["London"]}')
    model = ModelSettings(name="m", base_url="http://127.0.0.1:9/v1")
    settings = Settings(engine=EngineSettings(engine="openai", encoder="none", model=model))
    told: list[str] = []
    place = Home(own_home), questions, "jsonl", system_for("auto", settings, Home(own_home))
    how = Measurement(learn=False, baselines=())
    result = evaluate(*place, settings, how, warn=told.append)
    assert result["stages"]["model"] == 0
    assert [line for line in told if "embedded reader answered 1 of 1 question instead" in line]


def test_answer_writes_an_object_a_line(own_home, tmp_path, almanac):
    questions, out = tmp_path / "q.jsonl", tmp_path / "answers.jsonl"
    rows = [
        {"id": "a", "question": "Where was Ada Lovelace born?"},
        {"question": "What is the name of Mallory's parrot?"},
    ]
    questions.write_text("\n".join(map(json.dumps, rows)))
    before = len(Home(own_home).live.table(AnswerRecord))
    call = ["answer", str(questions), "--out", str(out)]
    assert almanac.json(own_home, *call)["questions"] == 2
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in found] == ["a", "q/2"]
    assert found[0]["answer"] == "London"
    assert found[1]["answerable"] is False
    live = Home(own_home).live
    kept = live.table(AnswerRecord).to_pylist()[before:]
    same = ("question_id", "answer", "answers", "probability")
    assert [[row[n] for n in same] for row in kept] == [[row[n] for n in same] for row in found]
    old = live.table(AnswerRecord)[-2:].drop_columns(["answers", "probability"])
    live.append({AnswerRecord: old})  # by an older version
    assert live.table(AnswerRecord)["answers"].to_pylist()[before:] == [["London"], [], None, None]
    note_feedback(Home(own_home), kept[0]["question_id"], 1.0, "yes")
    shutil.rmtree(own_home / "editions")
    out.unlink()
    assert almanac(own_home, *call)[0] == 1
    assert not list(tmp_path.glob("*answers*"))


@pytest.mark.parametrize("command", ["answer", "evaluate"])
def test_answers_never_replace_the_questions(own_home, tmp_path, almanac, command):
    folder = tmp_path / "asked"
    folder.mkdir()
    questions, line = folder / "q.jsonl", json.dumps({"question": "Who?", "answers": ["Ada"]})
    questions.write_text(line)
    form = ["--format", "jsonl"] if command == "evaluate" else []
    for source, out in ((questions, questions), (folder, questions), (questions, folder)):
        code, _, message = almanac(own_home, command, str(source), *form, "--out", str(out))
        assert code == 2 and "for the answers" in message
    assert questions.read_text() == line
