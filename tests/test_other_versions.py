"""Homes that another version of the program made: an older one, or one that is yet to come."""

import json
from pathlib import Path

import pytest

import almanac as python
from schemas.errors import AlmanacError
from schemas.observations import ContainerRead
from tests.documents import write_texts
from warehouse import durable
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.manifest import describe

OLDER = "An older version of Almanac made edition"
NEWER = "A newer version of Almanac made"


@pytest.fixture
def older_home(own_home: Path, tmp_path: Path, almanac) -> Path:
    """A home with a graph whose current edition is laid out as before indexes had parts."""
    graph = write_texts(tmp_path / "graph", {"moons.tsv": "Phobos\torbits\tMars\n"})
    almanac.shown(own_home, "import-graph", str(graph / "moons.tsv"), "--name", "moons")
    edition = Home(own_home).editions.current()
    assert edition
    for path in (*edition.path.glob("search/search.json"), *edition.path.glob("**/import.json")):
        about = json.loads(path.read_text())
        assert about.pop("parts", None) or about.pop("derivation")
        path.write_text(json.dumps(about))
    for path in edition.path.rglob("parts.json"):
        path.unlink()
    reseal(edition, 1)
    return own_home


def reseal(edition: Edition, version: int) -> None:
    manifest = edition.path / "manifest.json"
    manifest.unlink()
    facts = {**edition.manifest, **describe(edition.path, {}), "schema_version": version}
    durable.write_sealed_json(manifest, {k: v for k, v in facts.items() if k != "checksum"})


def test_an_edition_of_an_older_version_says_so_and_a_refresh_makes_another(older_home, almanac):
    for call in (["ask", "Where was Ada Lovelace born?"], ["search", "engine"], ["serve"]):
        code, out, err = almanac(older_home, *call)
        assert (code, out, len(err.splitlines())) == (1, "", 1) and err.startswith(OLDER), call
    with python.open(older_home) as kb:
        for ask in (kb.ask, kb.search):
            with pytest.raises(AlmanacError, match=OLDER):
                ask("engine")
        assert kb.sql("select head from triples where graph = 'moons'").num_rows == 1
    code, out, _ = almanac(older_home, "doctor")
    assert code == 1 and f"{OLDER} 000003" in out
    source = almanac.json(older_home, "sources")[0]["source"]
    almanac.shown(older_home, "refresh", source)
    found = almanac.json(older_home, "ask", "What does Phobos orbit?", "--graph", "moons")
    assert found["answer"] == "Mars" and found["edition"].startswith("000004")
    assert almanac.json(older_home, "search", "engine")
    assert almanac(older_home, "search", "x", "--edition", "000003")[2].startswith(OLDER)


def test_a_file_that_an_older_version_refused_is_read_again(own_home, almanac):
    source = almanac.json(own_home, "sources")[0]["source"]
    assert almanac.json(own_home, "refresh", source)["counts"]["inputs"]["unchanged_files"] == 10
    journal = Home(own_home).journal
    rows = [row for row in journal.table(ContainerRead).to_pylist() if "binary" in row["container"]]
    fingerprint = rows[-1]["fingerprint"].partition(" refused under ")[0]
    assert fingerprint != rows[-1]["fingerprint"]
    older = ContainerRead.to_table([rows[-1] | {"fingerprint": fingerprint}])
    journal.append({ContainerRead: older})
    inputs = [almanac.json(own_home, "refresh", source)["counts"]["inputs"] for _ in range(2)]
    assert [(one["unchanged_files"], one.get("refused", 0)) for one in inputs] == [(9, 1), (10, 0)]


def test_what_a_newer_version_made_is_neither_read_nor_called_damaged(own_home, almanac):
    edition = Home(own_home).editions.current()
    assert edition
    reseal(edition, edition.manifest["schema_version"] + 1)
    for call in (["sql", "select 1"], ["ask", "Who?"], ["editions", "prune"], ["refresh", "x"]):
        code, _, err = almanac(own_home, *call)
        assert code == 1 and err.startswith(f"{NEWER} edition {edition.id}"), call


def test_a_journal_of_a_newer_version_is_left_as_it_is(own_home, monkeypatch, almanac):
    monkeypatch.setattr("warehouse.journal.SCHEMA_VERSION", 2)
    almanac.shown(own_home, "override", "merge", "Ada Lovelace", "Charles Babbage")
    monkeypatch.undo()
    code, _, err = almanac(own_home, "override", "list")
    assert code == 1 and err.startswith(f"{NEWER} files of {own_home / 'journal'}")
