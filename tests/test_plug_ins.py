"""Plug-ins: a package that imports from `almanac` alone adds readers, engines and formats."""

import re

import pytest

from schemas.errors import AlmanacError, UsageError
from schemas.knowledge import Triple
from schemas.plug_ins import plug_in, plug_ins
from schemas.settings import EngineSettings, Settings
from tasks.export.export import export
from tasks.extract.batches import load_engine
from tasks.import_graph import import_graph
from tasks.refresh import refresh
from tests import toy_package
from tests.documents import write_texts

SETTINGS = Settings(workers=1, engine=EngineSettings(encoder="none"))


@pytest.fixture(autouse=True)
def toys(tmp_path_factory, monkeypatch):
    """The package is installed while a test runs."""
    folder = tmp_path_factory.mktemp("site")
    toy_package.install(folder)
    monkeypatch.syspath_prepend(str(folder))
    plug_ins.cache_clear()
    yield folder
    plug_ins.cache_clear()


def test_a_plug_in_needs_nothing_of_ours_but_almanac():
    imported = re.findall(r"^(?:from|import) (\S+)", toy_package.MODULE, re.MULTILINE)
    assert imported == ["almanac"]


def test_a_reader_of_an_ending_and_one_of_addresses_bring_documents(home, tmp_path):
    texts = write_texts(tmp_path / "texts", {"a.shout": "Ada Lovelace ran.\nBob sang.\n"})
    first = refresh(home, [str(texts), "notes://here/diary"], SETTINGS)
    assert first.counts["inputs"]["ingested"] == 4
    documents = home.editions.current().connect().execute("select uri, title from documents")
    titles = {"a.shout#1": "Shout 1", "a.shout#2": "Shout 2", "diary#monday": "monday",
              "diary#friday": "friday"}  # fmt: skip
    assert dict(documents.fetchall()) == titles
    again = refresh(home, [str(texts), "notes://here/diary"], SETTINGS)
    assert again.counts["inputs"]["unchanged"] == 2 and not again.published


def test_an_engine_extracts_in_place_of_the_rules(home, tmp_path):
    texts = write_texts(tmp_path / "texts", {"a.md": "Ada Lovelace was there.\n"})
    changes = {"extractor": "toy", "speaker": "Acme", "encoder": "none"}
    refresh(home, [str(texts)], Settings(workers=1, engine=EngineSettings(**changes)))
    [fact] = home.editions.current().table(Triple).to_pylist()
    assert (fact["head"], fact["relation"], fact["tail"]) == ("Ada Lovelace", "knows", "Acme")


def test_a_graph_in_a_plug_ins_format_is_imported(home, tmp_path):
    source = write_texts(tmp_path / "graph", {"g.words": "Ada knows Bob\nBob knows Ada\n"})
    import_graph(home, source / "g.words", SETTINGS, name="friends", format="words")
    facts = home.editions.current().table(Triple).to_pylist()
    assert {(fact["head"], fact["tail"]) for fact in facts} == {
        ("Ada Lovelace", "Bob"),
        ("Bob", "Ada Lovelace"),
    }


def test_an_exporter_writes_where_it_is_told(small_home, almanac, tmp_path):
    out = tmp_path / "names.txt"
    almanac.json(small_home, "export", "--format", "names", "--out", str(out))
    assert "Ada Lovelace" in out.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["broken", "missing", "gone"])
def test_a_broken_exporter_is_named_with_its_package(small_home, almanac, tmp_path, name):
    code, _, said = almanac(small_home, "export", "--format", name, "--out", str(tmp_path / "out"))
    assert code == 1
    assert said.startswith(f"The plug-in '{name}' (almanac.exporters) of the package toy-box")
    assert not list(tmp_path.iterdir())


def test_a_broken_reader_is_told_and_deletes_nothing(home, tmp_path):
    texts = write_texts(tmp_path / "texts", {"a.md": "Ada Lovelace was there.\n"})
    report = refresh(home, [str(texts), "lost://toys"], SETTINGS)
    assert report.published
    told = "The plug-in 'lost' (almanac.readers) of the package toy-box failed (LookupError"
    assert any(told in note for note in report.notes)


def test_broken_engines_and_formats_are_named(home, tmp_path):
    with pytest.raises(AlmanacError, match="'broken' .almanac.engines. of the package toy-box"):
        load_engine(EngineSettings(extractor="broken"))
    careless = load_engine(EngineSettings(extractor="careless"))
    with pytest.raises(AlmanacError, match="'careless'.*failed .ValidationError"):
        list(careless.extract([{"passage_id": "p1", "text": ""}]))
    with pytest.raises(UsageError, match="No plug-in extracts as 'none'.*toy"):
        load_engine(EngineSettings(extractor="none"))
    graph = write_texts(tmp_path / "graph", {"g.txt": "a b c\n"}) / "g.txt"
    with pytest.raises(AlmanacError, match="'broken' .almanac.graph_formats."):
        import_graph(home, graph, SETTINGS, name="x", format="broken")
    with pytest.raises(UsageError, match="is no format.*words"):
        import_graph(home, graph, SETTINGS, name="x", format="other")


def test_two_plug_ins_of_one_name_are_refused(toys, small_home, tmp_path):
    (toys / "toy_box-1.0.dist-info").rename(toys / "kept")
    for name in ("one", "two"):
        about = toys / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text("[almanac.exporters]\nxy = toy_plug_ins:broken\n")
    plug_ins.cache_clear()
    with pytest.raises(AlmanacError, match="uninstall one of them.*package (one|two)"):
        plug_in("almanac.exporters", "xy")


def test_our_own_formats_come_first(toys, small_home, tmp_path):
    from warehouse.home import Home

    points = toys / "toy_box-1.0.dist-info" / "entry_points.txt"
    points.write_text("[almanac.exporters]\nnt = toy_plug_ins:broken\n", encoding="utf-8")
    plug_ins.cache_clear()
    edition = Home(small_home).editions.current()
    export(edition, "nt", tmp_path / "out.nt", spill=tmp_path / "spill")
    assert (tmp_path / "out.nt").stat().st_size > 0
