"""What the user says is kept once, known at once, and asked at once."""

import json
import shutil
from pathlib import Path

import pytest

from flows.__main__ import main
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.remember import keep_file, keep_text, looks_like_a_path, remember
from tasks.sources import remove_source
from warehouse.home import Home

SAID = "Mira Holm is a Norwegian botanist. Mira Holm was born in Bodø in 1931."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.path.mkdir()
    text = 'workers = 1\n\n[engine]\nencoder = "none"\n'
    (home.path / "settings.toml").write_text(text, encoding="utf-8")
    return home


def test_what_is_said_can_be_asked_at_once_and_is_kept_once(home, capsys):
    where = ["--home", str(home.path), "--json"]
    assert main([*where, "remember", SAID]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["new"] and first["source"] == "remember" and first["outcome"] == "done"
    assert {"head": "Mira Holm", "relation": "born in", "tail": "Bodø"}.items() <= {
        **next(f for f in first["facts"] if f["tail"] == "Bodø")
    }.items()
    assert main([*where, "ask", "Where was Mira Holm born?"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["answer"] == "Bodø"
    assert answer["evidence"][0]["document_id"] == first["document_id"]
    assert main([*where, "remember", f"  {SAID.replace('. ', '.  ')} \n"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert not again["new"] and again["outcome"] == "unchanged"
    assert again["document_id"] == first["document_id"] and again["edition"] == first["edition"]


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
def test_nothing_is_not_remembered(home, nothing, capsys):
    with pytest.raises(UsageError, match="nothing to remember"):
        keep_text(home, nothing, load_settings(home.path))
    assert main(["--home", str(home.path), "remember", nothing.replace("\0", "")]) == 2
    assert "nothing to remember" in capsys.readouterr().err
    assert not (home.path / "remember").exists()


def test_a_text_may_begin_like_the_home_of_a_user_that_is_not_there(home):
    assert main(["--home", str(home.path), "remember", "~Ada Marsh met Carl Holt."]) == 0


def test_what_cannot_be_read_is_refused_in_plain_words(home, tmp_path):
    settings = load_settings(home.path)
    for name, data in (("a.zip", b"PK\x03\x04"), ("b.txt", b"\x00\x01\x02" * 40)):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UsageError, match="was not kept"):
            keep_file(home, tmp_path / name, settings)
    with pytest.raises(UsageError, match="not a file"):
        keep_file(home, tmp_path, settings)


def test_a_broken_file_is_not_kept(home, tmp_path, capsys):
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    assert main(["--home", str(home.path), "remember", str(tmp_path / "broken.pdf")]) == 1
    assert "not remembered" in capsys.readouterr().err
    assert not list((home.path / "remember").rglob("*.pdf"))


def test_a_mistyped_file_is_no_text(home, capsys):
    assert main(["--home", str(home.path), "remember", "notes/today.md"]) == 2
    assert "There is no file" in capsys.readouterr().err
    assert not looks_like_a_path("李白/杜甫是诗人。")
    assert not looks_like_a_path("Ada met Charles.")


def test_notes_stay_when_a_folder_is_refreshed(home, tmp_path):
    from tasks.refresh import refresh

    settings = load_settings(home.path)
    outcome = remember(home, keep_text(home, SAID, settings), settings)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.md").write_text("# Oslo\n\nOslo is a city.\n", encoding="utf-8")
    refresh(home, [str(tmp_path / "corpus")], settings)
    assert remember(home, outcome.note, settings).document_id == outcome.document_id


def test_who_removes_the_notes_learns_where_they_still_are(home):
    settings = load_settings(home.path)
    remember(home, keep_text(home, SAID, settings), settings)
    [note] = remove_source(home, "remember", settings).notes
    assert str(home.path / "remember") in note
