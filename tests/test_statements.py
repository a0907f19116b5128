"""Statements: clauses in their own words, when and where, how they are meant, and who says so."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import schemas
from schemas.observations import Extraction, StatementMention, TripleMention
from tasks.extract.batches import journal_rows
from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.rules.statements import statement_rows
from tasks.extract.rules.tree import Tree
from tests.case_tables import cases, cases_of_facts
from tests.passages import ENGINE, passage, read, stated
from warehouse import sql_worker
from warehouse.asserted import create_asserted
from warehouse.editions import DUCKDB_FILE, Edition


def statements(text: str) -> list[dict[str, Any]]:
    return read(text).statements


def of(text: str, predicate: str) -> dict[str, Any]:
    return next(s for s in statements(text) if s["predicate"] == predicate)


def test_a_clause_becomes_a_statement_with_time_and_place():
    (found,) = statements("Jane Smith met Bob Jones in Paris on 3 May 1990.")
    assert found["subject"] == found["subject_name"] == "Jane Smith"
    assert (found["predicate"], found["object"], found["arguments"]) == ("met", "Bob Jones", [])
    assert (found["time"], found["place"]) == ("on 3 May 1990", "in Paris")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("The firm sold cars from 1982 to 1984.", "from 1982 to 1984"),
        ("The firm sold cars every year.", "every year"),
        ("The firm sold cars after it left Rome.", "after it left Rome"),
        ("The firm sold cars three times.", ""),
        ("The firm sold cars in the 2013 campaign.", ""),
        ("The firm sold 300 cars.", ""),
    ],
)
def test_times_are_told_from_other_complements(text: str, time: str):
    (found,) = [s for s in statements(text) if s["predicate"] == "sold"]
    assert found["time"] == time


def test_what_is_neither_time_nor_place_is_an_argument():
    (found,) = statements("Jane Smith travelled from Rome to Paris in 1990.")
    assert (found["predicate"], found["object"]) == ("travelled from", "Rome")
    assert (found["arguments"], found["time"]) == (["to Paris"], "in 1990")


def test_a_bracketed_word_after_an_article_is_part_of_its_sentence():
    (found,) = statements("Jane Smith wrote the `[tide]` part of the book [4].")
    assert found["object"] == "the [tide] part of the book"


def test_a_comma_after_an_aside_follows_the_word_before_the_aside():
    (found,) = statements("The shop sells a wide range of lamps (old and new), ropes and sails.")
    assert found["object"] == "a wide range of lamps, ropes and sails"


def test_words_before_a_preposition_stay_before_it():
    (_, found) = statements("Open the gate just as it does in the guide.")
    assert found["arguments"] == ["just as it does in the guide"]
    (found,) = statements("The ship arrived shortly after the storm.")
    assert (found["predicate"], found["object"]) == ("arrived shortly after", "the storm")


def test_what_the_predicate_ends_with_may_be_the_place():
    (found,) = statements("Jane Smith was born in Paris.")
    assert (found["predicate"], found["object"]) == ("was born in", "Paris")
    assert (found["place"], found["arguments"]) == ("in Paris", [])


def test_the_wording_stays_and_the_name_stands_beside_it():
    first, second = statements("Jane Smith moved to Rome. She founded a school.")
    assert (first["subject"], second["subject"]) == ("Jane Smith", "She")
    assert second["subject_name"] == "Jane Smith"


TOLD_BY = cases_of_facts("""
# what there is; what an order says; each member of a list
There is a waiting period for tenants. | There | is | a waiting period for tenants
Please book your flight through the portal. | you | book | your flight
If it rains, close the roof. | you | close | the roof
The shop sells ropes and anchors. | The shop | sells | ropes
The shop sells ropes and anchors. | The shop | sells | anchors
# noun phrases: a title, an owner
The physicist Jane Smith left Rome. | Jane Smith | is | physicist
The museum showed Jane Smith's letters. | Jane Smith | has | letters
# what the parser hangs on a part of a noun is the noun's
Gauge is an open-source analytics and visualization platform used to watch data. | Gauge | is
  | an open-source analytics and visualization platform used to watch data
# what is said of a participle's noun does not repeat the participle
We joined a seminar hosted by the guild. | a seminar | is hosted by | the guild
# what is said of a predicate noun is said of the subject
The form is a paper signed by the owner. | The form | is signed by | the owner
The book was written and drawn by Ann. | The book | was written by | Ann
# a contracted verb is spelled out
We’ve shared a barn since May. | We | have shared | a barn
It's been closed by the guild. | It | has been closed by | the guild
# how much is done belongs to the verb
# what has a subject of its own is not predicated of another
The barn is old and it’s open to anyone. | The barn | is | old
# an owner belongs to the noun after it
The Board agrees millbank’s Reward Philosophy. | The Board | agrees | millbank’s Reward Philosophy
""")


@pytest.mark.parametrize(("text", "fact"), TOLD_BY)
def test_clauses_orders_lists_and_noun_phrases_make_statements(
    text: str, fact: tuple[str, str, str]
):
    assert fact in stated(read(text))


def test_an_age_is_one_phrase_beside_the_place():
    died = of("Anna Reed died aged 69 in Oldtown in 1915.", "died in")
    assert (died["object"], died["arguments"]) == ("Oldtown", ["aged 69"])


def test_a_form_of_address_is_no_fact():
    assert [s["predicate"] for s in statements("Mrs Reed met Dr. Gale.")] == ["met"]


def test_an_owner_is_not_that_of_another_phrase():
    assert not [s for s in statements("Add Reed's to the old plates.") if s["subject"] == "Reed"]


def test_a_genitive_within_a_name_owns_nothing():
    found = read("Prince's Quay arcade was opened in 1991.")
    assert {(s["subject"], s["predicate"]) for s in found.statements} == {
        ("Prince's Quay arcade", "was opened in")
    }
    assert not [t for t in found.triples if "of Prince" in t["head"]]


def test_an_order_is_required_of_the_reader():
    order = of("Never use tabs in files.", "Never use")
    assert (order["modality"], order["polarity"]) == ("required", "negative")
    assert of("Visitors often use tabs.", "often use")["subject"] == "Visitors"


def test_what_follows_the_last_member_of_a_list_may_belong_to_all():
    (sold,) = [s for s in statements("The shop sells ropes and sails of hemp.")]
    assert sold["object"] == "ropes and sails of hemp"


def test_of_things_that_or_joins_a_statement_holds_them_all():
    assert of("Anna Gale works with Redis or Kafka.", "works with")["object"] == "Redis or Kafka"


MEANT = [
    ("The firm bought a ship.", "bought", "positive", "asserted"),
    ("The firm did not buy a ship.", "did not buy", "negative", "asserted"),
    ("No employee bought shares.", "bought", "negative", "asserted"),
    ("There isn’t a lift in the tower.", "isn’t", "negative", "asserted"),
    ("There is not a lift in the tower.", "is not", "negative", "asserted"),
    ("Anna Reed wished to found a chapel in 1366.", "found", "positive", "intended"),
    ("The firm failed to pay its debts.", "failed to pay", "negative", "asserted"),
    ("The firm stopped selling cars.", "stopped selling", "negative", "asserted"),
    ("The firm stopped to sell cars.", "stopped to sell", "positive", "asserted"),
    ("The firm sold its cars at no loss.", "sold", "positive", "asserted"),
    ("By no means did Mara Lind sell the house.", "did sell", "negative", "asserted"),
    ("The firm came to nothing.", "came to", "negative", "asserted"),
    ("The firm runs Mill No. 7 in Oslo.", "runs", "positive", "asserted"),
    ("No, the firm went to court.", "went to", "positive", "asserted"),
    ("The firm filed to sell its shares.", "filed to sell", "positive", "intended"),
    ("The firm planned to sell its shares.", "planned to sell", "positive", "intended"),
    ("The firm was expected to win.", "was expected to win", "positive", "supposed"),
    ("The firm would develop a phone.", "would develop", "positive", "supposed"),
    ("The drug may cause headaches.", "may cause", "positive", "possible"),
    ("Employees must wear a badge.", "must wear", "positive", "required"),
    ("Employees must not wear a badge.", "must not wear", "negative", "required"),
    ("The firm has to pay taxes.", "has to pay", "positive", "required"),
    ("The firm will open a shop.", "will open", "positive", "future"),
    ("Smith believes that the firm sells cars.", "sells", "positive", "supposed"),
    ("If the firm sells cars, customers pay taxes.", "sells", "positive", "supposed"),
    ("Customers pay taxes if the firm sells cars.", "pay", "positive", "conditional"),
    ("When the firm sells cars, customers pay taxes.", "sells", "positive", "supposed"),
    ("Customers pay taxes when the firm sells cars.", "pay", "positive", "conditional"),
    ("Customers paid taxes when the firm sold cars.", "sold", "positive", "asserted"),
    ("Should the firm sell cars, customers pay taxes.", "Should sell", "positive", "supposed"),
    ("In case the firm sells cars, customers pay taxes.", "sells", "positive", "supposed"),
    ("In cases where the firm sells cars, customers pay.", "sells", "positive", "supposed"),
    ("In this example, the firm sells cars.", "sells", "positive", "supposed"),
    ("The nurse asks if the patient takes pills.", "asks", "positive", "asserted"),
    ("Does the firm sell cars?", "Does sell", "positive", "asked"),
    ("Smith said that the firm sold cars.", "said", "positive", "asserted"),
    ("Smith said that the firm sold cars.", "sold", "positive", "reported"),
    ("The firm began to sell cars.", "began to sell", "positive", "asserted"),
]


@pytest.mark.parametrize(("text", "predicate", "polarity", "modality"), MEANT)
def test_what_is_not_plainly_asserted_is_told_apart(
    text: str, predicate: str, polarity: str, modality: str
):
    found = of(text, predicate)
    assert (found["polarity"], found["modality"]) == (polarity, modality)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Jane Smith said that the firm sold cars.", "Jane Smith"),
        ("According to the mayor, the firm sold cars.", "the mayor"),
        ("The firm sold cars, said Jane Smith.", "Jane Smith"),
        ("The firm sold cars.", ""),
        ("The firm sold cars according to Jane Smith.", "Jane Smith"),
        ("The firm sold cars according to the mayor.", "the mayor"),
        ("The firm sold cars according to the survey.", "the survey"),
        ("The firm sold cars, according to records.", "records"),
        ("The firm sold cars according to their age and size.", ""),
    ],
)
def test_who_says_so_is_kept_apart(text: str, source: str):
    assert of(text, "sold")["attribution"] == source


def test_a_pronoun_is_attributed_to_the_name_it_stands_for():
    found = statements("Jane Smith left. She said that the firm sold cars.")
    assert [s["attribution"] for s in found if s["predicate"] == "sold"] == ["Jane Smith"]


def test_a_statement_is_found_where_its_span_says():
    text = "It rained.\n\nThe firm (founded in 1990) bought\na ship."
    found = of(text, "bought")
    assert text[found["span_start"] : found["span_end"]].startswith("The firm")
    assert text[found["span_start"] : found["span_end"]].endswith("a ship")
    assert found["object"] == "a ship"


def test_an_apposition_to_a_bare_sign_is_no_statement():
    # The heads are those of "- b", whose dash the parser took for what "b" explains.
    tree = Tree(
        text="- b",
        words=["-", "b"],
        lower=["-", "b"],
        lemma=["-", "b"],
        pos=["PUNCT", "NOUN"],
        tag=[":", "NN"],
        dep=["punct", "appos"],
        head=[0, 0],
        start=[0, 2],
        end=[1, 3],
        sentences=[(0, 2)],
        names=[],
    )
    assert not statement_rows(ParsedPassage({}, tree, [], ""), [])


def test_statements_and_how_triples_are_meant_are_journalled():
    row = passage("Aspirin may cause headaches. Ada Lovelace met Charles Babbage.")
    rows = journal_rows(ENGINE.extract([row]), "rules", "v", "run")
    assert rows[StatementMention]["ordinal"].to_pylist() == [0, 1]
    assert rows[Extraction]["statements"].to_pylist() == [2]
    meant = {t["head"]: (t["polarity"], t["modality"]) for t in rows[TripleMention].to_pylist()}
    assert meant == {"Aspirin": ("positive", "possible"), "Ada Lovelace": ("positive", "asserted")}


def test_only_plain_triples_are_asserted():
    blank = dict.fromkeys(schemas.Triple.arrow_schema().names) | {"head": "X"}
    meant = {
        "a": ("positive", "asserted"),
        "b": ("negative", "asserted"),
        "c": ("positive", "intended"),
    }
    rows = [
        blank | {"triple_id": name, "polarity": polarity, "modality": modality}
        for name, (polarity, modality) in meant.items()
    ]
    with duckdb.connect() as con:
        con.register("made", schemas.Triple.to_table(rows))
        con.execute("create table triples as from made")
        create_asserted(con)
        assert con.sql("select triple_id from asserted_triples").fetchall() == [("a",)]


def test_an_edition_without_standings_holds_nothing_but_assertions(tmp_path: Path):
    with duckdb.connect(str(tmp_path / DUCKDB_FILE)) as con:
        con.execute("create table triples as select 'a' as triple_id")
    with Edition(tmp_path, {"edition": "000001-0", "sequence": 1}).connect() as con:
        rows = con.execute("select triple_id, modality from asserted_triples").fetchall()
    assert rows == [("a", "asserted")]
    request = {"database": str(tmp_path / DUCKDB_FILE), "live": {}, "memory_mb": 256, "threads": 1}
    with sql_worker.connect(request) as con:
        assert con.execute("select polarity from asserted_triples").fetchall() == [("positive",)]


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value"),
    cases("""
The timeout defaults to 30 seconds. | The timeout | defaults to | 30 seconds
By default, the server listens on port 9090. | the server | listens on | port 9090
Claims must be made no later than 30 days after the trip. | Claims | must be made
  | no later than 30 days after the trip
Up to 6 % of the salary can be contributed to the fund. | Up to 6 % of the salary
  | can be contributed to | the fund
The API allows up to 500 calls. | The API | allows | up to 500 calls
The number is 0800 123 456. | The number | is | 0800 123 456
The tour takes three and a half days. | The tour | takes | three and a half days
The comet weighs 4.1×10^9 kg. | The comet | weighs | 4.1×10^9 kg
The lamp costs USD 4,200. | The lamp | costs | USD 4,200
The deadline is 1 March 2025. | The deadline | is | 1 March 2025
Lars uses an at-large system. | Lars | uses | an at-large system
7-Eleven operates stores. | 7-Eleven | operates | stores
"""),
)
def test_limits_values_and_words_with_hyphens_are_whole(
    text: str, subject: str, predicate: str, value: str
):
    (found,) = statements(text)
    assert (found["subject"], found["predicate"], found["object"]) == (subject, predicate, value)
    assert found["polarity"] == "positive"


def test_a_place_behind_a_comma_is_where_the_first_lies():
    found = {s["subject"]: s for s in statements("The firm was founded in Austin, Texas, in 2004.")}
    assert (found["Austin"]["predicate"], found["Austin"]["object"]) == ("is in", "Texas")


def test_items_of_a_list_without_a_verb_state_nothing():
    assert statements("1904 - Efficient watch resumption after reboot - v1.24") == []


def test_an_amount_is_the_object_beside_whom_it_costs():
    (row,) = read("The repair of the roof cost the bank £75 million.").statements
    assert (row["object"], row["arguments"]) == ("£75 million", ["the bank"])
