"""From what passages state to what an edition says: support, typed tails, conflicts, changes."""

import hashlib
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import duckdb

import schemas
from schemas.observations import (
    Content,
    Extraction,
    NameMention,
    Override,
    Read,
    SplitPassage,
    TripleMention,
)
from schemas.operations import Rejection
from schemas.settings import EngineSettings, Settings
from tasks.extract.extracted import STATED
from tasks.ingest.formats import likeness
from tasks.publish.build import Recipe, build
from tasks.publish.publish import build_edition
from tasks.run import RunReport, Work
from warehouse.home import Home

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RECIPE = Recipe(engine="rules", prompt_sha="p1", splitter="s", encoder=None, min_confidence=0.0)
Stated = tuple[str, str, str, dict[str, Any]]


def born(head: str, tail: str, **more: Any) -> Stated:
    return (head, "born in", tail, {"value_type": "entity", "tail_kind": "place", **more})


def counted(head: str, relation: str, number: float, unit: str, **more: Any) -> Stated:
    typed = {"value_type": "quantity", "number": number, "unit": unit}
    return (head, relation, f"{number:g} {unit}", {**typed, **more})


def dated(head: str, relation: str, date: str, **more: Any) -> Stated:
    return (head, relation, date, {"value_type": "date", "date": date, **more})


def state(
    home: Home,
    title: str,
    *stated: Stated,
    prompt: str = "p1",
    text: str | None = None,
    names: tuple[str, ...] = (),
    engine: str = "rules",
) -> None:
    """Journal a document of one passage that states these triples and has these names."""
    text = text or f"The text of {title}, which is about {title} and nothing else at all."
    identity = likeness.content_id(title, text)
    stamp = {"passage_id": f"passage-{title}", "engine": engine, "prompt_sha": prompt}
    mentions = [
        stamp
        | {"ordinal": n, "head": head, "head_kind": "person", "relation": relation, "tail": tail}
        | {"tail_kind": "", "span_start": n, "span_end": n + 5, "confidence": 0.5, **more}
        for n, (head, relation, tail, more) in enumerate(stated)
    ]
    named = [
        {**stamp, "name": name, "kind": "thing", "span_start": n, "span_end": n + 1}
        for n, name in enumerate(names)
    ]
    read = {
        "source": "corpus", "uri": f"{title}.txt", "container": f"{title}.txt", "version": "",
        "sha256": hashlib.sha256(text.encode()).hexdigest(), "content_id": identity,
        "outcome": "ingested", "sensitivity": "normal",
        "run_id": "run", "scan_id": "scan", "read_at": NOW,
    }  # fmt: skip
    shared = {"content_id": identity, "title": title, "language": "en", "text": text}
    content = shared | {"words": 9, "minhash": likeness.minhash(likeness.tokens_of(text))}
    passage = shared | {
        "splitter": "s", "passage_id": f"passage-{title}", "span_start": 0, "span_end": len(text),
        "subject": "", "headings": "", "blocks": [],
    }  # fmt: skip
    counts = dict.fromkeys(("triples", "descriptions", "aspects", "aliases", "names"), 0)
    tried = {**stamp, **counts, "outcome": "complete", "run_id": "run", "extracted_at": NOW}
    rows: dict[type[schemas.Row], list[dict[str, Any]]] = {
        Read: [read],
        Content: [content],
        SplitPassage: [passage],
        Extraction: [tried],
        TripleMention: mentions,
        NameMention: named,
    }
    home.journal.append({row: row.to_table(made) for row, made in rows.items()})


def built(home: Home, recipe: Recipe = RECIPE) -> schemas.Row | Any:
    edition = build(home, recipe, None, lambda folder: None, lambda stage, done, total: None)
    assert edition is not None
    home.editions.publish(edition)
    return edition


def triples(edition: Any) -> list[dict[str, Any]]:
    return edition.table(schemas.Triple).to_pylist()


def entities_of(edition: Any) -> list[dict[str, Any]]:
    return edition.table(schemas.Entity).to_pylist()


def conflicts(edition: Any) -> set[tuple[str, str]]:
    with duckdb.connect(str(edition.database), read_only=True) as con:
        return set(con.execute("select head, tail from conflicts").fetchall())


def test_a_fact_stated_by_two_documents_is_one_triple_with_support_two(home):
    state(home, "one", born("Ada Lovelace", "London", confidence=0.4))
    state(home, "two", born("Ada Lovelace", "London", confidence=0.9))
    [triple] = triples(built(home))
    assert (triple["support"], triple["mentions"], triple["confidence"]) == (2, 2, 0.9)
    assert triple["passage_id"] == "passage-two"


def test_facts_of_a_title_are_no_mentions_of_its_name(home):
    state(home, "a", born("Ada", "London"), born("Ada", "Paris"), names=("London", "London"))
    entities = entities_of(built(home))
    assert {row["name"]: row["mentions"] for row in entities} == {"Ada": 1, "London": 2, "Paris": 1}


def test_an_entity_is_mentioned_at_least_once_in_each_of_its_documents(home):
    state(home, "a", born("Ada", "London"), text="She was born.", names=("London", "London"))
    state(home, "b", born("Ada", "Paris"), text="She was born later.")
    entities = entities_of(built(home))
    counted = {row["name"]: (row["mentions"], row["documents"]) for row in entities}
    assert counted == {"Ada": (2, 2), "London": (2, 1), "Paris": (1, 1)}


def test_a_word_that_its_document_writes_without_a_capital_is_no_name(home):
    text = "Open Contacts to see your contacts, and the contacts of Grafana. Relay is on."
    state(home, "Tabs", text=text, names=("Contacts", "Grafana", "Relay"))
    entities = entities_of(built(home))
    assert {entity["name"] for entity in entities} == {"Grafana", "Relay"}


def test_near_duplicates_support_a_fact_once(home):
    text = " ".join(f"Note {n} of Ada Lovelace has {n * n} words." for n in range(30))
    state(home, "one", born("Ada Lovelace", "London"), text=text)
    state(home, "two", born("Ada Lovelace", "London"), text=text + " Then she rested.")
    edition = built(home)
    [triple] = triples(edition)
    assert (triple["support"], triple["mentions"]) == (1, 2)
    marked = [d["near_duplicate_of"] for d in edition.table(schemas.Document).to_pylist()]
    assert sorted(m is not None for m in marked) == [False, True]


def test_quantities_are_one_fact_by_number_and_unit_however_written(home):
    _, _, _, typed = length = counted("Danube", "length", 2850, "km")
    state(home, "one", ("Danube", "length", "2,850 km", typed))
    state(home, "two", length)
    [triple] = triples(built(home))
    assert (triple["number"], triple["unit"], triple["tail_id"]) == (2850.0, "km", None)


def test_whom_a_text_calls_the_father_of_a_namesake_is_another(home):
    names = ("Otto Brandl", "Otto Brandl of Ulm")
    more = {"value_type": "entity", "tail_kind": "person"}
    state(home, "a", (names[0], "father of", names[1], more))
    assert {row["name"] for row in entities_of(built(home))} == {*names}


def test_an_entity_related_to_itself_is_no_fact(home):
    state(home, "one", born("London", "London"), born("Ada Lovelace", "London"))
    assert [t["head"] for t in triples(built(home))] == ["Ada Lovelace"]


def test_a_value_names_what_it_is_unless_only_one_is_in_capitals(home):
    open_end = {"value_type": "text", "tail_kind": "unknown"}
    state(home, "one", born("Orva", "LUN"), born("Ada Lovelace", "Sel"))
    state(home, "two", *((f"Ship {n}", "flag", tail, open_end)
                         for n, tail in enumerate(("Lun", "LUN", "sel"))))  # fmt: skip
    found = {t["head"]: (t["tail"], t["value_type"]) for t in triples(built(home))}
    assert found["Ship 0"] == ("Lun", "text")
    assert found["Ship 1"] == ("LUN", "entity")
    assert found["Ship 2"] == ("Sel", "entity")


def test_a_period_stated_once_is_kept(home):
    state(home, "one", ("Ada Lovelace", "chair of", "Guild", {"value_type": "entity"}))
    period = {"value_type": "entity", "valid_from": "1840", "valid_to": "1843"}
    state(home, "two", ("Ada Lovelace", "chair of", "Guild", period))
    [triple] = triples(built(home))
    assert (triple["valid_from"], triple["valid_to"]) == ("1840", "1843")


def test_a_second_period_is_a_fact_of_its_own(home):
    for title, first, last in (
        ("one", "1840", "1843"),
        ("two", "1840-03", None),
        ("three", "1850", None),
    ):
        period = {"value_type": "entity", "valid_from": first, "valid_to": last}
        state(home, title, ("Ada Lovelace", "chair of", "Guild", period))
    found = {(t["valid_from"][:4], t["support"]) for t in triples(built(home))}
    assert found == {("1840", 2), ("1850", 1)}


def test_the_newest_complete_extraction_of_the_chosen_prompt_counts(home):
    state(home, "one", born("Ada Lovelace", "Leeds"), prompt="p0")
    state(home, "one", born("Ada Lovelace", "London"), prompt="p1")
    state(home, "one", born("Ada Lovelace", "Lisbon"), prompt="p2")
    assert [t["tail"] for t in triples(built(home))] == ["London"]


def test_tails_that_cannot_both_be_true_are_a_conflict(home):
    state(home, "one", dated("Ada Lovelace", "born on", "1815-12-10"))
    state(home, "two", dated("Ada Lovelace", "born on", "1816-12-10"))
    assert conflicts(built(home)) == {("Ada Lovelace", f"{year}-12-10") for year in (1815, 1816)}


def test_two_rows_of_one_document_are_no_disagreement_of_sources(home):
    rows = (counted("Danube", "length", length, "km", span_start=length) for length in (28, 99))
    state(home, "one", *rows)
    assert conflicts(built(home)) == set()


def test_a_rougher_date_another_period_and_a_rounded_number_are_no_conflict(home):
    state(home, "one", dated("Ada Lovelace", "born on", "1815-12-10"))
    state(home, "two", dated("Ada Lovelace", "born on", "1815"))
    state(home, "three", counted("Leeds", "population", 1000, "people", valid_to="1900"))
    state(home, "four", counted("Leeds", "population", 9000, "people", valid_from="1950"))
    state(home, "five", counted("Danube", "length", 2850, "km"))
    state(home, "six", counted("Danube", "length", 2857, "km"))
    assert conflicts(built(home)) == set()


def test_places_in_two_scripts_are_a_conflict_only_if_a_language_states_two(home):
    state(home, "one", born("Ada Lovelace", "London"))
    state(home, "two", born("Ada Lovelace", "伦敦"))
    assert conflicts(built(home)) == set()
    state(home, "three", born("Ada Lovelace", "Leeds"))
    assert conflicts(built(home)) == {("Ada Lovelace", town) for town in ("London", "Leeds")}


def test_changes_name_their_cause(home):
    state(home, "one", born("Ada Lovelace", "London"), born("Ada Byron", "Leeds"))
    state(home, "two", born("George Boole", "Lincoln"))
    first = built(home)
    wrong = next(t["triple_id"] for t in triples(first) if t["tail"] == "Leeds")
    row = {"override_id": "o", "action": "reject", "subject": wrong, "made_at": NOW}
    home.journal.append({Override: Override.to_table([row])})
    state(home, "three", born("Mary Somerville", "Jedburgh"))
    changes = [
        (c["kind"], c["text"], c["cause"])
        for c in built(home).table(schemas.Change).to_pylist()
        if c["fact_kind"] == "triple"
    ]
    assert sorted(changes) == [
        ("added", "Mary Somerville | born in | Jedburgh", "document"),
        ("gone", "Ada Byron | born in | Leeds", "override"),
    ]


def test_without_being_read_again_a_document_changes_by_people_or_settings(home):
    state(home, "one", born("Ada Lovelace", "London", confidence=0.4))
    state(home, "two", born("George Boole", "Lincoln", confidence=0.9))
    first = built(home)
    surer = built(home, replace(RECIPE, min_confidence=0.5)).table(schemas.Change).to_pylist()
    assert {(c["fact_kind"], c["cause"]) for c in surer} == {("triple", "code"), ("entity", "code")}
    two = next(t["document_id"] for t in triples(first) if t["tail"] == "Lincoln")
    row = {"override_id": "o", "action": "exclude", "subject": two, "made_at": NOW}
    home.journal.append({Override: Override.to_table([row])})
    without = built(home, replace(RECIPE, min_confidence=0.5)).table(schemas.Change).to_pylist()
    assert {"document", "triple"} <= {change["fact_kind"] for change in without}
    assert {change["cause"] for change in without} == {"override"}


def test_inputs_that_gave_the_same_tables_are_not_built_again(home):
    state(home, "one", born("Ada Lovelace", "London"))
    built(home)
    stages = []
    for _ in range(2):
        other = replace(RECIPE, min_confidence=0.1)
        assert build(home, other, None, lambda folder: None, lambda *at: stages.append(at)) is None
    assert stages == [("build", 1, 4), ("build", 2, 4)]


def test_what_a_kill_left_unpublished_is_taken_and_redirects_name_it(home):
    state(home, "one", born("Ada Lovelace", "London"), born("Ada Byron", "Leeds"))
    ids = {row["name"]: row["entity_id"] for row in entities_of(built(home))}
    row = {"override_id": "o", "action": "merge", "subject": ids["Ada Byron"], "made_at": NOW}
    home.journal.append({Override: Override.to_table([row | {"object": ids["Ada Lovelace"]}])})
    left = build(home, RECIPE, None, lambda folder: None, lambda *at: None)
    again = built(home, replace(RECIPE, min_confidence=0.1))
    [redirect] = again.table(schemas.EntityRedirect).to_pylist()
    assert redirect["since"] == again.id == left.id


def test_the_last_correction_counts_though_the_clock_went_back(home):
    state(home, "one", born("Ada Lovelace", "London"))
    for day, relation in enumerate(("hails from", "raised in")):
        row = {"override_id": f"o{day}", "action": "relation", "subject": "born in"}
        row |= {"object": relation, "made_at": NOW - timedelta(days=day)}
        home.journal.append({Override: Override.to_table([row])})
    assert {t["relation"] for t in triples(built(home))} == {"raised in"}


def test_the_same_journal_gives_the_same_tables_byte_for_byte(home, tmp_path):
    other = Home(tmp_path / "other")
    for each in (home, other):
        state(each, "one", born("Ada Lovelace", "London"), born("George Boole", "Lincoln"))
    tables = [built(each).manifest["tables"] for each in (home, other)]
    assert tables[0] == tables[1]


def test_every_table_of_an_edition_exists_and_has_its_columns(home):
    state(home, "one", born("Ada Lovelace", "London"))
    edition = built(home)
    with duckdb.connect(str(edition.database), read_only=True) as con:
        for row in (*schemas.EDITION, *schemas.VIEWS):
            described = con.execute("select * from " + row.table + " limit 0").description
            assert [column[0] for column in described] == list(row.model_fields)


# -- what a language model states --------------------------------------------------------------

WRITTEN = """
    Lord Ashcombe | spouse | Lady Ashcombe
    Harrow Observatory | founded by | Lord Ashcombe
    Harrow Observatory | first director | Edmund Pryce
    Harrow Observatory | present use | teaching
    Edmund Pryce | first office | converted stable
    Edmund Pryce | date of birth | 1840
    Tarn Prize | awarded by | Tarn Foundation
    Tarn Prize | meaning of name | stillness
    Ilse Marbach | Tarn Prize year | 2004
    Ilse Marbach | second husband | Paul Renner
    Mr. Halloran | last ship | Greta
    Mrs. Halloran | ran | Blue Anchor
    顾兰亭 | 第一任老师 | 陆一峰
    周先生 | 负责 | 财务
    周女士 | 负责 | 销售
"""
LISTED = {"spouse": "married", "date of birth": "born on"}


def written() -> list[tuple[str, ...]]:
    return [tuple(line.strip().split(" | ")) for line in WRITTEN.strip().splitlines()]


def test_an_editions_folder_is_read_without_almanac(home):
    state(home, "One", born("Ada Lowe", "London"), born("Bo Hall", "Rome", polarity="negative"))
    state(home, "Two", born("Ada Lowe", "Paris"))
    folder = built(home).path
    views = {row: duckdb.read_parquet(str(folder / "views" / f"{row.table}.parquet"))
             for row in schemas.VIEWS}  # fmt: skip
    asserted = views[schemas.AssertedTriple].project("head, tail").order("tail").fetchall()
    assert asserted == [("Ada Lowe", "London"), ("Ada Lowe", "Paris")]
    with duckdb.connect(str(folder / "almanac.duckdb"), read_only=True) as con:
        [(tags,)] = con.sql("select tags from duckdb_databases() where not internal").fetchall()
        assert tags["storage_version"].startswith("v1.2.0")
        for row, rows in views.items():
            assert sorted(rows.fetchall()) == sorted(con.table(row.table).fetchall())
    for row in (*schemas.EDITION, *schemas.VIEWS):
        [path] = folder.glob(f"**/{row.table}.parquet")
        pairs = duckdb.sql("select key::varchar, value::varchar from parquet_kv_metadata(?)",
                           params=[str(path)]).fetchall()  # fmt: skip
        comments = {key: value for key, value in pairs if key.startswith("comment.")}
        assert len(comments) == len(row.model_fields) and all(comments.values())


def test_what_a_model_wrote_is_published_under_its_words_and_names(home):
    """Apart from wordings that the vocabulary lists."""
    values = {"teaching", "stillness", "财务", "销售"}
    columns = {
        "1840": {"value_type": "year", "date": "1840"},
        "2004": {"value_type": "year", "date": "2004"},
        **dict.fromkeys(values, {"value_type": "text"}),
    }
    facts = [(*fact, columns.get(fact[2], {"value_type": "entity"})) for fact in written()]
    state(home, "Facts", *facts, engine="openai")
    found = {(row["head"], row["relation"], row["tail"]) for row in triples(built(home))}
    assert found == {(head, LISTED.get(words, words), tail) for head, words, tail in written()}


def test_a_date_that_is_exact_to_the_day_is_also_a_date_of_the_calendar(home):
    stated = ["1931-05-03", "1931-05-03T10:00", "1931-05", "1931", "1931-02-30", "-0044-03-15"]
    state(home, "one", *(dated("Ada Lovelace", f"met {n}", day) for n, day in enumerate(stated)))
    found = {row["relation"]: row["date_exact"] for row in triples(built(home))}
    day = date(1931, 5, 3)
    assert list(found.values()) == [day, day, None, None, None, None]


def test_numbers_of_a_column_are_no_years_because_those_of_one_passage_could_be(home):
    laid_out = {"confidence": STATED}
    rows = [("Orvel", "turnover", f"{n}", {"value_type": "number", "number": n}) for n in (90, 2)]
    rows.append(("Selka", "turnover", "1931", {"value_type": "year", "date": "1931"}))
    rows.append(("Selka", "opened", "1931", {"value_type": "year", "date": "1931"}))
    state(home, "one", *((*row, more | laid_out) for *row, more in rows))
    found = {(t["relation"], t["tail"]): (t["number"], t["date"]) for t in triples(built(home))}
    assert found["turnover", "1931"] == (1931, None)
    assert found["opened", "1931"] == (None, "1931")


def test_a_models_triple_of_a_thing_and_itself_is_a_rejection_recorded_once(home, monkeypatch):
    monkeypatch.setattr("tasks.publish.publish.recipe", lambda *_: RECIPE)
    tail = {"value_type": "entity", "tail_kind": "person"}
    loop = ("Ada Lovelace", "short name", "Lovelace", tail)
    state(home, "one", loop, born("Ada Lovelace", "London"), engine="openai")
    settings = Settings(engine=EngineSettings(encoder="none"))
    for title in ("two", "three"):
        work = Work(home, settings, RunReport(title))
        build_edition(work)
        home.editions.publish(work.candidate)
        state(home, title, born("George Boole", "Lincoln"), engine="openai")
    [rejected] = home.live.table(Rejection).to_pylist()
    assert (rejected["run_id"], rejected["reason"]) == ("two", "same_head_and_tail")
    assert rejected["text"] == "Ada Lovelace | short name | Lovelace"
