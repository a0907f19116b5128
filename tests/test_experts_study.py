"""The study of experts: rows differ as their names say, and tables count what they claim."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows.__main__ import main
from schemas.answers import Answer
from schemas.errors import UsageError
from schemas.operations import Evaluation, ExpertDecision
from schemas.settings import EngineSettings, ExpertSettings, ModelSettings, Settings
from tasks.curate_experts import add_expert
from tasks.evaluate.answerer import Prediction
from tasks.evaluate.experts_study.configurations import ALL, Configuration, configurations
from tasks.evaluate.experts_study.figures import (
    agreement_table,
    change_table,
    factuality_table,
    need_table,
    selection_table,
    system_table,
)
from tasks.evaluate.experts_study.measure import StudyRow, drawn, run_study, with_model
from tasks.evaluate.experts_study.report import (
    by_dataset,
    record_study,
    shown_table,
    study_tables,
    write_report,
)
from tasks.evaluate.experts_study.shared import RememberingVerifier, RememberingWriter
from tasks.evaluate.report import Measured
from tasks.questions.question import BenchmarkQuestion
from tests.mock_endpoint import running
from warehouse.home import Home
from warehouse.live import latest

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def asked(number: str, text: str, answer: str, *choices: str) -> BenchmarkQuestion:
    scoring: Any = "choice" if choices else "text"
    kind = "people" if text.startswith("Who") else "places"
    dataset = "choice" if choices else "open"
    return BenchmarkQuestion(
        number, text, (answer,), choices, kind=kind, dataset=dataset, scoring=scoring
    )


QUESTIONS = [
    asked("1", "Who was Ada?", "Ada"),
    asked("2", "Who was Bert?", "Bert"),
    asked("3", "Where is Oslo?", "Norway"),
    asked("4", "Where is Rome?", "Italy", "Italy", "Peru"),
]


def decision(kind: str, words: str, **fields: Any) -> ExpertDecision:
    values = {"question_id": "q", "step": 0, "mode": "automatic", "decided_at": NOW, **fields}
    return ExpertDecision(kind=kind, decision=words, **values)


def row(
    name: str, answers: list[str], decisions: list[list[ExpertDecision]] | None = None
) -> StudyRow:
    group: Any = "filters" if name.startswith("without") else "systems"
    measured = Measured(name, QUESTIONS, [Prediction([a] if a else []) for a in answers], 1.0)
    full = [
        Answer.model_construct(question=q.question, answers=[a], decisions=d)
        for q, a, d in zip(QUESTIONS, answers, decisions or [[] for _ in QUESTIONS], strict=True)
    ]
    return StudyRow("m", Configuration(name, group), measured, full if decisions else ())


ALONE = row("model", ["Ada", "wrong", "wrong", "Italy"])


# -- tables ----------------------------------------------------------------------------------------


def test_rows_stand_beside_the_model_alone_by_paired_differences() -> None:
    alone, better = system_table([ALONE, row(ALL, ["Ada", "Bert Berg", "wrong", "Italy"])])
    assert (alone["right"], alone["em"], "gain" in alone) == (0.5, 0.3333, False)
    assert (better["right"], better["em"], better["gain"]) == (0.75, 0.3333, 0.25)
    assert better["gain_low"] <= 0.25 <= better["gain_high"]


def test_filters_stand_beside_all_of_them() -> None:
    rows = [
        ALONE,
        row(ALL, ["Ada", "Bert", "Norway", ""]),
        row("without pruning", ["Ada", "", "", ""]),
    ]
    whole, without = change_table(rows, "filters")
    assert (whole["row"], "change" in whole) == (ALL, False)
    assert (without["row"], without["change"]) == ("without pruning", -0.5)


def test_needs_are_counted_beside_what_the_model_knows() -> None:
    needs = [("yes", 1.0), ("yes", 1.0), ("no", 0.0), ("no", 1 / 3)]
    decisions = [[decision("need", words, reason="votes", score=score)] for words, score in needs]
    decisions[1].append(decision("need", "no", reason="votes", score=0.0))  # a second round
    rows = [ALONE, row("top-down automatic", [""] * 4, decisions)]
    (found,) = need_table(rows)
    counts = {name: found[name] for name in ("yes_right", "yes_wrong", "no_right", "no_wrong")}
    assert counts == {"yes_right": 1, "yes_wrong": 1, "no_right": 1, "no_wrong": 1}
    assert found["right_if_no"] == found["right_if_yes"] == 0.5
    (agreed,) = agreement_table(rows)
    assert (agreed["asked"], agreed["agree"]) == (5, 0.8)


def test_experts_are_counted_by_kind_and_their_texts_by_factuality() -> None:
    chosen = [[decision("expert", e, expert=e)] for e in ("clocks", "clocks", "maps", "maps")]
    first, second = selection_table([ALONE, row("top-down explicit", [""] * 4, chosen)])
    assert (first["kind"], first["experts"]) == ("people", {"clocks": 1.0})
    assert (second["kind"], second["experts"]) == ("places", {"maps": 1.0})
    texts = [
        [decision("text", "kept", expert="maps", support=0.8, refute=0.0, unknown=0.2, score=0.9)],
        [decision("text", "dropped", expert="maps", reason="relevance")],
        [
            decision(
                "text", "dropped", expert="maps", support=0.2, refute=0.0, unknown=0.8, score=0.6
            )
        ],
        [],
    ]
    (found,) = factuality_table([ALONE, row(ALL, [""] * 4, texts)])
    assert (found["texts"], found["scored"], found["kept"]) == (3, 2, 0.3333)
    assert (found["support"], found["score"]) == (0.5, 0.75)


def test_each_data_set_has_tables_of_its_own() -> None:
    parts = by_dataset([ALONE])
    assert {name: len(rows[0].measured.questions) for name, rows in parts.items()} == {
        "open": 3,
        "choice": 1,
    }
    assert system_table(parts["choice"])[0]["right"] == 1.0


def test_questions_are_drawn_from_each_data_set() -> None:
    train = BenchmarkQuestion("5", "?", ("x",), dataset="open", part="train")
    picked = drawn([*QUESTIONS, train], 2)
    assert [q.dataset for q in picked] == ["open", "open", "choice"]
    assert picked[:1] == drawn(QUESTIONS, 1, ["open"])
    with pytest.raises(UsageError, match="no data set 'x'.*open, choice"):
        drawn(QUESTIONS, None, ["x"])


# -- rows ------------------------------------------------------------------------------------------


def test_without_a_model_there_are_no_prompts() -> None:
    names = [c.name for c in configurations(["a", "b"], ["baselines", "systems"], with_model=False)]
    assert names == ["text", "expert a", "expert b", "bottom-up", "top-down automatic"]
    only = [c.name for c in configurations(["a"], ["filters"], with_model=True)]
    assert only[:2] == ["model", "bottom-up"] and all(n.startswith("without") for n in only[2:])
    with pytest.raises(UsageError, match="no group 'x'"):
        configurations(["a"], ["x"], with_model=True)


def test_models_are_named_as_elsewhere() -> None:
    base = Settings()
    assert with_model(base, "embedded").engine.engine == "rules"
    assert with_model(base, "smollm2").engine.engine == "transformers"
    endpoint = with_model(base, "endpoint:gpt").engine
    assert (endpoint.engine, endpoint.model.name) == ("openai", "gpt")


class CountingPool:
    """Writes the number of the sample; counts what it is asked."""

    def __init__(self) -> None:
        self.written: list[tuple[str, int]] = []

    def write(
        self, expert: str, prompts: Any, count: int = 1, seed: int = 0, **_: Any
    ) -> list[list[str]]:
        self.written += [(prompt, count) for prompt in prompts]
        return [[f"{expert} {prompt} {seed} {n}" for n in range(count)] for prompt in prompts]


def test_texts_and_verdicts_are_worked_out_once() -> None:
    pool = CountingPool()
    writer = RememberingWriter(pool)
    three = writer.write("e", ["p", "q"], 3)
    assert writer.write("e", ["q", "p"], 1) == [three[1][:1], three[0][:1]]
    assert pool.written == [("p", 3), ("q", 3)]
    assert writer.write("e", ["p"], 5)[0][:3] == three[0] and len(pool.written) == 3
    assert writer.write("e", ["p"], 1, seed=2) == [["e p 2 0"]]

    class Verifier:
        id = "counting"
        pairs: list[Any] = []

        def verify(self, pairs: Any) -> np.ndarray:
            self.pairs += pairs
            return np.array([[len(e), len(c), 0.0] for e, c in pairs])

        faithful: Any = None

    inner = Verifier()
    verifier = RememberingVerifier(inner)
    again = verifier.verify([("ab", "c"), ("a", "c"), ("ab", "c")])
    assert again[:, 0].tolist() == [2.0, 1.0, 2.0] and verifier.verify([]).shape == (0, 3)
    assert inner.pairs == [("ab", "c"), ("a", "c")]


@pytest.fixture(scope="module")
def study_home(
    small_home: Path, tiny_expert: Path, tmp_path_factory: pytest.TempPathFactory
) -> Home:
    home = Home(Path(shutil.copytree(small_home, tmp_path_factory.mktemp("study") / "home")))
    plain = Settings(engine=EngineSettings(encoder="none"), workers=1)
    for name in ("births", "people"):
        add_expert(home, tiny_expert, name, plain, description=f"Facts of {name}")
    return home


@pytest.fixture(scope="module")
def rows(study_home: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[StudyRow]]:
    """All rows of a model behind an endpoint and of the embedded engine."""
    edition = study_home.editions.current()
    assert edition is not None
    study_home.ledger.required = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-test")
        with running(tmp_path_factory.mktemp("endpoint") / "ledger.jsonl") as endpoint:
            model = ModelSettings(name="mock", base_url=endpoint.base_url)
            base = Settings(
                engine=EngineSettings(engine="openai", model=model, encoder="none"),
                experts=ExpertSettings(new_tokens=40),
            )
            settings = [base, with_model(base, "embedded")]
            groups = ("baselines", "systems", "filters", "sweep")
            yield run_study(study_home, edition, QUESTIONS, settings, groups)


def text_decisions(rows: list[StudyRow], name: str) -> list[ExpertDecision]:
    chosen = next(r for r in rows if r.model == "mock" and r.name == name)
    return [d for answer in chosen.answers for d in answer.decisions if d.kind == "text"]


def test_a_filter_that_is_off_was_really_off(rows: list[StudyRow]) -> None:
    whole = text_decisions(rows, ALL)
    assert any(d.relevance is not None for d in whole) and any(d.support is not None for d in whole)
    off = {
        name: text_decisions(rows, f"without {name}")
        for name in ("relevance", "pruning", "factuality")
    }
    assert all(d.relevance is None for d in off["relevance"]) and off["relevance"]
    assert all(d.pruned is None for d in off["pruning"]) and off["pruning"]
    assert all(d.support is None for d in off["factuality"]) and off["factuality"]
    none = text_decisions(rows, "without filters")
    assert none and all(d.relevance is d.pruned is d.support is None for d in none)
    assert {d.text for d in none} == {d.text for d in whole}  # the same texts, written once


def test_numbers_of_texts_are_as_the_rows_say(rows: list[StudyRow]) -> None:
    kept = [d for d in text_decisions(rows, "n3 = 1") if d.decision == "kept"]
    assert 0 < len(kept) <= len(QUESTIONS)
    one, three = (len(text_decisions(rows, name)) for name in ("n1 = 1", ALL))
    assert one == 2 * len(QUESTIONS) and three == 3 * one


def test_one_expert_alone_writes_alone(rows: list[StudyRow]) -> None:
    assert {d.expert for d in text_decisions(rows, "expert births")} == {"births"}
    assert {d.expert for d in text_decisions(rows, ALL)} == {"births", "people"}


def test_the_report_has_all_tables_and_pictures(
    rows: list[StudyRow], study_home: Home, tmp_path: Path
) -> None:
    tables = {name: study_tables(part) for name, part in by_dataset(rows).items()}
    path = write_report(tmp_path / "out", "Experts on people", tables)
    words = path.read_text()
    for heading in ("Systems", "Filters", "How many texts", "Wordings", "Factuality by expert"):
        assert f"### {heading}" in words
    assert words.count("\n## ") == 2 and "| mock | recitation | 3 |" in words
    assert "| embedded | text |" in words and "nan" not in words
    pictures = {picture.name for picture in (tmp_path / "out").glob("*.svg")}
    assert pictures == {
        f"{n}-{d}.svg" for n in ("systems", "filters", "sweep", "factuality") for d in (1, 2)
    }
    assert all(f"]({picture})" in words for picture in pictures)
    record_study(study_home, "people", "e1", rows, pytest.fail)
    recorded = latest(study_home.live, Evaluation).to_pylist()
    assert {"mock: bottom-up", "mock: without pruning", "embedded: text"} <= {
        r["system"] for r in recorded
    }


def test_a_table_leaves_out_what_no_row_has() -> None:
    table = [
        {"row": "a", "right": 0.5, "right_low": 0.25, "right_high": 0.75, "items": 3},
        {"row": "b|c"},
    ]
    assert shown_table("systems", table) == (
        ["row", "items", "right"],
        [["a", "3", "0.500 [0.250, 0.750]"], ["b/c", "", ""]],
    )
    assert shown_table("filters", table) == ([], [])  # nothing was changed


def test_the_command_prints_the_tables_and_writes_the_report(
    study_home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, folder = tmp_path / "q.jsonl", tmp_path / "report"
    row = {"id": "1", "question": "Who was Ada?", "answers": ["Ada"]}
    questions.write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    command = ["evaluate", str(questions), "--format", "jsonl", "--out", str(folder)]
    study = ["--study", "systems,filters", "--models", "embedded"]
    assert main(["--home", str(study_home.path), *command, *study]) == 0
    shown = capsys.readouterr().out
    assert "Systems" in shown and "without pruning" in shown and "expert births" in shown
    assert "### Filters" in (folder / "study.md").read_text()
    assert main(["--home", str(study_home.path), *command, "--study", "spells"]) == 2
