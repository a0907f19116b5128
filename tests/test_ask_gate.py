"""The gate in `ask` and `answer`: what the model knows it answers alone, within the budget."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows.commands.ask import gate_words
from schemas.answers import Answer, Gating
from schemas.errors import UsageError
from schemas.operations import AnswerRecord, ModelCall
from schemas.row import Row
from schemas.settings import EngineSettings, GateSettings, ModelSettings, Settings
from tasks import calibrate_gate as calibration
from tasks.ask import gatekeeper
from tasks.ask.asker import Asker
from tasks.ask.gatekeeper import gate_history
from tasks.ask.keep_answers import record_answers
from tasks.ask.route import AskOptions, QuestionHints
from tasks.calibrate_gate import calibrate_gate
from tasks.gates.calibrated import CalibratedGate, calibrated_gates
from tasks.gates.gate import make_gate
from tasks.gates.uncertainty import uncertainty_request
from tasks.mock_endpoint.chat_request import messages_sha
from tasks.models.prompts import load_prompt
from tests.copied_home import copied_home
from tests.mock_endpoint import Running, running
from warehouse.home import Home
from warehouse.journal import Part
from warehouse.live import latest

KNOWN = "What is number {}?"
CORPUS = "Who was Ada Lovelace?"  # the model by itself does not know her
FAR = "Where do gulls nest?"  # like no seed


class Numbers:
    """An encoder of the number in a text; texts without one are far from all that have one."""

    id, dimensions, stored, stored_as = "numbers-1", 2, "<f4", "<f4"

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([self._one(text) for text in texts], np.float32).reshape(-1, 2)

    def _one(self, text: str) -> tuple[float, float]:
        digits = "".join(letter for letter in text if letter.isdigit())
        if digits:
            return float(digits) / 10, float(digits) % 7
        return (3.0, 3.0) if text == CORPUS else (1e4, 0.0)


def own_request(question: str) -> list[dict[str, str]]:
    prompt = load_prompt("answer", "en")
    return prompt.request({"question": question, "knowledge": ""}, most_tokens=600).messages


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An endpoint whose model knows the numbers, and in plain words some of them."""
    folder = tmp_path_factory.mktemp("endpoint")
    rows = []
    for number in range(200):
        question = KNOWN.format(number)
        reply = {"thought": "", "answerable": "yes", "answer": f"the number {number}"}
        plain = f"plain {number}" if number % 2 else "I don't know."
        rows.append({"sha": messages_sha(own_request(question)), "content": json.dumps(reply)})
        messages = uncertainty_request(question).messages
        rows.append({"sha": messages_sha(messages), "content": plain})
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with running(folder / "ledger.jsonl", answers=folder / "answers.jsonl") as up:
        yield up


@pytest.fixture(scope="module")
def calibrated(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with the tiny corpus and the gate of a task of numbers."""
    folder = tmp_path_factory.mktemp("gated")
    copied_home(small_home, folder / "home")
    rows = [{"question": KNOWN.format(number)} for number in range(60)]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "open_question_encoder", lambda *_, **__: Numbers())
        settings = Settings(engine=EngineSettings(encoder="none"))
        calibrate_gate(Home(folder / "home"), folder / "q.jsonl", settings, task="numbers")
        yield folder / "home"


@pytest.fixture
def home(calibrated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(gatekeeper, "open_question_encoder", lambda *_, **__: Numbers())
    return Home(copied_home(calibrated, tmp_path / "home"))


Opened = Callable[..., Any]


@pytest.fixture
def asking(home: Home, endpoint: Running, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Return what opens an asker with a model; keywords are those of [gate]."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    model = ModelSettings(name="mock", base_url=endpoint.base_url)
    engine = EngineSettings(engine="openai", encoder="none", model=model)

    @contextmanager
    def opened(how: AskOptions | None = None, **gate: Any) -> Iterator[Asker]:
        settings = Settings(engine=engine, gate=GateSettings(**gate))
        with Asker(home, home.require_edition(), settings, how) as asker:
            yield asker

    return opened


def gating_of(answer: Answer) -> Gating:
    assert answer.gating is not None
    return answer.gating


def purposes(home: Home) -> Counter[str]:
    return Counter(latest(home.live, ModelCall)["purpose"].to_pylist())


def gate_of(home: Home) -> CalibratedGate:
    return calibrated_gates(home.require_edition())["numbers"]


@pytest.mark.parametrize(
    ("question", "budget", "answered", "route", "cause", "alone"),
    [
        (KNOWN.format(7), 0.0, "the number 7", "none", "score", 1),
        # What it does not know is looked up at once, and it is not asked alone before …
        (CORPUS, 1.0, "mathematician", "text", "known_name", 0),
        # … whatever the budget, if it names what the corpus knows and no seed does.
        (CORPUS, 0.0, "mathematician", "text", "known_name", 0),
    ],
)
def test_what_the_model_knows_it_answers_alone(
    home, asking, question, budget, answered, route, cause, alone
):
    with asking(budget=budget) as asker:
        answer = asker.answer(question)
        counted = asker._gatekeeper._thresholds["numbers"].rate
    assert answered in (answer.answer or "") and answer.answerable and answer.route == route
    gating, retrieve = gating_of(answer), route != "none"
    assert (gating.task, gating.retrieve, gating.cause) == ("numbers", retrieve, cause)
    assert gating.budget == budget and counted == retrieve
    assert answer.thrust == gating.score and (answer.thrust or 0) > 0
    assert purposes(home)["answer"] == alone
    assert purposes(home)["cited"] == retrieve


@pytest.mark.parametrize("fresh", [True, False])
def test_what_is_current_is_looked_up_whatever_the_gate_says(asking, fresh):
    with asking(budget=0.0, freshness=fresh) as asker:
        gating = gating_of(asker.answer("What is number 7 today?"))
    assert gating.words == ("today" if fresh else None)
    assert gating.cause == ("current" if fresh else "no_answer") and gating.retrieve
    assert gating.score is not None


def test_a_question_like_no_task_is_looked_up(asking):
    with asking(budget=0.0) as asker:
        answer = asker.answer(FAR)
        named = asker.answer(KNOWN.format(3))
    gating = gating_of(answer)
    assert (gating.task, gating.retrieve, gating.cause) == (None, True, "unknown_task")
    assert answer.thrust is None and named.thrust is not None
    with asking(budget=0.0, task="numbers") as asker:
        gating = gating_of(asker.answer(FAR))
    assert gating.task == "numbers" and gating.score is not None


def test_a_task_that_is_none_is_a_wrong_call(asking):
    with pytest.raises(UsageError, match="The tasks: numbers"), asking(task="films"):
        pass


def test_without_a_choice_there_is_only_the_score(home, asking):
    with asking(AskOptions("none"), budget=1.0) as asker:
        alone = asker.answer(KNOWN.format(5))
    assert alone.answer == "the number 5" and alone.thrust == gating_of(alone).score
    with asking(AskOptions("text"), budget=0.0) as asker:
        by_text = asker.answer(CORPUS)
    plain = Settings(engine=EngineSettings(encoder="none"))
    with Asker(home, home.require_edition(), plain) as embedded:
        by_rules = embedded.answer(CORPUS)
    for answer in (alone, by_text, by_rules):
        gating = gating_of(answer)
        assert gating.task == "numbers"
        assert gating.retrieve is gating.cause is gating.budget is None
    assert by_text.route == by_rules.route == "text"


def test_no_gate_is_as_if_none_were_calibrated(asking):
    with asking(use=False, budget=0.0) as asker:
        answer = asker.answer(CORPUS)
    assert answer.gating is None and answer.thrust is None and answer.route == "text"


def test_a_gate_that_cannot_be_asked_is_told_and_knowledge_fetched(asking, monkeypatch):
    other = Numbers()
    monkeypatch.setattr(other, "id", "numbers-2", raising=False)
    monkeypatch.setattr(gatekeeper, "open_question_encoder", lambda *_, **__: other)
    with asking(budget=0.0) as asker:
        answer = asker.answer(CORPUS)
        [warning] = asker.warnings
    assert "numbers-1, which now is numbers-2" in warning
    assert answer.route == "text" and gating_of(answer).cause == "no_score"
    assert "could not be asked" in gate_words(gating_of(answer))


def test_popularity_counts_where_it_is_told_and_infinite_scores_are_none_in_json(
    home, asking, monkeypatch
):
    def open_gate(name: str) -> None:
        gate = replace(gate_of(home), gate=make_gate(name), seed_scores=np.arange(50.0))
        monkeypatch.setattr(gatekeeper, "calibrated_gates", lambda _: {"numbers": gate})

    open_gate("popularity")
    with asking(budget=0.5) as asker:
        known = [QuestionHints(popularity=49.0), QuestionHints(popularity=1.0), QuestionHints()]
        answers = asker.answer_all([KNOWN.format(7)] * 3, known)
    causes = [(gating_of(a).retrieve, gating_of(a).cause, a.thrust) for a in answers]
    assert causes == [(False, "score", 49), (True, "score", 1), (True, "no_score", None)]
    open_gate("never")
    with asking(budget=1.0) as asker:
        answer = asker.answer(KNOWN.format(7))
    assert (gating_of(answer).retrieve, answer.thrust) == (False, None)


def test_the_graph_that_a_gate_names_tells_popularity(home, asking, monkeypatch):
    def open_gate(graph: str) -> None:
        made = make_gate("popularity", popularity_of=graph)
        gate = replace(gate_of(home), gate=made, seed_scores=np.arange(50.0))
        monkeypatch.setattr(gatekeeper, "calibrated_gates", lambda _: {"numbers": gate})

    questions, known = [CORPUS, KNOWN.format(7)], [QuestionHints(), QuestionHints(popularity=49.0)]
    open_gate("corpus")
    with asking(budget=0.0, task="numbers") as asker:
        ada, number = asker.answer_all(questions, known)
        assert asker.warnings == []
    assert (gating_of(ada).score or 0) >= 1
    assert (number.thrust, gating_of(number).cause) == (None, "no_score")  # the file's is another
    open_gate("removed")
    with asking(budget=0.0, task="numbers") as asker:
        answers = asker.answer_all(questions, known)
        [warning] = asker.warnings
    assert [gating_of(a).retrieve for a in answers] == [True, True]
    assert "task numbers" in warning and "no graph 'removed'" in warning


def test_a_batch_keeps_to_the_budget_and_decides_as_single_questions_would(home, asking):
    questions = [KNOWN.format(number) for number in np.random.default_rng(1).permutation(60)]
    with asking(budget="scarce") as asker:
        batch = asker.answer_all(questions)
    assert np.mean([gating_of(answer).retrieve for answer in batch]) == pytest.approx(0.25, abs=0.1)
    for question, answer in zip(questions[:15], batch, strict=False):
        with asking(budget="scarce") as asker:
            single = asker.answer(question)
        record_answers(home, single)
        assert gating_of(single).retrieve == gating_of(answer).retrieve
        assert gating_of(single).level == pytest.approx(gating_of(answer).level)


def test_it_goes_on_from_the_recorded_answers(home, asking):
    with asking(budget=0.25) as asker:
        answers = asker.answer_all([KNOWN.format(number) for number in range(30)])
        before = asker._gatekeeper._thresholds["numbers"]
    record_answers(home, *answers)
    past = gate_history(home.live, gate_of(home), 400)
    assert [one.score for one in past] == [answer.thrust for answer in answers]
    with asking(budget=0.25) as asker:
        asker.answer(KNOWN.format(1))
        after = asker._gatekeeper._thresholds["numbers"]
    assert list(after._scores)[-31:-1] == list(before._scores)[-30:]
    # Another calibration begins anew.
    assert gate_history(home.live, replace(gate_of(home), calibration="new"), 400) == []


def test_only_the_newest_records_are_read(home, monkeypatch):
    gate, gating = gate_of(home), Gating(task="numbers", retrieve=True, budget=0.5, level=0.5)
    name = f"thrust {gate.calibration}"

    def answers(number: int, start: int) -> list[Answer]:
        return [
            Answer(
                question_id=f"q{start + place}",
                question="?",
                answers=[],
                answerable=False,
                route="none",
                thrust=float(start + place),
                evidence=[],
                edition="1",
                seconds=0.0,
                gating=gating.model_copy(update={"gate": name}),
            )
            for place in range(number)
        ]

    for part in range(60):
        record_answers(home, *answers(10, 10 * part))
    read: list[Part] = []
    path = home.live.path

    def watched(part: Part) -> Path:
        read.append(part)
        return path(part)

    monkeypatch.setattr(home.live, "path", watched)
    past = gate_history(home.live, gate, 100)
    assert [one.score for one in past] == [float(score) for score in range(500, 600)]
    assert len(read) <= 16


def test_records_from_before_there_were_gates_are_read(home, asking, almanac):
    class Older(Row):
        table = "answers"
        key = ("question_id",)

        question_id: str
        question: str
        thrust: float | None = None

    home.live.append({Older: Older.to_table([{"question_id": "old", "question": "?"}])})
    with asking(budget=0.0) as asker:
        record_answers(home, asker.answer(KNOWN.format(7)))
    assert len(gate_history(home.live, gate_of(home), 400)) == 1
    query = "select question_id = 'old' as older, retrieve from answers order by 1"
    assert almanac.rows(home.path, query) == [
        {"older": False, "retrieve": False},
        {"older": True, "retrieve": None},
    ]


@pytest.fixture
def entropy(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = replace(gate_of(home), gate=make_gate("entropy"), seed_scores=np.linspace(-3, 0, 50))
    monkeypatch.setattr(gatekeeper, "calibrated_gates", lambda _: {"numbers": gate})


def test_an_own_answer_that_was_asked_for_is_kept(home, asking, entropy):
    with asking(budget=0.0) as asker:
        sure, empty = asker.answer_all([KNOWN.format(7), KNOWN.format(8)])
    assert (sure.answer, sure.route, sure.usage.calls) == ("plain 7", "none", 1)
    assert sure.thrust is not None and sure.thrust < 0
    # It said in plain words that it does not know.
    assert gating_of(empty).cause == "no_answer" and empty.usage.calls > 1
    assert purposes(home)["uncertainty"] == 2


def test_a_model_that_is_unsure_is_not_believed(asking, entropy):
    with asking(budget=1.0) as asker:
        answer = asker.answer(KNOWN.format(7))
    assert not answer.answerable and gating_of(answer).cause == "score"


def test_own_answers_are_not_asked_for_where_knowledge_is_fetched_anyway(home, asking, entropy):
    with asking(budget=0.0) as asker:
        current, other = map(
            gating_of, asker.answer_all(["What is number 7 today?", KNOWN.format(9)])
        )
    assert (current.score, current.cause) == (None, "current")
    assert other.score is not None and other.cause == "score"
    assert purposes(home)["uncertainty"] == 1


@pytest.fixture
def model(asking: Opened, endpoint: Running) -> list[str]:
    """The options that name the endpoint's model."""
    return ["--engine", "openai", "--model", "mock", "--base-url", endpoint.base_url]


def test_explain_says_what_the_gate_did(home, model, almanac):
    ask = ["ask", KNOWN.format(7), *model]
    explained = almanac.shown(home.path, *ask, "--gate-budget", "0", "--explain")
    assert "gate thrust of the task numbers: score " in explained
    shown = almanac.json(home.path, *ask, "--gate-budget", "30%")
    assert "gating" not in shown and shown["thrust"] > 0
    assert almanac.json(home.path, *ask, "--no-gate")["thrust"] is None
    rows = home.live.table(AnswerRecord).to_pylist()
    assert [row["budget"] for row in rows] == [0.0, 0.3, None]
    assert rows[0]["gate"].startswith("thrust ") and rows[0]["retrieve"] is False
    assert (rows[0]["task"], rows[0]["retrieve_cause"]) == ("numbers", "score")
    assert rows[2]["gate"] is None and rows[2]["retrieve"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--task", "films"], "The tasks: numbers"),
        (["--gate-budget", "much"], "'scarce', 'medium' or 'abundant'"),
        (["--gate-budget", "130%"], "'scarce', 'medium' or 'abundant'"),
        (["--set", "gate.budget=1.5"], "or a share: 0 to 1, or 30%"),
    ],
)
def test_a_wrong_call_is_told(home, model, almanac, words, said):
    code, out, err = almanac(home.path, "ask", "who?", *words, *model)
    assert (code, out) == (2, "") and said in err


def test_drift_is_told_beside_the_answers(home, model, tmp_path, almanac):
    rows = [{"id": str(n), "question": KNOWN.format(3)} for n in range(60)]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    call = ["answer", str(tmp_path / "q.jsonl"), "--out", str(tmp_path / "a.jsonl"), "--json"]
    code, out, err = almanac(home.path, *call, *model)
    assert code == 0 and json.loads(out)["answered"] == 30  # half may be looked up: in vain
    assert "almanac calibrate-gate FILE --task numbers" in err
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 60


def test_a_question_of_the_calibration_is_scored_as_if_it_were_none(home, asking):
    gate = gate_of(home)
    unseen = dict(zip(gate.seeds, gate.seed_scores.tolist(), strict=True))
    with asking(budget=0.5) as asker:
        answers = [asker.answer(question) for question in gate.seeds[:5]]
    assert [gating_of(answer).score for answer in answers] == [*unseen.values()][:5]


def test_cost_by_score_is_a_query(home, model, repository, tmp_path, almanac):
    rows = [{"question": KNOWN.format(number)} for number in range(29)]
    rows += [{"question": CORPUS, "task": "people"}, {"question": FAR, "task": "numbers"}]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    out = str(tmp_path / "a.jsonl")
    almanac.shown(home.path, "answer", str(tmp_path / "q.jsonl"), "--out", out, *model)
    thirds = almanac.rows(home.path, (repository / "examples" / "gate_cost.sql").read_text())
    assert sum(row["questions"] for row in thirds) == 31
    assert {(row["third"], row["task"]) for row in thirds} == {(n, "numbers") for n in (1, 2, 3)}
    assert {row["retrieve"] for row in thirds} == {True, False}
    assert all(row["tokens"] > 0 and 0 <= row["answered"] <= 1 for row in thirds)
