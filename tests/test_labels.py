"""Who sees what: labels of sources, documents and graphs, and the editions made from them."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.documents import Document
from schemas.errors import HeldError, UsageError
from schemas.labels import given_labels
from schemas.settings import Settings, load_settings
from tasks.ingest.formats.inputs import ReadText, Refusal
from tasks.publish.for_reader import edition_for
from tasks.refresh import refresh
from tasks.service import shelf
from tasks.service.shelf import ServedHome
from tests.documents import read_all, read_one, write_texts
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


def outcome_of(folder: Path, above: str) -> ReadText | Refusal:
    (outcome,) = read_all(write_texts(folder, {"a.md": f"{above}\nThe ferry sails at noon.\n"}))
    assert isinstance(outcome, (ReadText, Refusal))
    return outcome


@pytest.mark.parametrize(
    "above",
    [
        "\n---\n'labels': [Crew, pilots]\n---", "---\n  label: pilots\n  labels: crew\n---",
        '---\n{"labels": ["crew", "pilots"]}\n---', "---\n? labels\n: |\n  crew\n  pilots\n---",
    ],
)  # fmt: skip
def test_labels_are_read_from_yaml_of_any_form(tmp_path, above):
    assert outcome_of(tmp_path, above).metadata["labels"] == ["crew", "pilots"]


def test_no_label_is_left_out_for_being_one_of_many(tmp_path):
    names = ", ".join(f"crew of ship {n}" for n in range(90))
    for above in (f"---\nlabels: [{names}]\n---", f"---\nlabels: {names}\n---"):
        assert len(outcome_of(tmp_path, above).metadata["labels"]) == 90


@pytest.mark.parametrize(
    "above",
    [
        "---\nlabels:\n- crew\n-pilots\n---", "---\nlabel: crew\nLabel:\n---",
        "---\nlabel: crew\nlabel:\n---", "---\nlabels: {crew: yes}\n---",
        "---\nat: &a\n  label: crew\n<<: *a\n---", "---\nlabels： crew\n---",
        "---\n- label: crew\n---", "----\nlabel: crew\n----",
        "---\nlabel: crew\n", "---yaml\nlabel: crew\n---", "# draft\n---\nlabel: crew\n---",
        f"---\nnote: {'x' * 17_000}\nlabel: crew\n---", f"---\nlabel: {'crew' * 16}\n---",
        "+++\nlabels = [crew]\n+++", "+++\nlabel.crew = true\n+++", "title: Ferry\nlabels: crew\n",
        "Title: Ferry\nFrom: Bo Lie\nLabel: crew\nLabel: pilots\n",
    ],
)  # fmt: skip
def test_a_document_whose_labels_cannot_be_read_is_refused(tmp_path, above):
    outcome = outcome_of(tmp_path, above)
    assert isinstance(outcome, Refusal)
    assert "`labels: [one, two]`" in outcome.text


@pytest.mark.parametrize(
    "above",
    [
        "Label: Nordic Sound\nArtist: Bo Lie\n", "# Button\n\nlabel: what it shows\n",
        "---\n\nA song.\n\nLabel: Nordic Sound\n\n---\n", "---\nlabels: []\nlabel:\n---",
        "---\nmenu:\n  - label: home\n  - label: away\n---", "---\ntitle: a: b: labels\n---",
    ],
)  # fmt: skip
def test_what_is_no_label_of_a_document_hides_nothing(tmp_path, above):
    assert "labels" not in outcome_of(tmp_path, above).metadata


def test_the_text_of_a_record_has_the_labels_above_it(tmp_path):
    record = {"text": "---\nlabel: crew\n---\nThe ferry sails at noon.", "author": "Bo Lie"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    assert read_one(tmp_path).metadata == {"author": "Bo Lie", "labels": ["crew"]}


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
