"""The main job end to end: what a refresh reads, keeps, publishes, and leaves alone."""

import json
import os
import shutil
from pathlib import Path

import pytest

import schemas
from flows.commands.ask import answer_in_words
from flows.home import edition_of
from schemas.errors import AlmanacError, BusyError, HeldError, NotFoundError
from schemas.observations import Content, Extraction, Read
from schemas.operations import Rejection, Run
from schemas.settings import EngineSettings, PublishSettings, ReadSettings, Settings
from tasks.ask.asker import Asker
from tasks.refresh import refresh
from tests.copied_home import copied_home
from tests.documents import make_pdf, write_texts
from warehouse.home import Home
from warehouse.journal import Journal
from warehouse.lease import lease
from warehouse.live import latest, record
from warehouse.overrides import make_override

NO_ENCODER = EngineSettings(encoder="none")
SETTINGS = Settings(engine=NO_ENCODER, workers=1)
TEXTS = {
    "curie.md": """# Marie Curie

Marie Curie was a physicist and chemist. She was born in Warsaw in 1867. Marie Curie discovered
polonium with Pierre Curie.

## Later life

In 1911 she received the Nobel Prize in Chemistry. Marie Curie died on 4 July 1934.
""",
    "warsaw.md": "# Warsaw\n\nWarsaw is the capital of Poland. It lies on the Vistula.\n",
    "polonium.md": "# Polonium\n\nPolonium is a chemical element. "
    "It was discovered by Marie Curie in 1898.\n",
    "zh.md": "# 长江\n\n长江是中国最长的河流。长江全长约6300公里，发源于青藏高原。\n",
}

ALL_MAY_GO = PublishSettings(max_delete=1.0)


@pytest.fixture
def source(tmp_path) -> Path:
    return write_texts(tmp_path / "corpus", TEXTS)


@pytest.fixture(scope="session")
def published(tmp_path_factory) -> Path:
    """A home with one edition of the four texts, to be copied by tests that change it."""
    corpus = write_texts(tmp_path_factory.mktemp("published") / "corpus", TEXTS)
    refresh(Home(corpus.parent / "home"), [str(corpus)], SETTINGS)
    return corpus.parent


@pytest.fixture
def again(published, tmp_path, monkeypatch) -> tuple[Home, Path]:
    """The published home in its place, restored after the test."""
    kept = copied_home(published, tmp_path / "kept")
    yield Home(published / "home"), published / "corpus"
    shutil.rmtree(published)
    copied_home(kept, published)


def rows(home: Home, row: type[schemas.Row]) -> list[dict]:
    return home.editions.current().table(row).to_pylist()


def triples(home: Home) -> set[tuple[str, str, str]]:
    return {(t["head"], t["relation"], t["tail"]) for t in rows(home, schemas.Triple)}


def test_a_folder_becomes_a_published_edition(home, source):
    run = refresh(home, [str(source)], SETTINGS)
    assert (run.outcome, run.published) == ("done", True)
    titles = {d["title"] for d in rows(home, schemas.Document)}
    assert titles == {"Marie Curie", "Warsaw", "Polonium", "长江"}
    assert any(h == "Marie Curie" and "Warsaw" in t for h, _, t in triples(home))
    assert run.counts["inputs"]["ingested"] == 4


def test_every_fact_stands_where_it_says(published):
    home = Home(published / "home")
    texts = {d["document_id"]: d["text"] for d in rows(home, schemas.Document)}
    passages = {(p["document_id"], p["passage_id"]): p for p in rows(home, schemas.Passage)}
    for p in passages.values():
        assert texts[p["document_id"]][p["span_start"] : p["span_end"]] == p["text"]
    mentions = rows(home, schemas.Mention)
    assert mentions
    for m in mentions:
        passage = passages[m["document_id"], m["passage_id"]]
        assert passage["span_start"] <= m["span_start"] < m["span_end"] <= passage["span_end"]
    described = rows(home, schemas.Description)
    assert described
    for d in described:
        stretch = texts[d["document_id"]][d["span_start"] : d["span_end"]]
        assert set(d["text"].split()) <= set(stretch.split()) | {d["entity"]}


def test_entities_recur_across_documents_and_every_fact_has_its_entity(published):
    home = Home(published / "home")
    entities = {e["entity_id"]: e for e in rows(home, schemas.Entity)}
    curie = [e for e in entities.values() if e["name"] == "Marie Curie"]
    assert [e["documents"] for e in curie] == [2]
    for t in rows(home, schemas.Triple):
        assert entities[t["head_id"]]["name"] == t["head"]
        assert t["tail_id"] is None or entities[t["tail_id"]]["name"] == t["tail"]


def test_a_small_home_is_derived_as_a_large_one(again, monkeypatch):
    home, corpus = again
    monkeypatch.setattr("warehouse.derivation.FEW_ROWS", 0)  # now with all optimizers
    monkeypatch.setattr("warehouse.editions.Editions.is_result_of", lambda *_: False)
    assert refresh(home, [str(corpus)], SETTINGS).outcome == "unchanged"


def test_a_second_refresh_of_an_unchanged_corpus_does_nothing_and_publishes_nothing(again):
    home, source = again
    before, extracted = home.editions.current().id, len(home.journal.table(Extraction))
    run = refresh(home, [str(source)], SETTINGS)
    assert run.outcome == "unchanged"
    assert run.counts["inputs"]["unchanged_files"] == 4
    assert run.counts["extraction"]["passages"] == 0
    assert home.editions.current().id == before
    assert len(home.journal.table(Extraction)) == extracted


def test_a_touched_file_is_read_again_but_changes_nothing(again):
    home, source = again
    before = home.editions.current().id
    (source / "warsaw.md").touch()
    run = refresh(home, [str(source)], SETTINGS)
    assert run.counts["inputs"]["unchanged"] == 1
    assert home.editions.current().id == before


def test_a_changed_document_extracts_only_its_changed_passages(again):
    home, source = again
    text = TEXTS["curie.md"].replace("4 July 1934", "4 July 1935")
    (source / "curie.md").write_text(text, encoding="utf-8")
    run = refresh(home, [str(source)], SETTINGS)
    assert run.counts["extraction"]["passages"] == 1
    now = triples(home)
    assert any("1935" in tail for _, _, tail in now)
    assert not any("1934" in tail for _, _, tail in now)
    changes = rows(home, schemas.Change)
    assert ("changed", "document") in {(c["kind"], c["fact_kind"]) for c in changes}
    assert all(c["cause"] == "document" for c in changes)


def test_a_deleted_documents_facts_are_gone_and_its_entities_keep_their_ids(again):
    home, source = again
    before = {e["name"]: e["entity_id"] for e in rows(home, schemas.Entity)}
    (source / "polonium.md").unlink()
    run = refresh(home, [str(source)], SETTINGS)
    assert run.counts["inputs"]["removed"] == 1
    assert len(rows(home, schemas.Document)) == 3
    uris = {d["document_id"] for d in rows(home, schemas.Document)}
    assert {m["document_id"] for m in rows(home, schemas.Mention)} <= uris
    after = {e["name"]: e["entity_id"] for e in rows(home, schemas.Entity)}
    assert after["Marie Curie"] == before["Marie Curie"]


def test_a_renamed_file_is_moved(again):
    home, source = again
    (source / "warsaw.md").rename(source / "renamed.md")
    inputs = refresh(home, [str(source)], SETTINGS).counts["inputs"]
    assert (inputs["moved"], inputs["removed"], inputs.get("duplicate", 0)) == (1, 0, 0)
    changed = [row for row in rows(home, schemas.Change) if row["fact_kind"] == "document"]
    assert [(row["kind"], row["text"]) for row in changed] == [("moved", "renamed.md")]


def test_a_vanished_source_deletes_nothing_and_one_that_never_was_is_a_mistake(again):
    home, source = again
    shutil.rmtree(source)
    with pytest.raises(AlmanacError, match="nothing was deleted") as vanished:
        refresh(home, [str(source)], SETTINGS)
    with pytest.raises(NotFoundError, match="No such file"):
        refresh(home, [str(source / "other")], SETTINGS)
    assert vanished.value.exit_code == 1
    assert len(rows(home, schemas.Document)) == 4


def test_an_incomplete_listing_deletes_nothing(again, monkeypatch):
    from tasks.ingest import ingest

    home, source = again
    (source / "polonium.md").unlink()
    real = ingest.scan

    def failing(*given):
        listing = real(*given)
        return type(listing)(listing.source, listing.items, False, "the share broke off")

    monkeypatch.setattr(ingest, "scan", failing)
    run = refresh(home, [str(source)], SETTINGS)
    assert len(rows(home, schemas.Document)) == 4
    assert any("broke off" in note for note in run.notes)


def test_a_refresh_that_would_delete_too_much_stops_before_it_writes(home, tmp_path):
    towns = {f"{n}.txt": f"Town {n}\n\nTown {n} lies on river {n * 7}.\n" for n in range(15)}
    source = write_texts(tmp_path / "many", towns)
    refresh(home, [str(source)], SETTINGS)
    for n in range(12):
        (source / f"{n}.txt").unlink()
    position = home.journal.position
    with pytest.raises(HeldError, match="12 of 15 documents"):
        refresh(home, [str(source)], SETTINGS)
    assert home.journal.position == position
    assert len(rows(home, schemas.Document)) == 15
    refresh(home, [str(source)], SETTINGS.model_copy(update={"publish": ALL_MAY_GO}))
    assert len(rows(home, schemas.Document)) == 3


def test_a_pattern_that_never_matched_is_a_mistake_one_that_did_is_emptied(home, tmp_path):
    pattern = str(tmp_path / "*.md")
    with pytest.raises(NotFoundError, match=r"Nothing matches .*\*\.md, so nothing was read"):
        refresh(home, [pattern], SETTINGS)
    (tmp_path / "oslo.md").write_text("# Oslo\n\nOslo lies in Norway.\n")
    refresh(home, [pattern], SETTINGS)
    (tmp_path / "oslo.md").unlink()
    assert refresh(home, [pattern], SETTINGS).counts["inputs"]["removed"] == 1
    assert refresh(home, [pattern], SETTINGS).outcome == "unchanged"


def test_an_empty_folder_is_no_mistake_but_is_told(home, tmp_path):
    (tmp_path / "[new] texts").mkdir()
    run = refresh(home, [str(tmp_path / "[new] texts")], SETTINGS)
    assert run.counts["inputs"]["files"] == 0
    assert run.notes == [f"{tmp_path / '[new] texts'} holds no files to read"]


def test_a_run_says_what_it_refused_and_where_all_of_it_stands(home, tmp_path):
    table = "name\nOsel\n"
    write_texts(tmp_path, {"towns.csv": table, "rivers.csv": table, "empty.txt": ""})
    run = refresh(home, [str(tmp_path / "*.csv"), str(tmp_path / "empty.txt")], SETTINGS)
    columns, empty, where = run.notes
    assert columns.startswith("2 refused as no_text_column, such as rivers.csv: It has no column")
    assert empty == "1 refused as empty, such as empty.txt: It holds no words"
    assert f"from rejections where run_id = '{run.run_id}'" in where


def test_a_document_ends_no_run_whatever_it_makes_a_library_raise(home, tmp_path, monkeypatch):
    def break_down(*_, **__):
        raise RecursionError

    corpus = write_texts(tmp_path / "towns", {"osel.md": "Osel is a town."})
    with monkeypatch.context() as patch:
        patch.setattr("tasks.ingest.formats.read.title_of_text", break_down)
        run = refresh(home, [str(corpus)], SETTINGS)
    assert run.notes[0].endswith("osel.md: Its reader failed (RecursionError)")
    again = SETTINGS.model_copy(update={"read": ReadSettings(charset="gb18030")})
    with monkeypatch.context() as patch:
        patch.setattr("tasks.refresh.split", break_down)
        run = refresh(home, [str(corpus)], again)
    assert run.notes[0].startswith("'Osel' was not split: RecursionError")
    assert refresh(home, [str(corpus)], again).counts["passages"]["new"] == 1


def test_a_refused_file_is_read_again_once_the_settings_for_reading_change(home, tmp_path):
    (tmp_path / "rules.txt").write_bytes("海滨公司成立于2009年。".encode("gb18030"))
    inputs = refresh(home, [str(tmp_path / "*.txt")], SETTINGS).counts["inputs"]
    again = refresh(home, [str(tmp_path / "*.txt")], SETTINGS).counts["inputs"]
    assert (inputs["refused"], again["unchanged_files"]) == (1, 1)
    named = SETTINGS.model_copy(update={"read": ReadSettings(charset="gb18030")})
    inputs = refresh(home, [str(tmp_path / "*.txt")], named).counts["inputs"]
    assert inputs["ingested"] == 1


def test_every_input_ends_in_exactly_one_outcome_and_refusals_say_why(home, source):
    (source / "copy.md").write_text(TEXTS["warsaw.md"], encoding="utf-8")
    (source / "empty.txt").write_bytes(b"")
    (source / "picture.txt").write_bytes(bytes(range(256)) * 50)
    run = refresh(home, [str(source)], SETTINGS)
    inputs = run.counts["inputs"]
    assert (inputs["ingested"], inputs["duplicate"], inputs["refused"]) == (4, 1, 2)
    assert len(home.journal.table(Read)) == inputs["files"] == 7
    assert {r["reason"] for r in latest(home.live, Rejection).to_pylist()} == {"empty", "binary"}
    stored = [d for d in rows(home, schemas.Document) if d["title"] == "Warsaw"]
    assert [len(d["duplicates"]) for d in stored] == [1]


def test_when_the_first_of_two_duplicates_goes_the_other_stands_in(home, source):
    (source / "a-copy.md").write_text(TEXTS["warsaw.md"], encoding="utf-8")
    refresh(home, [str(source)], SETTINGS)
    (source / "a-copy.md").unlink()
    run = refresh(home, [str(source)], SETTINGS)
    assert run.counts["extraction"]["passages"] == 0
    left = [d["uri"] for d in rows(home, schemas.Document) if d["title"] == "Warsaw"]
    assert left == ["warsaw.md"]


def test_files_of_the_same_bytes_are_one_document_whatever_their_names(home, tmp_path):
    town = "Warsaw is the capital of Poland. It lies on the Vistula."
    lines = '{"text": "Marie Curie was born in Warsaw."}\n' * 2
    folder = write_texts(
        tmp_path / "corpus",
        {"warsaw.txt": town, "zz.txt": town, "people.jsonl": lines, "same.jsonl": lines},
    )
    run = refresh(home, [str(folder)], SETTINGS)
    assert run.counts["inputs"]["duplicate"] == 3
    stored = {d["uri"]: d for d in rows(home, schemas.Document)}
    assert stored.keys() == {"people.jsonl#1", "people.jsonl#2", "warsaw.txt"}
    assert stored["warsaw.txt"]["title"] == "Warsaw"
    assert stored["warsaw.txt"]["duplicates"] == ["zz.txt"]
    assert stored["people.jsonl#2"]["duplicates"] == ["same.jsonl#2"]
    assert run.counts["extraction"]["passages"] == 3  # nothing is extracted twice

    (folder / "warsaw.txt").unlink()
    refresh(home, [str(folder)], SETTINGS)
    stored = {d["uri"]: d for d in rows(home, schemas.Document)}
    assert stored["zz.txt"]["title"] == "Zz"
    assert stored["zz.txt"]["duplicates"] == []


def test_passages_and_evidence_of_a_pdf_know_their_page(home, tmp_path):
    folder = write_texts(tmp_path / "corpus", {"b.md": "Warsaw is the capital of Poland."})
    pages = [["Paris is the capital of France."], [], ["Marie Curie was born in Warsaw."]]
    (folder / "a.pdf").write_bytes(make_pdf(*pages))
    refresh(home, [str(folder)], Settings(read=ReadSettings(passage_tokens=7), engine=NO_ENCODER))
    assert {p["text"]: p["page"] for p in rows(home, schemas.Passage)} == {
        "Paris is the capital of France.": 1,
        "Marie Curie was born in Warsaw.": 3,
        "Warsaw is the capital of Poland.": None,
    }
    with Asker(home, home.editions.current(), SETTINGS) as asker:
        answer = asker.answer("Where was Marie Curie born?")
    assert (answer.answer, answer.evidence[0].page) == ("Warsaw", 3)
    assert "  — a.pdf, page 3" in answer_in_words(answer)


@pytest.mark.parametrize("workers", [1, 2])
def test_homes_fed_alike_hold_the_same_wherever_extraction_runs(
    published, workers, tmp_path, capfd
):
    from tasks.worker_pool import PoolOfWorkers

    home, source = Home(published / "home"), published / "corpus"
    other, settings = Home(tmp_path / "other"), SETTINGS.model_copy(update={"workers": workers})
    pool = PoolOfWorkers(workers) if workers > 1 else None
    refresh(other, [str(source)], settings, each=pool)
    assert not capfd.readouterr().err  # no worker complains at its end
    for row in (schemas.Triple, schemas.Description, schemas.Aspect, schemas.Alias):
        assert rows(home, row) == rows(other, row)
    ids = [[entity["entity_id"] for entity in rows(h, schemas.Entity)] for h in (home, other)]
    assert ids[0] == ids[1]


def test_what_is_refreshed_later_keeps_what_came_earlier(again, tmp_path):
    home, _ = again
    more = tmp_path / "more.txt"
    more.write_text("Vistula\n\nThe Vistula is a river in Poland.\n")
    refresh(home, [str(more)], SETTINGS)
    assert len(rows(home, schemas.Document)) == 5


def test_overrides_hold_in_every_later_edition(again):
    home, source = again
    wrong = rows(home, schemas.Triple)[0]["triple_id"]
    override = make_override(home, home.editions.current(), "reject", wrong, reason="not so")
    refresh(home, [str(source)], SETTINGS)
    assert wrong not in {t["triple_id"] for t in rows(home, schemas.Triple)}
    changes = [c for c in rows(home, schemas.Change) if c["fact_kind"] == "triple"]
    listed = [(c["fact_id"], c["kind"], c["cause"]) for c in changes]
    assert listed == [(wrong, "gone", "override")]
    make_override(home, home.editions.current(), "withdraw", override.override_id)
    refresh(home, [str(source)], SETTINGS)
    assert wrong in {t["triple_id"] for t in rows(home, schemas.Triple)}


def test_a_rejected_statement_is_left_out(again):
    home, source = again
    texts = {d["document_id"]: d["text"] for d in rows(home, schemas.Document)}
    known = rows(home, schemas.Statement)
    for row in known:
        text = texts[row["document_id"]][row["span_start"] : row["span_end"]]
        assert row["subject"].split()[0] in text
    wrong = known[0]["statement_id"]
    make_override(home, home.editions.current(), "reject", wrong, reason="not so")
    refresh(home, [str(source)], SETTINGS)
    left = {row["statement_id"] for row in rows(home, schemas.Statement)}
    assert left == {row["statement_id"] for row in known} - {wrong}


def test_an_excluded_run_is_as_if_it_had_not_been(again):
    home, source = again
    good = triples(home)
    (source / "warsaw.md").write_text("# Warsaw\n\nWarsaw is the capital of Atlantis.\n")
    bad = refresh(home, [str(source)], SETTINGS)
    assert triples(home) != good
    make_override(home, home.editions.current(), "exclude", bad.run_id)
    refresh(home, [str(source)], SETTINGS)
    assert triples(home) == good


def test_a_hold_keeps_the_next_refresh_from_publishing(again):
    home, source = again
    first = home.editions.current()
    home.editions.roll_back(first, hold="checking")
    (source / "warsaw.md").write_text("# Warsaw\n\nWarsaw is a city.\n")
    with pytest.raises(HeldError, match="held since .*: checking"):
        refresh(home, [str(source)], SETTINGS)
    assert home.editions.current().id == first.id
    assert [home.editions.state(e) for e in home.editions.all()] == ["current", "candidate"]
    home.editions.release()
    refresh(home, [str(source)], SETTINGS)
    assert home.editions.current().sequence > first.sequence


def test_a_text_that_two_new_sources_hold_is_kept_once(home, tmp_path):
    note = {"note.md": "# Ostwick\n\nOstwick is a harbour town.\n"}
    folders = [str(write_texts(tmp_path / name, note)) for name in ("one", "two")]
    inputs = refresh(home, folders, SETTINGS).counts["inputs"]
    assert (inputs["ingested"], inputs["duplicate"]) == (1, 1)
    assert len(home.journal.table(Content)) == 1


def test_while_publishing_is_held_candidates_do_not_pile_up(again):
    home, source = again
    home.editions.roll_back(home.editions.current(), hold="checking")
    settings = Settings(engine=NO_ENCODER, publish=PublishSettings(keep_editions=1, keep_days=0))
    for population in (100, 200, 300):
        (source / "warsaw.md").write_text(f"# Warsaw\n\nWarsaw has {population} houses.\n")
        with pytest.raises(HeldError):
            refresh(home, [str(source)], settings)
    assert [home.editions.state(e) for e in home.editions.all()] == ["current", "candidate"]


def test_while_publishing_is_held_a_candidate_is_built_once(again):
    home, source = again
    first = home.editions.current()
    (source / "warsaw.md").write_text("# Warsaw\n\nWarsaw is a city.\n")
    refresh(home, [str(source)], SETTINGS)
    home.editions.roll_back(first, hold="checking")

    def candidates():
        with pytest.raises(HeldError):
            refresh(home, [str(source)], SETTINGS)
        return [e for e in home.editions.all() if home.editions.state(e) == "candidate"]

    [candidate] = candidates()
    assert candidates() == [candidate]
    os.utime(source / "warsaw.md")  # read again, and the same
    assert candidates() == [candidate]
    (source / "polonium.md").write_text("# Polonium\n\nPolonium is a metal.\n")
    assert len(candidates()) == 2  # as the texts differ
    newest = candidates()[-1]
    newest.parquet(schemas.Triple).write_bytes(b"broken")
    assert len(candidates()) == 3
    home.editions.release()
    report = refresh(home, [str(source)], SETTINGS)
    assert report.published and len(home.editions.all()) == 5
    assert report.edition == home.editions.current().id == home.editions.all()[-1].id


def test_golden_questions_guard_publishing(home, source):
    home.path.mkdir(parents=True)
    (home.path / "golden-questions.jsonl").write_text(
        '{"question": "What is the capital of Mars?", "answers": ["Utopia"]}\n'
    )
    with pytest.raises(HeldError, match="golden question"):
        refresh(home, [str(source)], SETTINGS)
    with pytest.raises(HeldError, match="--edition 000001"):  # the first has none to differ from
        refresh(home, [str(source)], SETTINGS)
    assert home.editions.current() is None
    pytest.raises(AlmanacError, edition_of, home, None).match("editions publish 000001")


def test_a_refresh_meets_another_ones_lease(home, source):
    with lease(home.path, "the-other"), pytest.raises(BusyError, match="the-other"):
        refresh(home, [str(source)], SETTINGS)


def test_a_refresh_reads_no_row_of_a_run_but_the_last(again, monkeypatch):
    home, source = again
    refresh(home, [str(source)], SETTINGS)
    read, whole = [], Journal.part_table
    monkeypatch.setattr(
        Journal, "part_table", lambda self, row, part: read.append(row) or whole(self, row, part)
    )
    refresh(home, [str(source)], SETTINGS)
    assert read.count(Run) == 1


def test_a_run_that_died_is_closed_by_the_next(again):
    home, source = again
    dead = {**latest(home.live, Run).to_pylist()[0], "run_id": "dead", "outcome": "running"}
    record(home.live, Run(**dead))
    refresh(home, [str(source)], SETTINGS)
    outcomes = {r["run_id"]: r["outcome"] for r in latest(home.live, Run).to_pylist()}
    assert outcomes.pop("dead") == "died"
    assert set(outcomes.values()) == {"done", "unchanged"}
    assert json.loads(dead["counts"])["inputs"]["ingested"] == 4
