"""Who sees what: labels of sources, documents and graphs, and the editions made from them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.documents import Document
from schemas.errors import HeldError, UsageError
from schemas.labels import given_labels
from schemas.settings import Settings, load_settings
from tasks.publish.for_reader import edition_for
from tasks.refresh import refresh
from tasks.service import shelf
from tasks.service.shelf import ServedHome
from tests.documents import write_texts
from warehouse.editions import Edition
from warehouse.home import Home

OPEN = {"ada.md": "# Ada\n\nAda Lovelace was born in London in 1815.\n"}
BOARD = {"board.md": "---\nlabels: [Board]\n---\n# Board\n\nAda Lovelace owns Zyxwia Ltd.\n"}
HR = {"pay.md": "# Pay\n\nGrace Qwertin was born in Paris. Ada Lovelace knows Grace Qwertin.\n"}


def uris(edition: Edition) -> list[str]:
    return sorted(edition.table(Document)["uri"].to_pylist())


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with an open document, one with a label of its own, and one of a labelled source."""
    folder = tmp_path_factory.mktemp("labelled")
    home, settings = new_home(folder / "home")
    refresh(home, [str(write_texts(folder / "open", OPEN | BOARD))], settings)
    refresh(home, [str(write_texts(folder / "hr", HR))], settings, labels=["hr"])
    return home


def new_home(folder: Path) -> tuple[Home, Settings]:
    folder.mkdir()
    text = 'workers = 1\n\n[engine]\nencoder = "none"\n'
    (folder / "settings.toml").write_text(text, encoding="utf-8")
    return Home(folder), load_settings(folder)


@pytest.mark.parametrize(
    ("labels", "seen"),
    [
        (None, ["ada.md", "board.md", "pay.md"]),
        (["hr", "board"], ["ada.md", "board.md", "pay.md"]),
        (["hr"], ["ada.md", "pay.md"]),
        (["board"], ["ada.md", "board.md"]),
        ([], ["ada.md"]),
    ],
)
def test_a_reader_sees_documents_of_which_he_holds_all_labels(labelled, labels, seen):
    assert uris(edition_for(labelled, labelled.require_edition(), labels)) == seen


def test_an_edition_of_which_nothing_is_hidden_is_not_copied(labelled):
    edition = labelled.require_edition()
    assert edition_for(labelled, edition, ["board", "hr"]) is edition
    assert edition_for(labelled, edition, ["hr"]).path != edition.path


def test_an_unknown_label_is_refused_with_those_that_there_are(labelled):
    with pytest.raises(UsageError, match="no label 'it' here. The labels: board, hr"):
        edition_for(labelled, labelled.require_edition(), ["it"])


def test_the_second_call_builds_nothing(labelled, monkeypatch):
    first = edition_for(labelled, labelled.require_edition(), ["hr"])
    monkeypatch.setattr("tasks.publish.for_reader._build", None)
    again = edition_for(labelled, labelled.require_edition(), ["hr"])
    assert (again.id, again.path) == (first.id, first.path)
    assert not again.damaged()


@pytest.mark.parametrize(
    ("texts", "labels"),
    [([], None), (["none"], []), (["HR", "hr ", "Top  secret"], ["hr", "top secret"])],
)
def test_labels_are_lower_case_and_none_takes_them_away(texts, labels):
    assert given_labels(texts) == labels


@pytest.mark.parametrize("texts", [[""], ["a,b"], ["none", "hr"], ["sensitive"], ["x" * 61]])
def test_what_cannot_be_a_label_is_refused(texts):
    with pytest.raises(ValueError, match="label"):
        given_labels(texts)


def test_a_new_label_hides_at_once_though_the_edition_stays(tmp_path):
    home, settings = new_home(tmp_path / "home")
    folder = str(write_texts(tmp_path / "open", OPEN))
    refresh(home, [folder], settings)
    served = ServedHome(home, settings, threads=1, waiting=1)
    with served.reading(()) as opened:
        assert uris(opened.edition) == ["ada.md"]

    home.editions.roll_back(home.require_edition(), hold="a label is missing")
    with pytest.raises(HeldError):
        refresh(home, [folder], settings, labels=["board"])
    served.look()
    with served.reading(()) as opened, served.reading(("board",)) as of_board:
        assert (uris(opened.edition), uris(of_board.edition)) == ([], ["ada.md"])
    served.close()


def test_who_waits_for_an_edition_of_his_own_keeps_nobody_waiting(labelled, monkeypatch):
    served = ServedHome(labelled, load_settings(labelled.path), threads=1, waiting=1)
    begun, made = threading.Event(), threading.Event()

    def slow_for_hr(home: Home, labels: tuple[str, ...]) -> Edition:
        if labels == ("hr",):
            begun.set()
            made.wait(20)
        return home.require_edition()

    monkeypatch.setattr(shelf, "edition_of", slow_for_hr)
    with ThreadPoolExecutor(2) as readers:
        waiting = readers.submit(served.take, ("hr",))
        begun.wait(20)
        readers.submit(served.take, ()).result(10).release()
        assert not waiting.done()
        made.set()
        waiting.result(10).release()
    served.close()
