"""Whom and what the English rules take for the subject of a fact, and which clauses state none."""

from typing import Any

import pytest

from schemas.settings import EngineSettings
from tasks.extract.rules import RulesEngine
from tasks.extract.rules.layout import lay_out
from tasks.ingest.split import split
from tests.case_tables import cases_of_facts
from tests.passages import facts as facts_of
from tests.passages import read

Facts = set[tuple[str, str, str]]


def facts(text: str, subject: str = "", **settings: Any) -> Facts:
    return facts_of(read(text, subject, engine=RulesEngine(EngineSettings(**settings))))


def periods(text: str) -> dict[str, tuple[str | None, str | None]]:
    return {t["tail"]: (t["valid_from"], t["valid_to"]) for t in read(text).triples}


@pytest.mark.parametrize(
    ("text", "fact"),
    cases_of_facts("""
Jane Smith was elected on 3 May 1990 by senator Bob Jones. | Jane Smith | elected by | Bob Jones
The Fund was created by and for doctors. | Fund | created by | doctors
Acme Corp restored and sold the castle. | Acme Corp | restored | castle
Jane Smith is a music teacher and visual design adviser at the Division of Trade. | Jane Smith
  | visual design adviser at | Division of Trade
Jane Smith is the first point of contact regarding Acme rules. | Jane Smith
  | first point of contact regarding | Acme rules
Bob Jones, who sold Acme Corp, lives in Bern. | Bob Jones | sold | Acme Corp
"""),
)
def test_a_clause_has_the_object_and_the_preposition_that_it_shares(
    text: str, fact: tuple[str, str, str]
):
    assert fact in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Acme Corp expects its sales in India to grow.",  # not: Acme expects sales
        "Acme Corp asked Jane Smith to resign.",
        "The map was drawn by clerks in the Congress who met in Rome.",  # the clerks met
        "Ohio's is the smallest house.",
        "In a rare move, Acme Corp apologised.",
        "The Fund is part of Acme Corp, which is part of Beta Ltd.",
        "Jane Smith was a senator from Ohio and Bob Jones was a governor from Texas before that.",
        "If Acme Corp sells the castle, Bob Jones will resign from it.",
        "It hardly employed Jane Smith.",
    ],
)
def test_what_a_sentence_does_not_say_is_no_fact(text: str):
    heads_and_tails = {
        ("Acme Corp", "sales in India"),
        ("Acme Corp", "Jane Smith"),
        ("Congress", "Rome"),
        ("Ohio", "smallest house"),
        ("Acme Corp", "rare move"),
        ("Acme Corp", "castle"),
        ("Fund", "Beta Ltd"),
        ("Jane Smith", "Texas"),
    }
    assert heads_and_tails.isdisjoint((head, tail) for head, _, tail in facts(text))


def test_a_passive_has_not_the_object_of_the_verb_beside_it():
    found = facts("Otto Lund was certified and sold two mills.")
    assert [relation for _, relation, tail in found if tail == "two mills"] == ["sold"]


def test_what_comes_after_a_relative_clause_is_no_second_subject():
    text = (
        "The Ohio Task Force, which consists of people from the Department of Roads, the Office "
        "of Management and Budget, and others, met in Rome."
    )
    assert {head for head, relation, _ in facts(text) if relation == "consists of"} == {
        "Ohio Task Force"
    }


@pytest.mark.parametrize(
    "dateline",
    [
        "LONDON, May 3 (Reuters) – ",
        "LOS ANGELES — ",
        "SANTA ANA, Calif. (Dec. 4, 2010) - ",
        "May 3, 2019 Contact: Ann Low\nTarn County Court’s Office\n210-555-0134 (office)\n"
        "ann.low@tarn.example\nFor Immediate Release: Economist Joins\nthe Firm\n(Tarn, Ohio) – ",
    ],
)
def test_a_dateline_is_no_part_of_a_report(dateline: str):
    found = facts(f"{dateline}Jane Smith joined Acme Corp in 2019 as its chief economist.")
    assert ("Jane Smith", "joined", "Acme Corp") in found
    assert {head for head, _, _ in found} == {"Jane Smith"}


def test_a_glossary_has_no_datelines():
    text = "TARN — the upper lake of all in Reeve\nFELL — the hill that lies above the lake of Tarn"
    assert lay_out({"text": text, "blocks": None}).prose.text.strip() == text


def test_an_address_below_a_letterhead_is_no_subject():
    found = facts("Tarn County Court\n210-555-0134\nann@tarn.example\nJane Smith lives in Bern.")
    assert found == {("Jane Smith", "lives in", "Bern")}


def test_we_are_the_speaker_that_the_settings_name():
    text = "We use Python. Our office is in Bern. The company was founded in 1990."
    assert not facts(text)
    assert facts(text, speaker="Acme") == {
        ("Acme", "uses", "Python"),
        ("Acme", "office", "Bern"),
        ("Acme", "founded in", "1990"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "“We bought Beta Ltd,” said Jane Smith.",
        "Jane Smith: We bought Beta Ltd.",
        "Beta Ltd is a software company. The company bought Python.",
        "Another company owns Bern. The company bought Python.",
        "The University of Bern grew. The company bought Python.",
    ],
)
def test_others_have_a_we_and_a_company_of_their_own(text: str):
    assert "Acme" not in {head for head, _, _ in facts(text, speaker="Acme")}


def test_you_are_the_audience_or_nobody():
    text = "You must submit a timesheet."
    assert not facts(text)
    assert facts(text, audience="employees") == {("employees", "must submit", "timesheet")}


def test_the_speaker_is_part_of_the_version_of_the_rules():
    versions = {RulesEngine(EngineSettings(speaker=name)).prompt_sha for name in ("", "A", "B")}
    assert len(versions) == 3


def test_chinese_we_are_the_speaker_too():
    text = "我们成立于1994年。本公司总部位于北京。他说：“我们位于上海。”"
    named = RulesEngine(EngineSettings(speaker="海底捞"))
    found = read(text, language="zh", engine=named)
    assert ("海底捞", "成立时间", "1994年") in facts_of(found)
    assert {head for head, _, _ in facts_of(found)} == {"海底捞", "海底捞总部"}
    [founded] = [t for t in found.triples if t["tail"] == "1994年"]
    assert text[founded["span_start"] : founded["span_end"]] == "我们成立于1994年"
    assert not read(text, language="zh").triples


@pytest.mark.parametrize(
    ("text", "fact"),
    cases_of_facts("""
The Eiffel Tower stands in Paris. The tower was built by Gustave Eiffel. | Eiffel Tower | built by
  | Gustave Eiffel
Beta Ltd is a software company. The company moved to Bern. | Beta Ltd | moved to | Bern
"""),
)
def test_a_noun_stands_for_the_one_name_that_it_may_stand_for(
    text: str, fact: tuple[str, str, str]
):
    assert fact in facts(text)
    assert fact not in facts(f"Beta Ltd saw a company and a tower. {text}")
    assert fact not in facts(text.replace(". The ", ". The old "))


def test_a_person_of_long_ago_is_no_he():
    between = "The Fund bought a castle. The Fund sold the castle. The Fund bought a bridge."
    sentence = " He founded a school."
    fact = ("Bob Jones", "founded", "school")
    assert fact in facts(f"Bob Jones was born in Bern.{sentence}")
    assert fact not in facts(f"Bob Jones was born in Bern. {between}{sentence}")


def test_a_time_at_the_beginning_is_no_subject():
    stated = facts("After the war Turing joined the National Physical Laboratory.")
    assert ("Turing", "joined", "National Physical Laboratory") in stated
    assert {head for head, _, _ in stated} == {"Turing"}


def test_it_is_not_the_title_after_a_subject_that_may_be_a_person():
    stated = facts("Kestrel supports sails. It also supports oars.", "Harbour Map")
    assert ("Harbour Map", "supports", "oars") not in stated


@pytest.mark.parametrize("value", ["3 May 1410", "Austin, US", "IT", "Will Brand"])
def test_a_labelled_value_may_hold_a_name_that_is_spelt_like_a_verb(value: str):
    assert ("Acme Mill", "note", value) in facts(f"**Note:** {value}\n", "Acme Mill")


@pytest.mark.parametrize("value", ["it is cold", "We sell nets", "Do not enter"])
def test_a_clause_is_no_labelled_value(value: str):
    assert facts(f"**Note:** {value}\n", "Acme Mill") == set()


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Jane Smith and Bob Jones were born in Bern and Rome, respectively.", set()),
        ("Acme Corp and Beta Ltd respectively acquired Orr Motors and Zeta Mills.", set()),
        (
            "Jane Smith sold Acme Corp and Orr Motors.",
            {("Jane Smith", "sold", "Acme Corp"), ("Jane Smith", "sold", "Orr Motors")},
        ),
    ],
)
def test_what_holds_of_each_respectively_holds_of_no_other(text: str, stated: Facts):
    assert facts(text) == stated


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (
            "Jane Smith worked for Acme Corp and Orr Motors from 1990 to 1995.",
            {"Acme Corp": ("1990", "1995"), "Orr Motors": ("1990", "1995")},
        ),
        ("Jane Smith worked at Acme Corp from 1990 till 1999.", {"Acme Corp": ("1990", "1999")}),
    ],
)
def test_a_stated_period_is_that_of_all_facts_of_its_clause(
    text: str, stated: dict[str, tuple[str | None, str | None]]
):
    assert periods(text) == stated


def test_a_period_that_cannot_be_read_is_not_replaced_by_another():
    text = (
        "Jane Smith was director of Acme Corp until 12 weeks before the war"
        " and chairman of Orr Motors from 1996 to 2001."
    )
    assert periods(text)["Acme Corp"] == (None, None)


@pytest.mark.parametrize(
    "letters", ["", ", MBE", " FRS", ", KC, Ph.D.", ", KCMG, KC", ", CBE, FRS,"]
)
def test_letters_after_a_name_have_no_dates_of_life(letters: str):
    found = facts(f"Jane Smith{letters} (3 May 1920 – 4 June 2001) was a painter in Bern.")
    dates = {fact for fact in found if fact[1] in ("born on", "died on")}
    assert {head.removesuffix(" FRS") for head, _, _ in dates} == {"Jane Smith"}
    assert {tail for _, _, tail in dates} == {"3 May 1920", "4 June 2001"}


@pytest.mark.parametrize("headers", ["Property | Value", "Property | details", " | "])
def test_a_table_of_labels_and_values_is_about_the_subject_of_its_document(headers: str):
    table = f"| {headers} |\n| --- | --- |\n| Founded | 1890 |\n| Note | this is old |\n"
    assert facts(table, "Acme Mill") == {("Acme Mill", "founded", "1890")}


def test_a_header_that_says_what_a_column_holds_makes_its_rows_the_subjects():
    table = "| Mill | Built |\n| --- | --- |\n| Acme Mill | 1890 |\n"
    assert facts(table, "Bern") == {("Acme Mill", "built", "1890")}


@pytest.mark.parametrize("time", ["5:45pm", "17:45", "9 a.m.", "9:00-10:00"])
def test_a_time_of_day_is_no_subject_of_a_row(time: str):
    table = f"| Leaves | Bus 61 |\n| --- | --- |\n| {time} | 7:00pm |\n"
    assert facts(table, "Bern") == set()


def test_it_is_nothing_named_before_another_subject():
    text = "The Harbour Bank sold modems. {} It opened an office in Rome."
    opened = ("Harbour Bank", "opened", "office in Rome")
    assert opened in facts(text.format("The Harbour Bank left Boston."))
    assert opened not in facts(text.format("A rival left Boston."))
    assert opened not in facts(text.format("Note: In those years a rival left Boston."))


@pytest.mark.parametrize(
    "text",
    [
        "- Harbour office:\n  - Phone: 555 0101\n",
        "- Phone: 555 0101\n- Phone: 555 0202\n",
    ],
)
def test_a_value_of_one_of_several_things_is_not_of_the_documents_subject(text: str):
    assert facts("- Phone: 555 0101\n", "Acme Mill") == {("Acme Mill", "phone", "555 0101")}
    assert facts(text, "Acme Mill") == set()


@pytest.mark.parametrize(
    ("heading", "relation"),
    [("Mooring Fees", "mooring fee"), ("Prices", "price"), ("At the pier", "is")],
)
def test_a_heading_says_what_the_values_below_it_are(heading: str, relation: str):
    found = read("- First night: $12.00\n", headings=heading)
    assert facts_of(found) == {("First night", relation, "$12.00")}


def test_he_and_she_may_mean_whom_the_passages_before_name_below_the_same_heading():
    opening = "Ada Smith directs the museum. She has written five books about boats and bridges."
    going_on = "In 1990 she founded the Berg Museum.\n\n## Visitors\n\nLater she left Beta Ltd."
    pieces = split("c", "About", f"{opening} {going_on}", "en", 12)
    found = [facts_of(extracted) for extracted in RulesEngine().extract(pieces)]
    assert ("Ada Smith", "founded", "Berg Museum") in found[2]
    assert not found[3]


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("Eva Holm was the sister of Jon Holm. Bo Dahl valued her advice. She died in Bern.", ""),
        ("Eva Holm wrote plays. She met Bo Dahl. Bo Dahl liked her. She died in Bern.", "Eva Holm"),
        ("Jon Holm was a judge. His wife Eva Dahl taught. He died in Bern.", "Jon Holm"),
        ("Eva Holm was a judge. She had a nephew, Bo Dahl. He died in Bern.", "Bo Dahl"),
        ("Eva Holm, her son and Bo Dahl met. Eva Holm taught. She died in Bern.", "Eva Holm"),
        ("Jon Holm was a judge. Bo Dahl praised him. He died in Bern.", "Bo Dahl"),
    ],
)
def test_he_and_she_mean_nobody_of_whom_another_pronoun_or_a_noun_speaks(text: str, person: str):
    assert {head for head, relation, _ in facts(text) if relation == "died in"} == {person} - {""}


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lund is the director of Red Stone, a mining company.",
        "Ada Lund, the founder of Red Stone, a mining company, lives in Bern.",
        "Ada Lund founded Red Stone, a mining company.",
    ],
)
def test_an_apposition_is_of_the_name_before_it_where_it_can_be_of_no_person(text: str):
    classes = {fact for fact in facts(text) if fact[1] == "is a"}
    assert classes == {("Red Stone", "is a", "mining company")}


@pytest.mark.parametrize(
    "text",
    [
        "Acme Waste, Landfill Site - Ada Lund met Bob Jones.",
        "PUBLIC FORUM (15 MINUTES) The clerk left. Ada Lund met Bob Jones.",
        "**5. Grounds Maintenance** The Berg Trust repaired it. Ada Lund met Bob Jones.",
        "Grounds Maintenance It was agreed to thank Beta Ltd. Ada Lund met Bob Jones.",
    ],
)
def test_a_heading_before_a_sentence_is_no_subject(text: str):
    found = facts(text)
    assert ("Ada Lund", "met", "Bob Jones") in found
    assert {head for head, _, _ in found} <= {"Ada Lund", "Berg Trust"}


@pytest.mark.parametrize(
    ("text", "fact"),
    cases_of_facts("""
Ada Lund is the founder and president of Beta Ltd. | Ada Lund | founder of | Beta Ltd.
Ada Lund is the founder and president of Beta Ltd. | Ada Lund | president of | Beta Ltd.
In 1990, Bob Jones founded Red Stone, a mining company. | Bob Jones | founded Red Stone in | 1990
"""),
)
def test_what_stands_beside_a_noun_keeps_no_fact_from_it(text: str, fact: tuple[str, str, str]):
    assert fact in facts(text)


def test_a_relative_clause_is_of_the_noun_that_its_verb_agrees_with():
    text = "Acme Corp has a deal with the governments of Niger and Benin that includes $7 million."
    assert ("Niger", "governments", "$7 million") not in facts(text)


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("Ada Lund has three decades of trial experience.", {"number of decades"}),
        ("Ada Lund was 16.", set()),
        ("Ada Lund ran, becoming the first woman to serve on the Berg board.", {"became"}),
    ],
)
def test_no_relation_is_made_of_a_number_or_of_what_an_object_does(text: str, relations: set[str]):
    assert {relation for _, relation, _ in facts(text)} == relations


def test_the_spaces_before_an_indented_line_are_no_words():
    text = (
        "- The Berg Museum\n    will  open a new wing in\n    Rome. It\n    could house Acme Corp."
    )
    found = read(text).statements
    assert [(s["subject"], s["predicate"], s["object"]) for s in found] == [
        ("The Berg Museum", "will open", "a new wing in Rome"),
        ("It", "could house", "Acme Corp."),
    ]


@pytest.mark.parametrize(
    ("heading", "text", "fact"),
    [
        ("Tarvold", "Ladder, a native of Bern, whom Otto met.", ("Tarvold", "native of", "Bern")),
        ("Ferry", "Ladder, a native of Bern, whom Otto met.", None),  # of Ferry is not sure
        ("Tarvold", "Rose, a native of Bern, whom Otto met. Otto gave Rose a ring.",
         ("Rose", "native of", "Bern")),
        ("Tarvold", "Flour, a powder from Bern, is sold.", ("Flour", "powder from", "Bern")),
    ],
)  # fmt: skip
def test_a_gloss_below_a_headword_heads_no_fact(heading: str, text: str, fact: tuple | None):
    found = {row for row in facts_of(read(text, headings=heading)) if row[2] == "Bern"}
    assert found == ({fact} if fact else set())


def test_what_stands_behind_a_place_or_an_age_may_be_of_the_subject():
    found = facts("Jane Smith was born in Tarn, Ohio, the daughter of Bob Jones.")
    assert ("Jane Smith", "daughter of", "Bob Jones") in found
    assert "Tarn" not in {head for head, relation, _ in found if relation == "daughter of"}
    found = facts("Jane Smith, 93, of Ulm, passed away in Bern.")
    assert found == {("Jane Smith", "passed away in", "Bern")}


def test_a_kinship_before_a_name_is_no_class():
    assert ("Bob Jones", "is a", "actor") in facts("Actor Bob Jones left.")
    assert not facts("Father Bob Jones left.")


def test_a_speaker_is_no_he_of_their_own_quotation():
    text = "Bob Jones told the court, “The driver lied. He sold Beta Ltd.” Ann Low sat."
    assert not any(relation == "sold" for _, relation, _ in facts(text))
    found = facts("Bob Jones joined Acme Corp. “He sold Beta Ltd,” said Ann Low.")
    assert ("Bob Jones", "sold", "Beta Ltd") in found


def test_whom_somebody_called_has_no_other_name():
    found = facts("Ada Lund called the monthly meeting to order at 6. Ada Lund called Bob Jones.")
    assert "called" not in {relation for _, relation, _ in found}
    assert ("Osel River", "called", "Big Water") in facts("The Osel River is called the Big Water.")
