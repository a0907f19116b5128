"""`almanac show`, `search`, `sources` and `completion`: what people look things up with."""

import json
from pathlib import Path

import pytest

from flows.__main__ import main
from schemas.errors import UsageError
from tasks.show import show_entity
from tasks.sources import list_sources
from warehouse.home import Home


def page_of(home: Path, name: str, **options: str):  # type: ignore[no-untyped-def]
    edition = Home(home).editions.current()
    assert edition
    return show_entity(edition, name, **options)


def test_a_page_has_names_facts_and_sources(small_home):
    page = page_of(small_home, "Charles Babbage")
    assert page.name == "Charles Babbage"
    assert page.kind == "person"
    places = {(row["relation"], row["tail"]): row["uri"] for row in page.facts}
    assert places["born in", "London"] == "babbage.md"
    assert any(row["head"] == "Analytical Engine" for row in page.facts_as_tail)
    assert all(row["uri"] for row in page.descriptions)


def test_a_page_has_likely_statements_that_are_no_facts_of_it(own_home):
    text = "Charles Babbage often quarrelled with street musicians near his house in Marylebone."
    assert main(["remember", text, "--home", str(own_home)]) == 0
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


@pytest.mark.parametrize("name", ["Nobody At All", "'; drop table entities; --", "", "\0"])
def test_an_unknown_name_is_told_in_plain_words(small_home, name):
    with pytest.raises(UsageError, match="No entity has the name or the id"):
        page_of(small_home, name)


def test_similar_names_are_offered(small_home):
    edition = Home(small_home).editions.current()
    with pytest.raises(UsageError, match="Similar names: Ada Lovelace"):
        show_entity(edition, "ada lovelac")
    with pytest.raises(UsageError, match=r"'Quibbleton'\. `almanac search`"):
        show_entity(edition, "Quibbleton")
    with pytest.raises(UsageError, match=r"'Ada Lovelac'\. `almanac search`"):
        show_entity(edition, "Ada Lovelac", "moons")


def test_namesakes_are_told_apart_by_what_they_are(tmp_path):
    for name, what in (("north", "a river in Norland"), ("south", "a village in Southmark")):
        (tmp_path / f"{name}.md").write_text(f"# Orrin ({what.split()[1]})\n\nOrrin is {what}.\n")
    home = tmp_path / "home"
    assert main(["refresh", str(tmp_path), "--no-vectors", "--home", str(home)]) == 0
    with pytest.raises(UsageError, match="2 entities have the name 'Orrin'") as error:
        page_of(home, "Orrin")
    assert "river in Norland" in str(error.value) and "village in Southmark" in str(error.value)


def test_show_prints_one_json_object(small_home, capsys):
    assert main(["show", "鲁迅", "--json", "--home", str(small_home)]) == 0
    page = json.loads(capsys.readouterr().out)
    assert page["name"] == "鲁迅"
    assert any("绍兴" in row["tail"] for row in page["facts"])


def test_a_name_of_several_words_needs_no_quotes(small_home, capsys):
    assert main(["show", "Ada", "Lovelace", "--json", "--home", str(small_home)]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "Ada Lovelace"


def test_show_counts_one_document_in_the_singular():
    from flows.commands.show import _counted

    assert [_counted(1, "document"), _counted(2, "document")] == ["1 document", "2 documents"]


def test_show_says_how_many_facts_it_leaves_out(small_home, capsys, monkeypatch):
    from flows.commands import show

    monkeypatch.setattr(show, "SHOWN", 1)
    assert main(["show", "Charles Babbage", "--home", str(small_home)]) == 0
    assert "more (--all)" in capsys.readouterr().out
    assert main(["show", "Charles Babbage", "--all", "--home", str(small_home)]) == 0
    assert "more (--all)" not in capsys.readouterr().out


def test_search_finds_passages_with_their_place(small_home, capsys):
    assert main(["search", "mechanical", "computer", "--json", "--home", str(small_home)]) == 0
    hits = json.loads(capsys.readouterr().out)
    assert hits[0]["kind"] == "passage"
    assert hits[0]["uri"] == "engine.md"
    assert {hit["kind"] for hit in hits} - {"passage"} <= {"description", "aspect"}
    assert all(hit["uri"] for hit in hits)


def test_search_that_finds_nothing_says_so(small_home, capsys):
    assert main(["search", "xylophone", "--home", str(small_home)]) == 0
    assert "Nothing in the edition matches" in capsys.readouterr().out


def test_sources_are_listed_and_removed(own_home, tmp_path, capsys, monkeypatch):
    from schemas.settings import load_settings
    from tasks.refresh import refresh

    more = tmp_path / "more"
    more.mkdir()
    (more / "oslo.md").write_text("# Oslo\n\nOslo is the capital of Norway.\n", encoding="utf-8")
    home = Home(own_home)
    refresh(home, [str(more)], load_settings(own_home))
    first, second = list_sources(Home(own_home))
    assert {first["documents"], second["documents"]} == {9, 1}

    monkeypatch.chdir(tmp_path)
    assert main(["sources", "remove", "more", "--json", "--home", str(own_home)]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["inputs"] == {"removed": 1}
    home = Home(own_home)
    assert [row["source"] for row in list_sources(home)] == [
        row["source"] for row in (first, second) if row["documents"] == 9
    ]
    edition = home.editions.current()
    assert edition
    from schemas.documents import Document

    assert "oslo.md" not in edition.table(Document)["uri"].to_pylist()

    # What was removed can be read again.
    refresh(home, [str(more)], load_settings(own_home))
    assert len(list_sources(Home(own_home))) == 2


def test_a_refused_file_that_is_gone_is_not_counted(tmp_path):
    from schemas.settings import EngineSettings, Settings
    from tasks.refresh import refresh

    plain, home = (
        Settings(engine=EngineSettings(encoder="none"), workers=1),
        Home(tmp_path / "home"),
    )
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "oslo.md").write_text("Oslo is the capital of Norway.\n", encoding="utf-8")
    (folder / "empty.md").write_text("")
    refresh(home, [str(folder)], plain)
    assert [row["refused"] for row in list_sources(home)] == [1]
    (folder / "empty.md").unlink()
    refresh(home, [str(folder)], plain)
    assert [row["refused"] for row in list_sources(home)] == [0]


def test_an_unknown_source_is_a_wrong_call(small_home, capsys):
    assert main(["sources", "remove", "elsewhere", "--home", str(small_home)]) == 2
    assert "There is no source 'elsewhere'" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_commands_and_options(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "calibrate-gate" in script
    assert "max-delete" in script
