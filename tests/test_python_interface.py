"""`import almanac`: what notebooks and other programs call."""

import os
import re
import shutil
import subprocess
import sys
from datetime import date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import almanac
from flows.__main__ import main
from schemas.errors import AlmanacError, UsageError
from tasks.ask.asker import Asker
from tests.documents import write_texts
from warehouse.home import Home


def test_what_is_exported_is_listed():
    assert {"AlmanacError", "Settings", "to_pandas", "open"} <= set(dir(almanac))


def test_importing_is_light_and_typed():
    program = "import sys, almanac; print('\\n'.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pyarrow", "duckdb", "torch", "pydantic", "prefect", "spacy"} & set(loaded)
    assert files("almanac").joinpath("py.typed").is_file()


def test_a_home_is_refreshed_asked_searched_and_queried(tmp_path):
    text = "# Ada Lovelace\n\nAda Lovelace was an English mathematician, born in London in 1815.\n"
    texts = write_texts(tmp_path / "texts", {"ada.md": text})
    home = write_texts(tmp_path / "home", {"settings.toml": '[engine]\nencoder = "none"\n'})
    with almanac.open(home) as kb:
        assert kb.refresh([texts]).published
        answer = kb.ask("Where was Ada Lovelace born?")
        assert answer.answer == "London"
        assert kb.search("mathematician")[0]["uri"] == "ada.md"
        assert kb.entity("Ada Lovelace").kind == "person"
        kept = kb.sql("select question_id, answer from answers")
        assert kept.to_pylist() == [{"question_id": answer.question_id, "answer": "London"}]


def test_the_page_about_python_works(repository: Path, tmp_path: Path) -> None:
    page = (repository / "docs" / "python.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    texts = tmp_path / "my-documents"
    texts.mkdir()
    shutil.copy(repository / "examples" / "corpus" / "science" / "marie-curie.md", texts)
    (tmp_path / "almanac-home").mkdir()
    (tmp_path / "almanac-home" / "settings.toml").write_text('[engine]\nencoder = "none"\n')
    process = subprocess.run(
        [sys.executable, "-c", "\n".join(programs)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(repository)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert "Warsaw" in process.stdout and "Where was Marie Curie born?" in process.stdout
    assert "txt" in process.stdout


def test_a_search_without_match_finds_nothing(own_home):
    with almanac.open(own_home) as kb:
        assert kb.search("mathematician", limit=1)
        assert not kb.search("xyzzy")


@pytest.mark.parametrize(("words", "limit"), [("", 8), (" \n", 8), ("a" * 2001, 8), ("Ada", 0)])
def test_a_search_needs_words_and_a_limit(own_home, words, limit):
    with almanac.open(own_home) as kb, pytest.raises(UsageError):
        kb.search(words, limit=limit)


def test_one_source_needs_no_list(own_home, tmp_path):
    more = write_texts(tmp_path / "more", {"oslo.md": "# Oslo\n\nOslo lies in Norway.\n"})
    with almanac.open(own_home) as kb:
        as_given = kb.refresh(str(more)), kb.refresh(more), kb.refresh([more])
    read = [report.counts["inputs"] for report in as_given]
    again = {"files": 1, "unchanged_files": 1}
    assert read == [{"files": 1, "ingested": 1, "unchanged_files": 0}, again, again]


def test_after_its_with_statement_an_almanac_refuses(own_home):
    with almanac.open(own_home) as kb:
        kb.close()
        assert kb.ask("Where was Ada Lovelace born?").answer == "London"
    for call in (
        lambda: kb.ask("Where was Ada Lovelace born?"),
        lambda: kb.refresh([]),
        lambda: kb.entity("Ada Lovelace"),
    ):
        with pytest.raises(UsageError, match="has ended; open the home again"):
            call()


@pytest.mark.parametrize("question", ["", "  ", "a" * 2001])
def test_a_question_has_characters_but_not_too_many(small_home, question):
    with almanac.open(small_home) as kb, pytest.raises(UsageError, match="between 1 and 2000"):
        kb.ask(question)


def test_a_new_edition_is_noticed_between_questions(own_home, tmp_path):
    with almanac.open(own_home) as kb:
        before = kb.ask("What is the capital of Norway?")
        text = "# Oslo\n\nOslo is the capital of Norway.\n"
        kb.refresh([write_texts(tmp_path / "more", {"oslo.md": text})])
        after = kb.ask("What is the capital of Norway?")
    assert before.answer != "Oslo"
    assert after.answer == "Oslo"
    assert after.edition != before.edition


def test_the_options_of_a_question_hold_for_it_alone(own_home):
    with almanac.open(own_home) as kb:
        assert not kb.ask("Where was Ada Lovelace born?", min_score=1.0).answerable
        assert kb.ask("Where was Ada Lovelace born?").answer == "London"
        with pytest.raises(UsageError, match="no graph 'moons'"):
            kb.ask("Which moons orbit Mars?", graph="moons")


def test_a_question_needs_no_record_of_its_calls_and_warns_as_the_command_does(
    own_home, monkeypatch, capsys
):
    homes: list[Home] = []

    class WarningAsker(Asker):
        warnings = ["The gate was not asked."]

        def __init__(self, home: Home, *others: Any) -> None:
            homes.append(home)
            super().__init__(home, *others)

    monkeypatch.setattr("tasks.ask.asker.Asker", WarningAsker)
    with almanac.open(own_home) as kb:
        kb.ask("Where was Ada Lovelace born?")
        assert not homes[0].ledger.required
        assert kb.home.ledger.required  # a refresh still fails if its calls cannot be recorded
    assert capsys.readouterr().err == "The gate was not asked.\n"


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("'a'", pa.string(), "a"),
        ("null::varchar", pa.string(), None),
        ("7::bigint", pa.int64(), 7),
        ("1.5::double", pa.float64(), 1.5),
        ("true", pa.bool_(), True),
        ("date '2026-01-02'", pa.date32(), date(2026, 1, 2)),
        ("['a', 'b']", pa.list_(pa.string()), ["a", "b"]),
        ("date '0044-03-15 (BC)'", pa.string(), "0044-03-15 (BC)"),
        ("timestamptz 'infinity'", pa.string(), "9999-12-31T23:59:59.999999"),
        ("2::utinyint", pa.int64(), 2),
        ("1.5::decimal(9, 2)", pa.float64(), 1.5),
        ("null::integer", pa.int64(), None),
        ("null::bigint[]", pa.list_(pa.int64()), None),
        ("[null::decimal(4, 1)]", pa.list_(pa.float64()), [None]),
        ("null::json", pa.string(), None),
        ("170141183460469231731687303715884105727", pa.string(), str(2**127 - 1)),
    ],
)
def test_sql_keeps_types(small_home, value, kind, expected):
    table = almanac.open(small_home).sql(f"select {value} as value")
    assert table.schema.field("value").type == kind
    assert table["value"].to_pylist() == [expected]


def test_an_empty_result_has_its_columns(small_home):
    query = "select head, support, mentions::integer as mentions, support / 2.5 as half"
    table = almanac.open(small_home).sql(f"{query} from triples where false")
    numbers = {"support": pa.int64(), "mentions": pa.int64(), "half": pa.float64()}
    assert table.schema == pa.schema({"head": pa.string(), **numbers})


def test_an_older_edition_is_read_by_its_id(own_home):
    with almanac.open(own_home) as kb:
        first, second = (edition.id for edition in kb.home.editions.all())
        capitals = "from documents where text like '%the capital of%'"
        assert kb.sql(capitals, edition=first).num_rows == 1
        assert kb.sql(capitals).num_rows == kb.sql(capitals, edition=second).num_rows == 0
        assert kb.entity("London", edition=first).mentions > kb.entity("London").mentions
        assert kb.ask("Where was Ada Lovelace born?", edition=first).edition == first
        assert kb.search("capital", edition=first) != kb.search("capital")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda kb: kb.ask("Who?", "London"), "at least two texts"),
        (lambda kb: kb.ask("Who?", ["London"]), "at least two texts"),
        (lambda kb: kb.ask("Who?", min_score=2), "between 0 and 1"),
        (lambda kb: kb.ask("Who?", as_of=datetime(2026, 1, 2)), "without a time"),
        (lambda kb: kb.ask("Who?", as_of=date(2026, 1, 2), edition="000001"), "not both"),
        (lambda kb: kb.ask("Who?", as_of="2026-01-02"), "without a time"),
        (lambda kb: kb.ask(None), "is a text, not NoneType"),
        (lambda kb: kb.ask_many("Who?"), "a list of texts"),
        (lambda kb: kb.search("engine", limit=0), "1 or more"),
        (lambda kb: kb.search(" "), "between 1 and 2000"),
        (lambda kb: kb.refresh("texts", max_delete=5), "between 0 and 1"),
        (lambda kb: kb.sql("select 1", edition="9"), "no edition"),
        (lambda kb: kb.sql(None), "`query` takes str, not NoneType"),
        (lambda kb: kb.entity(7), "`name` takes str, not int"),
        (lambda kb: kb.remember(None), "`note` takes str or Path"),
        (lambda kb: kb.refresh(None), "`sources` is a list of str or Path"),
        (lambda kb: kb.ask("Who?", min_score="much"), "between 0 and 1"),
        (lambda kb: kb.ask("Who?", history=["Where?"]), "`history` takes Answer, not str"),
        (lambda kb: kb.ask_many(["Who?"], edition="9"), "no edition"),
        (lambda kb: kb.ask("Who?", ["London", None]), "at least two texts"),
        (lambda kb: kb.ask("Who?", style="long"), "full or short"),
        (lambda kb: kb.ask("Who?", memory="yes"), "`memory` takes bool, not str"),
        (lambda kb: kb.ask("Who?", on_text="print"), "`on_text` takes Callable or None"),
        (lambda kb: kb.search(b"engine"), "`words` takes str, not bytes"),
        (lambda kb: kb.search("engine", limit=2.5), "`limit` takes int, not float"),
        (lambda kb: kb.search("engine", where=3), "`where` takes str or None, not int"),
        (lambda kb: kb.sql("select 1", edition=3), "`edition` takes str or None"),
        (lambda kb: kb.diff(1, 2), "`old` takes str or None"),
        (lambda kb: kb.facts(asserted="no"), "`asserted` takes bool"),
        (lambda kb: kb.facts(graph=3), "`graph` takes str or None"),
        (lambda kb: list(kb.facts(graph="moons")), "There is no graph 'moons'"),
        (lambda kb: kb.entity("London", graph="moons"), "There is no graph 'moons'"),
        (lambda kb: almanac.open(kb.home.path, {"workers": 1}), "`settings` takes Settings"),
        (lambda kb: almanac.to_pandas(["a"]), "not of str"),
        (lambda kb: almanac.open(kb.home.path, labels="hr"), "`labels` is a list of str"),
    ],
)
def test_options_that_cannot_be_are_refused(call, words, small_home):
    with almanac.open(small_home) as kb, pytest.raises(UsageError, match=words):
        call(kb)


def test_errors_of_the_disk_are_told_in_words(own_home):
    (own_home / "editions" / "current.json").unlink()
    (own_home / "editions" / "current.json").mkdir()
    with almanac.open(own_home) as kb:
        for call in (kb.sql, kb.search, kb.entity, kb.ask):
            with pytest.raises(almanac.AlmanacError, match="is a folder where a file is needed"):
                call("select 1")
    with pytest.raises(AlmanacError, match="is a file"):
        almanac.open(own_home / "settings.toml")


def test_an_invalid_ontology_stops_nothing_that_only_reads(own_home):
    (own_home / "ontology.yaml").write_text("kinds: 7\n", encoding="utf-8")
    with almanac.open(own_home) as kb:
        assert kb.sql("select 1 as one").to_pylist() == [{"one": 1}]
        assert kb.search("London") and kb.entity("London").name == "London"
        assert kb.ask("Where was Ada Lovelace born?").answer == "London"
        with pytest.raises(UsageError, match="ontology"):
            kb.refresh(own_home / "texts")
    assert main(["sql", "select 1", "--home", str(own_home)]) == 0
    assert main(["editions", "prune", "--keep", "9", "--home", str(own_home)]) == 0


def test_errors_are_the_commands_errors(small_home, tmp_path):
    with pytest.raises(AlmanacError, match="There is no edition"):
        almanac.open(tmp_path / "nothing").ask("Who?")
    with pytest.raises(UsageError, match="Refused"):
        almanac.open(small_home).sql("select * from read_csv('/etc/passwd')")


def test_words_that_are_no_text_are_not_known(own_home):
    with almanac.open(own_home) as kb:
        assert kb.ask("\udcff who?").question == "? who?"
        with pytest.raises(UsageError, match="No entity"):
            kb.entity("\udcff")
