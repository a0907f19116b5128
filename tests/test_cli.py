"""The command line: what it prints where, its exit codes, and that no server is started."""

import csv
import importlib
import io
import json
import re
import resource
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from flows import terminal
from flows.__main__ import main
from flows.commands.ask import answer_in_words
from flows.commands.sql import no_formula
from schemas.answers import Answer, Evidence
from tests.current_edition import current
from warehouse.home import Home

BORN = "Where was Ada Lovelace born?"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["sql"],
        ["nonsense"],
        ["refresh"],
        ["sql", "a", "b"],
        ["editions", "prune", "--days", "nan"],
        ["editions", "prune", "--days", "inf"],
        ["editions", "prune", "--days", "-5"],
    ],
)
def test_wrong_call_is_exit_code_two(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert "usage: almanac" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["sql", "select 1"],
        ["ask", "Who?"],
        ["editions", "diff"],
        ["editions", "rollback"],
        ["editions", "prune"],
        ["override", "reject", "x"],
        ["audit"],
        ["audit", "--report"],
    ],
)
def test_empty_home_is_explained_and_left_alone(arguments, tmp_path, almanac):
    code, out, err = almanac(tmp_path / "nothing", *arguments)
    assert code in (1, 2)
    assert not out
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    assert not (tmp_path / "nothing").exists()


def test_home_before_after_and_from_the_environment(small_home, monkeypatch, capsys):
    query, home = ["sql", "select count(*) as documents from documents"], str(small_home)
    for call in (["--home", home, *query], [*query, "--home", home], ["--json", *query]):
        if "--home" not in call:
            monkeypatch.setenv("ALMANAC_HOME", home)
        assert main([*call, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == [{"documents": 9}]


# -- what a query prints --------------------------------------------------------------------------


def test_json_holds_every_row_whole(small_home, almanac):
    query = "select * from documents order by uri"
    rows = json.loads(almanac.shown(small_home, "sql", query, "--format", "json"))
    assert [row["uri"] for row in rows] == sorted(row["uri"] for row in rows)
    assert rows[0]["duplicates"] == []
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", rows[0]["read_at"])
    assert almanac.rows(small_home, "select 1 where false") == []


def test_csv_is_read_back_as_it_was(small_home, almanac):
    query = 'select \'a,"b"\nc\' as "x,y", null as n, [1, 2] as l'
    rows = list(csv.reader(io.StringIO(almanac.shown(small_home, "sql", query, "--format", "csv"))))
    assert rows == [["x,y", "n", "l"], ['a,"b"\nc', "", "[1, 2]"]]


def test_csv_holds_no_formulas(small_home, almanac):
    query = (
        "select '=1+1' as \"=a\", '+1' as b, '-cmd' as c, '@x' as d, chr(9) || 'e' as e, "
        "chr(13) || 'f' as f, -1 as g, -2.5 as h, 'a=1' as i, '-' as j"
    )
    text = almanac.shown(small_home, "sql", query, "--format", "csv")
    names, row = csv.reader(io.StringIO(text, newline=""))
    assert names[0] == "'=a"
    assert row == ["'=1+1", "'+1", "'-cmd", "'@x", "'\te", "'\rf", "-1", "-2.5", "a=1", "'-"]


@pytest.mark.parametrize("before", ["\n", " ", "\ufeff", "\u200b", "\0", "\u3164", "\u00a0\u202e"])
@pytest.mark.parametrize("sign", ["=", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_signs_of_formulas_are_seen_behind_blanks_and_at_full_width(before, sign):
    assert no_formula(f"{sign}1") == f"'{sign}1"
    assert no_formula(f"{before}{sign}1") == f"'{before}{sign}1"
    assert no_formula(f" a{sign}1") == f" a{sign}1"


def test_table_counts_rows_and_cuts_long_cells(small_home, almanac):
    query = "select range as number, repeat('x', 5000) as long from range(700)"
    out = almanac.shown(small_home, "sql", query)
    assert "700 rows; the first 500 are shown" in out
    assert "Some texts are cut; --format csv" in out
    assert len(out) < 500 * 300


def test_a_table_that_no_terminal_bounds_shows_every_id_and_header_whole(small_home, almanac):
    columns = [f"column_of_number_{number}" for number in range(40)]
    values = ", ".join(f"repeat('{number % 10}', 32) as {c}" for number, c in enumerate(columns))
    shown = almanac.shown(small_home, "sql", f"select {values}")
    header, _, row, count = shown.splitlines()
    assert header.split() == columns
    assert [len(value) for value in row.split()] == [32] * 40
    assert count == "1 row"


def _printed(columns: list[str], row: list[Any]) -> str:
    out = io.StringIO()
    terminal.table(columns, [row], out, plain_width=80)
    assert max(map(len, out.getvalue().splitlines())) <= 80
    return out.getvalue()


def test_a_narrow_table_cuts_no_word():
    name, other = "/home/ida/documents/of-the-harbour/1931", "000001-6a1345c7" * 2
    printed = _printed(["source", "edition", "note"], [name, other, "x" * 40])
    assert "…" not in printed and printed.count("x") == 40
    assert sum(map(printed.count, "0123456789")) == sum(map((name + other).count, "0123456789"))


def test_a_narrow_table_breaks_no_id():
    one, other = "7d9c01e5" * 4, "000001-6a1345c7"
    assert {one, other} <= {*_printed(["id", "note", "of"], [one, "x y " * 60, other]).split()}
    assert {one, "7e" * 16} <= {*_printed([*"abc"], [one, "7e" * 16, "0f" * 16]).split()}


def test_a_table_of_more_columns_than_fit_lists_each_row():
    columns = [f"column_{number}" for number in range(12)]
    lines = _printed(columns, [f"value {number}" for number in range(12)]).splitlines()
    assert lines[0].split(maxsplit=1) == ["column_0", "value 0"]
    assert lines[11].split(maxsplit=1) == ["column_11", "value 11"]


def test_times_are_shown_to_the_second():
    moment = datetime(1931, 5, 4, 3, 2, 1, 987654, tzinfo=UTC)
    assert "1931-05-04T03:02:01+00:00" in _printed(["when"], [moment])


def test_a_plan_keeps_its_lines(small_home, almanac):
    query = "explain select head from triples order by head"
    plan = almanac.shown(small_home, "sql", query).splitlines()
    assert len(plan) > 5 and any("Order By" in line for line in plan)


def test_escape_sequences_reach_no_terminal(small_home, almanac):
    hostile = "select chr(27) || ']0;owned' || chr(7) || chr(155) || '31m' || chr(8238) as evil"
    shown = [
        almanac.shown(small_home, "sql", hostile),
        almanac.shown(small_home, "sql", hostile, "--format", "json"),
        almanac.shown(small_home, "sql", f'{hostile}, 1 as "\x1b[2J"'),
        almanac.refused(small_home, "sql", "selekt \x1b[31m"),
    ]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", "".join(shown))
    assert "]0;owned" in shown[0]


def test_harmless_keeps_what_is_harmless():
    text = "tab\tline\nümlaut 长江 👍🏽"
    assert terminal.harmless(text) == text
    assert (
        json.loads(terminal.json_line(json.dumps("\x9b\u202e", ensure_ascii=False))) == "\x9b\u202e"
    )


def test_a_text_is_quoted_as_a_page_shows_it():
    text = "The *New*\n<span class='x'>Harbour</span> &amp; [its light](http://a.b)\x1b[31m"
    assert terminal.quoted(text, 60) == "The New Harbour & its light\\x1b[31m"
    assert terminal.quoted(text, 11) == "The New Har…"


def test_words_of_a_graph_are_quoted_as_they_are():
    text = 'f(x) = [a](b) <c> & *d*\nsee "http://x.test/y" now'
    assert terminal.quoted(text, 60, plain=True) == " ".join(text.split())


# -- what goes wrong ------------------------------------------------------------------------------


KEPT = "Finished work is kept, and the next run continues from there."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sql", "select 1"], "Stopped."),
        (["ask", "-i"], "Stopped."),
        (["refresh", "texts"], f"Stopped. {KEPT}"),
    ],
)
@pytest.mark.parametrize("end", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_what_the_user_stops_is_no_fault(arguments, said, end, monkeypatch, capsys):
    def stop(*_: object) -> None:
        raise end

    command = importlib.import_module(f"flows.commands.{arguments[0]}").COMMAND
    monkeypatch.setattr(command, "run", stop)
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"{said}\n"


@pytest.mark.parametrize("query", ["select nme from entities", "drop table triples"])
def test_wrong_query_is_one_sentence(query, small_home, almanac):
    assert almanac.refused(small_home, "sql", query)


def test_broken_settings_are_explained(tmp_path, almanac):
    (tmp_path / "settings.toml").write_text("[engine]\nencodr = 'none'\n")
    assert "encodr" in almanac.refused(tmp_path, "refresh", str(tmp_path))


def test_unexpected_errors_hide_their_traceback_but_for_debug(small_home, monkeypatch, almanac):
    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("flows.home.home_in", fail)
    code, _, err = almanac(small_home, "sql", "select 1")
    assert code == 1 and "boom" in err and "--debug" in err and "Traceback" not in err
    with pytest.raises(RuntimeError):
        almanac(small_home, "sql", "select 1", "--debug")


def test_reader_that_leaves_early_is_no_error(small_home):
    program = [sys.executable, "-m", "flows", "--home", str(small_home), "sql", "--format", "csv"]
    query = "select repeat('x', 1000) from range(20000)"
    with subprocess.Popen(
        [*program, query], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_doctor_finds_a_healthy_home(small_home, almanac):
    findings = {row["check"]: row for row in almanac.json(small_home, "doctor")}
    assert [findings[check]["state"] for check in ("edition", "journal", "engine")] == ["ok"] * 3


def test_doctor_finds_damage(own_home, almanac):
    edition = current(own_home)
    table = edition.path / "triples.parquet"
    cut = table.read_bytes()[:-1]
    table.unlink()
    table.write_bytes(cut)
    code, out, _ = almanac(own_home, "doctor")
    assert code == 1 and re.search(r"^fail +edition.*triples\.parquet", out, re.M)


def test_doctor_tells_of_a_link_that_does_not_lead_to_the_current_edition(own_home, almanac):
    link, older = own_home / "current", Home(own_home).editions.all()[0].id
    for target in (None, Path("editions", "tables", older)):
        link.unlink(missing_ok=True)
        if target:
            link.symlink_to(target)
        [found] = [row for row in almanac.json(own_home, "doctor") if row["check"] == "edition"]
        assert found["state"] == "warn" and "the next refresh leads it there" in found["words"]


def test_a_lost_pointer_leaves_the_editions_published(own_home, almanac):
    first, second = [edition.id for edition in Home(own_home).editions.all()]
    pointer = own_home / "editions" / "current.json"
    pointer.write_bytes(pointer.read_bytes()[:20])
    code, out, _ = almanac(own_home, "doctor")
    assert code == 1 and re.search(r"^fail +edition +The file .*Remove it\. Then", out, re.M)
    pointer.unlink()
    assert [row["edition"] for row in almanac.json(own_home, "editions")] == [first, second]
    almanac.shown(own_home, "editions", "publish", second)
    assert [row["state"] for row in almanac.json(own_home, "editions")] == ["published", "current"]


# -- editions and corrections ---------------------------------------------------------------------


def test_older_edition_can_be_queried(small_home, almanac):
    first, second = Home(small_home).editions.all()
    query = "select text from documents where uri = 'london.md'"
    for edition, known in ((first.id, True), (second.id[:6], False)):
        [row] = almanac.json(small_home, "sql", query, "--edition", edition)
        assert ("capital" in row["text"]) == known
    almanac.refused(small_home, "sql", query, "--edition", "nope")


def test_editions_are_listed_and_compared(small_home, almanac):
    listed = almanac.json(small_home, "editions")
    assert [row["state"] for row in listed] == ["published", "current"]
    assert listed[1]["parent"] == listed[0]["edition"]
    tables = {t["table"]: t for t in almanac.json(small_home, "editions", "diff")["tables"]}
    assert tables["documents"]["added"] == tables["documents"]["gone"] == 1
    assert any("capital" in example for example in tables["triples"]["examples_gone"])
    assert "triples, gone:" in almanac.shown(small_home, "editions", "diff")


def test_rollback_holds_until_published(own_home, almanac):
    first, second = [edition.id for edition in Home(own_home).editions.all()]
    almanac.shown(own_home, "editions", "rollback", "--reason", "wrong")
    pointer = Home(own_home).editions.pointer()
    assert (pointer["edition"], pointer["hold"]["reason"]) == (first, "wrong")
    assert "held since" in almanac.shown(own_home, "editions", "list")
    assert almanac.json(own_home, "editions", "publish") == {"edition": second, "hold": None}


def test_prune_says_what_it_removes(own_home, almanac):
    first, second = [edition.id for edition in Home(own_home).editions.all()]
    prune = ["editions", "prune", "--keep", "1"]
    assert almanac.json(own_home, *prune, "--dry-run")["removed"] == [first]
    almanac.shown(own_home, *prune)
    assert [edition.id for edition in Home(own_home).editions.all()] == [second]


def test_override_by_name_is_listed_and_withdrawn(own_home, almanac):
    made = almanac.json(own_home, "override", "merge", "Ada Lovelace", "Charles Babbage")
    listed = almanac.json(own_home, "override", "list")
    assert [row["override_id"] for row in listed] == [made["override_id"]]
    almanac.shown(own_home, "override", "withdraw", made["override_id"])
    assert almanac.json(own_home, "override", "list") == []
    for wrong in (["merge", "Nobody", "Ada Lovelace"], ["reject", "x"], ["exclude", "x"]):
        assert almanac(own_home, "override", *wrong)[0] == 2


# -- questions ------------------------------------------------------------------------------------


def test_ask_prints_the_promised_json_and_keeps_a_record(own_home, almanac):
    answer = almanac.json(own_home, "ask", BORN)
    assert answer["answer"] == "London"
    fields = {
        "question_id",
        "answers",
        "answerable",
        "route",
        "thrust",
        "program",
        "evidence",
    }
    assert fields <= set(answer)
    place = {"text", "kind", "graph", "document_id", "uri", "span_start", "span_end", "score"}
    assert place <= set(answer["evidence"][0])
    assert almanac.shown(own_home, "ask", BORN, "--explain").startswith("London  (")
    assert almanac.rows(own_home, "select question from answers") == [{"question": BORN}] * 2


def processor_seconds(*command: str) -> float:
    """Return what a command takes of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_sql_starts_quickly(small_home):
    """A query costs little more than loading the libraries that it needs, on any machine."""
    libraries, query = [], []
    # Other processes only add to what a command takes, so the least of several runs is compared.
    for _ in range(12):
        libraries.append(
            processor_seconds("-c", "import duckdb, pyarrow.parquet, pydantic, rich.table")
        )
        query.append(processor_seconds("-m", "flows", "--home", str(small_home), "sql", "select 1"))
        if min(query) < 2.5 * min(libraries):
            break
    assert min(query) < 3 * min(libraries)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda *lines: monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))


def test_questions_are_asked_one_after_the_other(own_home, typed, almanac):
    questions = ["What is the capital of England?", "x" * 2001, "Who was 鲁迅?", "", "never asked"]
    typed(*questions)
    code, out, err = almanac(own_home, "ask", "-i", BORN)
    assert code == 0 and out.index("London") < out.index("鲁迅")
    assert "between 1 and 2000 characters" in err
    kept = {row["question"] for row in almanac.rows(own_home, "select question from answers")}
    assert kept == {BORN, questions[0], questions[2]}


def test_typed_questions_are_answered_in_json_lines(own_home, typed, almanac):
    typed(BORN, "Where was Charles Babbage born?")
    answers = map(json.loads, almanac.shown(own_home, "ask", "-i", "--json").splitlines())
    assert [answer["answer"] for answer in answers] == ["London", "London"]


def test_questions_from_a_file_stand_before_their_answers(own_home, typed, almanac):
    typed(BORN, "Where was Quibbleton born?", "")
    first, second = almanac.shown(own_home, "ask", "-i").split("\n\n")
    assert first.startswith(f"? {BORN}\nLondon")
    assert second.startswith("? Where was Quibbleton born?\nThe almanac does not know.")


def test_passages_without_an_answer_are_called_what_they_are(capsys):
    passage = Evidence(
        text="Osel is a river.", uri="osel.md", kind="passage", score=0.1, document_id="d1"
    )
    values = {"question_id": "q", "question": "How long is Osel?", "edition": "e", "seconds": 0.1}
    known = Answer(
        **values, answer="a river", answers=["a river"], route="text", answerable=True,
        evidence=[passage],
    )  # fmt: skip
    unknown = {"answer": None, "answers": [], "route": "none", "answerable": False}
    terminal.print_shown(answer_in_words(known.model_copy(update=unknown)))
    assert capsys.readouterr().out.splitlines()[:2] == [
        "The almanac does not know.",
        "The nearest passages:",
    ]
    fact = {"evidence": [passage.model_copy(update={"document_id": None, "kind": "triple"})]}
    terminal.print_shown(answer_in_words(known.model_copy(update=unknown | fact)))
    assert "The nearest facts:" in capsys.readouterr().out
    terminal.print_shown(answer_in_words(known))
    assert "nearest" not in capsys.readouterr().out


def test_a_question_needs_no_quotes(own_home, almanac):
    answer = almanac.json(own_home, "ask", *BORN.split())
    assert (answer["question"], answer["answer"]) == (BORN, "London")


def test_ask_without_a_question_is_a_wrong_call(own_home, almanac):
    code, _, err = almanac(own_home, "ask")
    assert code == 2 and "-i" in err


def test_the_version_is_printed(almanac, home):
    assert almanac.shown(home.path, "--version") == f"almanac {version('almanac-kb')}\n"


def test_a_token_has_labels_that_there_are(own_home, almanac):
    assert "There is no label 'bogus' here" in almanac.refused(
        own_home, "tokens", "add", "ann", "--label", "bogus"
    )
    assert almanac.json(own_home, "tokens") == []
