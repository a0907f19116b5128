"""What the user says is kept once, known at once, and asked at once."""

import shutil

import pytest

from schemas.documents import Document, cited_as
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.refresh import refresh
from tasks.remember import keep_file, keep_text, looks_like_a_path, remember
from tasks.sources import remove_source
from tests.documents import write_texts
from warehouse.home import Home
from warehouse.labels import source_marks
from warehouse.lease import lease

SAID = "Mira Holm is a Norwegian botanist. Mira Holm was born in Bodø in 1931."


@pytest.fixture
def home(home: Home) -> Home:
    write_texts(home.path, {"settings.toml": 'workers = 1\n\n[engine]\nencoder = "none"\n'})
    return home


def test_what_is_said_can_be_asked_at_once_and_is_kept_once(home, almanac):
    first = almanac.json(home.path, "remember", SAID)
    assert first["new"] and first["source"] == "remember" and first["outcome"] == "done"
    facts = [(fact["head"], fact["relation"], fact["tail"]) for fact in first["facts"]]
    assert ("Mira Holm", "born in", "Bodø") in facts
    answer = almanac.json(home.path, "ask", "Where was Mira Holm born?")
    assert answer["answer"] == "Bodø"
    assert answer["evidence"][0]["document_id"] == first["document_id"]
    again = almanac.json(home.path, "remember", f"  {SAID.replace('. ', '.  ')} \n")
    assert not again["new"] and again["outcome"] == "unchanged"
    assert again["document_id"] == first["document_id"] and again["edition"] == first["edition"]


def test_a_note_keeps_its_own_labels_until_it_is_given_others(home, almanac):
    def seen() -> dict[str, list[str]]:
        rows = home.require_edition().table(Document).to_pylist()
        return {row["text"][:3]: row["labels"] for row in rows}

    almanac.json(home.path, "remember", SAID, "--label", "Botany")
    almanac.json(home.path, "remember", "Jon Vik was born in Tromsø.", "--label", "none")
    almanac.json(home.path, "remember", SAID)
    assert seen() == {"Mir": ["botany"], "Jon": []} and not source_marks(home.journal)
    unlabelled = ("--set", "reader=none")
    answer = almanac.json(home.path, "ask", "Where was Jon Vik born?", *unlabelled)
    assert answer["answer"] == "Tromsø"
    answer = almanac.json(home.path, "ask", "Where was Mira Holm born?", *unlabelled)
    assert not answer["answerable"]
    almanac.json(home.path, "remember", SAID, "--label", "none")
    assert seen() == {"Mir": [], "Jon": []}


def test_one_sensitive_note_leaves_the_others_as_they_are(home, almanac, tmp_path):
    page = write_texts(tmp_path, {"vik.html": "<p>Jon Vik was born in Tromsø in 1944.</p>"})
    almanac.json(home.path, "remember", SAID)
    almanac.json(home.path, "remember", str(page / "vik.html"), "--sensitive")
    almanac.json(home.path, "remember", str(page / "vik.html"), "--label", "none")
    rows = home.require_edition().table(Document).to_pylist()
    marks = {row["uri"][-4:]: row["sensitivity"] for row in rows}
    assert marks == {"json": "normal", "html": "sensitive"}


def test_a_note_kept_during_another_run_has_its_label_when_it_is_read(home, almanac, monkeypatch):
    monkeypatch.setattr("tasks.remember.PATIENCE", 0.0)
    (home.path / "settings.toml").write_text("[publish]\nwait_seconds = 0\n", encoding="utf-8")
    with lease(home.path, "another run"):
        assert almanac(home.path, "remember", SAID, "--label", "Botany")[0] == 1
    almanac.json(home.path, "refresh", "remember:", "--set", "engine.encoder=none")
    assert home.require_edition().table(Document)["labels"].to_pylist() == [["botany"]]


def test_what_is_said_during_another_run_is_kept_and_says_so(home, almanac, monkeypatch):
    monkeypatch.setattr("tasks.remember.PATIENCE", 0.0)
    (home.path / "settings.toml").write_text("[publish]\nwait_seconds = 0\n", encoding="utf-8")
    with lease(home.path, "another run"):
        code, _, err = almanac(home.path, "remember", SAID)
    assert code == 1 and f"kept in {home.path / 'remember'}, and is read together" in err
    almanac.json(home.path, "refresh", "remember:", "--set", "engine.encoder=none")
    assert almanac.json(home.path, "ask", "Where was Mira Holm born?")["answer"] == "Bodø"


def test_what_was_said_is_cited_by_the_day_on_which_it_was_remembered(home, almanac):
    note = almanac.json(home.path, "remember", SAID)
    [(day,)] = (
        home.editions.current()
        .connect()
        .execute("select strftime(make_timestamp(epoch_us(read_at)), '%Y-%m-%d') from documents")
        .fetchall()
    )
    cited = f"remembered on {day}"
    assert f"— {cited}" in almanac.shown(home.path, "ask", "Where was Mira Holm born?")
    assert f"— {cited}, characters" in almanac.shown(home.path, "search", "Mira Holm")
    page = home.path / "page.html"
    assert cited in almanac.shown(home.path, "show", "Mira Holm", "--html", str(page))
    assert cited in page.read_text(encoding="utf-8")
    almanac.shown(home.path, "report", "--out", str(home.path / "pages"))
    pages = (home.path / "pages").rglob("*.html")
    written = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert cited in written and note["uri"] not in written
    answer = almanac.json(home.path, "ask", "Where was Mira Holm born?")
    assert answer["evidence"][0]["uri"] == note["uri"]


def test_a_remembered_file_is_cited_by_its_name_as_well():
    assert cited_as("0123/holm.html", "2026-11-22") == "holm.html, remembered on 2026-11-22"
    assert cited_as("0123.json", "2026-11-22") == "remembered on 2026-11-22"
    assert cited_as("people/holm.md", None) == "people/holm.md"


def test_a_file_is_remembered_and_a_moved_home_forgets_nothing(home, tmp_path):
    settings = load_settings(home.path)
    page = tmp_path / "holm.html"
    page.write_text(
        "<html><head><title>Jon Vik</title></head><body><p>Jon Vik is a Norwegian painter. "
        "Jon Vik was born in Tromsø in 1944.</p></body></html>",
        encoding="utf-8",
    )
    outcome = remember(home, keep_file(home, page, settings), settings)
    assert ("Jon Vik", "born in", "Tromsø") in {
        (fact["head"], fact["relation"], fact["tail"]) for fact in outcome.facts
    }
    shutil.move(home.path, tmp_path / "moved")
    moved = Home(tmp_path / "moved")
    renamed = page.rename(tmp_path / "again.html")
    note = keep_file(moved, renamed, settings)
    assert note == type(note)(outcome.note.uri, False)
    assert remember(moved, note, settings).document_id == outcome.document_id


def test_plain_text_in_a_file_is_what_was_said(home, tmp_path):
    settings = load_settings(home.path)
    file = tmp_path / "said.txt"
    file.write_text(f"{SAID}\n", encoding="utf-8")
    kept = keep_text(home, SAID, settings)
    assert kept.new
    assert keep_file(home, file, settings) == type(kept)(kept.uri, False)


@pytest.mark.parametrize("nothing", ["", " \n", "!?…", "\x00\x07"])
def test_nothing_is_not_remembered(home, nothing, almanac):
    with pytest.raises(UsageError, match="nothing to remember"):
        keep_text(home, nothing, load_settings(home.path))
    error = almanac.refused(home.path, "remember", nothing.replace("\0", ""))
    assert "nothing to remember" in error
    assert not (home.path / "remember").exists()


def test_a_text_may_begin_like_the_home_of_a_user_that_is_not_there(home, almanac):
    almanac.shown(home.path, "remember", "~Ada Marsh met Carl Holt.")


def test_what_cannot_be_read_is_refused_in_plain_words(home, tmp_path):
    settings = load_settings(home.path)
    for name, data in (("a.zip", b"PK\x03\x04"), ("b.txt", b"\x00\x01\x02" * 40)):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UsageError, match="was not kept"):
            keep_file(home, tmp_path / name, settings)
    with pytest.raises(UsageError, match="not a file"):
        keep_file(home, tmp_path, settings)


def test_a_broken_file_is_not_kept(home, tmp_path, almanac):
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    code, _, err = almanac(home.path, "remember", str(tmp_path / "broken.pdf"))
    assert code == 1 and "not remembered" in err
    assert not list((home.path / "remember").rglob("*.pdf"))


def test_a_mistyped_file_is_no_text(home, almanac):
    assert "There is no file" in almanac.refused(home.path, "remember", "notes/today.md")
    assert not looks_like_a_path("李白/杜甫是诗人。")
    assert not looks_like_a_path("Ada met Charles.")


def test_notes_stay_when_a_folder_is_refreshed(home, tmp_path):
    settings = load_settings(home.path)
    outcome = remember(home, keep_text(home, SAID, settings), settings)
    corpus = write_texts(tmp_path / "corpus", {"a.md": "# Oslo\n\nOslo is a city.\n"})
    refresh(home, [str(corpus)], settings)
    assert remember(home, outcome.note, settings).document_id == outcome.document_id


def test_who_removes_the_notes_learns_where_they_still_are(home):
    settings = load_settings(home.path)
    remember(home, keep_text(home, SAID, settings), settings)
    [note] = remove_source(home, "remember", settings).notes
    assert str(home.path / "remember") in note
