"""What people see before and after they correct an edition, and what tables say was rejected."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from flows.commands import gates
from schemas.documents import Document
from schemas.knowledge import Entity, Triple
from schemas.operations import Rejection
from schemas.settings import load_settings
from tasks.refresh import refresh
from tasks.show import show_entity
from tests.copied_home import copied_home
from warehouse.comparison import compare
from warehouse.home import Home

MERGE = ["override", "merge", "Ada Lovelace"]


@pytest.fixture(scope="module")
def refreshed(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the small home and a corpus that it was refreshed from."""
    folder = tmp_path_factory.mktemp("refreshed")
    home = copied_home(small_home, folder / "home")
    (folder / "corpus").mkdir()
    text = "# Alien\n\nAlien was directed by Ridley Scott.\n"
    (folder / "corpus" / "alien.md").write_text(text)
    refresh(Home(home), [str(folder / "corpus")], load_settings(home))
    return folder


@pytest.fixture
def corpus(own_home: Path, refreshed: Path, tmp_path: Path) -> Iterator[Path]:
    """The documents of the home, to be changed."""
    shutil.rmtree(own_home)
    copied_home(refreshed / "home", own_home)
    source = refreshed / "corpus"  # the journal knows it by this path
    kept = shutil.copytree(source, tmp_path / "kept")
    yield source
    shutil.rmtree(source)
    shutil.copytree(kept, source)


def test_a_merge_shows_both_entities_and_warns_of_different_kinds(own_home, almanac):
    code, out, err = almanac(own_home, *MERGE, "London")
    assert code == 0
    assert "Ada Lovelace (person, " in out and "London (place, " in out
    assert "facts" in out and "Ada Lovelace | born in | London" in out and "--name" in out
    assert err.startswith("Warning:") and "person" in err and "place" in err
    # What the corpus calls by no kind is no other kind.
    entities = Home(own_home).editions.current().table(Entity).to_pylist()
    unknown = next(row["entity_id"] for row in entities if row["kind"] == "unknown")
    for other in ("Charles Babbage", unknown):
        code, _, err = almanac(own_home, *MERGE, other)
        assert (code, err) == (0, "")


def test_a_merge_counts_facts_as_the_page_shows_them(own_home, almanac):
    page = show_entity(Home(own_home).editions.current(), "Ada Lovelace")
    facts = len(page.facts) + len(page.facts_as_tail)
    assert f"goes: {facts} facts" in almanac.shown(own_home, *MERGE, "London")


def test_what_nothing_can_be_split_off_by_is_refused(own_home, almanac):
    split = ["override", "split", "Ada Lovelace"]
    error = almanac.refused(own_home, *split, "Quibbleton")
    assert "no name of this entity, whose names are: Ada Lovelace." in error
    documents = Home(own_home).editions.current().table(Document)["document_id"]
    for by in (documents[0].as_py(), "ada lovelace"):
        almanac.shown(own_home, *split, by)


def test_a_rejected_fact_is_listed_in_words_also_when_it_is_gone(own_home, corpus, almanac):
    triples = Home(own_home).editions.current().table(Triple).to_pylist()
    wrong = next(row for row in triples if row["head"] == "Alien")
    almanac.shown(own_home, "override", "reject", wrong["triple_id"])
    for _ in range(2):
        listed = almanac.shown(own_home, "override", "list")
        assert "Alien | directed by | Ridley Scott" in " ".join(listed.split())
        refresh(Home(own_home), [str(corpus)], load_settings(own_home))
    left = Home(own_home).editions.current().table(Triple)["triple_id"].to_pylist()
    assert wrong["triple_id"] not in left


def test_the_user_chooses_the_name_that_stays(own_home, corpus, almanac):
    name = ["--name", "Ada and Charles"]
    stays = almanac.json(own_home, *MERGE, "Charles Babbage", *name)["object"]
    refresh(Home(own_home), [str(corpus)], load_settings(own_home))
    for query in (
        "select entity_id from entities where name = 'Ada and Charles'",
        "select entity_id from aliases where alias = 'Ada and Charles'",
        "select distinct head_id as entity_id from triples where head = 'Ada and Charles'",
    ):
        assert almanac.rows(own_home, query) == [{"entity_id": stays}]
    assert almanac(own_home, "override", "merge", "Thames", "London", "--name", " ")[0] == 2


def test_a_rejected_triple_is_no_statement_either(own_home, corpus, almanac):
    text = "# Nora Field\n\nNora Field was born in Ulm. She founded the Harbour Works in 1911.\n"
    (corpus / "nora.md").write_text(f"{text}\nNora Field died in Cork.\n")

    def rows(query: str) -> list[dict[str, str]]:
        refresh(Home(own_home), [str(corpus)], load_settings(own_home))
        return almanac.rows(own_home, query)

    for fact in rows("select triple_id from triples where tail = 'Ulm' or head = 'Harbour Works'"):
        almanac.shown(own_home, "override", "reject", fact["triple_id"])
    stated = rows("select object from statements where subject_name = 'Nora Field'")
    assert stated == [{"object": "Cork"}]


def test_an_answer_tells_what_other_texts_say(own_home, corpus, almanac):
    for name, town in (("one.md", "Ulm"), ("two.md", "Riga")):
        (corpus / name).write_text(f"Nora Field was born in {town}. Nora Field died in Cork.\n")
    refresh(Home(own_home), [str(corpus)], load_settings(own_home))
    first, *_, last = almanac.shown(own_home, "ask", "Where was Nora Field born?").splitlines()
    other = "Riga (two.md)" if first.startswith("Ulm") else "Ulm (one.md)"
    assert last == f"  Other texts say: {other}; see the table conflicts."
    answer = almanac.json(own_home, "ask", "Where was Nora Field born?")
    assert len(answer["answers"]) == 1
    assert "Other texts" not in almanac.shown(own_home, "ask", "Where did Nora Field die?")


def test_an_answer_about_one_of_two_namesakes_tells_of_the_other(own_home, corpus, almanac):
    for name, town, works in (
        ("one.md", "Ulm", "Harbour Works"),
        ("two.md", "Riga", "Larch Press"),
    ):
        text = f"Nora Field was born in {town}. Nora Field founded {works}.\n"
        (corpus / name).write_text(text)
    (corpus / "map.md").write_text("Ulm, Swabia has a tower.\n")
    (corpus / "three.md").write_text(
        "Nora Field was born in Swabia. Nora Field joined Tarn Club.\n"
    )
    refresh(Home(own_home), [str(corpus)], load_settings(own_home))
    found = almanac.rows(own_home, "select documents from entities where name = 'Nora Field'")
    assert sorted(row["documents"] for row in found) == [1, 2]
    shown = almanac.shown(own_home, "ask", "Which town was Nora Field born in?")
    assert ("Riga" in shown.splitlines()[0]) != ("  Another Nora Field: Riga (two.md)" in shown)
    assert "  Another Nora Field: " in shown
    answer = almanac.json(own_home, "ask", "Which town was Nora Field born in?")
    places = {"Ulm": "one.md", "Swabia": "three.md", "Riga": "two.md"}
    elsewhere = {"Ulm", "Swabia"} if answer["answer"] == "Riga" else {"Riga"}
    namesakes = {(one["value"], one["name"], one["uri"]) for one in answer["namesakes"]}
    assert namesakes == {(value, "Nora Field", places[value]) for value in elsewhere}
    assert elsewhere <= set(answer["others"])


def test_a_diff_shows_a_renamed_document_by_its_names(own_home, corpus):
    (corpus / "alien.md").rename(corpus / "film.md")
    refresh(Home(own_home), [str(corpus)], load_settings(own_home))
    documents, *_ = compare(*Home(own_home).editions.all()[-2:])
    assert documents.changed == ["alien.md: “alien.md” -> “film.md”"]
    assert documents.added == documents.gone == []


def test_a_diff_tells_a_renamed_entity_from_a_new_one(own_home, corpus, almanac):
    almanac(own_home, *MERGE, "Charles Babbage", "--name", "The Two Engineers")
    refresh(Home(own_home), [str(corpus)], load_settings(own_home))
    tables = {d.table: d for d in compare(*Home(own_home).editions.all()[-2:], 100)}
    renamed = "Charles Babbage, renamed: “Charles Babbage, person” -> “The Two Engineers, person”"
    assert renamed in tables["entities"].changed
    differing = [*tables["triples"].gone, *tables["triples"].changed, *tables["descriptions"].gone]
    assert not [fact for fact in differing if "Babbage" in fact]


def test_a_diff_shows_old_and_new_values_in_words(own_home, corpus, almanac):
    (corpus / "alien.md").write_text("# Alien\n\nAlien was directed by Walter Hill.\n")
    refresh(Home(own_home), [str(corpus)], load_settings(own_home))
    shown = almanac.shown(own_home, "editions", "diff")
    assert "Alien | directed by: “Ridley Scott” -> “Walter Hill”" in shown
    assert "alien.md: “# Alien" in shown and "Walter Hill.”" in shown
    *_, before, after = Home(own_home).editions.all()
    tables = {d.table: d for d in compare(before, after, 100)}
    assert (tables["triples"].changed_in_all, tables["documents"].changed_in_all) == (1, 1)
    assert tables["documents"].added == tables["documents"].gone == []


def test_a_share_is_shown_as_a_percentage():
    assert gates._shown("fetched", 1.0) == "100.0%"
    assert gates._shown("fetched", 0.125) == "12.5%"
    assert gates._shown("fetched", None) is None
    assert gates._shown("seeds", 200) == 200


def test_a_rejection_has_a_code_and_says_what_and_where(own_home, corpus, almanac):
    home = Home(own_home)
    (corpus / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    refresh(home, [str(corpus)], load_settings(own_home))
    query = "select reason, detail from rejections where item_id = 'broken.pdf'"
    [row] = almanac.rows(own_home, query)
    assert row["reason"] == "bad_format"
    assert row["detail"].startswith(f"broken.pdf in {corpus}: ")


def test_rejections_of_older_versions_are_read(own_home, almanac, monkeypatch):
    row = {"run_id": "r", "stage": "read", "item_id": "old", "reason": "empty", "text": "It."}
    table = Rejection.to_table([{**row, "rejected_at": datetime.now(UTC)}])
    with monkeypatch.context() as older:
        without = staticmethod(lambda rows: rows.drop_columns(["detail"]))
        older.setattr(Rejection, "cast", without)
        Home(own_home).live.append({Rejection: table})
    [part] = [Home(own_home).live.path(p) for p in Home(own_home).live.parts(Rejection)][-1:]
    assert "detail" not in pq.read_schema(part).names
    query = "select reason, detail from rejections where item_id = 'old'"
    assert almanac.rows(own_home, query) == [{"reason": "empty", "detail": None}]
    assert Home(own_home).live.table(Rejection)["detail"].null_count >= 1


def test_a_correction_has_clean_words(own_home, almanac):
    named = almanac.json(
        own_home, *MERGE, "London", "--name", "Lo\u202e\x07ndon\tTown", "--reason", "a\nb"
    )
    assert (named["name"], named["reason"]) == ("London Town", "a b")
