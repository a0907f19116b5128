"""Hostile names through a whole refresh and every command: they stay names."""

import json
import os
import re
from pathlib import Path

import pytest

import schemas
from flows import terminal
from flows.__main__ import main
from flows.home import settings_of
from schemas import LIVE
from schemas.errors import AlmanacError, UsageError
from schemas.settings import EngineSettings, Settings, SqlSettings, load_settings
from tasks.ingest.formats.cleaning import clean_line
from tasks.reader.passage_reader import PassageReader
from tasks.refresh import refresh
from tasks.text.question import analyse
from tests.copied_home import copied_home
from tests.current_edition import SETTINGS, current, rows
from warehouse import sql_worker
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.overrides import find_entity, make_override, overrides_in_force
from warehouse.sql_session import live_tables, run_sql

NAMES = [
    "'; drop table triples;--", '"; delete from entities; --', "' or '1'='1", "x'); DROP TABLE t--",
    "admin'--", "') union select * from runs --", "1; attach '/etc/passwd'", "/* */", "--", ";",
    "''", '""', "`id`", "$(touch /tmp/almanac-was-here)", "$name", "${HOME}", "{}", "{0}", "{a!r}",
    "{{7*7}}", "%s", "%(name)s", "%n%n%n", "%00", "\\", "\\x00", "\\N", "a\x00b", "\x00", "\x1b[2J",
    "\x1b]0;title\x07", "\u202eevil", "a\u200bb", "\ufeffname", "\u2066x\u2069", "Z\u0335a\u0327",
    "é", "e\u0301", "Łódź", "长江", "עברית", "👩‍👩‍👧", "🏴‍☠️", "../../etc/passwd", "/etc/passwd",
    "con", "~root", "-rf", "<script>alert(1)</script>", "<b>bold</b>", "&lt;", "<!-- -->", "[x](y)",
    "# heading", "| a | b |", "null", "None", "nan", "true", "1e999", "0x0", "=1+1", "@SUM(A1)",
    "\t tab", "line\nbreak", "\u2028", "x" * 3000, "(" * 500, "a:b AND c:d OR NOT *", "[a TO b]",
]  # fmt: skip
RAW_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def write_named(folder: Path, names: list[str]) -> None:
    """Write a record for each name: as its title, and twice in its text."""
    folder.mkdir()
    with (folder / "names.jsonl").open("w", encoding="utf-8") as file:
        for number, name in enumerate(names):
            text = f"{name} is a city in Norway. In 1905 {name} was founded by Ola Nordmann."
            record = {"id": f"n{number}", "title": name, "text": text}
            file.write(json.dumps(record) + "\n")


def check_names(edition: Edition, names: list[str]) -> None:
    """Every name is its document's title, byte for byte or cleaned by the reader's one rule."""
    documents = {d["uri"]: d for d in rows(edition, schemas.Document)}
    stood_in = {uri for d in documents.values() for uri in d["duplicates"]}
    for number, name in enumerate(names):
        uri = f"names.jsonl#n{number}"
        if uri in stood_in:
            continue
        assert documents[uri]["title"] == (clean_line(name) or f"Names N{number}")


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an edition made of hostile names, in titles, texts and file names."""
    folder = tmp_path_factory.mktemp("named")
    write_named(folder / "corpus", NAMES)
    for number, name in enumerate(NAMES):
        file = os.fsencode(name.replace("/", "∕").replace("\0", ""))[:200] + b".txt"
        path = Path(os.fsdecode(os.fsencode(folder / "corpus") + b"/" + file))
        path.write_text(f"Village {number} lies in Norway. It has {number + 3} houses.")
    home = folder / "home"
    home.mkdir()
    (home / "settings.toml").write_text('workers = 1\n\n[engine]\nencoder = "none"\n')
    run = refresh(Home(home), [str(folder / "corpus")], SETTINGS)
    inputs = run.counts["inputs"]
    files = len([p for p in (folder / "corpus").iterdir() if not p.name.startswith(".")])
    read = sum(inputs.get(end, 0) for end in ("ingested", "duplicate", "refused"))
    assert read == files - 1 + len(NAMES)
    return home


def test_hostile_names_become_titles_entities_and_uris_and_nothing_else(named: Path) -> None:
    edition = current(named)
    check_names(edition, NAMES)
    assert {row.table for row in schemas.EDITION} == set(edition.manifest["tables"])
    for row in schemas.EDITION:
        assert edition.rows(row) == edition.table(row).num_rows
    texts = {d["document_id"]: d["text"] for d in rows(edition, schemas.Document)}
    entities = rows(edition, schemas.Entity)
    assert {"Ola Nordmann", "Norway"} <= {e["name"] for e in entities}
    for d in rows(edition, schemas.Document):
        assert d["uri"].isprintable() and not RAW_CONTROL.search(d["title"] + d["text"])
    for m in rows(edition, schemas.Mention):
        assert 0 <= m["span_start"] < m["span_end"] <= len(texts[m["document_id"]])
    assert not Path("/tmp/almanac-was-here").exists()


def test_every_entity_is_found_by_its_name_and_only_it(named: Path) -> None:
    edition = current(named)
    entities = rows(edition, schemas.Entity)
    for entity in entities:
        same = [e["entity_id"] for e in entities if e["name"] == entity["name"]]
        if len(same) == 1:
            assert find_entity(edition, entity["name"]) == entity["entity_id"]
        else:
            with pytest.raises(UsageError, match="give the id"):
                find_entity(edition, entity["name"])


def test_names_as_sql_literals_find_exactly_their_rows(
    named: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edition = current(named)
    titles = [d["title"] for d in rows(edition, schemas.Document)]
    request = {"database": str(edition.database), "live": live_tables({}, ""), "query": ""}
    request |= SqlSettings().model_dump()
    with sql_worker.connect(request) as connection:
        for name in [*NAMES, *titles]:
            literal = name.replace("\0", "").replace("'", "''")
            query = f"select count(*) as n from documents where title = '{literal}'"
            sql_worker.check(connection, query)
            sql_worker.write_rows(connection, query)
            found = json.loads(capsys.readouterr().out)
            assert found == [titles.count(name.replace("\0", ""))]


def test_names_as_queries_change_nothing(named: Path) -> None:
    edition, live = current(named), {row.table: [] for row in LIVE}
    before = edition.damaged()
    for query in ("'; drop table triples;--", "a\0b", "\udcff", "\x1b[2J", "%s"):
        with pytest.raises(AlmanacError):
            list(run_sql(edition.database, live, query).rows())
    assert before == edition.damaged() == []


def test_questions_made_of_hostile_names_are_answered_or_not_known(named: Path) -> None:
    edition = current(named)
    reader = PassageReader(edition, SETTINGS.engine)
    texts = {d["document_id"]: d["text"] for d in rows(edition, schemas.Document)}
    for name in NAMES:
        for question in (name, f"Who founded {name}?"):
            answer = reader.answer(analyse(question))
            assert answer.evidence or not answer.answers
            for evidence in answer.evidence:
                assert evidence.text in texts[str(evidence.document_id)]


def test_questions_that_are_not_text_are_survived(named: Path) -> None:
    reader = PassageReader(current(named), SETTINGS.engine)
    for question in ("", " ", "\ud800", "\udcff\udcfe who?", "\0", "?" * 2000, "a " * 1000):
        assert isinstance(reader.answer(analyse(question)).answers, list)


def test_override_reasons_and_subjects_are_kept_as_they_are(named: Path, tmp_path: Path) -> None:
    home = Home(copied_home(named, tmp_path / "home"))
    edition = current(home.path)
    facts = edition.table(schemas.Triple)["triple_id"].to_pylist()
    for fact, reason in zip(facts, NAMES, strict=False):
        make_override(home, edition, "reject", fact, reason=reason)
    assert [o["reason"] for o in overrides_in_force(home)] == NAMES[: len(facts)]
    for name in NAMES:
        with pytest.raises(UsageError):
            make_override(home, edition, "reject", name)
    # Most of the triples go, which would be held back else.
    publishing = SETTINGS.publish.model_copy(update={"max_shrink": 1.0})
    settings = SETTINGS.model_copy(update={"publish": publishing})
    run = refresh(home, [str(named.parent / "corpus")], settings)
    assert run.counts["extraction"]["passages"] == 0
    left = set(current(home.path).table(schemas.Triple)["triple_id"].to_pylist())
    assert left == set(facts) - set(facts[: len(NAMES)])


def test_no_command_prints_a_raw_control_character(
    named: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = str(copied_home(named, tmp_path / "home"))
    fact = current(Path(home)).table(schemas.Triple)["triple_id"][0].as_py()
    wild = "\x1b]0;owned\x07\x9b31m\u202eevil\udcff"
    calls = [
        ["sql", "select * from documents"],
        ["sql", "select chr(27) || '[31m' || chr(8238) as x", "--format", "json"],
        ["sql", "select chr(27) || '[31m' as x"], ["sql", wild], ["ask", wild],
        ["ask", wild.replace("\udcff", ""), "--explain"], ["ask", "Who founded Łódź?", "--json"],
        ["override", "reject", fact, "--reason", wild],
        ["override", "reject", fact, "--reason", wild.replace("\udcff", "")],
        ["override", "reject", wild], ["override", "list"], ["override", "list", "--json"],
        ["editions", "rollback", wild], ["editions", "list"],
    ]  # fmt: skip
    for call in calls:
        assert main(["--home", home, *call]) in (0, 1, 2)
        shown = capsys.readouterr()
        for text in (shown.out, shown.err):
            assert not RAW_CONTROL.search(text), call
            assert "Traceback" not in text and "unexpected" not in text, call


def test_what_is_shown_is_harmless_and_nothing_else_is_changed() -> None:
    for name in NAMES:
        for shown in (terminal.harmless(name), terminal.one_line(name), terminal.json_line(name)):
            assert not RAW_CONTROL.search(shown)
        if name.isprintable() and not RAW_CONTROL.search(name):
            assert terminal.harmless(name) == name


@pytest.mark.parametrize(
    "text",
    [
        "workers = 0", "workers = '; drop'", "[read]\npassage_tokens = -5",
        "[read]\nmax_seconds = 0",
        "[engine]\nengine = 'evil'", "[publish]\nmax_delete = 7", "[sql]\nthreads = 0", "x = 1",
        "[sql]\nmemory_mb = -1", "\x00", "= =", "[engine]\nencoder = 7",
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused_in_plain_words(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "settings.toml").write_text(text)
    assert main(["--home", str(tmp_path), "refresh", str(tmp_path)]) == 2
    shown = capsys.readouterr()
    assert "settings.toml is invalid" in shown.err and "Traceback" not in shown.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["settings.toml"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("text_column = 'body'", "no setting text_column; it belongs under [read]"),
        ("[sql]\ntext_column = 'body'", "text_column under [sql]; it belongs under [read]"),
        ("use = true", "no setting use; it belongs under [gate] or under [experts]"),
        ("[engine]\nlocal_batch = 2", "it belongs under [engine.model]"),
        ("[engine]\nworkers = 3", "it belongs at the top"),
        ("[engine]\nencodr = 'none'", "no setting encodr under [engine]"),
        ("[sql]\nthreads = 0", "sql.threads: Input should be greater than or equal to 1"),
    ],
)
def test_a_setting_in_the_wrong_section_is_told_its_own(
    text: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        load_settings(tmp_path)
    assert len(str(refused.value).splitlines()) == 1


def test_a_setting_that_went_changes_nothing_and_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "settings.toml").write_text("workers = 3\n[engine]\ntyped = true\n")
    assert load_settings(tmp_path) == Settings(workers=3)
    assert settings_of(Home(tmp_path)).workers == 3
    assert "engine.typed no longer does anything" in capsys.readouterr().err


def test_an_engine_that_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Oslo lies in Norway.")
    for engine in (
        EngineSettings(encoder="none", engine="openai"),  # no model is named
        EngineSettings(encoder="none", english_pipeline="../../etc"),
        EngineSettings(encoder="none", english_pipeline="'; drop"),
    ):
        settings = Settings(engine=engine, workers=1)
        with pytest.raises(AlmanacError):
            refresh(Home(tmp_path / engine.engine), [str(tmp_path / "a.txt")], settings)


def test_the_big_list_of_naughty_strings_goes_through_whole(
    almanac_data: Path, tmp_path: Path
) -> None:
    listed = almanac_data / "hostile" / "blns.json"
    if not listed.is_file():
        pytest.skip(f"no {listed}")
    names = json.loads(listed.read_bytes())
    write_named(tmp_path / "corpus", names)
    run = refresh(Home(tmp_path / "home"), [str(tmp_path / "corpus")], SETTINGS)
    inputs = run.counts["inputs"]
    assert inputs["ingested"] + inputs.get("duplicate", 0) == len(names)
    edition = current(tmp_path / "home")
    check_names(edition, names)
    reader = PassageReader(edition, SETTINGS.engine)
    for name in names[::12]:
        reader.answer(analyse(f"Where is {name}?"))
    assert edition.damaged() == []
