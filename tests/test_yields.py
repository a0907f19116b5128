"""How much of a source was understood: counted by sentence, shown after a refresh, warned of."""

from typing import Any

import pytest

import schemas
from flows.summary import yields
from schemas.settings import EngineSettings, Settings
from tasks.extract.rules.layout import lay_out
from tasks.publish.publish import ENOUGH_SENTENCES, low_yields, unnamed_speaker
from tasks.refresh import refresh
from warehouse.home import Home

SETTINGS = Settings(engine=EngineSettings(encoder="none"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The port is 9090. It can be changed.", ["The port is 9090.", "It can be changed."]),
        ("# Ports\n\n- the port\n- The host is fixed.\n", ["The host is fixed."]),
        ("```\nprint(1). Stop.\n```\n\nThe end came.", ["The end came."]),
    ],
)
def test_only_whole_sentences_of_running_text_count(text, expected):
    spans = lay_out({"text": text, "blocks": None}).prose.whole_sentences("en")
    assert [text[span["start"] : span["end"]] for span in spans] == expected


def test_a_refresh_counts_for_each_source_the_sentences_that_gave_something(tmp_path):
    good, empty = tmp_path / "good", tmp_path / "empty"
    good.mkdir()
    empty.mkdir()
    (good / "a.txt").write_text(
        "Marie Curie was born in Warsaw in 1867. Marie Curie discovered polonium in 1898."
    )
    (empty / "b.txt").write_text("Hello there, dear reader! And so on, and so forth.")
    home = Home(tmp_path / "home")
    run = refresh(home, [str(good), str(empty)], SETTINGS)
    rows = home.editions.current().table(schemas.SourceYield).to_pylist()
    assert rows == run.yields
    by_source = {row["source"].rsplit("/", 1)[1]: row for row in rows}
    counts = {"documents": 1, "sentences": 2, "with_statement": 2, "with_fact": 2}
    counts |= {"read_statements": 2, "about_us": 0}
    assert by_source["good"] == {"source": str(good), "language": "en", **counts}
    assert (by_source["empty"]["sentences"], by_source["empty"]["with_fact"]) == (2, 0)


@pytest.mark.parametrize(("ours", "advice"), [(4, 0), (6, 1)])
def test_a_corpus_that_says_we_gets_the_advice_to_name_its_speaker(ours: int, advice: int):
    rows = [{"read_statements": 20, "about_us": 0}, {"read_statements": 40, "about_us": ours}]
    notes = list(unnamed_speaker(rows))
    assert len(notes) == advice
    assert all("--set engine.speaker=" in note for note in notes)


def _row(sentences: int, stated: int, known: int) -> dict[str, Any]:
    row: dict[str, Any] = {"source": "handbook", "language": "en", "sentences": sentences}
    return row | {"with_statement": stated, "with_fact": known}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (_row(100, 90, 50), []),
        (_row(100, 10, 50), ["10% gave statements"]),
        (_row(100, 90, 0), ["0% gave facts"]),
        (_row(100, 1, 0), ["0% gave facts and 1% gave statements"]),
        (_row(ENOUGH_SENTENCES - 1, 0, 0), []),
    ],
)
def test_a_source_of_which_little_was_understood_is_warned_of(row, words):
    warnings = list(low_yields([row], "rules"))
    assert len(warnings) == len(words)
    for warning, expected in zip(warnings, words, strict=True):
        assert warning.startswith("handbook: of 100 sentences (en) only ")
        assert expected in warning


def test_a_source_is_warned_of_only_by_a_run_that_reads_it(tmp_path):
    home, notes = Home(tmp_path / "home"), []
    poor = " ".join(["Hello there, dear reader!"] * ENOUGH_SENTENCES)
    for name, text in (("poor.txt", poor), ("good.txt", "Ada moved to Rome in 1901.")):
        (tmp_path / name).write_text(text)
        notes.append(refresh(home, [str(tmp_path / name)], SETTINGS).notes)
    assert [len(of_run) for of_run in notes] == [1, 0]


def test_a_run_says_what_it_left_out_and_which_tables_gave_nothing(tmp_path):
    rows = "".join(f"{year},{depth}\n" for year, depth in ((1990, 4), (1991, 7), (1992, 9)))
    (tmp_path / "depths.csv").write_text(f"Year,Depth\n{rows}")
    (tmp_path / "ships.json").write_text('[{"ship": "Kelda", "crew": [{"n": 1}], "port": "Brest"}]')
    run = refresh(Home(tmp_path / "home"), [str(tmp_path / "*.*")], SETTINGS)
    left, _, silent = run.notes
    assert left.startswith("1 left out, such as ships.json#crew: ")
    assert run.counts["inputs"]["left_out"] == 1 and "refused" not in run.counts["inputs"]
    assert silent.startswith("1 table gave no facts, such as depths.csv: ")


def test_a_model_is_not_expected_to_give_statements():
    assert not list(low_yields([_row(100, 0, 50)], "openai"))
    rows = [_row(100, 0, 50), _row(100, 90, 50), _row(100, 0, 0)]
    shown = [row[-2:] for row in yields(rows)]
    assert shown == [("–", "50%"), ("90%", "50%"), ("0%", "0%")]
