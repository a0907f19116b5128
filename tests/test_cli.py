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
from typing import Any

import pytest

from flows import terminal
from flows.__main__ import main
from flows.commands.ask import answer_in_words
from schemas.answers import Answer, Evidence
from warehouse.home import Home


def almanac(*arguments: str) -> int:
    """Run a command in this process; argparse leaves by SystemExit."""
    try:
        return main(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)


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
    assert almanac(*arguments) == 2
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
def test_empty_home_is_explained_and_left_alone(arguments, tmp_path, capsys):
    home = tmp_path / "nothing"
    assert almanac(*arguments, "--home", str(home)) in (1, 2)
    out, err = capsys.readouterr()
    assert not out
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    assert not home.exists()


def test_home_before_after_and_from_the_environment(small_home, monkeypatch, capsys):
    query = "select count(*) as documents from documents"
    calls = [
        ["--home", str(small_home), "sql", query, "--format", "json"],
        ["sql", query, "--format", "json", "--home", str(small_home)],
    ]
    for call in calls:
        assert almanac(*call) == 0
        assert json.loads(capsys.readouterr().out) == [{"documents": 9}]
    monkeypatch.setenv("ALMANAC_HOME", str(small_home))
    assert almanac("--json", "sql", query) == 0
    assert json.loads(capsys.readouterr().out) == [{"documents": 9}]


def test_json_holds_every_row_whole(small_home, capsys):
    query = "select * from documents order by uri"
    assert almanac("sql", query, "--format", "json", "--home", str(small_home)) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["uri"] for row in rows] == sorted(row["uri"] for row in rows)
    assert rows[0]["duplicates"] == []
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", rows[0]["read_at"])
    assert almanac("sql", "select 1 where false", "--json", "--home", str(small_home)) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_csv_is_read_back_as_it_was(small_home, capsys):
    query = 'select \'a,"b"\nc\' as "x,y", null as n, [1, 2] as l'
    assert almanac("sql", query, "--format", "csv", "--home", str(small_home)) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows == [["x,y", "n", "l"], ['a,"b"\nc', "", "[1, 2]"]]


def test_csv_holds_no_formulas(small_home, capsys):
    query = (
        "select '=1+1' as \"=a\", '+1' as b, '-cmd' as c, '@x' as d, chr(9) || 'e' as e, "
        "chr(13) || 'f' as f, -1 as g, -2.5 as h, 'a=1' as i, '-' as j"
    )
    assert almanac("sql", query, "--format", "csv", "--home", str(small_home)) == 0
    names, row = csv.reader(io.StringIO(capsys.readouterr().out, newline=""))
    assert names[0] == "'=a"
    assert row == ["'=1+1", "'+1", "'-cmd", "'@x", "'\te", "'\rf", "-1", "-2.5", "a=1", "'-"]


def test_table_counts_rows_and_cuts_long_cells(small_home, capsys):
    query = "select range as number, repeat('x', 5000) as long from range(700)"
    assert almanac("sql", query, "--home", str(small_home)) == 0
    out = capsys.readouterr().out
    assert "700 rows; the first 500 are shown" in out
    assert "Some texts are cut; --format csv" in out
    assert len(out) < 500 * 300


def test_a_table_that_no_terminal_bounds_shows_every_id_and_header_whole(small_home, capsys):
    columns = [f"column_of_number_{number}" for number in range(40)]
    values = ", ".join(f"repeat('{number % 10}', 32) as {c}" for number, c in enumerate(columns))
    assert almanac("sql", f"select {values}", "--home", str(small_home)) == 0
    header, _, row, count = capsys.readouterr().out.splitlines()
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


def test_a_table_of_more_columns_than_fit_lists_each_row():
    columns = [f"column_{number}" for number in range(12)]
    lines = _printed(columns, [f"value {number}" for number in range(12)]).splitlines()
    assert lines[0].split(maxsplit=1) == ["column_0", "value 0"]
    assert lines[11].split(maxsplit=1) == ["column_11", "value 11"]


def test_times_are_shown_to_the_second():
    moment = datetime(1931, 5, 4, 3, 2, 1, 987654, tzinfo=UTC)
    assert "1931-05-04T03:02:01+00:00" in _printed(["when"], [moment])


def test_a_plan_keeps_its_lines(small_home, capsys):
    query = "explain select head from triples order by head"
    assert almanac("sql", query, "--home", str(small_home)) == 0
    plan = capsys.readouterr().out.splitlines()
    assert len(plan) > 5 and any("Order By" in line for line in plan)


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
    assert almanac(*arguments) == 1
    assert capsys.readouterr().err == f"{said}\n"


def test_escape_sequences_reach_no_terminal(small_home, capsys):
    hostile = "select chr(27) || ']0;owned' || chr(7) || chr(155) || '31m' || chr(8238) as evil"
    assert almanac("sql", hostile, "--home", str(small_home)) == 0
    assert almanac("sql", hostile, "--format", "json", "--home", str(small_home)) == 0
    assert almanac("sql", f'{hostile}, 1 as "\x1b[2J"', "--home", str(small_home)) == 0
    assert almanac("sql", "selekt \x1b[31m", "--home", str(small_home)) == 2
    out, err = capsys.readouterr()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", out + err)
    assert "]0;owned" in out


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


def test_wrong_query_is_one_sentence(small_home, capsys):
    assert almanac("sql", "select nme from entities", "--home", str(small_home)) == 2
    assert almanac("sql", "drop table triples", "--home", str(small_home)) == 2
    out, err = capsys.readouterr()
    assert not out
    assert len(err.splitlines()) == 2


def test_older_edition_can_be_queried(small_home, capsys):
    first, second = Home(small_home).editions.all()
    query = "select text from documents where uri = 'london.md'"
    texts = []
    for edition in (first.id, second.id[:6]):
        assert almanac("sql", query, "--json", "--edition", edition, "--home", str(small_home)) == 0
        texts.append(json.loads(capsys.readouterr().out)[0]["text"])
    assert "capital" in texts[0]
    assert "capital" not in texts[1]
    assert almanac("sql", query, "--edition", "nope", "--home", str(small_home)) == 2


def test_editions_are_listed_and_compared(small_home, capsys):
    assert almanac("editions", "--json", "--home", str(small_home)) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["state"] for row in listed] == ["published", "current"]
    assert listed[1]["parent"] == listed[0]["edition"]
    assert almanac("editions", "diff", "--json", "--home", str(small_home)) == 0
    tables = {t["table"]: t for t in json.loads(capsys.readouterr().out)["tables"]}
    assert tables["documents"]["added"] == tables["documents"]["gone"] == 1
    assert any("capital" in example for example in tables["triples"]["examples_gone"])
    assert almanac("editions", "diff", "--home", str(small_home)) == 0
    assert "triples, gone:" in capsys.readouterr().out


def test_rollback_holds_until_published(own_home, capsys):
    first, second = [edition.id for edition in Home(own_home).editions.all()]
    assert almanac("editions", "rollback", "--reason", "wrong", "--home", str(own_home)) == 0
    pointer = Home(own_home).editions.pointer()
    assert pointer["edition"] == first
    assert pointer["hold"]["reason"] == "wrong"
    assert almanac("editions", "list", "--home", str(own_home)) == 0
    assert "held since" in capsys.readouterr().out
    assert almanac("editions", "publish", "--json", "--home", str(own_home)) == 0
    assert json.loads(capsys.readouterr().out) == {"edition": second, "hold": None}


def test_prune_says_what_it_removes(own_home, capsys):
    first, second = [edition.id for edition in Home(own_home).editions.all()]
    prune = ["editions", "prune", "--keep", "1", "--home", str(own_home)]
    assert almanac(*prune, "--dry-run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["removed"] == [first]
    assert almanac(*prune) == 0
    assert [edition.id for edition in Home(own_home).editions.all()] == [second]


def test_override_by_name_is_listed_and_withdrawn(own_home, capsys):
    home = ["--home", str(own_home)]
    assert almanac("override", "merge", "Ada Lovelace", "Charles Babbage", "--json", *home) == 0
    made = json.loads(capsys.readouterr().out)
    assert almanac("override", "list", "--json", *home) == 0
    assert [row["override_id"] for row in json.loads(capsys.readouterr().out)] == [
        made["override_id"]
    ]
    assert almanac("override", "withdraw", made["override_id"], *home) == 0
    capsys.readouterr()
    assert almanac("override", "list", "--json", *home) == 0
    assert json.loads(capsys.readouterr().out) == []
    for wrong in (["merge", "Nobody", "Ada Lovelace"], ["reject", "x"], ["exclude", "x"]):
        assert almanac("override", *wrong, *home) == 2


def test_ask_prints_the_promised_json_and_keeps_a_record(own_home, capsys):
    question = "Where was Ada Lovelace born?"
    assert almanac("ask", question, "--json", "--home", str(own_home)) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["answer"] == "London"
    assert {
        "question_id",
        "answers",
        "answerable",
        "route",
        "thrust",
        "program",
        "evidence",
    } <= set(answer)
    assert {
        "text",
        "kind",
        "graph",
        "document_id",
        "uri",
        "span_start",
        "span_end",
        "score",
    } <= set(answer["evidence"][0])
    assert almanac("ask", question, "--explain", "--home", str(own_home)) == 0
    assert capsys.readouterr().out.startswith("London  (sure to ")
    query = "select question from answers"
    assert almanac("sql", query, "--json", "--home", str(own_home)) == 0
    assert json.loads(capsys.readouterr().out) == [{"question": question}] * 2


def test_broken_settings_are_explained(tmp_path, capsys):
    (tmp_path / "settings.toml").write_text("[engine]\nencodr = 'none'\n")
    assert almanac("refresh", str(tmp_path), "--home", str(tmp_path)) == 2
    err = capsys.readouterr().err
    assert "encodr" in err
    assert len(err.splitlines()) == 1


def test_unexpected_errors_hide_their_traceback_but_for_debug(small_home, monkeypatch, capsys):
    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("flows.home.home_in", fail)
    assert almanac("sql", "select 1", "--home", str(small_home)) == 1
    err = capsys.readouterr().err
    assert "boom" in err
    assert "--debug" in err
    assert "Traceback" not in err
    with pytest.raises(RuntimeError):
        almanac("sql", "select 1", "--debug", "--home", str(small_home))


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
        assert process.wait() == 1


def test_doctor_finds_a_healthy_home(small_home, capsys):
    assert almanac("doctor", "--json", "--home", str(small_home)) == 0
    findings = {row["check"]: row for row in json.loads(capsys.readouterr().out)}
    assert findings["edition"]["state"] == findings["journal"]["state"] == "ok"
    assert findings["engine"]["state"] == "ok"


def test_doctor_finds_damage(own_home, capsys):
    edition = Home(own_home).editions.current()
    assert edition
    table = edition.path / "triples.parquet"
    table.chmod(0o644)
    table.write_bytes(table.read_bytes()[:-1])
    assert almanac("doctor", "--home", str(own_home)) == 1
    assert re.search(r"^fail +edition.*triples\.parquet", capsys.readouterr().out, re.M)


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


def typed(lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))


def test_questions_are_asked_one_after_the_other(own_home, monkeypatch, capsys):
    questions = ["What is the capital of England?", "x" * 2001, "Who was 鲁迅?", "", "never asked"]
    typed("\n".join(questions), monkeypatch)
    assert almanac("ask", "-i", "Where was Ada Lovelace born?", "--home", str(own_home)) == 0
    out, err = capsys.readouterr()
    assert out.index("London") < out.index("鲁迅")
    assert "between 1 and 2000 characters" in err
    assert almanac("sql", "select question from answers", "--json", "--home", str(own_home)) == 0
    kept = {row["question"] for row in json.loads(capsys.readouterr().out)}
    assert kept == {"Where was Ada Lovelace born?", questions[0], questions[2]}


def test_typed_questions_are_answered_in_json_lines(own_home, monkeypatch, capsys):
    typed("Where was Ada Lovelace born?\nWhere was Charles Babbage born?", monkeypatch)
    assert almanac("ask", "-i", "--json", "--home", str(own_home)) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["answer"] for answer in answers] == ["London", "London"]


def test_questions_from_a_file_stand_before_their_answers(own_home, monkeypatch, capsys):
    typed("Where was Ada Lovelace born?\nWhere was Quibbleton born?\n", monkeypatch)
    assert almanac("ask", "-i", "--home", str(own_home)) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.startswith("? Where was Ada Lovelace born?\nLondon")
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
    terminal.print_shown(answer_in_words(known))
    assert "nearest" not in capsys.readouterr().out


def test_a_question_needs_no_quotes(own_home, capsys):
    question = ["Where", "was", "Ada", "Lovelace", "born?"]
    assert almanac("ask", *question, "--json", "--home", str(own_home)) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["question"], answer["answer"]) == (" ".join(question), "London")


def test_ask_without_a_question_is_a_wrong_call(own_home, capsys):
    assert almanac("ask", "--home", str(own_home)) == 2
    assert "-i" in capsys.readouterr().err
