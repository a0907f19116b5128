"""`almanac show`, `search`, `sources` and `completion`: what people look things up with."""

from pathlib import Path

import pytest

from flows.__main__ import main
from schemas.documents import Document
from schemas.errors import HeldError, UsageError
from schemas.settings import EngineSettings, Settings, load_settings
from tasks.refresh import refresh
from tasks.show import show_entity
from tasks.sources import list_sources
from tasks.text.english_words import counted
from tests.current_edition import current
from tests.documents import write_texts
from warehouse.home import Home


def page_of(home: Path, name: str, **options: str):  # type: ignore[no-untyped-def]
    edition = current(home)
    return show_entity(edition, name, **options)


def test_a_page_has_names_facts_and_sources(small_home):
    page = page_of(small_home, "Charles Babbage")
    assert page.name == "Charles Babbage"
    assert page.kind == "person"
    places = {(row["relation"], row["tail"]): row["uri"] for row in page.facts}
    assert places["born in", "London"] == "babbage.md"
    assert any(row["head"] == "Analytical Engine" for row in page.facts_as_tail)
    assert all(row["uri"] for row in page.descriptions)


def test_a_page_has_likely_statements_that_are_no_facts_of_it(own_home, almanac):
    text = "Charles Babbage often quarrelled with street musicians near his house in Marylebone."
    almanac.shown(own_home, "remember", text)
    page = page_of(own_home, "Charles Babbage")
    stated = [row["statement"] for row in page.statements]
    assert any("quarrelled with street musicians" in words for words in stated)
    assert not any("born in London" in words for words in stated)
    assert all(row["confidence"] >= 0.5 and row["document_id"] for row in page.statements)


def test_an_entity_is_found_by_id_and_in_any_case(small_home):
    page = page_of(small_home, "charles babbage")
    assert page_of(small_home, page.entity_id) == page


@pytest.mark.parametrize(
    "name", [" charles  babbage\n", "“Charles Babbage”", "Charles Babbage's", "Ｃharles Ｂabbage"]
)
def test_an_entity_is_found_in_any_spelling_of_its_name(small_home, name):
    assert page_of(small_home, name) == page_of(small_home, "Charles Babbage")


@pytest.mark.parametrize("name", ["Charles Babbage (ship)", "Charles Babbag"])
def test_a_name_that_is_only_similar_is_not_taken(small_home, name):
    with pytest.raises(UsageError, match="Similar names: Charles Babbage"):
        page_of(small_home, name)


@pytest.mark.parametrize("path", ["babbage.md", "/texts/babbage.md"])
def test_the_path_of_a_document_leads_to_what_it_names(small_home, path):
    with pytest.raises(UsageError, match="is a document, which names above all: .*Babbage"):
        page_of(small_home, path)


@pytest.mark.parametrize("name", ["Nobody At All", "'; drop table entities; --", "", "\0"])
def test_an_unknown_name_is_told_in_plain_words(small_home, name):
    with pytest.raises(UsageError, match="No entity has the name or the id"):
        page_of(small_home, name)


@pytest.mark.parametrize(
    ("name", "graph", "words"),
    [
        ("ada lovelac", None, "Similar names: Ada Lovelace"),
        ("Quibbleton", None, r"'Quibbleton'\. `almanac search`"),
        ("Ada Lovelac", "corpus", "Similar names: Ada Lovelace"),
        ("Ada Lovelace", "moons", "There is no graph 'moons'. The graphs: corpus."),
    ],
)
def test_similar_names_are_offered(name, graph, words, small_home):
    with pytest.raises(UsageError, match=words):
        page_of(small_home, name, graph=graph)


def test_namesakes_are_told_apart_by_what_they_are(tmp_path, almanac):
    for name, what in (("north", "a river in Norland"), ("south", "a village in Southmark")):
        (tmp_path / f"{name}.md").write_text(f"# Orrin ({what.split()[1]})\n\nOrrin is {what}.\n")
    home = tmp_path / "home"
    almanac.shown(home, "refresh", str(tmp_path), "--no-vectors")
    with pytest.raises(UsageError, match="2 entities have the name 'Orrin'") as error:
        page_of(home, "Orrin")
    assert "river in Norland" in str(error.value) and "village in Southmark" in str(error.value)


def test_show_prints_one_json_object(small_home, almanac):
    page = almanac.json(small_home, "show", "鲁迅")
    assert page["name"] == "鲁迅"
    assert any("绍兴" in row["tail"] for row in page["facts"])


def test_a_name_of_several_words_needs_no_quotes(small_home, almanac):
    assert almanac.json(small_home, "show", "Ada", "Lovelace")["name"] == "Ada Lovelace"


def test_one_thing_is_counted_in_the_singular():
    assert [counted(n, "document") for n in (1, 2)] == ["1 document", "2 documents"]
    assert counted(1, "fact is", "facts are") == "1 fact is"
    assert counted(1200, "fact is", "facts are") == "1,200 facts are"


def test_show_says_how_many_facts_it_leaves_out(small_home, almanac, monkeypatch):
    from flows.commands import show

    monkeypatch.setattr(show, "SHOWN", 1)
    assert "more (--all)" in almanac.shown(small_home, "show", "Charles Babbage")
    assert "more (--all)" not in almanac.shown(small_home, "show", "Charles Babbage", "--all")


def test_search_finds_passages_with_their_place(small_home, almanac):
    hits = almanac.json(small_home, "search", "mechanical", "computer")
    assert (hits[0]["kind"], hits[0]["uri"]) == ("passage", "engine.md")
    assert {hit["kind"] for hit in hits} - {"passage"} <= {"description", "aspect"}
    assert all(hit["uri"] for hit in hits)


def test_search_that_finds_nothing_says_so(small_home, almanac):
    shown = almanac.shown(small_home, "search", "xylophone")
    assert "Nothing in the edition matches" in shown


def test_sources_are_listed_and_removed(own_home, tmp_path, almanac, monkeypatch):
    oslo = "# Oslo\n\nOslo is the capital of Norway.\n"
    more = write_texts(tmp_path / "more", {"oslo.md": oslo})
    home = Home(own_home)
    refresh(home, [str(more)], load_settings(own_home))
    first, second = list_sources(Home(own_home))
    assert {first["documents"], second["documents"]} == {9, 1}

    monkeypatch.chdir(tmp_path)
    removed = almanac.json(own_home, "sources", "remove", "more")
    assert removed["counts"]["inputs"] == {"removed": 1}
    home = Home(own_home)
    [left] = list_sources(home)
    assert left["source"] == max(first, second, key=lambda row: row["documents"])["source"]
    edition = current(home)
    assert "oslo.md" not in edition.table(Document)["uri"].to_pylist()

    # What was removed can be read again.
    refresh(home, [str(more)], load_settings(own_home))
    assert len(list_sources(Home(own_home))) == 2


def test_files_with_one_text_are_one_document_of_their_source(home, tmp_path):
    texts = {f"town-{n}.md": f"# Town {n}\n\nTown {n} lies on the Rhine.\n" for n in range(3)}
    folder = write_texts(tmp_path / "texts", texts | {"copy.md": texts["town-0.md"]})
    careful = Settings.model_validate(
        {"engine": {"encoder": "none"}, "workers": 1, "publish": {"free_deletions": 0}}
    )
    refresh(home, [str(folder)], careful)
    [row] = list_sources(home)
    assert (row["files"], row["documents"]) == (4, 3)
    assert current(home).rows(Document) == 3
    (folder / "copy.md").unlink()
    (folder / "town-1.md").unlink()
    with pytest.raises(HeldError, match="^1 of 3 documents"):
        refresh(home, [str(folder)], careful)


def test_a_refused_file_that_is_gone_is_not_counted(home, tmp_path):
    plain = Settings(engine=EngineSettings(encoder="none"), workers=1)
    files = {"oslo.md": "Oslo is the capital of Norway.\n", "empty.md": ""}
    folder = write_texts(tmp_path / "texts", files)
    refresh(home, [str(folder)], plain)
    assert [row["refused"] for row in list_sources(home)] == [1]
    (folder / "empty.md").unlink()
    refresh(home, [str(folder)], plain)
    assert [row["refused"] for row in list_sources(home)] == [0]


def test_an_unknown_source_is_a_wrong_call(small_home, almanac):
    error = almanac.refused(small_home, "sources", "remove", "elsewhere")
    assert "There is no source 'elsewhere'" in error


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_commands_and_options(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "calibrate-gate" in script
    assert "max-delete" in script
